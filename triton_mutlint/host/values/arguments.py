"""The arguments of a call, and how they fall to parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triton_mutlint.host.values.values import Value, join, picked


@dataclass(frozen=True)
class Arguments:
    """The values given: by position, by name, and by `*` and `**` of what has no known length or keys."""

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] = field(default_factory=dict)
    star: Value | None = None
    double_star: Value | None = None
    optional: frozenset[str] = frozenset()  # names of which it is not certain that they are given

    def __iter__(self) -> Iterator[Value]:
        yield from self.positional
        yield from self.named.values()
        yield from (v for v in (self.star, self.double_star) if v is not None)

    def before(self, *values: Value) -> Arguments:
        """With `values` as the first ones by position."""
        return replace(self, positional=(*values, *self.positional))

    def get(self, index: int, name: str = "") -> Value | None:
        """The argument at a position or under a name; what a `*` may give counts."""
        if name in self.named:
            return self.named[name]
        if 0 <= index < len(self.positional):
            return self.positional[index]
        rest = [v for v in (self.star if index >= 0 else None, self.double_star if name else None) if v is not None]
        return join(*rest) if rest else None


@dataclass(frozen=True)
class Bound:
    """Values by parameter; `spare` are positional ones for `*args`, `extra` named ones for `**kwargs`."""

    values: Mapping[str, Value]
    spare: tuple[Value, ...]
    spare_rest: Value | None
    extra: Mapping[str, Value]
    extra_rest: Value | None


def bind(names: Sequence[str], keyword_only: Sequence[str], arguments: Arguments) -> Bound:
    """Which parameter gets what; parameters that get nothing are left out."""
    values: dict[str, Value] = dict(zip(names, arguments.positional, strict=False))
    spare = arguments.positional[len(names) :]
    star = None if arguments.star is None else picked(arguments.star)
    if star is not None:
        for name in names[len(arguments.positional) :]:
            values[name] = star
    extra: dict[str, Value] = {}
    for name, value in arguments.named.items():
        if name in names or name in keyword_only:
            values[name] = value if name not in values else join(values[name], value)
        else:
            extra[name] = value
    double_star = None if arguments.double_star is None else picked(arguments.double_star)
    if double_star is not None:
        for name in (*names, *keyword_only):
            values[name] = values.get(name, double_star)
    return Bound(values, spare, star, extra, double_star)


def parameters(node: ast.arguments) -> tuple[list[str], list[str]]:
    """The names that take positional arguments, and those by name only."""
    return [a.arg for a in (*node.posonlyargs, *node.args)], [a.arg for a in node.kwonlyargs]


def defaults(node: ast.arguments) -> dict[str, ast.expr]:
    """The expressions of default values, by parameter."""
    names = [a.arg for a in (*node.posonlyargs, *node.args)]
    found = dict(zip(names[len(names) - len(node.defaults) :], node.defaults, strict=True))
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if default is not None:
            found[argument.arg] = default
    return found
