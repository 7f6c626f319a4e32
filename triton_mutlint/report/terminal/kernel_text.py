"""One kernel of the text report: a headline, the circumstances, the table of its parameters, the places."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len as cells
from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.accesses import SOME, access_lines, opaque_lines
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    MUTATION,
    NOTE,
    PLACE,
    SEVERITY,
    STRONG,
    Lines,
    clauses,
    clean,
    flow,
    indented,
    joined,
    noted,
    prose,
    quote,
    stands,
    titled,
    words,
)
from triton_mutlint.types import (
    AccessKind,
    Failure,
    Finding,
    KernelReport,
    Mutation,
    Origin,
    ParameterKind,
    ParameterReport,
    Stage,
    TorchReport,
)

INDENT = 2
_BEHIND = INDENT + 5  # where what follows the rwa column starts
TYPE_LIMIT = 28  # cells; a longer type, or a name of half a line, pushes the rest of its row aside


def parameter_table(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Pointers, descriptors and whatever is accessed or undecided get a row each.

    Plain values take part in no verdict: they share a line per type unless verbose.
    """
    rows = [p for p in kernel.parameters
            if options.verbose or p.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)
            or p.reads or p.writes or p.atomics or p.mutation is not Mutation.UNWRITTEN]
    names = max((cells(p.name) for p in rows if cells(p.name) <= options.width // 2 - _BEHIND), default=0)
    types = max((cells(p.type) for p in rows if cells(p.type) <= TYPE_LIMIT), default=0)
    indent = min(_BEHIND + names + types + 4, options.width // 2)
    lines: Lines = []
    for p in rows:
        reason = f": {p.reason}" if options.verbose and p.reason else ""
        inferred = p.inferred and (options.verbose or kernel.origin is Origin.MIXED)
        pieces = [_cell(p.name, names, STRONG if p.mutation is not Mutation.UNWRITTEN else ""),
                  _cell(p.type, types, DIM), *words(verdict(p), MUTATION[p.mutation]),
                  *words(f"(type inferred{reason})" if inferred else "", DIM)]
        lines += flow(pieces, options.width, Text.assemble(" " * INDENT, _marks(p), "  "), indent)
    return lines + _plain_lines([p for p in kernel.parameters if p not in rows], options.width)


def _cell(text: str, width: int, style: str) -> Text:
    """A piece of a row, with the spaces that bring the next one to its column."""
    return Text.assemble((clean(text), style), " " * (max(width - cells(text), 0) + 1))


def _marks(parameter: ParameterReport) -> Text:
    """`rwa` after the manner of file modes: read, written, atomically updated."""
    flags = (
        ("r", parameter.reads, ""),
        ("w", parameter.writes, MUTATION[Mutation.WRITTEN]),
        ("a", parameter.atomics, MUTATION[Mutation.WRITTEN]),
    )
    return Text.assemble(*((mark, style) if on else ("-", DIM) for mark, on, style in flags))


def verdict(parameter: ParameterReport) -> str:
    """The verdict in words."""
    if parameter.mutation is Mutation.UNKNOWN:
        return "unknown: may be written"
    if parameter.mutation is Mutation.WRITTEN:
        only_atomic = {a.kind for a in parameter.accesses} <= {AccessKind.ATOMIC, AccessKind.READ}
        return "written by atomics" if parameter.atomics and only_atomic else "written"
    if parameter.mutation is Mutation.CONDITIONAL:
        return f"written when {parameter.condition or SOME}"
    if parameter.reads:
        return "read"
    if parameter.may_read and parameter.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR):
        return "unwritten; may be read under values that were not analysed"
    return {
        ParameterKind.CONSTEXPR: "constexpr",
        ParameterKind.NONE: "absent",
        ParameterKind.SCALAR: "value",
    }.get(parameter.kind, "untouched")


def _plain_lines(plain: Sequence[ParameterReport], width: int) -> Lines:
    groups: dict[str, list[str]] = {}
    for parameter in plain:
        label, shown = _plain_entry(parameter)
        groups.setdefault(label, []).append(shown)
    return [line for label, names in groups.items() for line in flow(
        joined(names, DIM), width, Text.assemble(" " * _BEHIND, (f"{label}: ", DIM)), _BEHIND + 2)]


def _plain_entry(parameter: ParameterReport) -> tuple[str, str]:
    if parameter.kind is ParameterKind.CONSTEXPR:
        valued = parameter.type not in ("", "constexpr")
        return "constexpr", f"{parameter.name}={parameter.type}" if valued else parameter.name
    if parameter.kind is ParameterKind.NONE:
        return "None", parameter.name
    return parameter.type or "scalar", parameter.name


_ORIGINS = {
    Origin.SPEC: "signature from the spec",
    Origin.INFERRED: "signature inferred",
    Origin.MIXED: "signature from the spec, the rest inferred",
    Origin.COMPILED: "as compiled",
}
_STAGES = {
    Stage.LOAD: "could not be loaded",
    Stage.SIGNATURE: "has no usable signature",
    Stage.LOWER: "could not be lowered",
    Stage.ANALYZE: "could not be analysed",
}


def kernel_lines(kernel: KernelReport, finding: Finding | None, options: RenderOptions,
                 like: KernelReport | None = None) -> Lines:
    """The whole block; `finding` is the one that says that this kernel failed, if there is one.

    `like` is a kernel that failed for the same reason and was told of before.
    """
    title = Text.assemble((f"{clean(kernel.location.file)}:{kernel.location.line}", PLACE),
                          f"{' ' if kernel.name else ''}", (clean(kernel.name), STRONG))
    if kernel.failure is not None:
        pieces = failure_words(kernel)
        if finding is not None:
            pieces += [Text("·", DIM), Text(f"{finding.severity.value}[{finding.rule}]", SEVERITY[finding.severity])]
            pieces += [Text("(suppressed)", DIM)] if finding.suppressed else []
        lines = titled(title, pieces, options.width)
        same = f"for the same reason as {like.name}" if like else ""
        lines += prose(same, options.width) if like else failure_lines(kernel.failure, options)
    else:
        lines = titled(title, written_words(kernel), options.width)  # what an author wants first
        lines += [*_circumstances(kernel, options.width), Text()]
        lines += parameter_table(kernel, options) or [Text("  no parameters", DIM)]
        lines += access_lines(kernel, options) + opaque_lines(kernel, options)
        lines += torch_lines(kernel.torch, options.width) if kernel.torch else []
        lines += [Text()] if kernel.notes else []
    return lines + [line for note in kernel.notes for line in noted("note", note, options.width, 2)]


def torch_lines(torch: TorchReport, width: int) -> Lines:
    """What torch.compile would do with the kernel."""
    if not torch.variants:
        told = ["its pass takes no such arguments: nothing was compared"]
    else:
        told = [f"takes all for written, as its pass gave up: {torch.gave_up}" if torch.gave_up else "",
                f"takes {', '.join(torch.missed)} for untouched, though written" if torch.missed else "",
                f"may copy {', '.join(torch.pessimistic)} for nothing" if torch.pessimistic else ""]
        told = [text for text in told if text] or ["sees what is written"]
        told += ["may fuse what follows into the kernel"] if torch.fuses_epilogue else []
    return [Text(), *prose("; ".join(told), width, Text.assemble("  ", ("torch.compile: ", NOTE)), 4)]


def written_words(kernel: KernelReport, limit: int = 0) -> list[Text]:
    """The parameters that the kernel writes; no more than `limit` of each kind by name, if that is given."""
    by = {m: [p.name for p in kernel.parameters if p.mutation is m] for m in Mutation}
    through = list(dict.fromkeys(w.through for w in kernel.indirect_writes))
    return clauses((
        ("writes", "writes", by[Mutation.WRITTEN], MUTATION[Mutation.WRITTEN]),
        ("sometimes writes", "and sometimes", by[Mutation.CONDITIONAL], MUTATION[Mutation.CONDITIONAL]),
        ("may write", "· may write", by[Mutation.UNKNOWN], MUTATION[Mutation.UNKNOWN]),
        ("writes through addresses from", "· through addresses from", through, MUTATION[Mutation.UNKNOWN]),
    ), limit) or words("writes nothing")


def _circumstances(kernel: KernelReport, width: int) -> Lines:
    analyzed, total = kernel.analyzed_variants, kernel.total_variants
    variants = f"{'' if analyzed == total else f'{analyzed} of '}{plural(total, 'variant')}"
    facts = [", ".join(map(str, kernel.targets)), variants, _ORIGINS[kernel.origin] if kernel.origin else ""]
    styles = [DIM, DIM if analyzed == total else MUTATION[Mutation.UNKNOWN], DIM]
    shown = [Text(fact, style) for fact, style in zip(facts, styles, strict=True) if fact]
    for piece in shown[:-1]:
        piece.append(" ·", DIM)
    shown = [word for piece in shown for word in (piece.split(" ") if piece.cell_len > width - 2 else [piece])]
    return flow(shown, width, Text("  "), 2)


def failure_words(kernel: KernelReport) -> list[Text]:
    """At which stage the kernel failed."""
    return words(_STAGES[kernel.failure.stage], FAILED) if kernel.failure else []


def failure_lines(failure: Failure, options: RenderOptions) -> Lines:
    """The message as it came (Triton's has its own caret), the place, and what can be done."""
    message = failure.message.strip("\n")
    lines = indented(message, 2) if "\n" in message else prose(message, options.width)
    if failure.location is not None:
        lines.append(Text.assemble("    ", (stands(failure.location, options), PLACE)))
        has_caret = any(line.strip() == "^" for line in message.splitlines())
        lines += [] if has_caret else quote(failure.location, options)
    return lines + (noted("help", failure.hint, options.width, 2) if failure.hint else [])
