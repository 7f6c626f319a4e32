"""Verdicts that rest on guesses: a parameter is not called unwritten where another guess might write it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triton_mutlint.analysis import VariantEffects
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


@dataclass
class Addresses:
    """The scalars of one kernel that were tried as pointers."""

    ambiguous: dict[str, None] = field(default_factory=dict)  # written, if they are pointers

    def try_them(self, doubts: Doubts, variant: Variant, effects: VariantEffects,
                 flat: Mapping[str, ArgType], analyze: Analyze, casts: bool) -> None:
        """Analyses `variant` again with pointers for scalars that are used as addresses and may be ones.

        `casts` says that in it numbers are made of addresses, or addresses of numbers.
        """
        through = _through(effects)
        if casts:
            through |= self._widened(doubts, variant, flat, analyze)
        if effects.unanalyzable_ops or any(w.via == "loaded" for w in effects.indirect_writes):
            through |= doubts.kept.keys()
        suspects = [n for n, line in doubts.addresses.items() if (line or n in through) and n in flat]
        if not suspects:
            return
        for group in [suspects, *([n] for n in suspects)] if len(suspects) > 1 else [suspects]:
            try:
                found = analyze(replace(variant, args=as_pointers(variant.args, frozenset(group))))
            except StageError:
                if len(group) == 1:
                    self._not_a_pointer(group[0], doubts)
                continue
            written = (found.written | found.unknown) - effects.written - effects.unknown
            self.ambiguous.update(dict.fromkeys(n for n in flat if n in written))
            if len(group) == len(suspects):
                return

    def _not_a_pointer(self, name: str, doubts: Doubts) -> None:
        """Triton takes no pointer for a scalar: it is none, unless only the other guesses are in the way."""
        if name not in doubts.numbers:
            self.ambiguous[name] = None

    def _widened(self, doubts: Doubts, variant: Variant, flat: Mapping[str, ArgType], analyze: Analyze) -> set[str]:
        """The scalars that something is written through if they are wide enough to be addresses."""
        names = [n for n in doubts.addresses if n in doubts.narrow and n in flat]
        found: set[str] = set()
        for group in [names, *([n] for n in names)] if len(names) > 1 else [names] if names else []:
            try:
                found |= _through(analyze(replace(variant, args=as_wide(variant.args, frozenset(group)))))
            except StageError:
                continue
            if len(group) == len(names):
                break
        return found


def _through(effects: VariantEffects) -> set[str]:
    return {w.through for w in effects.indirect_writes if w.via == "integer"} | effects.unknown


def doubted(
    parameters: Sequence[ParameterReport], doubts: Doubts | None, hidden: bool,
    addresses: Addresses, kernel: Kernel,
) -> tuple[tuple[ParameterReport, ...], tuple[UnanalyzableOp, ...]]:
    """The verdicts with `unknown` for those that rest on a guess, and why.

    `hidden` says that a variant was left out of the union, whatever decides it.
    """
    if doubts is None:
        return tuple(parameters), ()
    found = {p.name: op for p in parameters if p.mutation is Mutation.UNWRITTEN
             for op in _doubts_of(p.name, doubts, hidden, addresses, kernel)}
    is_open = hidden or doubts.open
    changed = tuple(
        replace(p, mutation=Mutation.UNKNOWN if p.name in found else p.mutation,
                may_read=is_open and not p.reads and bool({p.name, p.name.partition(".")[0]} & doubts.loads))
        for p in parameters)
    return changed, tuple(found.values())


def _doubts_of(name: str, doubts: Doubts, hidden: bool, addresses: Addresses,
               kernel: Kernel) -> Iterator[UnanalyzableOp]:
    file = kernel.location.file
    if name in addresses.ambiguous:
        line = doubts.addresses.get(name) or doubts.kept.get(name) or kernel.location.line
        reason = f"whether `{name}` is a number or an address is guessed"
        yield UnanalyzableOp("address", "", reason, (name,), Location(file, line),
                             f"give the type of `{name}` in the spec")
    elif name in doubts.stores and (hidden or doubts.open):
        reason = "no analysed variant reaches this write, and guessed arguments decide whether one does"
        yield UnanalyzableOp("store", "", reason, (name,), Location(file, doubts.stores[name]),
                             f"give the arguments that decide it in the spec{_among(doubts.values)}; "
                             "a list of values gives a variant each")


def _among(names: Sequence[str]) -> str:
    shown = [*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])]
    return f" (guessed: {', '.join(shown)})" if names else ""
