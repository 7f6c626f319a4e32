"""`triton-mutlint verify`: run kernels or ops, and hold every verdict and declaration against what they did."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.shell.asked import CONTEXT, asked, files, refuse_stdin, shared
from triton_mutlint.cli.shell.output import Progress, is_unicode, use_color, width, write_stdout
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.verify.wire import EAGER, PATHS, Settings


@click.command(context_settings=CONTEXT)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=files)
@click.option("--ops", is_flag=True,
              help="Run torch ops and autograd functions of FILE, FOLDER or module:op, which imports them.")
@click.option("--model", metavar="MODULE:FACTORY",
              help="Run the model of factory() -> (module, inputs); the ops of PATHs are analysed.")
@click.option("--path", "ways", type=click.Choice([EAGER, *PATHS]), multiple=True,
              help="Run ops by this path only; repeatable (all).")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu",
              help="cpu: Triton's interpreter, the default. cuda: the GPU.")
@click.option("--runs", type=click.IntRange(min=1), default=24, metavar="N", help="Runs of one kernel, at most (24).")
@click.option("--timeout", "seconds", type=click.FloatRange(min=0, min_open=True), default=10.0, metavar="SECONDS",
              help="Time for one run, at most (10).")
@click.option("--memory", type=click.IntRange(min=64), default=4096, metavar="MIB",
              help="Memory for one run, at most (4096).")
@click.option("--atol", type=click.FloatRange(min=0), metavar="X",
              help="Absolute tolerance, clones against in place (1e-5), paths against eager (by dtype).")
@click.option("--rtol", type=click.FloatRange(min=0), metavar="X", help="Relative tolerance, likewise.")
@click.option("--output-dir", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Where to write scripts that show failures again (beside the kernel).")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Kernels run at a time (1).")
@shared("spec", "no_spec", "max_variants", "confine", "true_import")
@click.option("--format", "format_", type=click.Choice(["text", "json", "junit"]), default="text",
              help="text, json or junit.")
@click.option("-q", "--quiet", is_flag=True, help="Failures and the summary only.")
@click.option("-v", "--verbose", is_flag=True, help="Parameters that are not written, too.")
@shared("color", "config_file", "isolated", "debug")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Run kernels, and compare what they write with what was predicted.

    Kernels run in processes of their own, on tensors between guard zones, with several grids, seeds
    and kinds of values, in place and on clones of what may be written. What the spec's `verify` says of
    shapes and values is used; the rest is made up. Needs torch and NumPy.

    With --ops, torch ops are called instead, with many arguments, and held against what they declare; then
    programs that use them are run by torch.compile and torch.export, and compared with eager. That imports the
    modules of the ops, and runs their code.

    Exit code: 0, or 1 when something was written that was not predicted or declared, a path gave other values,
    or a file could not be read.
    """
    refuse_stdin(paths, "verify")
    request = asked(paths, options)
    request = replace(request, targets=request.targets[:1])
    if not paths and not options["model"]:
        raise click.UsageError("Missing argument 'PATH...'.")
    if options["ways"] and not (options["ops"] or options["model"]):
        raise click.UsageError("--path is for --ops and --model")
    is_open = bool(options["model"] or options["ops"]) or options["device"] == "cuda"
    if is_open and request.confine == "require":
        raise click.UsageError("--confine=require: what runs ops, models or a GPU must write files and start programs")
    from triton_mutlint.verify import formats, text, verifying  # here: a wrong option is told at once
    from triton_mutlint.verify.ops.verifying import verify_model, verify_ops

    settings = Settings(
        options["device"], options["runs"], options["seconds"], options["memory"], options["atol"], options["rtol"],
        options["jobs"], request.config.stub_modules, options["true_import"], request.is_confined and not is_open,
    )
    with Progress() as progress:
        ways = [w for w in options["ways"] or PATHS[:None if settings.device == "cuda" else -1] if w != EAGER]
        if options["model"]:
            report = verify_model(request, settings, ways, options["model"], progress)
        elif options["ops"]:
            report = verify_ops(request, settings, ways, options["output_dir"], progress)
        else:
            report = verifying.verify(request, settings, options["output_dir"], progress)
    if options["format_"] != "text":
        write_stdout((formats.as_json if options["format_"] == "json" else formats.as_junit)(report))
    else:
        look = RenderOptions(
            width=width(), color=use_color(options["color"], sys.stdout), ascii=not is_unicode(sys.stdout),
            quiet=options["quiet"], verbose=options["verbose"], sources=SourceLines({}, request.cwd),
        )
        none = options["ops"] and not (report.ops or report.failures)
        write_stdout("no torch ops found\n" if none else text.render(report, look))
    return int(report.is_failure)
