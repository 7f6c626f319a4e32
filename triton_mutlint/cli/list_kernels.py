"""`triton-mutlint list`: the kernels, their signatures, and where each part came from."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.basics import flat, plural, visible
from triton_mutlint.cli.shell.asked import CONTEXT, asked, config_in_force, refuse_stdin, shared
from triton_mutlint.cli.shell.output import Progress, fitted, write_stdout

if TYPE_CHECKING:  # loading kernels is slow to import, and `--help` does without
    from triton_mutlint.run.listing import ListedKernel, ListedParameter

_ALL = 4  # of a parameter's types shown in full
_BOUND = "\0"  # stands for a space at which no line is broken


@click.command("list", context_settings=CONTEXT)
@shared("paths", "helpers", "format_", "spec", "no_spec", "max_variants", "timeout", "confine", "true_import",
        "config_file", "isolated")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """List the kernels of files, one a line, with the signature that each would be analysed with.

    Brackets say where a parameter's type came from (spec, annotation, default, autotune, heuristics,
    launch site, usage, name). Nothing is compiled, so Triton may still refuse a guess.

    Exit code: 0, or 1 when a file could not be loaded.
    """
    refuse_stdin(paths, "list")
    request = asked(paths, config_in_force(options), options)
    from triton_mutlint.run.listing import list_kernels

    with Progress() as progress:
        rows = list_kernels(request, progress)
    if options["format_"] == "json":
        write_stdout(json.dumps([_object(row) for row in rows], indent=2, ensure_ascii=False) + "\n")
    else:
        write_stdout(visible(fitted("".join(f"{_line(row)}\n" for row in rows), sys.stdout).replace(_BOUND, " ")))
    return int(any(row.failure is not None and not row.name for row in rows))


def _line(row: ListedKernel) -> str:
    head = f"{flat(row.location.file)}:{row.location.line}"
    if row.failure is not None:
        hint = f" ({row.failure.hint})" if row.failure.hint else ""
        name = f" {row.name}" if row.name else ""
        return f"{head}{name}  {row.failure.stage.value} failed: {flat(row.failure.message + hint)}"
    signature = ", ".join(f"{p.name}: {_types(p)} [{p.origin}]".replace(" ", _BOUND) for p in row.parameters)
    return f"{head} {row.name}({signature})  {'helper' if row.is_helper else 'kernel'}, {_variants(row)}"


def _types(parameter: ListedParameter) -> str:
    shown = parameter.types[:_ALL]
    rest = len(parameter.types) - len(shown)
    return " | ".join(shown) + (f" | {rest} more" if rest else "")


def _variants(row: ListedKernel) -> str:
    return f"{row.planned} of {row.total} variants" if row.total > row.planned else plural(row.planned, "variant")


def _object(row: ListedKernel) -> dict[str, Any]:
    failure = row.failure
    return {
        "name": row.name or None,
        "file": row.location.file,
        "line": row.location.line,
        "kind": "helper" if row.is_helper else "kernel" if row.name else "file",
        "signature_origin": row.origin.value if row.origin else None,
        "variants": {"planned": row.planned, "total": row.total},
        "parameters": [
            {"name": p.name, "index": i, "types": list(p.types), "from": p.origin, "reason": p.reason}
            for i, p in enumerate(row.parameters)
        ],
        "error": failure and {"stage": failure.stage.value, "message": failure.message, "hint": failure.hint},
    }
