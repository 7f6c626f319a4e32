"""What is asked on the command line: options that commands share, and what they and the settings ask of the engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from triton_mutlint.basics import UsageError
from triton_mutlint.cache.store import default_folder
from triton_mutlint.config.file import load
from triton_mutlint.config.request import Config, Request, read_selector

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DEFAULT_SNAPSHOT = "triton-mutlint.snapshot"
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "What to analyse": ("force_exclude", "spec", "no_spec", "targets", "max_variants", "timeout", "jobs", "confine",
                        "cache_dir", "no_cache", "opaque_asm", "true_import", "helpers"),
    "Rules": ("select", "extend_select", "ignore", "require_spec", "strict", "fail_on", "exit_zero"),
    "Comparing": ("declared", "compare", "snapshot", "baseline", "update_baseline"),
    "Fixing": ("fix", "diff", "run_ops"),
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


_EXCLUSIVE = (
    ("spec", "no_spec"), ("quiet", "verbose"), ("config_file", "isolated"), ("fix", "diff"),
    ("diff", "update_baseline"),
)  # fmt: skip
_SELECTORS = ("select", "extend_select", "ignore")


def asked(paths: tuple[str, ...], options: Mapping[str, Any], config: Config | None = None) -> Request:
    """What the engine is asked, options and configuration merged; what an option leaves open is as usual.

    Without a `config`, it is the one that is in force with these options.

    Raises click.UsageError for options that exclude each other.
    """
    config = config or config_in_force(options)
    for one, other in _EXCLUSIVE:
        if options.get(one) and options.get(other):
            flags = [f"--{name.removesuffix('_file').replace('_', '-')}" for name in (one, other)]
            raise click.UsageError(f"{' and '.join(flags)} contradict each other")
    return Request(
        arguments=tuple(dict.fromkeys(paths)),
        cwd=Path.cwd(),
        spec=None if options.get("no_spec") else config.spec,
        use_spec=not options.get("no_spec"),
        targets=config.targets,
        max_variants=config.max_variants,
        timeout=options.get("timeout", 120.0),
        jobs=config.jobs or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1,
        confine=options.get("confine", "auto"),
        opaque_asm=config.opaque_asm,
        true_import=options["true_import"],
        helpers=config.helpers,
        stdin_text=_read_stdin() if "-" in paths else None,
        stdin_filename=options.get("stdin_filename"),
        require_spec=config.require_spec,
        snapshot=config.snapshot,
        baseline=None if options.get("update_baseline") else config.baseline,
        declared=tuple(dict.fromkeys(options.get("declared", ()))),
        torch=_torch() if options.get("compare") else "",
        cache_dir=None if options.get("no_cache", True) else cache_folder(config.cache_dir),
        config=config,
    )


def _torch() -> str:
    """The version of the installed torch. Raises UsageError if there is none."""
    from importlib.metadata import PackageNotFoundError, version  # here, as it takes a quarter of a run from the cache

    try:
        return version("torch")
    except PackageNotFoundError as error:
        raise UsageError("--compare torch runs torch's own pass, and torch is not installed: "
                         "pip install 'triton-mutlint[torch]'") from error


def refuse_stdin(paths: tuple[str, ...], command: str) -> None:
    if "-" in paths:
        raise click.UsageError(f"{command} reads files, not standard input (-)")


def cache_folder(given: Path | None) -> Path:
    """The folder of the cache: as given, else where the platform keeps caches."""
    return (given or default_folder()).expanduser().absolute()


def _read_stdin() -> str:
    if sys.stdin is None:  # closed before Python started
        raise UsageError("standard input is closed")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 (byte {error.start})") from error


def config_in_force(options: Mapping[str, Any]) -> Config:
    """The settings of the configuration file, if one is to be used, with the options given in their place.

    An option counts as given that is neither None, nor empty, nor False.
    """
    config = Config() if options["isolated"] else load(Path.cwd(), options["config_file"], known_rules)
    given = {**options, **{name: _split_codes(name, options[name]) for name in _SELECTORS if name in options}}
    names = {f.name for f in fields(Config)}
    changes = {name: value for name, value in given.items() if name in names and value}
    origins = {name.replace("_", "-"): _origin(name) for name in changes}
    changes["extend_select"] = (*config.extend_select, *given.get("extend_select", ()))
    return replace(config, **changes, origins={**config.origins, **origins})


def known_rules() -> Mapping[str, str]:
    """The name of each rule by its code, from its file: loading rules takes longer than a run from the cache."""
    folder = Path(__file__).parents[2] / "rules"
    parts = (stem.partition("_") for stem in sorted(path.stem for path in folder.rglob("tml[0-9][0-9][0-9]_*.py")))
    return {code.upper(): name.replace("_", "-") for code, _, name in parts}


def _split_codes(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Selectors, comma-separated or from a repeated option; refuses what covers no rule."""
    texts = [text.strip() for value in values for text in value.split(",") if text.strip()]
    rules = known_rules() if texts else {}
    try:
        return tuple(read_selector(text, rules) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'--{name.replace('_', '-')}'") from error


def _origin(name: str) -> str:
    """Where an option's value was given, in words."""
    context = click.get_current_context(silent=True)
    if context is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        variables = next((option.envvar for option in context.command.params if option.name == name), None)
        return f"the variable {variables}"
    return "the command line"
