"""One first-party Python file: its tree, and what binds its top-level names."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from triton_mutlint.host.modules.changes import Rebinding, changed_paths, filled, given_fields, otherwise, stores
from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.function_text import may_be_jit
from triton_mutlint.source.walking import own_nodes

HostFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class External:
    """Something outside the first-party files, by its full dotted name (`torch.library.custom_op`)."""

    name: str


@dataclass(frozen=True, eq=False)
class Definition:
    """A `def`, a `class`, or the value of an assignment (`node`), in the module that holds it.

    `index` are the positions to take from the value, where a tuple was unpacked.
    """

    module: HostModule
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr
    index: tuple[int, ...] = ()


@dataclass(frozen=True)
class Import:
    """`import a.b` (name ""), `import a.b as c`, `from a import b`; `level` counts the dots."""

    module: str
    name: str
    level: int


class HostModule:
    """One file: its tree and what binds its top-level names."""

    def __init__(self, path: Path, display: str, text: str, tree: ast.Module, place: ModulePlace) -> None:
        self.path, self.display, self.text, self.tree, self.place = path, display, text, tree, place

    @cached_property
    def bindings(self) -> Mapping[str, list[object]]:
        """Top-level name → what may bind it, in order: definitions and imports, inside `if` and `try` too."""
        found: dict[str, list[object]] = {}
        for name, bound in _bindings(self, self.tree.body):
            found.setdefault(name, []).append(bound)
        return found

    def defined(self, node: ast.expr | None) -> list[ast.AST]:
        """The functions and classes of the file that a name stands for."""
        bound = self.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return [b.node for b in bound if isinstance(b, Definition) and not isinstance(b.node, ast.expr)]

    @cached_property
    def settled(self) -> Mapping[str, list[object]]:
        """The same once the file was imported: without what a later binding always replaces (`f = triton.jit(f)`)."""
        found = dict(self.bindings)
        found.update((name, found[name][at:]) for name, at in _replaced(self).items())
        return found

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names bound otherwise than by plain assignment: in a function by `global`, by `+=`, by a loop, ..."""
        return self.given_by_functions | frozenset(otherwise(self.tree.body))

    @cached_property
    def given_by_functions(self) -> frozenset[str]:
        """Names that a function gives a new value by `global`."""
        if "global" not in self.text:
            return frozenset()
        return frozenset(store.name for store in self.stores if not store.owner and store.name)

    @cached_property
    def has_later_annotations(self) -> bool:
        """Whether annotations are texts."""
        return any(isinstance(node, ast.ImportFrom) and node.module == "__future__"
                   and any(alias.name == "annotations" for alias in node.names) for node in self.tree.body)

    @cached_property
    def stores(self) -> tuple[Rebinding, ...]:
        """What gives top-level names of this file, or of others, a new value."""
        return tuple(stores(self.tree))

    def is_decorated_kernel(self, node: ast.FunctionDef) -> bool:
        """Whether a `def` at the top level of the file makes a jit function by its own decorator."""
        return may_be_jit(node) and any(
            isinstance(bound, Definition) and bound.node is node for bound in self.bindings.get(node.name, ()))

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of what code of the file changes in place: `NAME[k] = v`, `NAME.x = v`, `NAME.append(v)`, `f(NAME)`."""
        return frozenset((*(path[0] for path in self._changed_paths), *filled(self.tree)))

    @cached_property
    def _changed_paths(self) -> tuple[tuple[str, ...], ...]:
        return tuple(changed_paths(self.tree))

    def names_of(self, node: ast.AST) -> frozenset[str]:
        """The top-level names that an expression is assigned to."""
        return self._names_by_node.get(id(node), frozenset())

    @cached_property
    def _names_by_node(self) -> Mapping[int, frozenset[str]]:
        found: dict[int, set[str]] = {}
        for name, several in self.bindings.items():
            for bound in several:
                if isinstance(bound, Definition):
                    found.setdefault(id(bound.node), set()).add(name)
        return {key: frozenset(names) for key, names in found.items()}

    @cached_property
    def changed_elsewhere(self) -> frozenset[str]:
        """Names of what the file imports and changes in place: `NAME[k] = v` of another file, `mod.NAME.x = v`."""
        imported = {name for name, several in self.bindings.items() if any(isinstance(b, Import) for b in several)}
        return frozenset(part for first, *rest in self._changed_paths if first in imported
                         for part in (rest[:1] or [first]))

    @cached_property
    def changed_fields(self) -> frozenset[str]:
        """Names of attributes that hold what code of the file changes in place: `self.x[k] = v`, `o.x.append(v)`."""
        return frozenset(name for _, *rest in self._changed_paths for name in rest)

    @cached_property
    def given_fields(self) -> frozenset[str]:
        """Names of attributes that code of the file gives to objects other than in their constructors."""
        return frozenset(given_fields(self.tree))

    @cached_property
    def nonlocals(self) -> frozenset[str]:
        """Names that a function gives anew for the function around it."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Nonlocal))
        return frozenset(name for node in nodes for name in node.names) if "nonlocal " in self.text else frozenset()

    @cached_property
    def stars(self) -> tuple[Import, ...]:
        """Modules whose names are imported by `*`."""
        return () if "import *" not in self.text else tuple(
            Import(node.module or "", "*", node.level)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        )



Resolved = HostModule | Definition | External


def _bindings(module: HostModule, body: list[ast.stmt]) -> Iterator[tuple[str, object]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, Definition(module, node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from imports(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _assigned(module, target, node.value, ())
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _assigned(module, node.target, node.value, ())
        for block in ("body", "orelse", "handlers", "finalbody"):
            inner = getattr(node, block, None)
            if isinstance(inner, list) and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                for part in inner:
                    yield from _bindings(module, part.body if isinstance(part, ast.ExceptHandler) else [part])


def _replaced(module: HostModule) -> Mapping[str, int]:
    """By name, how many of its bindings a later one replaces, at the top level and under no condition.

    Nothing is imported in between: no other file may have taken the earlier value.
    """
    counts: dict[str, int] = {}
    taken: dict[str, int] = {}  # how many there were at the last import
    found: dict[str, int] = {}
    for node in module.tree.body:
        certain = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign))
        if not certain and any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in ast.walk(node)):
            taken = dict(counts)
        for name, _ in _bindings(module, [node]):
            if certain and counts.get(name, 0) and not taken.get(name, 0):
                found[name] = counts[name]
            counts[name] = counts.get(name, 0) + 1
    return found


def _assigned(
    module: HostModule, target: ast.expr, value: ast.expr, index: tuple[int, ...]
) -> Iterator[tuple[str, object]]:
    if isinstance(target, ast.Name):
        yield target.id, Definition(module, value, index)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for i, element in enumerate(target.elts):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) and not index:
                yield from _assigned(module, element, value.elts[i], ())
            else:
                yield from _assigned(module, element, value, (*index, i))


def imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Import]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, Import(alias.name, "", 0)
            else:
                top = alias.name.partition(".")[0]
                yield top, Import(top, "", 0)
        return
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name, Import(node.module or "", alias.name, node.level)


@lru_cache(maxsize=4096)
def yields(function: HostFunction) -> bool:
    """Whether calling a function makes a generator."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))
