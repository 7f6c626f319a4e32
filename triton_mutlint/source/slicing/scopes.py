"""What the text of a body says of its names: the statements that bind them, and what a statement may change."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property

from triton_mutlint.source.finder import is_stood_in
from triton_mutlint.source.slicing.statement_text import (
    ASSIGNING,
    DEFINITIONS,
    GLOBAL,
    acting,
    altered,
    is_literal,
    keeps_something,
    mentioned,
    root_name,
    statements,
)
from triton_mutlint.source.walking import bound_in, walk

_CALLING = (*ASSIGNING, ast.Expr, *DEFINITIONS)  # change nothing but by what they call
OPEN = frozenset({"exec", "eval", "globals"})  # these reach every name
_BUILTINS = frozenset(vars(builtins)) - OPEN - {"setattr", "delattr", "next", "map", "filter", "iter"}


@dataclass(frozen=True, eq=False)
class Binding:
    """A statement that binds a name; `alias` is what of an import does.

    Where it `is_late`, it would be run at once if its names were asked for, after the statements in `first`.
    """

    node: ast.stmt
    alias: ast.alias | None = None
    first: tuple[ast.stmt, ...] = ()
    is_late: bool = False

    @property
    def module(self) -> str:
        """The module that an import names."""
        assert self.alias is not None
        if isinstance(self.node, ast.ImportFrom):
            return "." * self.node.level + (self.node.module or "")
        return self.alias.name

    @property
    def is_triton(self) -> bool:
        """Whether it imports Triton or its language."""
        if self.alias is None:
            return False
        if isinstance(self.node, ast.Import) or self.alias.name == "triton":
            return "triton" in (self.alias.name.partition(".")[0], self.alias.name)
        return self.module.partition(".")[0] == "triton" and self.alias.name == "language"


def bound_by(alias: ast.alias, node: ast.Import | ast.ImportFrom) -> str:
    """The name that a part of an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


class Scope:
    """The statements of one body, in the order of the file."""

    def __init__(self, body: list[ast.stmt], outer: Scope | None = None) -> None:
        self.body, self.outer = body, outer
        self.by_name: dict[str, list[Binding]] = {}
        self.stars: list[ast.ImportFrom] = []
        for node in statements(body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(node)  # type: ignore[arg-type]  # no other import has one
                    else:
                        self.by_name.setdefault(bound_by(alias, node), []).append(Binding(node, alias))
            else:
                for name in bound_in(node):
                    self.by_name.setdefault(name, []).append(Binding(node))
        self._mentions: dict[str, frozenset[str]] = {}
        self._touched: dict[ast.stmt, Set[str]] = {}
        self._live: dict[str, bool] = {}

    def touched(self, node: ast.stmt) -> Set[str]:
        """The names whose values the statement may change."""
        if node not in self._touched:
            self._touched[node] = self._changed_by(node)
        names = self._touched[node]
        if OPEN.isdisjoint(names):
            return names
        return {name for name, bindings in self.by_name.items()
                if any(b.alias is None or self._is_changeable(b) for b in bindings)}

    def is_blind(self, node: ast.stmt) -> bool:
        """Whether the statement may bind any name of the body."""
        self.touched(node)
        return not OPEN.isdisjoint(self._touched[node])

    @cached_property
    def _environment(self) -> list[str]:
        """The names through which the environment is read, which any other module may change."""
        return [n for n, found in self.by_name.items() if any(b.alias is not None and b.module == "os" for b in found)]

    @cached_property
    def is_open(self) -> bool:
        """Whether a statement may bind names that the text does not show."""
        return any(map(self.is_blind, statements(self.body)))

    def is_changed(self, name: str, node: ast.stmt) -> bool:
        """Whether a statement other than `node`, which binds `name`, may change its value."""
        return any(name in self.touched(other) for other in statements(self.body) if other is not node)

    def reach(self, names: Iterable[str]) -> set[str]:
        """The names whose values those of `names` may hold, read or call."""
        reached: set[str] = set()
        work = list(names)
        while work:
            name = work.pop()
            if name not in reached:
                reached.add(name)
                if name not in self._mentions:
                    self._mentions[name] = self._mentioned_by(name)
                work.extend(self._mentions[name])
        return reached

    def _mentioned_by(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        for binding in self.by_name.get(name, ()):
            if binding.alias is not None:
                found.update(["@" + binding.module, *self._environment] if self._is_changeable(binding) else ())
            else:
                found.update(bound_in(binding.node))
                found.update(n for n in mentioned(binding.node)
                             if n in self.by_name or n in OPEN or n.startswith(GLOBAL))
        return frozenset(found)

    def _changed_by(self, node: ast.stmt) -> Set[str]:
        parts = list(acting(node))
        if not parts or (isinstance(node, _CALLING) and self._is_harmless(parts)):
            return set()
        own = [node] if getattr(node, "decorator_list", ()) else []  # a decorator may call what it is given
        reached = self.reach(name for part in (*parts, *own) for name in mentioned(part))
        found = {name for part in parts for name in altered(part) if name in self.by_name}
        found.update(name.removeprefix(GLOBAL) for name in reached if name.startswith(GLOBAL))
        return found.union(name for name in reached if name in OPEN or name.startswith("@")
                           or any(map(self._is_changeable, self.by_name.get(name, ()))))

    def _is_harmless(self, parts: list[ast.AST]) -> bool:
        """Whether nothing is changed in place, and nothing called but Python's own functions, Triton and stand-ins."""
        for node in (inner for part in parts for inner in walk(part)):
            if isinstance(node, ast.Call) and not self._calls_known(node):
                return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, (ast.NamedExpr, ast.Await)) or (isinstance(node, ast.Name) and self._is_live(node.id)):
                return False
        return True

    def _is_live(self, name: str) -> bool:
        """Whether a value may run code of the project when it is used: an instance, which a call gave, has methods,
        and the attributes of a class may be computed.
        """
        if name not in self._live:
            self._live[name] = False  # it may be computed from itself
            nodes = [b.node for b in self.by_name.get(name, ()) if isinstance(b.node, (*ASSIGNING, ast.ClassDef))]
            self._live[name] = any(not self._is_harmless([*acting(node)]) for node in nodes)
        return self._live[name]

    def _calls_known(self, call: ast.Call) -> bool:
        root = root_name(call)
        bindings = self._binders(root)
        if not bindings:  # Python's own: but for a key, those that call what they are given are not in the list
            is_setter = isinstance(call.func, ast.Attribute) and call.func.attr.startswith("__")
            return root in _BUILTINS and not is_setter and not any(k.arg == "key" for k in call.keywords)
        return all(_is_of_triton(binding) or (
            binding.alias is not None and is_stood_in(binding.module)
            and binding.module.partition(".")[0] not in sys.stdlib_module_names  # a thread pool runs what it is given
        ) for binding in bindings)

    def _is_changeable(self, binding: Binding) -> bool:
        """Whether anything could change the value: not a number, nor a plain function, nor what stands in."""
        node = binding.node
        if binding.alias is not None:
            return not (_is_of_triton(binding) or is_stood_in(binding.module))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            held = (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
            return node.name in self._opened or keeps_something(node) or any(
                root_name(part) != "triton" and not is_literal(part) for part in held)
        value = node.value if isinstance(node, ASSIGNING) else None
        return value is None or not is_literal(value)

    @cached_property
    def _opened(self) -> frozenset[str]:
        """The names whose attributes statements of the body look at, as `kernel.configs`, which may be changed then."""
        inner = (part for node in statements(self.body) if not isinstance(node, DEFINITIONS) for part in walk(node))
        return frozenset(p.value.id for p in inner if isinstance(p, ast.Attribute) and isinstance(p.value, ast.Name))

    def _binders(self, name: str) -> list[Binding]:
        """What binds a name, here or in the body around this one."""
        return self.by_name.get(name) or ([] if self.outer is None else self.outer._binders(name))


def _is_of_triton(binding: Binding) -> bool:
    return binding.alias is not None and binding.module.partition(".")[0] == "triton"
