"""What commands share: options, headings for them in `--help`, and what a shell offers as their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DEFAULT_SNAPSHOT = "triton-mutlint.snapshot"
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "What to analyse": ("force_exclude", "spec", "no_spec", "targets", "max_variants", "timeout", "jobs", "confine",
                        "cache_dir", "no_cache", "opaque_asm", "true_import", "helpers"),
    "Rules": ("select", "extend_select", "ignore", "require_spec", "strict", "fail_on", "exit_zero"),
    "Comparing": ("declared", "compare", "snapshot", "baseline", "update_baseline"),
    "Fixing": ("fix", "diff"),
    "Output": ("formats", "output", "quiet", "verbose", "color"),
}
_REST = "Other options"
_FLAG = "--check-snapshot"
_MAGIC = b"# triton-mutlint snapshot"
Function = TypeVar("Function", bound=Callable[..., Any])


class Sectioned(click.Command):
    """A command whose options are listed by SECTIONS; one that stands in none comes last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (*SECTIONS, _REST)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups[next((t for t, names in SECTIONS.items() if parameter.name in names), _REST)].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_file(args))


def _with_file(arguments: list[str]) -> list[str]:
    """The arguments with each `--check-snapshot` joined to its file, or to the default one.

    It takes the argument after it only if that is a snapshot: a hook that appends the changed files to its arguments
    would have the first of them taken for one. `--check-snapshot=FILE` is always FILE.
    """
    result: list[str] = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[i:]]
        if i and arguments[i - 1] == _FLAG and _is_snapshot(argument):
            result[-1] = f"{_FLAG}={argument}"
        else:
            result.append(f"{_FLAG}={DEFAULT_SNAPSHOT}" if argument == _FLAG else argument)
    return result


def _is_snapshot(argument: str) -> bool:
    """Told by how the file begins; one that is not there, by its name."""
    try:
        with Path(argument).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return not argument.startswith("-") and argument.endswith(Path(DEFAULT_SNAPSHOT).suffix)


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders: the shell finds them itself."""
    return [CompletionItem(incomplete, type="file")]


def codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules; after a comma the next one."""
    from triton_mutlint.rules import RULES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{code}", help=rule.name)
            for code, rule in sorted(RULES.items()) if code.startswith(last.upper())]


# The options that several commands have, by the names of their parameters.
_SHARED = {
    "paths": click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=files),
    "spec": click.option("--spec", type=FILE, metavar="FILE", help="Use this spec, not the nearest one."),
    "no_spec": click.option("--no-spec", is_flag=True, help="Use no spec: guess all arguments."),
    "targets": click.option("--target", "targets", multiple=True, metavar="ARCH",
                            help="GPU: cuda:90, hip:gfx942, ...; repeatable."),
    "max_variants": click.option("--max-variants", type=click.IntRange(min=1), metavar="N",
                                 help="Analyse at most N of a kernel (64)."),
    "timeout": click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, metavar="SECONDS",
                            help="Give up on a kernel after this time (120)."),
    "confine": click.option("--confine", type=click.Choice(["auto", "require", "off"]), default="auto",
                            help="Keep linted code from writing, connecting and starting programs: where that can be "
                                 "done (auto), or refuse to run."),
    "cache_dir": click.option("--cache-dir", type=click.Path(path_type=Path), metavar="DIR",
                              envvar="TRITON_MUTLINT_CACHE_DIR", help="Keep results between runs in this folder."),
    "opaque_asm": click.option("--opaque-asm", is_flag=True, help="Do not read inline asm; its effect is unknown."),
    "true_import": click.option("--import", "true_import", is_flag=True,
                                help="Import the files, which runs all of their code."),
    "helpers": click.option("--helpers", is_flag=True, help="List the jit functions that others call, too."),
    "format_": click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text",
                            help="text or json."),
    "color": click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto",
                          help="Colour the report."),
    "config_file": click.option("--config", "config_file", type=FILE, metavar="FILE",
                                help="Use this configuration file."),
    "isolated": click.option("--isolated", is_flag=True, help="Use no configuration file."),
    "debug": click.option("--debug", is_flag=True, help="Show the traceback of an error."),
}


def shared(*names: str) -> Callable[[Function], Function]:
    """The named parameters, in this order."""
    def declared(function: Function) -> Function:
        for name in reversed(names):
            function = _SHARED[name](function)
        return function

    return declared
