"""What a spec says of a kernel's parameters, from how the kernel was launched.

A recorded run shows some of the values that a parameter takes. All that were seen are written; a flag that was seen
with one value only is shown as a comment and left to inference, so that a write under the other value is still found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from triton_mutlint.recording.launches import Launch, general
from triton_mutlint.spec.entry_text import WrittenArgument

Columns = Mapping[str, tuple[str, ...]]
_FLAGS = frozenset({"true", "false", "null"})
_ALONE = "no other value was seen: a check tries what else the source takes"
_TOGETHER = "these values were seen, and go together with those of other parameters"
_TAKEN = "None was not seen, and the source takes it"


@dataclass(frozen=True)
class Seen:
    """The lines under `args`: `arguments` hold, `guesses` are comments."""

    arguments: tuple[WrittenArgument, ...]
    guesses: tuple[WrittenArgument, ...] = ()

    @property
    def combinations(self) -> int:
        """How many variants the lists make, which multiply."""
        return prod(len(a.values) for a in self.arguments if isinstance(a, Alternatives))


@dataclass(frozen=True)
class Alternatives(WrittenArgument):
    """A parameter's line, and the values that it lists."""

    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, values: tuple[str, ...], comment: str = "") -> Alternatives:
        return cls(name, listed(values), comment, values)


def listed(texts: Sequence[str]) -> str:
    """Alternatives as YAML: a list, but for a single one that is none itself."""
    return texts[0] if len(texts) == 1 and not texts[0].startswith("[") else f"[{', '.join(texts)}]"


def columns(launches: Sequence[Launch], left_out: Iterable[str] = ()) -> Columns:
    """What each parameter was in the launches; without those of `left_out` and those that some launch has no words for.

    A type keeps its divisibility only where every launch has it.
    """
    rows = [dict(launch.args) for launch in launches]
    names = [n for n in rows[0] if n not in set(left_out) and all(n in row for row in rows)]
    found = {}
    for name in names:
        texts = tuple(dict.fromkeys(row[name] for row in rows))
        plain = tuple(dict.fromkeys(map(general, texts)))
        found[name] = plain if len(plain) < len(texts) else texts
    return found


def proposals(seen: Columns, values: Collection[str], open_: Collection[str]) -> Iterator[Seen]:
    """What may be written, the fullest first: lists multiply, and a product may hold what cannot be launched.

    `values` are the compile-time parameters; `open_` are parameters that the source takes several values of.
    """
    flags = {n for n, texts in seen.items() if len(texts) == 1
             and (texts[0] in _FLAGS or (n in values and n in open_))}
    told = {n: texts for n, texts in seen.items() if n not in flags}
    alone = tuple(Alternatives.of(n, seen[n], _ALONE) for n in seen if n in flags)
    absent = {n for n in told if n in open_ and n not in values and "null" not in told[n]}
    yield Seen(tuple(Alternatives.of(n, (*t, "null"), _TAKEN) if n in absent else Alternatives.of(n, t)
                     for n, t in told.items()), alone)
    yield Seen(tuple(Alternatives.of(n, t) for n, t in told.items()), alone)
    tied = tuple(Alternatives.of(n, t, _TOGETHER) for n, t in told.items() if n in values and len(t) > 1)
    free = {n: t for n, t in told.items() if n not in values or len(t) == 1}
    yield Seen(tuple(Alternatives.of(n, t) for n, t in free.items()), (*tied, *alone))
    mixed = tuple(Alternatives.of(n, t, _TOGETHER) for n, t in free.items() if len(t) > 1)
    fixed = {n: t for n, t in free.items() if len(t) == 1}
    yield Seen(tuple(Alternatives.of(n, t) for n, t in fixed.items()), (*mixed, *tied, *alone))
    yield Seen((), tuple(Alternatives.of(n, t, _TOGETHER) for n, t in seen.items()))
