"""The work of `check`: settle what is asked, run the engine, write what it found."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.basics import UsageError
from triton_mutlint.cache.runs import KeptRun
from triton_mutlint.cli.shell.options import Output, configured, merged, parse_outputs, refuse_exclusive, split_codes
from triton_mutlint.cli.shell.output import check_writable, is_unicode, use_color, width, write_stdout
from triton_mutlint.cli.shell.remembering import cache_folder, remembered, store_for
from triton_mutlint.config.request import Request
from triton_mutlint.config.settings import Config
from triton_mutlint.process.files import write_file
from triton_mutlint.report.options import RenderOptions

if TYPE_CHECKING:  # what analyses, judges and renders is loaded where the cache has no answer
    from triton_mutlint.fixes.session import FixOutcome
    from triton_mutlint.types import Report

_EXCLUSIVE = (
    ("spec", "no_spec"), ("quiet", "verbose"), ("config_file", "isolated"), ("diff", "update_baseline"),
)  # fmt: skip
_SELECTORS = ("select", "extend_select", "ignore")


def check(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """The exit code of `check PATHS` with these options.

    Raises click.UsageError and MutlintError for what cannot be done.
    """
    refuse_commands(paths[0])
    refuse_contradictions(paths, options)
    refuse_fixing(paths, options)
    options = {**options, "brief": not options["verbose"] and not names_one_file(paths)}
    outputs = parse_outputs(options["formats"], options["output"])
    config = config_in_force(options)
    if options["update_baseline"] and config.baseline is None:
        raise click.UsageError("--update-baseline needs a file to write: --baseline FILE, or `baseline` in the "
                               "configuration")
    request = make_request(paths, config, options)
    return run(request, outputs, options)


def names_one_file(paths: tuple[str, ...]) -> bool:
    """Whether all that is asked for stands in one file, so that there is room to tell all about it."""
    return len({path.partition("::")[0] for path in paths}) == 1 and not Path(paths[0]).is_dir()


def config_in_force(options: dict[str, Any]) -> Config:
    """The configuration file's settings with those of the options in their place."""
    chosen = {name: split_codes(name, options[name]) for name in _SELECTORS}
    file = configured(options)
    return merged(file, {**options, **chosen})


def refuse_commands(path: str) -> None:
    """Raises click.UsageError for a first path that is not there and, no command being named, must be meant as one."""
    from triton_mutlint.cli.app import COMMANDS, UNNAMED

    if not click.get_current_context().meta.get(UNNAMED) or not path.isidentifier() or os.path.lexists(path):
        return
    from difflib import get_close_matches

    if path in COMMANDS:
        raise click.UsageError(f"no such file or directory: {path}; the command {path!r} stands before its options: "
                               f"triton-mutlint {path} ...")
    near = get_close_matches(path, COMMANDS, 1, 0.7)
    if near and not get_close_matches(path, os.listdir(), 1, 0.7):  # noqa: PTH208 - names are enough
        raise click.UsageError(f"no such file, directory or command: {path}; did you mean the command {near[0]!r}?")


def refuse_fixing(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raises click.UsageError for what does not go together with --fix and --diff."""
    if options["fix"] and options["diff"]:
        raise click.UsageError("--fix and --diff contradict each other")
    if options["diff"] and options["update_baseline"]:
        raise click.UsageError("--diff changes nothing, --update-baseline does: they contradict each other")
    if options["fix"] and "-" in paths:
        raise click.UsageError("--fix cannot write to standard input; --diff shows what it would do")
    if options["diff"] and (options["formats"] or options["output"]):
        raise click.UsageError("--diff prints a diff, not a report: leave --format and --output out")


def refuse_contradictions(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Raises click.UsageError for options that exclude each other."""
    refuse_exclusive(options, _EXCLUSIVE)
    if options["stdin_filename"] and "-" not in paths:
        raise click.UsageError("--stdin-filename needs - among the paths")


def make_request(paths: tuple[str, ...], config: Config, options: dict[str, Any]) -> Request:
    """What the engine is asked, options and configuration merged."""
    return Request(
        arguments=tuple(dict.fromkeys(paths)),
        cwd=Path.cwd(),
        spec=None if options["no_spec"] else config.spec,
        use_spec=not options["no_spec"],
        targets=config.targets,
        max_variants=config.max_variants,
        timeout=options["timeout"],
        jobs=config.jobs or cores(),
        opaque_asm=config.opaque_asm,
        true_import=options["true_import"],
        helpers=config.helpers,
        stdin_text=_read_stdin() if "-" in paths else None,
        stdin_filename=options["stdin_filename"],
        require_spec=config.require_spec,
        snapshot=config.snapshot,
        baseline=None if options["update_baseline"] else config.baseline,
        cache_dir=None if options.get("no_cache", True) else cache_folder(config.cache_dir),
        config=config,
    )


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_stdin() -> str:
    if sys.stdin is None:  # closed before Python started
        raise UsageError("standard input is closed")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 (byte {error.start})") from error


def run(request: Request, outputs: tuple[Output, ...], options: dict[str, Any]) -> int:
    """Analyse, write every output, and give the exit code."""
    written = [output.file for output in outputs]
    for file in [*written, request.config.baseline] if options["update_baseline"] else written:
        if file is not None:
            check_writable(file)
    looks = [_look(request, output, options) for output in outputs]
    formats = [output.format for output in outputs]
    if options["diff"]:
        from triton_mutlint.cli.fixing import show

        return int(show(_settled(request)) and not options["exit_zero"])

    def compute() -> KeptRun:
        from triton_mutlint.report.terminal.summary import fails

        report = _report(request, options)
        failed = any(fails(finding, request.config.fail_on) for finding in report.findings)
        return KeptRun(tuple(_rendered(report, request, *pair) for pair in zip(formats, looks, strict=True)), failed)

    found = remembered(store_for(request, options), request, tuple(zip(formats, looks, strict=True)), compute)
    for output, text in zip(outputs, found.outputs, strict=True):
        if output.file is not None:
            write_file(output.file, text)
        else:
            write_stdout(text)
    return int(found.failed and not options["exit_zero"])


def _report(request: Request, options: dict[str, Any]) -> Report:
    """What is found, once what is to be changed has been."""
    if options["fix"]:
        from triton_mutlint.cli.fixing import fix

        report = fix(_settled(request))
    else:
        from triton_mutlint.cli.shell.progress import Progress
        from triton_mutlint.run import run as engine

        with Progress() as progress:
            report = engine.run(request, progress)
    if options["update_baseline"]:
        from triton_mutlint.cli.updating import update_baseline

        report = update_baseline(report, request)
    return report


def _settled(request: Request) -> FixOutcome:
    from triton_mutlint.cli.fixing import settled
    from triton_mutlint.cli.shell.progress import Progress
    from triton_mutlint.run import run as engine

    with Progress() as progress:
        return settled(engine.run(request, progress), request, lambda asked: engine.run(asked, progress))


def _look(request: Request, output: Output, options: dict[str, Any]) -> RenderOptions:
    to_file = output.file is not None
    return RenderOptions(
        width=width(),
        color=options["color"] == "always" if to_file else use_color(options["color"], sys.stdout),
        ascii=not to_file and not is_unicode(sys.stdout),
        quiet=options["quiet"],
        brief=options["brief"],
        verbose=options["verbose"],
        fail_on=request.config.fail_on,
    )


def _rendered(report: Report, request: Request, name: str, look: RenderOptions) -> str:
    from triton_mutlint.report import FIXES_SHOWN, render
    from triton_mutlint.report.sources import SourceLines

    stdin = {request.stdin_filename or "<stdin>": request.stdin_text or ""} if request.stdin_text else {}
    look = replace(look, sources=SourceLines(stdin, request.cwd))
    if name in FIXES_SHOWN and any(finding.changes for finding in report.findings):
        from triton_mutlint.fixes.plan import offers

        look = replace(look, fixes=offers(report.findings, request))
    return render(name, report, look)
