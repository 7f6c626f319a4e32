"""Verdicts that rest on guesses: a parameter is not called unwritten where another guess might write it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.kernel_source.reaching import conditions, leading_to
from triton_mutlint.signature.doubts import as_pointers, as_wide
from triton_mutlint.types import (
    ArgType,
    Doubts,
    Kernel,
    Location,
    Mutation,
    ParameterReport,
    StageError,
    UnanalyzableOp,
    Variant,
)

Analyze = Callable[[Variant], VariantEffects]  # raises StageError
_SHOWN = 6  # names in a hint


def written_addresses(doubts: Doubts, variant: Variant, effects: VariantEffects, flat: Mapping[str, ArgType],
                      casts: bool, analyze: Analyze) -> set[str]:
    """The parameters that are written if scalars are addresses that may be ones: those are tried as pointers.

    `casts` says that in the variant numbers are made of addresses, or addresses of numbers.
    """
    through = _through(effects)
    if casts:  # something may be written through them only if they are wide enough to be addresses
        narrow = [n for n in doubts.addresses if n in doubts.narrow and n in flat]
        found, _ = _together(narrow, lambda group: analyze(replace(variant, args=as_wide(variant.args, group))))
        through = through.union(*map(_through, found))
    if effects.unanalyzable_ops or any(w.via == "loaded" for w in effects.indirect_writes):
        through |= doubts.kept.keys()
    suspects = [n for n, line in doubts.addresses.items() if (line or n in through) and n in flat]
    found, refused = _together(suspects, lambda group: analyze(replace(variant, args=as_pointers(variant.args, group))))
    written = frozenset[str]().union(*(f.written | f.unknown for f in found)) - effects.written - effects.unknown
    # Triton takes no pointer for them: they are none, unless only the other guesses are in the way. They may still be
    # addresses as numbers.
    numbers = {n for n in doubts.numbers if n not in through or not doubts.addresses.get(n)}
    return {n for n in flat if n in written} | {n for n in refused if n not in numbers}


def _together(names: Sequence[str],
              work: Callable[[frozenset[str]], VariantEffects]) -> tuple[list[VariantEffects], list[str]]:
    """What `work` gives for all names at once, or for each where that fails, and for which it fails even then."""
    found: list[VariantEffects] = []
    refused: list[str] = []
    if len(names) > 1:
        with contextlib.suppress(StageError):
            return [work(frozenset(names))], []
    for name in names:
        try:
            found.append(work(frozenset([name])))
        except StageError:
            refused.append(name)
    return found, refused


def _through(effects: VariantEffects) -> set[str]:
    return {w.through for w in effects.indirect_writes if w.via == "integer"} | effects.unknown


def doubted(
    parameters: Sequence[ParameterReport], doubts: Doubts | None, hidden: bool,
    addresses: Set[str], behind: Set[str], kernel: Kernel,
) -> tuple[tuple[ParameterReport, ...], tuple[UnanalyzableOp, ...]]:
    """The verdicts with `unknown` for those that rest on a guess, and why.

    `hidden` says that a variant was left out of the union, whatever decides it; `addresses` are the parameters that
    are written if scalars are addresses, `behind` those through whose memory something is written.
    """
    if doubts is None:
        return tuple(parameters), ()
    found = {p.name: op for p in parameters if p.mutation is Mutation.UNWRITTEN and (
        op := _doubt(p.name, doubts, hidden, addresses, behind, kernel, parameters)) is not None}
    is_open = hidden or doubts.open
    changed = tuple(
        replace(p, mutation=Mutation.UNKNOWN if p.name in found else p.mutation,
                may_read=p.may_read or (is_open and not p.reads and bool(
                    {p.name, p.name.partition(".")[0]} & doubts.loads)))
        for p in parameters)
    together: dict[UnanalyzableOp, list[str]] = {}
    for name, op in found.items():
        together.setdefault(replace(op, parameters=()), []).append(name)
    return changed, tuple(replace(op, parameters=tuple(names)) for op, names in together.items())


def _doubt(name: str, doubts: Doubts, hidden: bool, addresses: Set[str], behind: Set[str],
           kernel: Kernel, parameters: Sequence[ParameterReport]) -> UnanalyzableOp | None:
    """Why a parameter may be written all the same that no analysed variant writes; None if it may not."""
    file = kernel.location.file
    if name in addresses:
        line = doubts.addresses.get(name) or doubts.kept.get(name) or kernel.location.line
        reason = f"whether `{name}` is a number or an address is guessed"
        return UnanalyzableOp("address", "", reason, (name,), Location(file, line),
                              f"give the type of `{name}` in the spec")
    line = doubts.stores.get(name) or (0 if behind else doubts.behind.get(name, 0))
    if not line or not (hidden or doubts.open):
        return None
    reason, advice = _hidden_write(line, doubts, kernel, parameters)
    return UnanalyzableOp("store", "", reason, (name,), Location(file, line), advice)


def _hidden_write(line: int, doubts: Doubts, kernel: Kernel, parameters: Sequence[ParameterReport]) -> tuple[str, str]:
    """Why it is not known whether a launch reaches the write at a line, and what to do about that."""
    around = conditions(kernel.node, line)
    deciding = leading_to(kernel, around)
    guessed = {base: base if more else f"{base} as {p.type}" for p in parameters if p.inferred
               for base, _, more in (p.name.partition("."),) if base in deciding}
    guesses = [*guessed.values()] or doubts.values
    if named := doubts.unsettled.intersection(around) or (doubts.unsettled if not guesses else ()):
        names = ", ".join(f"`{one}`" for one in sorted(named))
        return (f"whether it is reached may depend on {names}, which may be set before a launch",
                f"give {names} in the spec under `globals:`")
    if not guesses:
        return ("no analysed variant reaches this write, and it is not known what decides whether one does",
                "give the kernel's arguments in the spec, and by `--target` the targets that it is for")
    shown = f"{', '.join(guesses[:_SHOWN])}{', …' if len(guesses) > _SHOWN else ''}"
    return ("no analysed variant reaches this write, and guessed arguments decide whether one does",
            f"give the arguments that decide it in the spec (guessed: {shown}); a list of values gives a variant each")
