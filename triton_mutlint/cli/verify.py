"""`triton-mutlint verify`: run kernels, and hold every verdict against what they did. The work is in `verify_work`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu",
              help="cpu: Triton's interpreter, the default. cuda: the GPU.")
@click.option("--runs", type=click.IntRange(min=1), default=24, metavar="N", help="Runs of one kernel, at most (24).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=10.0, metavar="SECONDS",
              help="Time for one run, at most (10).")
@click.option("--memory", type=click.IntRange(min=64), default=4096, metavar="MIB",
              help="Memory for one run, at most (4096).")
@click.option("--atol", type=click.FloatRange(min=0), default=1e-5, metavar="X",
              help="Absolute tolerance, clones against in place (1e-5).")
@click.option("--rtol", type=click.FloatRange(min=0), default=1e-5, metavar="X", help="Relative tolerance (1e-5).")
@click.option("--output-dir", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Where to write scripts that show failures again (beside the kernel).")
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Kernels run at a time (1).")
@click.option("--spec", type=_FILE, metavar="FILE", help="Use this spec, not the nearest one.")
@click.option("--no-spec", is_flag=True, help="Use no spec: guess all arguments.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Analyse at most N of a kernel (64).")
@click.option("--import", "true_import", is_flag=True, help="Import the files, which runs all of their code.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="text or json.")
@click.option("-q", "--quiet", is_flag=True, help="Failures and the summary only.")
@click.option("-v", "--verbose", is_flag=True, help="Parameters that are not written, too.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colour the report.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Run kernels, and compare what they write with what was predicted.

    Each kernel runs in a process of its own, on tensors between guard zones, with several grids, seeds
    and kinds of values, in place and on clones of what may be written. What the spec's `verify` says of
    shapes and values is used; the rest is made up. Needs torch and NumPy.

    Exit code: 0, or 1 when something was written that was not predicted or a file could not be read.
    """
    from triton_mutlint.cli.verify_work import verify

    return verify(paths, options)
