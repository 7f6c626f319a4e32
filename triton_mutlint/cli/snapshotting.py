"""The work of `snapshot`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from triton_mutlint.basics import plural
from triton_mutlint.cli.checking import make_request, refuse_contradictions
from triton_mutlint.cli.options import configured, merged
from triton_mutlint.cli.output import check_writable, fitted, tell, write_stdout
from triton_mutlint.cli.progress import Progress
from triton_mutlint.cli.snapshot_option import DEFAULT_SNAPSHOT
from triton_mutlint.cli.updating import write_snapshot
from triton_mutlint.config.settings import Config
from triton_mutlint.contracts.contract import OP
from triton_mutlint.contracts.snapshot import read_snapshot
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.summary import summarize
from triton_mutlint.source.discover import display_path
from triton_mutlint.types import EMPTY

_UNSAID = {"quiet": False, "verbose": False, "update_baseline": False, "stdin_filename": None}
_SETTINGS = ("spec", "targets", "max_variants", "opaque_asm", "helpers")


def snapshot(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """The exit code of `snapshot PATHS`; raises click.UsageError and MutlintError for what cannot be done."""
    options = {**options, **_UNSAID}
    if "-" in paths:
        raise click.UsageError("snapshot reads files, not standard input (-)")
    refuse_contradictions(paths, options)
    file = configured(options)
    path: Path = Path.cwd() / (options["output"] or file.snapshot or DEFAULT_SNAPSHOT)
    shown = display_path(path, Path.cwd())
    check_writable(path)
    if path.exists():
        read_snapshot(path, shown)  # a file that is none is not overwritten, and told before the work
    config = _failures_only(merged(file, {name: options[name] for name in _SETTINGS}))
    request = make_request(paths, config, options)
    from triton_mutlint.run import run as engine

    with Progress() as progress:
        report = engine.run(request, progress)
    contracts = write_snapshot(report, request, path)
    if failures := render("concise", report, RenderOptions()):
        tell(failures)
    counts = summarize(report)
    rest = f"; {counts.failed} could not be analysed" if counts.failed else ""
    ops = sum(key.kind == OP for key in contracts)
    also = f" and {plural(ops, 'op')}" if ops else ""
    kernels = plural(len(contracts) - ops, "kernel")
    told = f"{shown}: {kernels}{also}, {len(report.kernels) + len(report.ops)} of this run{rest}\n"
    write_stdout(fitted(told, sys.stdout))
    return int(counts.errors > 0)


def _failures_only(config: Config) -> Config:
    """The configuration without anything to hold the kernels against: only what failed is a finding."""
    return replace(config, select=("TML901", "TML902"), ignore=(), extend_select=(), per_file_ignores=EMPTY,
                   severity=EMPTY, snapshot=None, baseline=None, require_spec=False)
