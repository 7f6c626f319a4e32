"""`triton-mutlint check`, the default command: its options. The work is in `checking`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from triton_mutlint.basics import FAIL_LEVELS
from triton_mutlint.cli.shell.completing import codes, files, formats
from triton_mutlint.cli.snapshot_option import DEFAULT_SNAPSHOT, Checking
from triton_mutlint.report import FORMATS
from triton_mutlint.version import __version__

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Checking, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=files)
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even if named here.")
@click.option("--spec", type=_FILE, metavar="FILE", help="Use this spec, not the nearest one.")
@click.option("--no-spec", is_flag=True, help="Use no spec: guess all arguments.")
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="GPU: cuda:90, hip:gfx942, ...; repeatable.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Analyse at most N of a kernel (64).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, metavar="SECONDS",
              help="Give up on a kernel after this time (120).")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N",
              help="Analyse in N processes (one per core).")
@click.option("--cache-dir", type=click.Path(path_type=Path), metavar="DIR", envvar="TRITON_MUTLINT_CACHE_DIR",
              help="Keep results for the next run in this folder.")
@click.option("--no-cache", is_flag=True, envvar="TRITON_MUTLINT_NO_CACHE", help="Keep no results, and use none.")
@click.option("--opaque-asm", is_flag=True, help="Do not read inline asm; its effect is unknown.")
@click.option("--import", "true_import", is_flag=True, help="Import the files, which runs all of their code.")
@click.option("--helpers", is_flag=True, help="List the jit functions that others call, too.")
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
@click.option("--fail-on", type=click.Choice(FAIL_LEVELS), help="Least severity that makes the exit code 1 (error).")
@click.option("--exit-zero", is_flag=True, help="End with exit code 0 whatever is found.")
@click.option("--format", "formats", multiple=True, metavar="NAME[=FILE]", shell_complete=formats,
              help=f"{', '.join(FORMATS)}; repeatable.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to FILE.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only.")
@click.option("-v", "--verbose", is_flag=True, help="All of each kernel: reads, every place, why types were inferred.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colour the report.")
@click.option("--stdin-filename", metavar="FILE", help="The path that standard input (-) is linted as.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, "--version", prog_name="triton-mutlint", message="%(prog)s %(version)s")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Say which parameters each Triton kernel may write, and compare that with what is declared."""
    from triton_mutlint.cli.checking import check

    return check(paths, options)
