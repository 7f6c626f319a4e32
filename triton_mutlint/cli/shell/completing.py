"""What a shell offers for arguments that click does not know the values of."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders: the shell finds them itself."""
    return [CompletionItem(incomplete, type="file")]


def codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Rules; after a comma the next one."""
    from triton_mutlint.rules import RULES

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{code}", help=rule.name)
            for code, rule in sorted(RULES.items()) if code.startswith(last.upper())]


def formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Formats, and after `=` files."""
    from triton_mutlint.report import FORMATS

    return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]
