"""First-party Python files as syntax trees: what each name in them stands for, without running anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from triton_mutlint.source.discover import display_path
from triton_mutlint.source.finder import Finder, Place, is_real, is_stood_in
from triton_mutlint.source.names import may_be_jit
from triton_mutlint.source.text import read_source
from triton_mutlint.source.walking import dotted, walk
from triton_mutlint.types import SourceFile, StageError

_DEPTH = 12  # names that stand for names, at most


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
class _Import:
    """`import a.b` (name ""), `import a.b as c`, `from a import b`; `level` counts the dots."""

    module: str
    name: str
    level: int


class HostModule:
    """One file: its tree and what binds its top-level names."""

    def __init__(self, path: Path, display: str, text: str, tree: ast.Module, place: Place) -> None:
        self.path, self.display, self.text, self.tree, self.place = path, display, text, tree, place

    @cached_property
    def bindings(self) -> Mapping[str, list[object]]:
        """Top-level name → what may bind it, in order: definitions and imports, inside `if` and `try` too."""
        found: dict[str, list[object]] = {}
        for name, bound in _bindings(self, self.tree.body):
            found.setdefault(name, []).append(bound)
        return found

    @cached_property
    def settled(self) -> Mapping[str, list[object]]:
        """The same once the file was imported: without what a later binding always replaces (`f = triton.jit(f)`)."""
        found = dict(self.bindings)
        found.update((name, found[name][at:]) for name, at in _replaced(self).items())
        return found

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names bound otherwise than by plain assignment: in a function by `global`, by `+=`, by a loop, ..."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Global)) if "global " in self.text else ()
        return frozenset(name for node in nodes for name in node.names) | frozenset(_otherwise(self.tree.body))

    def is_decorated_kernel(self, node: ast.FunctionDef) -> bool:
        """Whether a `def` at the top level of the file makes a jit function by its own decorator."""
        return may_be_jit(node) and any(
            isinstance(bound, Definition) and bound.node is node for bound in self.bindings.get(node.name, ()))

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names of what code of the file changes in place: `NAME[k] = v`, `NAME.x = v`, `NAME.append(v)`, `f(NAME)`."""
        return frozenset(_changed(self.tree))

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
        imported = {name for name, several in self.bindings.items() if any(isinstance(b, _Import) for b in several)}
        return frozenset(part for first, *rest in _changed_paths(self.tree) if first in imported
                         for part in (rest[:1] or [first]))

    @cached_property
    def changed_fields(self) -> frozenset[str]:
        """Names of attributes that hold what code of the file changes in place: `self.x[k] = v`, `o.x.append(v)`."""
        return frozenset(name for _, *rest in _changed_paths(self.tree) for name in rest)

    @cached_property
    def given_fields(self) -> frozenset[str]:
        """Names of attributes that code of the file gives to objects other than in their constructors."""
        return frozenset(_given_fields(self.tree))

    @cached_property
    def nonlocals(self) -> frozenset[str]:
        """Names that a function gives anew for the function around it."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Nonlocal))
        return frozenset(name for node in nodes for name in node.names) if "nonlocal " in self.text else frozenset()

    @cached_property
    def stars(self) -> tuple[_Import, ...]:
        """Modules whose names are imported by `*`."""
        return () if "import *" not in self.text else tuple(
            _Import(node.module or "", "*", node.level)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        )


Resolved = HostModule | Definition | External


# An attribute of what has a name gets a new value (`m.FLAG = 1`).
_SET = re.compile(r"^[ \t]*(?!self\.|cls\.)\w+\.(\w+)[ \t]*[-+*/|&]?=(?!=)", re.MULTILINE)


class HostModules:
    """The first-party files of one run; each is read and parsed once."""

    def __init__(self, cwd: Path, known: Mapping[Path, SourceFile] | None = None) -> None:
        """`known` gives the files that were read already, by path."""
        self._cwd, self._known = cwd, known or {}
        self._finder = Finder()
        self._modules: dict[Path, HostModule | None] = {}
        self._set = {name for source in self._known.values() for name in _SET.findall(source.text)}

    def module(self, path: Path) -> HostModule | None:
        """The file at `path`; None where it cannot be read or parsed."""
        if path not in self._modules:
            module = self._modules[path] = self._read(path)
            if module is not None and path not in self._known:
                self._set.update(_SET.findall(module.text))
        return self._modules[path]

    def read_imports(self, module: HostModule) -> None:
        """Read the files that `module` imports: they may change what others hold."""
        for node in module.tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for _ in self.imported(module, node):
                    pass

    def is_changed(self, module: HostModule, names: frozenset[str]) -> bool:
        """Whether code of the files that were read changes in place what `names` at the top of `module` stand for."""
        return bool(names & module.changed) or any(
            other is not None and other is not module and names & other.changed_elsewhere
            for other in self._modules.values())

    def is_rebound(self, names: frozenset[str]) -> bool:
        """Whether a file, of those linted or read, gives a variable of another module one of `names` a new value."""
        return not names.isdisjoint(self._set)

    def is_field_changed(self, name: str) -> bool:
        """Whether code of the files that were read changes in place what an attribute of that name holds."""
        return any(module is not None and name in module.changed_fields for module in self._modules.values())

    def is_field_given(self, name: str) -> bool:
        """Whether code of the files that were read gives objects an attribute of that name after they were made."""
        return any(module is not None and name in module.given_fields for module in self._modules.values())

    def _read(self, path: Path) -> HostModule | None:
        place = Place(path, self._finder.folders)
        if path.is_dir():  # a namespace package
            return HostModule(path, display_path(path, self._cwd), "", ast.Module([], []), place)
        try:
            source = self._known.get(path)
            if source is None:
                display = display_path(path, self._cwd)
                source = SourceFile(path, display, read_source(path, display))
            return HostModule(path, source.display, source.text, source.tree, place)
        except StageError:
            return None

    # ------------------------------------------------------------------ names

    def resolve(self, module: HostModule, chain: tuple[str, ...], depth: int = 0,
                settled: bool = False) -> list[Resolved]:
        """What `a.b.c`, read at the top level of `module`, may stand for; [] where nothing binds it.

        Assigned names (`k = other`) stay a `Definition` of the assigned expression unless that is
        itself a plain name, which is followed. `settled` asks for what it stands for after the import.
        """
        found: list[Resolved] = []
        for bound in self._bound(module, chain[0], depth, settled):
            found.extend(self.members(bound, chain[1:], depth))
        return list({id(r) if not isinstance(r, External) else r: r for r in found}.values())

    def imported(self, module: HostModule, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, list[Resolved]]]:
        """The names that an import statement binds, wherever in `module` it stands, and what they stand for."""
        for name, bound in _imports(node):
            yield name, self._follow(module, bound, 0)

    def members(self, value: Resolved, names: tuple[str, ...], depth: int = 0) -> list[Resolved]:
        """What `value.a.b` may stand for; attributes of definitions other than classes are unknown ([])."""
        values = [value]
        for i, name in enumerate(names):
            found: list[Resolved] = []
            for owner in values:
                if isinstance(owner, External):
                    return [External(".".join([owner.name, *names[i:]]))]
                if isinstance(owner, HostModule):
                    found.extend(self._bound(owner, name, depth + 1, True) or self._submodule(owner, name))
                elif isinstance(owner.node, ast.ClassDef):
                    found.extend(Definition(owner.module, bound) for bound in _class_members(owner.node, name))
            values = found
        return values

    def _bound(self, module: HostModule, name: str, depth: int, settled: bool = False) -> list[Resolved]:
        if depth > _DEPTH:
            return []
        found: list[Resolved] = []
        for bound in (module.settled if settled else module.bindings).get(name, ()):
            if isinstance(bound, _Import):
                found.extend(self._follow(module, bound, depth + 1))
            elif isinstance(bound, Definition):
                found.extend(self._aliased(bound, depth + 1))
        if not found:
            for star in module.stars:
                for source in self._module_of(module, star):
                    if isinstance(source, HostModule) and source is not module:
                        found.extend(self._bound(source, name, depth + 1))
        return found

    def _aliased(self, bound: Definition, depth: int) -> list[Resolved]:
        """`k = other` and `k = mod.other` stand for what the right side does."""
        chain = dotted(bound.node) if isinstance(bound.node, ast.expr) and not bound.index else ()
        if not chain:
            return [bound]
        return self.resolve(bound.module, chain, depth) or [bound]

    def _follow(self, module: HostModule, bound: _Import, depth: int) -> list[Resolved]:
        owners = self._module_of(module, bound)
        if not bound.name:
            return owners
        found: list[Resolved] = []
        for owner in owners:
            if isinstance(owner, External):
                found.append(External(f"{owner.name}.{bound.name}"))
            elif isinstance(owner, HostModule):
                found.extend(self._bound(owner, bound.name, depth + 1, True) or self._submodule(owner, bound.name))
        return found or [External(".".join(filter(None, (bound.module, bound.name))))]

    def _submodule(self, owner: HostModule, name: str) -> list[Resolved]:
        if not owner.place.is_package:
            return []
        path = self._finder.below(owner.place.folder, name)
        found = self.module(path) if path is not None else None
        return [found] if found is not None else []

    def _module_of(self, module: HostModule, bound: _Import) -> list[Resolved]:
        if bound.level:
            path = self._finder.relative(bound.module, bound.level, module.place)
        elif is_real(bound.module) or is_stood_in(bound.module):
            return [External(bound.module)]
        else:
            path = self._finder.absolute(bound.module, module.place)
        found = self.module(path) if path is not None else None
        return [found] if found is not None else [External(bound.module)]


def _bindings(module: HostModule, body: list[ast.stmt]) -> Iterator[tuple[str, object]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, Definition(module, node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node)
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


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, _Import]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                yield alias.asname, _Import(alias.name, "", 0)
            else:
                top = alias.name.partition(".")[0]
                yield top, _Import(top, "", 0)
        return
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name, _Import(node.module or "", alias.name, node.level)


_CHANGES = frozenset({
    "append", "extend", "insert", "update", "setdefault", "pop", "popitem", "clear", "remove", "add", "discard", "sort",
    "reverse", "appendleft", "extendleft", "__setitem__", "register",
})  # fmt: skip


def _otherwise(body: list[ast.stmt]) -> Iterator[str]:
    """Names that module-level code binds by `+=`, in loops, `with` and `del`, and by `:=`."""
    for node in body:
        targets: list[ast.expr] = []
        if isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            targets = [node.target]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        elif isinstance(node, ast.Delete):
            targets = node.targets
        yield from (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from _otherwise(getattr(node, block, []) if not isinstance(node, ast.Expr) else [])
        for handler in getattr(node, "handlers", ()):
            yield from _otherwise(handler.body)


def _changed(tree: ast.Module) -> Iterator[str]:
    yield from (path[0] for path in _changed_paths(tree))
    for statement in tree.body:  # `fill(TABLE)`
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            given = (*statement.value.args, *(k.value for k in statement.value.keywords))
            yield from (value.id for value in given if isinstance(value, ast.Name))


def _changed_paths(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """`a.b[k] = v` as ("a", "b"): the names in which something is changed."""
    for node in walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            targets = [node.func]
        for target in targets:
            if not isinstance(target, (ast.Attribute, ast.Subscript)):
                continue
            owner = target.value
            names: list[str] = []
            while isinstance(owner, (ast.Attribute, ast.Subscript)):
                names = [owner.attr, *names] if isinstance(owner, ast.Attribute) else []
                owner = owner.value
            if isinstance(owner, ast.Name):
                yield (owner.id, *names)


def _given_fields(node: ast.AST) -> Iterator[str]:
    """`o.x = v` anywhere but in constructors."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.FunctionDef) and inner.name in ("__init__", "__post_init__", "__new__"):
            continue
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield inner.attr
        yield from _given_fields(inner)


def _class_members(node: ast.ClassDef, name: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.expr]:
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
            yield statement
        elif isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in statement.targets
        ):
            yield statement.value
