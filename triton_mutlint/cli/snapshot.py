"""`triton-mutlint snapshot`: write down what every kernel may write, for CI to hold later runs against."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from triton_mutlint.basics import EMPTY, plural
from triton_mutlint.cli.changing import looked_at
from triton_mutlint.cli.shell.asked import (
    CONTEXT,
    DEFAULT_SNAPSHOT,
    Sectioned,
    asked,
    config_in_force,
    refuse_stdin,
    shared,
)
from triton_mutlint.cli.shell.output import Progress, check_writable, fitted, tell, write_stdout
from triton_mutlint.config.request import Request
from triton_mutlint.contracts.snapshot import (
    OP,
    Contract,
    Key,
    contract_of,
    dump,
    keyed,
    read_snapshot,
)
from triton_mutlint.process.writing import write_file
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import summarize
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import Report


@click.command(cls=Sectioned, context_settings=CONTEXT)
@shared("paths")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=f"The snapshot ({DEFAULT_SNAPSHOT}).")
@shared("spec", "no_spec", "targets", "max_variants", "timeout", "opaque_asm", "true_import", "helpers", "config_file",
        "isolated", "debug")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Write the contract of every kernel to a file: what it writes, when, and what is undecided.

    Commit that file, and `check --check-snapshot` fails when a write appears or vanishes (TML107).
    Entries of files that exist and are not under PATH stay as they are.

    Exit code: 0, or 1 for an error: a file that could not be read, or a kernel that could not be analysed although
    its arguments are given (all kernels with `strict = true`). The rest is written all the same.
    """
    from triton_mutlint.run import run as engine

    refuse_stdin(paths, "snapshot")
    config = config_in_force(options)
    path = Path.cwd() / (options["output"] or config.snapshot or DEFAULT_SNAPSHOT)
    shown = display_path(path, Path.cwd())
    check_writable(path)
    if path.exists():
        read_snapshot(path, shown)  # a file that is none is not overwritten, and told before the work
    # Nothing to hold the kernels against: only what failed is a finding.
    config = replace(config, select=("TML901", "TML902"), ignore=(), extend_select=(), per_file_ignores=EMPTY,
                     severity=EMPTY, snapshot=None, baseline=None, require_spec=False)
    request = asked(paths, options, config)
    with Progress() as progress:
        report = engine.run(request, progress)
    contracts = _written(report, request, path)
    if failures := render("concise", report, RenderOptions()):
        tell(failures)
    counts = summarize(report)
    rest = f"; {counts['failed']} could not be analysed" if counts["failed"] else ""
    ops = sum(key.kind == OP for key in contracts)
    also = f" and {plural(ops, 'op')}" if ops else ""
    kernels = plural(len(contracts) - ops, "kernel")
    linted = len(report.kernels) + len(report.ops)
    told = f"{shown} written: {kernels}{also}, {linted} of them from this run{rest}\n"
    write_stdout(fitted(told, sys.stdout))
    return int(counts["errors"] > 0)


def _written(report: Report, request: Request, path: Path) -> dict[Key, Contract]:
    """Write the contracts of the report's kernels and ops to `path`, and give all that stand there now.

    Those of files that the run did not look at stay. Raises UsageError as `update_baseline` does.
    """
    contracts: dict[Key, Contract] = {}
    if path.exists():
        old = read_snapshot(path, display_path(path, request.cwd))
        redone = looked_at({key.file for key in old.entries}, report, path.parent, request)
        contracts = {key: contract for key, contract in old.entries.items() if key.file not in redone}
    found = keyed((*report.kernels, *report.ops), request.cwd, path.parent)
    contracts |= {key: contract_of(one) for key, one in found.items()}
    write_file(path, dump(contracts))
    return contracts
