"""One kernel of the text report: a headline, the circumstances, the table of its parameters, the places."""

from __future__ import annotations

from rich.text import Text

from triton_mutlint.basics import plural
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.accesses import access_lines, opaque_lines, verdict
from triton_mutlint.report.terminal.style import (
    DIM,
    FAILED,
    MUTATION,
    NOTE,
    PLACE,
    STRONG,
    Lines,
    aligned,
    clauses,
    clean,
    flow,
    joined,
    noted,
    place_lines,
    prose,
    titled,
    words,
)
from triton_mutlint.types import (
    Failure,
    KernelReport,
    Location,
    Mutation,
    Origin,
    ParameterKind,
    ParameterReport,
    Stage,
    TorchReport,
)

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


def kernel_headline(kernel: KernelReport, options: RenderOptions) -> Lines:
    """What an author wants first: where it is, and what it writes."""
    title = Text.assemble((f"{clean(kernel.location.file)}:{kernel.location.line}", PLACE),
                          f"{' ' if kernel.name else ''}", (clean(kernel.name), STRONG))
    if kernel.failure is not None:
        return titled(title, words(_STAGES[kernel.failure.stage], FAILED), options.width)
    pieces, analyzed, total = _written(kernel), kernel.analyzed_variants, kernel.total_variants
    pieces += words(f"· {analyzed} of {total} variants", MUTATION[Mutation.UNKNOWN]) if analyzed < total else []
    return titled(title, pieces, options.width)


def kernel_lines(kernel: KernelReport, options: RenderOptions, is_told: bool) -> Lines:
    """The whole block. Why a kernel failed is left out where a finding tells of it."""
    lines, quoted = kernel_headline(kernel, options), set[Location]()
    if kernel.failure is not None:
        lines += [] if is_told else failure_lines(kernel.failure, options)
    else:
        origin = _ORIGINS[kernel.origin] if kernel.origin else ""
        facts = [", ".join(map(str, kernel.targets)), plural(kernel.total_variants, "variant"), origin]
        lines += [*prose(" · ".join(filter(None, facts)), options.width, style=DIM), Text()]
        lines += _table(kernel, options) or [Text("  no parameters", DIM)]
        lines += access_lines(kernel, options, quoted) + opaque_lines(kernel, options, quoted)
        lines += _torch_lines(kernel.torch, options.width) if kernel.torch else []
        lines += [Text()] if kernel.notes else []
    return lines + [line for note in kernel.notes for line in noted("note", note, options.width, 2)]


def _written(kernel: KernelReport) -> list[Text]:
    """The parameters that the kernel writes."""
    by = {m: [p.name for p in kernel.parameters if p.mutation is m] for m in Mutation}
    through = list(dict.fromkeys(w.through for w in kernel.indirect_writes))
    return clauses((
        ("writes", "writes", by[Mutation.WRITTEN], MUTATION[Mutation.WRITTEN]),
        ("sometimes writes", "and sometimes", by[Mutation.CONDITIONAL], MUTATION[Mutation.CONDITIONAL]),
        ("may write", "· may write", by[Mutation.UNKNOWN], MUTATION[Mutation.UNKNOWN]),
        ("writes through addresses from", "· through addresses from", through, MUTATION[Mutation.UNKNOWN]),
    )) or words("writes nothing")


def _table(kernel: KernelReport, options: RenderOptions) -> Lines:
    """Pointers, descriptors and whatever is accessed or undecided get a row each.

    Plain values take part in no verdict: they share a line per type unless verbose.
    """
    rows, plain = [], dict[str, list[str]]()
    for p in kernel.parameters:
        if options.verbose or p.kind in (ParameterKind.POINTER, ParameterKind.DESCRIPTOR) \
                or p.reads or p.writes or p.atomics or p.mutation is not Mutation.UNWRITTEN:
            reason = f": {p.reason}" if options.verbose and p.reason else ""
            inferred = p.inferred and (options.verbose or kernel.origin is Origin.MIXED)
            name = Text(clean(p.name), STRONG if p.mutation is not Mutation.UNWRITTEN else "")
            rows.append(([_marks(p), name, Text(clean(p.type), DIM)], [
                *words(verdict(p), MUTATION[p.mutation]), *words(f"(type inferred{reason})" if inferred else "", DIM)]))
        elif p.kind is ParameterKind.CONSTEXPR:
            valued = p.type not in ("", "constexpr")
            plain.setdefault("constexpr", []).append(f"{p.name}={p.type}" if valued else p.name)
        else:
            plain.setdefault("None" if p.kind is ParameterKind.NONE else p.type or "scalar", []).append(p.name)
    return aligned(rows, options.width) + _plain(plain, options.width)


def _plain(plain: dict[str, list[str]], width: int) -> Lines:
    return [line for label, names in plain.items()
            for line in flow(joined(names, DIM), width, Text(f"       {label}: ", DIM), 9)]


def _marks(parameter: ParameterReport) -> Text:
    """`rwa` after the manner of file modes: read, written, atomically updated."""
    flags = (
        ("r", parameter.reads, ""),
        ("w", parameter.writes, MUTATION[Mutation.WRITTEN]),
        ("a", parameter.atomics, MUTATION[Mutation.WRITTEN]),
    )
    return Text.assemble(*((mark, style) if on else ("-", DIM) for mark, on, style in flags))


def _torch_lines(torch: TorchReport, width: int) -> Lines:
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


def failure_lines(failure: Failure, options: RenderOptions) -> Lines:
    """The message as it came (Triton's has its own caret), the place, and what can be done."""
    lines = prose(failure.message, options.width)
    if failure.location is not None:
        lines += place_lines(failure.location, options)
    return lines + (noted("help", failure.hint, options.width, 2) if failure.hint else [])
