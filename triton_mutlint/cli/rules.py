"""`triton-mutlint rules`: every rule on a line; `rule CODE`: why one exists, what it catches and how to fix it."""

from __future__ import annotations

import inspect
import sys

import click

from triton_mutlint.basics import nearest_rule
from triton_mutlint.cli.shell.asked import CONTEXT, codes
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


@click.command(context_settings=CONTEXT)
@click.argument("code", shell_complete=codes)
def rule(code: str) -> int:
    """Explain the rule CODE, given as TML101 or undeclared-mutation."""
    from triton_mutlint.rules import RULES

    by_name = {known.name: known for known in RULES.values()}
    found = RULES.get(code.upper()) or by_name.get(code.lower())
    if found is None:
        meant = nearest_rule(code, {known.code: name for name, known in by_name.items()})
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise click.UsageError(f"there is no rule {code!r}{hint}; 'triton-mutlint rules' lists them")
    title = f"{found.code} {found.name} ({found.default_severity.value} by default)"
    text = f"{title}\n\n{inspect.cleandoc(found.doc)}"
    write_stdout(fitted(f"{text}\n", sys.stdout, indent=0))
    return 0
