"""Markdown for a job summary or a comment: findings first, then a table of kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triton_mutlint.basics import flat
from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.summary import sentence
from triton_mutlint.types import Finding, KernelReport, Mutation, Report, Status

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&@!])")
_ICONS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as GitHub-flavoured Markdown."""
    quiet = options is not None and options.quiet
    findings = [f for f in order.findings(report) if not f.suppressed]
    kernels = [] if quiet else order.kernels(report)
    parts = ["### triton-mutlint", escape(sentence(report)), _findings(findings), _kernels(kernels)]
    if not quiet:
        parts += [f"> {escape(note)}" for note in report.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return ""
    rows = [f"| {_ICONS[f.severity.value]} {f.rule} | {_place(f)} | {escape(f.message)} |" for f in findings]
    return "\n".join(["| rule | place | finding |", "|---|---|---|", *rows])


def _place(finding: Finding) -> str:
    return code(f"{finding.location.file}:{finding.location.line}")


def _kernels(kernels: Sequence[KernelReport]) -> str:
    if not kernels:
        return ""
    rows = [f"| {' | '.join(_cells(kernel))} |" for kernel in kernels]
    head = "| kernel | place | writes | sometimes | unknown | through addresses from |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def _cells(kernel: KernelReport) -> list[str]:
    name = code(kernel.name) if kernel.name else ""
    place = code(f"{kernel.location.file}:{kernel.location.line}")
    if kernel.status is Status.FAILED:
        stage = kernel.failure.stage.value if kernel.failure else ""
        return [name, place, f"failed ({stage})", "", "", ""]
    by = [
        ", ".join(code(p.name) for p in kernel.parameters if p.mutation is mutation)
        for mutation in (Mutation.WRITTEN, Mutation.CONDITIONAL, Mutation.UNKNOWN)
    ]
    through = dict.fromkeys(write.through for write in order.placed(kernel.indirect_writes))
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
