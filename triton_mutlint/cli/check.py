"""`triton-mutlint check`, the default command: settle what is asked, run the engine, write what it found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from triton_mutlint.basics import FAIL_LEVELS, did_you_mean, nearest
from triton_mutlint.cache.runs import KeptRun, Runs, name_of
from triton_mutlint.cache.store import Store
from triton_mutlint.cli.shell.asked import (
    CONTEXT,
    DEFAULT_SNAPSHOT,
    Sectioned,
    asked,
    cache_folder,
    codes,
    config_in_force,
    shared,
)
from triton_mutlint.cli.shell.output import Progress, check_writable, is_unicode, use_color, width, write_stdout
from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import recording
from triton_mutlint.process.writing import write_file
from triton_mutlint.report import FORMATS
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.version import __version__

if TYPE_CHECKING:  # what analyses, judges and renders is loaded where the cache has no answer
    from triton_mutlint.types import Report

_Output = tuple[str, Path | None]  # a format to render, and the file that it goes to; None: standard output
_UNKEPT = ("fix", "diff", "update_baseline", "true_import", "debug", "no_cache")  # they change files, or run any code


def _formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers: formats, and after `=` files."""
    return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]


@click.command(cls=Sectioned, context_settings=CONTEXT)
@shared("paths")
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even if named here.")
@shared("spec", "no_spec", "targets", "max_variants", "timeout")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Analyse in N processes (one per core).")
@shared("confine", "cache_dir")
@click.option("--no-cache", is_flag=True, envvar="TRITON_MUTLINT_NO_CACHE", help="Keep no results, and use none.")
@shared("opaque_asm", "true_import", "helpers")
@click.option("--declared", multiple=True, metavar="PATH",
              help="Sources that what was compiled is held against: PATH... is then Triton's cache, IR or a trace.")
@click.option("--compare", type=click.Choice(["torch"]), help="Say what torch's own pass makes of the same kernels.")
@click.option("--require-spec", is_flag=True, help="Report kernels without a spec entry (TML903).")
@click.option("--strict", is_flag=True, help="Kernels that cannot be analysed are errors, guessed arguments or not.")
@click.option("--select", multiple=True, metavar="CODES", shell_complete=codes, help="Run only these rules.")
@click.option("--extend-select", multiple=True, metavar="CODES", shell_complete=codes, help="Run these rules, too.")
@click.option("--ignore", multiple=True, metavar="CODES", shell_complete=codes, help="Do not run these rules.")
@click.option("--check-snapshot", "snapshot", type=click.Path(path_type=Path), metavar="[=FILE]",
              help=f"Report writes that differ from the snapshot (TML107; {DEFAULT_SNAPSHOT}).")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Accept the findings listed in FILE.")
@click.option("--update-baseline", is_flag=True, help="Write all findings to the baseline.")
@click.option("--fix", is_flag=True, help="Correct what can be corrected; report the rest.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--run", "run_ops", is_flag=True,
              help="Take a name out of an op's declaration only if runs of the op confirm it: imports its module.")
@click.option("--fail-on", type=click.Choice(FAIL_LEVELS), help="Least severity that makes the exit code 1 (error).")
@click.option("--exit-zero", is_flag=True, help="End with exit code 0 whatever is found.")
@click.option("--format", "formats", multiple=True, metavar="NAME[=FILE]", shell_complete=_formats,
              help=f"{', '.join(FORMATS)}; repeatable.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to FILE.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only.")
@click.option("-v", "--verbose", is_flag=True, help="All of each kernel: reads, every place, why types were inferred.")
@shared("color")
@click.option("--stdin-filename", metavar="FILE", help="The path that standard input (-) is linted as.")
@shared("config_file", "isolated", "debug")
@click.version_option(__version__, "--version", prog_name="triton-mutlint", message="%(prog)s %(version)s")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Say which parameters each Triton kernel may write, and compare that with what is declared."""
    _refuse_commands(paths[0])
    _refuse_contradictions(paths, options)
    outputs = _parse_outputs(options["formats"], options["output"])
    config = config_in_force(options)
    if options["update_baseline"] and config.baseline is None:
        raise click.UsageError("--update-baseline needs a file to write: --baseline FILE, or `baseline` in the "
                               "configuration")
    request = asked(paths, options, config)
    written = [file for _, file in outputs]
    for file in [*written, config.baseline] if options["update_baseline"] else written:
        if file is not None:
            check_writable(file)
    if options["diff"]:
        from triton_mutlint.cli.changing import show

        return int(show(request, options["run_ops"]) and not options["exit_zero"])
    wanted = [(name, _look(request, file is not None, options)) for name, file in outputs]
    store = None if any(options[name] for name in _UNKEPT) else Store(cache_folder(config.cache_dir))
    found = _remembered(store, request, wanted, lambda: _computed(request, wanted, options))
    for file, text in zip(written, found.outputs, strict=True):
        if file is None:
            write_stdout(text)
        else:
            write_file(file, text)
    return int(found.failed and not options["exit_zero"])


def _refuse_commands(path: str) -> None:
    """Raises click.UsageError for a first path that is not there and, no command being named, must be meant as one."""
    from triton_mutlint.cli.app import COMMANDS, UNNAMED

    if not click.get_current_context().meta.get(UNNAMED) or not path.isidentifier() or os.path.lexists(path):
        return
    if path in COMMANDS:
        raise click.UsageError(f"no such file or directory: {path}; the command {path!r} stands before its options: "
                               f"triton-mutlint {path} ...")
    near = nearest(path, COMMANDS, 0.7)
    if near and nearest(path, os.listdir(), 0.7) is None:  # noqa: PTH208 - names are enough
        raise click.UsageError(f"no such file, directory or command: {path}; did you mean the command {near!r}?")


def _refuse_contradictions(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raises click.UsageError for what does not go together with standard input, --fix and --diff."""
    if options["stdin_filename"] and "-" not in paths:
        raise click.UsageError("--stdin-filename needs - among the paths")
    if options["fix"] and "-" in paths:
        raise click.UsageError("--fix cannot write to standard input; --diff shows what it would do")
    if options["run_ops"] and not (options["fix"] or options["diff"]):
        raise click.UsageError("--run goes with --fix or --diff: it tries what they would take out of declarations")
    if options["diff"] and (options["formats"] or options["output"]):
        raise click.UsageError("--diff prints a diff, not a report: leave --format and --output out")


def _parse_outputs(formats: Collection[str], output: Path | None) -> tuple[_Output, ...]:
    """`NAME` or `NAME=FILE`, each; `output` is the file of the one that names none.

    Raises click.UsageError for unknown formats and for two that would share an output.
    """
    outputs = [_parse_output(value) for value in formats or ("text",)]
    open_ended = [name for name, file in outputs if file is None]
    if len(open_ended) > 1:
        names = " and ".join(map(repr, open_ended))
        example = f"--format {open_ended[-1]}=FILE"
        raise click.UsageError(f"the formats {names} would share one output; give one a file: {example}")
    if output is not None and not open_ended:
        raise click.UsageError("--output names a file, but every --format already has its own")
    settled = tuple((name, file or output) for name, file in outputs)
    taken: dict[Path, str] = {}
    for name, given in settled:
        file = given and given.resolve()
        if file and file in taken and (file.is_file() or not file.exists()):  # a device takes both
            raise click.UsageError(f"the formats {taken[file]!r} and {name!r} would share {given}")
        if file:
            taken[file] = name
    return settled


def _parse_output(value: str) -> _Output:
    name, separator, file = value.partition("=")
    if name not in FORMATS:
        raise click.BadParameter(f"{name!r} is no format{did_you_mean(name, FORMATS)}; there are {', '.join(FORMATS)}",
                                 param_hint="'--format'")
    if separator and not file:
        raise click.BadParameter(f"{value!r} names no file", param_hint="'--format'")
    return name, Path(file) if file else None


def _look(request: Request, to_file: bool, options: dict[str, Any]) -> RenderOptions:
    """How a report is written; of one file there is room to tell all."""
    paths = request.arguments
    is_one_file = len({path.partition("::")[0] for path in paths}) == 1 and not Path(paths[0]).is_dir()
    return RenderOptions(
        width=width(),
        color=options["color"] == "always" if to_file else use_color(options["color"], sys.stdout),
        ascii=not to_file and not is_unicode(sys.stdout),
        quiet=options["quiet"],
        brief=not options["verbose"] and not is_one_file,
        verbose=options["verbose"],
        fail_on=request.config.fail_on,
    )


def _remembered(store: Store | None, request: Request, wanted: Sequence[object],
                compute: Callable[[], KeptRun]) -> KeptRun:
    """What the run gives: from the store where nothing it reads has changed, else computed, and kept."""
    if store is None:
        return compute()
    runs = Runs(store)
    name = name_of(request, wanted)
    found = runs.find(name)
    if found is not None:
        return found
    with recording() as inputs:
        found = compute()
    runs.keep(name, found, inputs)
    store.trim()
    if store.problem:
        click.echo(f"triton-mutlint: warning: the next run will take as long as this one: cannot write the cache in "
                   f"{store.folder}: {store.problem} (--cache-dir names another folder, --no-cache does without)",
                   err=True)
    return found


def _computed(request: Request, wanted: Sequence[tuple[str, RenderOptions]], options: dict[str, Any]) -> KeptRun:
    """What is found and written, once what is to be changed has been."""
    from triton_mutlint.report.terminal.summary import fails

    if options["fix"]:
        from triton_mutlint.cli.changing import fix

        report = fix(request, options["run_ops"])
    else:
        from triton_mutlint.run import run as engine

        with Progress() as progress:
            report = engine.run(request, progress)
    if options["update_baseline"]:
        from triton_mutlint.cli.changing import update_baseline

        report = update_baseline(report, request)
    failed = any(fails(finding, request.config.fail_on) for finding in report.findings)
    return KeptRun(tuple(_rendered(report, request, name, look) for name, look in wanted), failed)


def _rendered(report: Report, request: Request, name: str, look: RenderOptions) -> str:
    from triton_mutlint.report import FIXES_SHOWN, render
    from triton_mutlint.report.options import SourceLines

    stdin = {request.stdin_filename or "<stdin>": request.stdin_text or ""} if request.stdin_text else {}
    look = replace(look, sources=SourceLines(stdin, request.cwd))
    if name in FIXES_SHOWN and any(finding.changes for finding in report.findings):
        from triton_mutlint.fixes.plan import offers

        look = replace(look, fixes=offers(report.findings, request))
    return render(name, report, look)
