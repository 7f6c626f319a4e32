"""`triton-mutlint rule CODE`: why a rule exists, what it catches and how to fix it."""

from __future__ import annotations

import inspect
import re
import sys

import click

from triton_mutlint.basics import nearest_rule
from triton_mutlint.cli.shell.asked import CONTEXT, codes
from triton_mutlint.cli.shell.output import is_terminal, width, write_stdout

_WIDEST = 110  # cells of a paragraph
_BLOCK = re.compile(r"```.+?\n```|\S(?:(?!\n\n).)*", re.DOTALL)
_ITEM = re.compile(r"\n(?=\* )")


@click.command(context_settings=CONTEXT)
@click.argument("code", shell_complete=codes)
def command(code: str) -> int:
    """Explain the rule CODE, given as TML101 or undeclared-mutation."""
    from triton_mutlint.rules import RULES

    by_name = {rule.name: rule for rule in RULES.values()}
    rule = RULES.get(code.upper()) or by_name.get(code.lower())
    if rule is None:
        meant = nearest_rule(code, {known.code: name for name, known in by_name.items()})
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise click.UsageError(f"there is no rule {code!r}{hint}; 'triton-mutlint rules' lists them")
    title = f"{rule.code} {rule.name} ({rule.default_severity.value} by default)"
    text = f"{title}\n\n{inspect.cleandoc(rule.doc)}"
    write_stdout(f"{folded(text, min(width(), _WIDEST)) if is_terminal(sys.stdout) else text}\n")
    return 0


def folded(text: str, wide: int) -> str:
    """Markdown with paragraphs and items of lists broken at `wide` cells; code and headings stay as they are."""
    import textwrap

    def fold(item: str) -> str:
        words = " ".join(item.split())
        return textwrap.fill(words, wide, subsequent_indent="  " if words.startswith("* ") else "",
                             break_long_words=False, break_on_hyphens=False)

    return "\n\n".join(block if block.startswith(("```", "#")) else "\n".join(map(fold, _ITEM.split(block)))
                       for block in _BLOCK.findall(text))
