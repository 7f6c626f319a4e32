"""`triton-mutlint check`, the default command: its options. The work is in `checking`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from triton_mutlint.basics import FAIL_LEVELS
from triton_mutlint.cli.completing import codes, files, formats
from triton_mutlint.cli.snapshot_option import DEFAULT_SNAPSHOT, Checking
from triton_mutlint.report import FORMATS
from triton_mutlint.version import __version__

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Checking, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=files)
@click.option("--force-exclude", is_flag=True, help="Leave out what the configuration excludes even if named here.")
@click.option("--spec", type=_FILE, metavar="FILE", help="Signatures to use instead of the file found upward.")
@click.option("--no-spec", is_flag=True, help="Infer every signature, whatever specs there are.")
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="cuda:90, hip:gfx942, ...; repeatable.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Variants per kernel, at most (64).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, metavar="SECONDS",
              help="Time for one kernel, at most (120).")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N",
              help="Processes that analyse kernels (one per core).")
@click.option("--cache-dir", type=click.Path(path_type=Path), metavar="DIR", envvar="TRITON_MUTLINT_CACHE_DIR",
              help="Where results are kept for the next run.")
@click.option("--no-cache", is_flag=True, envvar="TRITON_MUTLINT_NO_CACHE", help="Keep nothing, and use nothing kept.")
@click.option("--opaque-asm", is_flag=True, help="Do not read impure inline asm: count it as unanalyzable.")
@click.option("--import", "true_import", is_flag=True, help="Really import the files, with what that runs.")
@click.option("--helpers", is_flag=True, help="List the jit functions that others call, too.")
@click.option("--require-spec", is_flag=True, help="Report kernels without a spec entry (TML903).")
@click.option("--strict", is_flag=True, help="Kernels that cannot be analysed are errors, guessed arguments or not.")
@click.option("--select", multiple=True, metavar="CODES", shell_complete=codes, help="Only these rules.")
@click.option("--extend-select", multiple=True, metavar="CODES", shell_complete=codes, help="These too.")
@click.option("--ignore", multiple=True, metavar="CODES", shell_complete=codes, help="Not these rules.")
@click.option("--check-snapshot", "snapshot", type=click.Path(path_type=Path), metavar="[=FILE]",
              help=f"Report contracts that differ from the snapshot (TML107; {DEFAULT_SNAPSHOT}).")
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="Accept the findings listed there.")
@click.option("--update-baseline", is_flag=True, help="Write what is found now to the baseline.")
@click.option("--fix", is_flag=True, help="Write what can be fixed, and report the rest.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--fail-on", type=click.Choice(FAIL_LEVELS), help="Least severity for exit code 1 (error).")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the findings.")
@click.option("--format", "formats", multiple=True, metavar="NAME[=FILE]", shell_complete=formats,
              help=f"{', '.join(FORMATS)}; repeatable.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="For the format that names no file.")
@click.option("-q", "--quiet", is_flag=True, help="Findings only.")
@click.option("-v", "--verbose", is_flag=True, help="All of each kernel: reads, every place, why types were inferred.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to colour.")
@click.option("--stdin-filename", metavar="FILE", help="The path that standard input (-) is linted as.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Instead of the one found upward.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, "--version", prog_name="triton-mutlint", message="%(prog)s %(version)s")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Say which parameters each Triton kernel may write, and hold that against what is declared."""
    from triton_mutlint.cli.checking import check

    return check(paths, options)
