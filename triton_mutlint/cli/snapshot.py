"""`triton-mutlint snapshot`: write down what every kernel may write, for CI to hold later runs against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.shell.completing import files
from triton_mutlint.cli.shell.sections import Sectioned
from triton_mutlint.cli.snapshot_option import DEFAULT_SNAPSHOT

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Sectioned, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=files)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=f"The snapshot ({DEFAULT_SNAPSHOT}).")
@click.option("--spec", type=_FILE, metavar="FILE", help="Use this spec, not the nearest one.")
@click.option("--no-spec", is_flag=True, help="Use no spec: guess all arguments.")
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="GPU: cuda:90, hip:gfx942, ...; repeatable.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Analyse at most N of a kernel (64).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, metavar="SECONDS",
              help="Give up on a kernel after this time (120).")
@click.option("--opaque-asm", is_flag=True, help="Do not read inline asm; its effect is unknown.")
@click.option("--import", "true_import", is_flag=True, help="Import the files, which runs all of their code.")
@click.option("--helpers", is_flag=True, help="List the jit functions that others call, too.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Write the contract of every kernel to a file: what it writes, when, and what is undecided.

    Commit that file, and `check --check-snapshot` fails when a write appears or vanishes (TML107).
    Entries of files that exist and are not under PATH stay as they are.

    Exit code: 0, or 1 for an error: a file that could not be read, or a kernel that could not be analysed although
    its arguments are given (all kernels with `strict = true`). The rest is written all the same.
    """
    from triton_mutlint.cli.snapshotting import snapshot

    return snapshot(paths, options)
