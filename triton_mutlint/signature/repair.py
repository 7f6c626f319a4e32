"""Guesses that Triton refuses: a bounded search for others, of which Triton is the judge.

Triton names the line at which it gave up. What is changed are the guesses that this line is computed from, the nearest
first, one at a time, then several together. A change that gets Triton to a later line is kept; one that leads to
another error on the same line is gone on from, but costs what it has cost; any other is taken back. What Triton's
message or the source of the line mention (a type, a number, a text, None) is cheapest. Before that, sizes are changed
of which the source alone shows that Triton will refuse them, on that line or on a later one.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import combinations, product
from typing import Any

from triton_mutlint.kernel_source.dtypes import FLOATING, TL_NAMES, bits, dtype_value, short_name
from triton_mutlint.kernel_source.folding import next_power_of_2
from triton_mutlint.kernel_source.reaching import deciding, end_of, leading_to, reaching, said_of
from triton_mutlint.kernel_source.refused import Refused, refused
from triton_mutlint.signature.evidence import SIZES, gather
from triton_mutlint.signature.hints import BY_WIDTH, DTYPE, LAYOUT, PLACE, Hints, once
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    Failure,
    Kernel,
    PointerType,
    ScalarType,
    TupleType,
)

Args = Mapping[str, ArgType]
_Typed = PointerType | ScalarType | DescriptorType
_MOST_NAMES = 10  # guesses that are changed for one error
_MOST_CHANGES = 40  # tried for one error
_MOST_ELEMENTS = 4096  # of a guessed dimension
_BY_DEFAULT = ("i32", "fp16", "fp32", "i8", "i64", "u8", "bf16")
_NAMED = re.compile(r"\b(?:variable|type for|value for) `?(\w+)|(\w+) is not defined")
_WORD = re.compile(r"[^\W\d]\w*")
_END = 1 << 30  # past all lines


class Repair:
    """The search for arguments of one variant in place of those that are guessed: the cheapest changes first.

    `own` are the parameters that make it another variant than others: they change last.
    """

    def __init__(self, kernel: Kernel, args: Args, guessed: frozenset[str], own: frozenset[str] = frozenset()) -> None:
        self._kernel, self._guessed, self._own = kernel, guessed, own
        evidence = gather(kernel, {})
        self._facts, self._program = evidence.dossiers, evidence.program
        self._last, self._cost = args, 0
        self._tried = {_key(args)}
        self._errors: set[str] = set()
        self._farthest = -1
        self._pending: list[tuple[int, int, Args]] = []
        self._count = 0

    def next(self, failure: Failure) -> Args | None:
        """The arguments to try after the last ones have failed; None if there are no more."""
        reached, error = _reached(self._kernel, failure), _error(failure)
        if failure.lacks == "arguments" and reached >= self._farthest and error not in self._errors:
            if reached > self._farthest:
                self._pending, self._cost = [], 0  # what was changed so far is kept
            self._farthest = reached
            changes = [(0, self._agreeing()), *self._changes(self._last, failure)[:_MOST_CHANGES]]
            for cost, change in changes:
                self._count += 1
                heappush(self._pending, (self._cost + cost, self._count, {**self._last, **change}))
        self._errors.add(error)
        while self._pending:
            cost, _, proposal = heappop(self._pending)
            if _key(proposal) not in self._tried:
                self._tried.add(_key(proposal))
                self._last, self._cost = proposal, cost
                return proposal
        return None

    def _agreeing(self) -> Args:
        """The last arguments, with sizes and flags changed until the source shows nothing, or no less, to refuse."""
        args, wrong = self._last, refused(self._kernel, self._program, self._last)
        while found := next(self._righter(args, wrong), None):
            args, wrong = found
        return args

    def _righter(self, args: Args, wrong: Refused) -> Iterator[tuple[Args, Refused]]:
        """The arguments with one size or flag changed, of which less is refused."""
        names = self._guessed & frozenset[str]().union(*wrong.values())
        for name, have in args.items():
            value = have.value if isinstance(have, ConstexprValue) and name in names else None
            for other in (not value,) if isinstance(value, bool) else SIZES if isinstance(value, int) else ():
                changed = {**args, name: ConstexprValue(other)}
                left = refused(self._kernel, self._program, changed)
                if len(left) < len(wrong):
                    yield changed, left

    def _changes(self, args: Args, failure: Failure) -> list[tuple[int, Args]]:
        """Changes of one guess, of all that are alike, and of two, each with what it costs."""
        line = _line(self._kernel, failure)
        names, place = self._names(args, failure, line), failure.location
        elsewhere = _statement_at(place.file, place.line) if place else ""
        own = frozenset[str]() if "is not defined" in failure.message else self._own
        costs: dict[tuple[str, ArgType], int] = {}
        for position, name in enumerate(names):
            hints = Hints.of(failure.message, "\n".join((elsewhere, said_of(self._kernel, name, line))))
            for cost, new in self._others(name, args[name], args, hints):
                costs.setdefault((name, new), position + cost + (8 if name in own else 0))
        ordered = sorted(costs, key=costs.__getitem__)
        ranked: list[tuple[int, Args]] = [(costs[one], dict((one,))) for one in ordered]
        alike: dict[tuple[ArgType, ArgType], list[str]] = {}
        for name, new in ordered:
            alike.setdefault((args[name], new), []).append(name)
        ranked += [(min(costs[name, new] for name in group) + 3, dict.fromkeys(group, new))
                   for (_, new), group in alike.items() if len(group) > 1]
        best = [[one for one in ordered if one[0] == name][:3] for name in names[:5]]
        ranked += [(costs[a] + costs[b] + 3, dict((a, b)))
                   for first, second in combinations(best, 2) for a, b in product(first, second)]
        return sorted(ranked, key=lambda one: one[0])

    def _names(self, args: Args, failure: Failure, line: int) -> list[str]:
        """The guesses behind a line: what the message or its types name, then the nearest, then others."""
        named, types = _NAMED.search(failure.message), Hints.of(failure.message, "").dtypes
        bound = deciding(self._kernel, named[2]) if named and named[2] else []
        bound += leading_to(self._kernel, [named[1] or named[2]]) if named else []
        told = {*bound, *(n for n in args if n.lower() in _WORD.findall(failure.message.lower()))}
        found = [*bound, *reaching(self._kernel, line), *self._kernel.parameter_names]
        ours = [n for n in dict.fromkeys(found) if n in self._guessed]
        if LAYOUT in failure.message:
            ours.sort(key=lambda n: not isinstance(args[n], ConstexprValue))
        return sorted(ours, key=lambda n: n not in told and _element(args[n]) not in types)[:_MOST_NAMES]

    def _others(self, name: str, type_: ArgType, args: Args, hints: Hints) -> Iterator[tuple[int, ArgType]]:
        """Other types or values for a parameter, each with its cost."""
        if isinstance(type_, ConstexprValue):
            yield from self._constants(name, type_, args, hints)
        elif isinstance(type_, TupleType):
            yield from _lengths(type_, hints)
            for cost, element in self._others(name, type_.elements[0], args, hints) if type_.elements else ():
                like = tuple(element if e == type_.elements[0] else e for e in type_.elements)
                yield cost + 1, TupleType(like, type_.fields, type_.cls)
        else:
            yield from self._types(name, type_, hints)

    def _constants(self, name: str, have: ConstexprValue, args: Args, hints: Hints) -> Iterator[tuple[int, ArgType]]:
        if have.value is None and not self._facts[name].slot.constexpr:
            yield from ((0, PointerType("fp32")), (1, ScalarType("i32")))
        sizes = [t.value for n, t in args.items() if n != name and isinstance(t, ConstexprValue)
                 and type(t.value) is int and 0 < t.value <= _MOST_ELEMENTS]
        for cost, value in _values(have.value, hints, once(sizes)):
            new = dtype_value(short_name(value)) if short_name(value) else ConstexprValue(value)
            yield cost + (4 if hints.about_types and isinstance(value, int) else 0), new

    def _types(self, name: str, type_: _Typed, hints: Hints) -> Iterator[tuple[int, ArgType]]:
        """Other types for a run-time parameter: first of other elements, then of other kinds (a pointer, a scalar)."""
        facts, far = self._facts[name].slot, 0 if hints.about_types else 6
        if isinstance(type_, DescriptorType):
            yield from _shapes(type_, hints)
        is_scalar, have = isinstance(type_, ScalarType), _element(type_)
        usual = sorted(_BY_DEFAULT, key=lambda dtype: (dtype in FLOATING) is (have in FLOATING))
        alike = BY_WIDTH.get(bits(have), ()) if hints.about_types else ()
        for rank, dtype in enumerate(d for d in once([*hints.dtypes, *alike, *usual]) if d != have):
            certain = 6 if is_scalar and facts.integer and dtype in FLOATING else 0
            new = ScalarType(dtype) if isinstance(type_, ScalarType) else replace(type_, element=dtype)
            yield far + rank + certain + (0 if dtype in hints.dtypes else 2), new
        far += 0 if hints.about_kinds else 6
        if is_scalar:
            yield from ((far + (3 if facts.integer else 0), PointerType("fp32")), (far + 8, ConstexprValue(1)))
        elif isinstance(type_, DescriptorType):
            yield far, PointerType(type_.element)
        else:
            far += 6 if facts.pointer else 0
            yield from ((far + rank, ScalarType(dtype)) for rank, dtype in enumerate(("i32", "fp32", "i64")))


def _element(type_: ArgType) -> str:
    return type_.name if isinstance(type_, ScalarType) else type_.element if isinstance(type_, _Typed) else ""


def _shapes(type_: DescriptorType, hints: Hints) -> Iterator[tuple[int, ArgType]]:
    own, far = type_.block_shape, 4 if hints.about_types else 0
    sizes = [n for n in hints.numbers if 0 < n <= 256 and n not in own]
    shapes = [tuple(n if s == have else s for s in own) for n in sizes for have in dict.fromkeys(own)]
    shapes += [(*own[:axis], n, *own[axis + 1:]) for n in sizes for axis in range(len(own))]
    shapes += [tuple(max(1, s // part) for s in own) for part in (4, 2, 16)]
    shapes += [(*own[:axis], 1, *own[axis + 1:]) for axis in range(len(own))]
    yield from ((far + rank, DescriptorType(type_.element, shape)) for rank, shape in enumerate(once(shapes)))


def _lengths(type_: TupleType, hints: Hints) -> Iterator[tuple[int, ArgType]]:
    """Tuples of another length."""
    elements = type_.elements
    wanted = [n for n in hints.numbers if 0 < n < 64]
    lengths = [] if type_.fields else once([*wanted, *range(len(elements) - 1, 0, -1), len(elements) * 2])
    for rank, n in enumerate(lengths):
        yield rank + (4 if hints.about_kinds else 0), TupleType((elements * n)[:n])


def _values(have: Any, hints: Hints, sizes: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Other compile-time values of the kind of one, each with its cost."""
    if hints.none and have is not None:
        yield 1, None
    if isinstance(have, bool):
        yield 0, not have
    elif have is None or isinstance(have, int):
        yield from ((0, text) for text in hints.texts if not text)
        numbers = [n for n in hints.numbers if 0 < n <= _MOST_ELEMENTS]
        size = have or 64
        scaled = [v for n in numbers if n > 1 for v in (size // n, size * n)]
        powers = [next_power_of_2(size), size // 2, size * 2, size // 4, size * 4]
        others = [*sizes, *(a * b for a in (size, *sizes[:3]) for b in sizes[:3])]
        if "i1" in hints.dtypes:
            yield from ((0, True), (1, False))
        first = [] if powers[0] == size else powers[:1]
        off = [0] if 0 in hints.numbers else []  # what a test for more than 0 guards may be what fails
        every = once([*first, *numbers, *scaled, *powers, 1, *off, *others, *(n + 1 for n in numbers), 64, 16])
        fitting = [n for n in every if n != have and n <= max(_MOST_ELEMENTS, size)]
        yield from enumerate(fitting)
    elif isinstance(have, str):
        yield from ((rank, text) for rank, text in enumerate((*hints.texts, "none", 64)) if text != have)
    elif isinstance(have, float):
        yield 2, 64
    elif isinstance(have, tuple):
        yield from ((rank, (have * n)[:n]) for rank, n in enumerate((*range(len(have) - 1, 0, -1), len(have) * 2)))
    elif short_name(have):
        dtypes = [d for d in once([*hints.dtypes, "fp32", "fp16", "i32"]) if d in TL_NAMES.values()]
        yield from ((rank, dtype_value(d).value) for rank, d in enumerate(dtypes) if d != short_name(have))


def _reached(kernel: Kernel, failure: Failure) -> int:
    """How far Triton got: to a line of the kernel's own body, to the end of a statement there, or past all of them."""
    if not failure.line:
        return _END if PLACE.search(failure.message) else 0
    named = _NAMED.search(failure.message)  # told when the body of a loop has been compiled
    return end_of(kernel, failure.line) if named and named[1] else failure.line


def _line(kernel: Kernel, failure: Failure) -> int:
    """The line of the kernel's own body that the error is about; 0 if it is not known."""
    inside, own = PLACE.search(failure.message), kernel.node
    found = int(inside[2]) if inside else failure.line
    return found if own.body[0].lineno <= found <= (own.end_lineno or 0) else 0


def _statement_at(file: str, line: int) -> str:
    """The source of a statement that begins at a line; of a compound one, that line."""
    lines = linecache.getlines(file)[line - 1:line + 9]
    for end in range(1, len(lines) + 1):
        with contextlib.suppress(SyntaxError):
            return ast.unparse(ast.parse(textwrap.dedent("".join(lines[:end]))))
    return "".join(lines[:1])


def _error(failure: Failure) -> str:
    """Tells errors apart, whichever types they name."""
    place = failure.location
    return f"{failure.line} {place.line if place else 0} {DTYPE.sub('T', failure.message)}"


def _key(args: Args) -> str:
    return "; ".join(f"{name}={type_}" for name, type_ in args.items())
