"""`triton-mutlint rule CODE`: why a rule exists, what it catches and how to fix it."""

from __future__ import annotations

import inspect

import click

from triton_mutlint.basics import nearest_rule
from triton_mutlint.cli.completing import codes
from triton_mutlint.cli.output import write_stdout


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("code", shell_complete=codes)
def command(code: str) -> int:
    """Explain the rule CODE, given as TML101 or undeclared-mutation."""
    from triton_mutlint.rules import RULES

    by_name = {rule.name: rule for rule in RULES.values()}
    rule = RULES.get(code.upper()) or by_name.get(code.lower())
    if rule is None:
        meant = nearest_rule(code, {known.code: name for name, known in by_name.items()})
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise click.UsageError(f"there is no rule {code!r}{hint}; 'triton-mutlint rules' lists them")
    title = f"{rule.code} {rule.name} ({rule.default_severity.value} by default)"
    write_stdout(f"{title}\n\n{inspect.cleandoc(rule.doc)}\n")
    return 0
