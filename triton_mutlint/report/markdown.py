"""Markdown for a job summary or a comment: findings first, then a table of kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triton_mutlint.basics import flat
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import sentence
from triton_mutlint.types import KernelReport, Location, Mutation, Report, Status

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&@!])")
_ICONS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as GitHub-flavoured Markdown."""
    quiet = options is not None and options.quiet
    findings = [[f"{_ICONS[f.severity.value]} {f.rule}", _place(f.location), escape(f.message)]
                for f in report.active]
    kernels = [] if quiet else list(map(_cells, report.kernels))
    parts = ["### triton-mutlint", escape(sentence(report)), _table(["rule", "place", "finding"], findings),
             _table(["kernel", "place", "writes", "sometimes", "unknown", "through addresses from"], kernels)]
    if not quiet:
        parts += [f"> {escape(note)}" for note in report.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, *rows] if rows else []
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*shown[:1], f"|{'---|' * len(head)}", *shown[1:]]) if shown else ""


def _place(location: Location) -> str:
    return code(f"{location.file}:{location.line}")


def _cells(kernel: KernelReport) -> list[str]:
    name = code(kernel.name) if kernel.name else ""
    place = _place(kernel.location)
    if kernel.status is Status.FAILED:
        stage = kernel.failure.stage.value if kernel.failure else ""
        return [name, place, f"failed ({stage})", "", "", ""]
    by = [
        ", ".join(code(p.name) for p in kernel.parameters if p.mutation is mutation)
        for mutation in (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN)
    ]
    through = dict.fromkeys(write.through for write in kernel.indirect_writes)
    return [name, place, *by, ", ".join(map(code, through))]


def escape(text: str) -> str:
    """`text` for a Markdown paragraph or table cell: words and, between backticks, code."""
    pieces = re.split("`([^`]+)`", flat(text))
    return "".join(code(piece) if i % 2 else _SPECIAL.sub(r"\\\1", piece) for i, piece in enumerate(pieces))


def code(text: str) -> str:
    """`text` as inline code, also inside a table."""
    shown = flat(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
