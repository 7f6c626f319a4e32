"""What a kernel reads outside of functions: names of the files that it and its helpers stand in, and of modules."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Set
from types import FunctionType, ModuleType
from typing import Any

from triton_mutlint.kernel_source.helpers import namespace_of
from triton_mutlint.kernel_source.objects import UNKNOWN, member, named_and_home
from triton_mutlint.kernel_source.values import MayBe, of_global
from triton_mutlint.source.finder import is_real


class Outside:
    """What such names hold; those in `unsettled` may have other values at a launch than they have now."""

    def __init__(self, unsettled: Set[str] = frozenset()) -> None:
        self._unsettled = unsettled
        self._held: dict[tuple[int, str], tuple[Any, MayBe]] = {}

    @property
    def read(self) -> list[tuple[Any, str]]:
        """All names that were asked for, each with the namespace or module that it is in."""
        return [(home, name) for (_, name), (home, _) in self._held.items()]

    def held(self, home: Any, name: str) -> MayBe | None:
        """What a name holds, if it has been asked for."""
        if name in self._unsettled:
            return MayBe(is_open=True)
        return self._held.get((id(home), name), (None, None))[1]

    def hold(self, home: Any, name: str, value: Any) -> MayBe:
        """What a name that has this value now holds, which is kept from now on."""
        found = of_global(value)
        self._held[id(home), name] = (home, found)
        return self.held(home, name) or found

    def attribute(self, target: Any, name: str) -> MayBe:
        """An attribute of a Python object."""
        if not isinstance(target, ModuleType):
            return of_global(member(target, name))
        return self.held(target, name) or self.hold(target, name, member(target, name))

    def is_settled(self, function: Any) -> bool:
        """Whether a function of Python's reads no name that may have another value."""
        read = [*read_by(function)]
        for home, name, value in read:
            self.hold(home, name, value)
        return self._unsettled.isdisjoint(name for _, name, _ in read)


def read_by(function: Any, seen: set[int] | None = None) -> Iterator[tuple[Any, str, Any]]:
    """The names outside that a function of Python's reads, itself or by others: where they stand, and their values."""
    seen = set() if seen is None else seen
    function = getattr(function, "fn", function)
    code = getattr(function, "__code__", None)
    if code is None or id(code) in seen or is_real(named_and_home(function)[1]):
        return
    seen.add(id(code))
    home = namespace_of(function)
    for name in (*code.co_names, *code.co_freevars):
        with contextlib.suppress(Exception):  # an attribute, or a stand-in
            value = home[name]
            yield home, name, value
            if isinstance(value, ModuleType) and not is_real(value.__name__):
                parts = ((other, member(value, other)) for other in code.co_names)
                yield from ((value, other, part) for other, part in parts if part is not UNKNOWN)
            elif isinstance(value, FunctionType):
                yield from read_by(value, seen)
