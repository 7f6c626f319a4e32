"""What the bodies of jit functions need, followed through every helper they reach."""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from triton_mutlint.source.slicing.module_text import Use
from triton_mutlint.source.slicing.namespace import Namespace, closed
from triton_mutlint.source.slicing.spaces import Space, installed, is_triton_module, node_of, origin
from triton_mutlint.source.slicing.stubs import Missing, find_missing
from triton_mutlint.types import unwrap_constexpr

UNDEFINED = "is not defined"
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True)
class Need:
    """A value that is not there: as written, why, where; `guarded` when a branch may leave it out."""

    name: str
    reason: str
    file: str
    line: int
    column: int
    guarded: bool


class Needs:
    """Evaluates every outside name of a jit function and of the helpers it reaches, each once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Need, ...]] = {}
        self.reached: list[Any] = []  # every function that was asked for: ids stay valid while the object lives

    def of_value(self, value: object) -> None:
        """Make the jit functions that a value is or holds ready to compile: Triton reads globals as they are."""
        for function in functions_in(value):
            self.of(function)

    def of(self, jit: Any) -> tuple[Need, ...]:
        """The missing values of a jit function, unguarded ones first."""
        if id(jit) in self._known:
            return self._known[id(jit)]
        self._known[id(jit)] = ()  # recursion: found by the outer call
        self.reached.append(jit)
        namespace = getattr(jit, "__globals__", None)
        node = node_of(jit)
        if not isinstance(namespace, Namespace) or node is None:
            return ()
        if jit.fn.__closure__:
            namespace = closed(namespace, jit.fn)
            _give(namespace, jit.fn)
        found: dict[tuple[str, bool], Need] = {}
        body = namespace.module.body(node)
        for name in body.lenient:
            with contextlib.suppress(KeyError):
                namespace[name]
        for use in body.uses:
            for need in self._use(namespace, use):
                found.setdefault((need.name, need.guarded), need)
        result = tuple(sorted(found.values(), key=lambda n: n.guarded))
        self._known[id(jit)] = result
        return result

    def _use(self, namespace: Namespace, use: Use) -> Iterator[Need]:
        file = str(namespace.module.path)
        try:
            value = _follow(namespace, use.chain)
        except KeyError:
            if use.chain[0] not in _BUILTINS:
                yield Need(use.chain[0], UNDEFINED, file, use.line, use.column, use.guarded)
            return
        if len(use.chain) == 1 and _is_given(namespace, use.chain[0]):
            namespace[use.chain[0]] = value = _constexpr(value)
        missing = find_missing(value)
        if missing is not None:
            yield Need(missing.mutlint_root, missing.mutlint_reason, file, use.line, use.column, use.guarded)
            return
        for jit in functions_in(value):
            for need in self.of(jit):
                yield replace(need, guarded=need.guarded or use.guarded)


def _follow(namespace: Namespace, chain: tuple[str, ...]) -> Any:
    """The value a dotted name reaches through modules and classes. Raises `KeyError` for the first name."""
    value = namespace[chain[0]]
    for i, attribute in enumerate(chain[1:], 1):
        if isinstance(value, Missing) or not isinstance(value, (ModuleType, type)):
            return value
        try:
            value = getattr(value, attribute)
        except AttributeError:
            if isinstance(value, ModuleType):
                if is_triton_module(value):
                    return value  # another Triton has it there: lowering says so
                owner = f"`{value.__name__}`" if "__getattr__" in vars(value) else installed(value.__name__)
                return namespace.missing(".".join(chain[: i + 1]), f"is not in {owner}")
            return value
    return value


def _is_given(space: Space | None, name: str) -> bool:
    """Whether the spec's `globals:` give what `name` is bound to, here or in the module it is imported from."""
    if space is None or not space.shared.given:
        return False
    names = {name, f"{space.module.dotted}.{name}"}
    names.update(f"{origin(space, b.node).__name__}.{b.alias.name}" for b in space.scope.by_name.get(name, ())
                 if b.alias is not None and isinstance(b.node, ast.ImportFrom))
    return not names.isdisjoint(space.shared.given) or _is_given(space.parent, name)


def _constexpr(value: Any) -> Any:
    """A given plain value as Triton wants globals: a constexpr."""
    from triton.language import constexpr

    return constexpr(value) if isinstance(value, (bool, int, float, str)) else value


def _give(namespace: Namespace, function: Any) -> None:
    """Put what a spec gives into a function that took it from the one around it: Triton reads it there."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
        if namespace.given_as(name):
            cell.cell_contents = _constexpr(namespace[name])


def functions_in(value: Any) -> Iterator[Any]:
    """Jit functions that a value is or holds: constexprs, tuples, and classes with jit methods."""
    value = unwrap_constexpr(value)
    if hasattr(value, "__globals__") and hasattr(value, "fn"):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value[:64]:
            yield from functions_in(item)
    elif isinstance(value, type) and getattr(value, "__module__", "").startswith("_mutlint_"):
        for member in vars(value).values():
            if isinstance(member, (staticmethod, classmethod)):
                member = member.__func__
            if hasattr(member, "__globals__") and hasattr(member, "fn"):
                yield member
