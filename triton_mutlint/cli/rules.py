"""`triton-mutlint rules`: every rule on a line."""

from __future__ import annotations

import sys

import click

from triton_mutlint.cli.shell.asked import CONTEXT
from triton_mutlint.cli.shell.output import fitted, write_stdout


@click.command(context_settings=CONTEXT)
def command() -> int:
    """List the rules: code, name, default severity and what they are about."""
    from triton_mutlint.rules import RULES

    rows = [(r.code, r.name, r.default_severity.value, r.summary) for _, r in sorted(RULES.items())]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = ["  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
    write_stdout(fitted("".join(f"{line.rstrip()}\n" for line in lines), sys.stdout, indent=sum(widths) + 6))
    return 0
