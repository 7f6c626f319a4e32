"""`triton-mutlint check`, the default command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.options import Output, known_rules, merged, parse_outputs, split_codes
from triton_mutlint.config import FAIL_LEVELS, Config
from triton_mutlint.model import Report, UsageError
from triton_mutlint.report import FORMATS
from triton_mutlint.request import Request

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--spec", type=_FILE, metavar="FILE", help="Signatures to use instead of the file found upward.")
@click.option("--no-spec", is_flag=True, help="Infer every signature, whatever specs there are.")
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="cuda:90, hip:gfx942, ...; repeatable.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Per kernel (default 64).")
@click.option("--opaque-asm", is_flag=True, help="Do not read impure inline asm: count it as unanalyzable.")
@click.option("--import", "true_import", is_flag=True, help="Really import the files, with what that runs.")
@click.option("--helpers", is_flag=True, help="Report jit functions that other jit functions call, too.")
@click.option("--require-spec", is_flag=True, help="Report kernels without a spec entry (TML903).")
@click.option("--select", multiple=True, callback=split_codes, metavar="CODES", help="Only these rules.")
@click.option("--extend-select", multiple=True, callback=split_codes, metavar="CODES", help="These too.")
@click.option("--ignore", multiple=True, callback=split_codes, metavar="CODES", help="Not these rules.")
@click.option("--fail-on", type=click.Choice(FAIL_LEVELS), help="Least severity for exit code 1 (error).")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the findings.")
@click.option("--format", "formats", multiple=True, metavar="NAME[=FILE]", help=f"{', '.join(FORMATS)}; repeatable.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Where the format goes.")
@click.option("-q", "--quiet", is_flag=True, help="Findings, failures and the summary only.")
@click.option("-v", "--verbose", is_flag=True, help="Reads too, every place, and why types were inferred.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colour.")
@click.option("--stdin-filename", metavar="FILE", help="The path that standard input (-) is linted as.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Instead of the one found upward.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Say which parameters each Triton kernel may write, and hold that against what is declared."""
    _refuse_contradictions(paths, options)
    outputs = parse_outputs(options["formats"], options["output"])
    config = merged(_configuration(options["config_file"], options["isolated"]), options)
    request = make_request(paths, config, options)
    return run(request, outputs, options)


def _refuse_contradictions(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    for one, other in (("spec", "no_spec"), ("quiet", "verbose"), ("config_file", "isolated")):
        if options[one] and options[other]:
            flags = [f"--{name.removesuffix('_file').replace('_', '-')}" for name in (one, other)]
            raise click.UsageError(f"{' and '.join(flags)} contradict each other")
    if options["stdin_filename"] and "-" not in paths:
        raise click.UsageError("--stdin-filename needs - among the paths")


def _configuration(file: Path | None, isolated: bool) -> Config:
    from triton_mutlint.config_file import load

    return Config() if isolated else load(Path.cwd(), file, known_rules())


def make_request(paths: tuple[str, ...], config: Config, options: dict[str, Any]) -> Request:
    """What the engine is asked, options and configuration merged."""
    return Request(
        arguments=tuple(dict.fromkeys(paths)),
        cwd=Path.cwd(),
        spec=None if options["no_spec"] else config.spec,
        use_spec=not options["no_spec"],
        targets=config.targets,
        max_variants=config.max_variants,
        opaque_asm=config.opaque_asm,
        true_import=options["true_import"],
        helpers=config.helpers,
        stdin_text=_read_stdin() if "-" in paths else None,
        stdin_filename=options["stdin_filename"],
        require_spec=config.require_spec,
        config=config,
    )


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 (byte {error.start})") from error


def run(request: Request, outputs: tuple[Output, ...], options: dict[str, Any]) -> int:
    """Analyse, write every output, and give the exit code."""
    from triton_mutlint import engine
    from triton_mutlint.cli.output import check_writable
    from triton_mutlint.cli.progress import Progress
    from triton_mutlint.report.summary import fails

    for output in outputs:
        if output.file is not None:
            check_writable(output.file)
    with Progress() as progress:
        report = engine.run(request, progress)
    for output in outputs:
        _write(report, request, output, options)
    failed = any(fails(finding, request.config.fail_on) for finding in report.findings)
    return int(failed and not options["exit_zero"])


def _write(report: Report, request: Request, output: Output, options: dict[str, Any]) -> None:
    from triton_mutlint.cli.output import is_unicode, use_color, width, write_file, write_stdout
    from triton_mutlint.report import render
    from triton_mutlint.report.options import RenderOptions
    from triton_mutlint.report.sources import SourceLines

    to_file = output.file is not None
    stdin = {request.stdin_filename or "<stdin>": request.stdin_text or ""} if request.stdin_text else {}
    look = RenderOptions(
        width=width(),
        color=options["color"] == "always" if to_file else use_color(options["color"], sys.stdout),
        ascii=not to_file and not is_unicode(sys.stdout),
        quiet=options["quiet"],
        verbose=options["verbose"],
        fail_on=request.config.fail_on,
        sources=SourceLines(stdin, request.cwd),
    )
    text = render(output.format, report, look)
    if output.file is not None:
        write_file(output.file, text)
    else:
        write_stdout(text)
