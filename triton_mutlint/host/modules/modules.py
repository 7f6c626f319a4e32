"""First-party Python files as syntax trees: what each name in them stands for, without running anything."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path

from triton_mutlint.host.modules.changes import Rebinding
from triton_mutlint.host.modules.module import Definition, External, HostModule, Import, Resolved, imports
from triton_mutlint.source.discover import display_path
from triton_mutlint.source.finder import Finder, ModulePlace, is_real, is_stood_in
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.walking import dotted, walk
from triton_mutlint.types import SourceFile, StageError

_DEPTH = 12  # names that stand for names, at most


# An attribute of what has a name gets a new value (`m.FLAG = 1`).
_SET = re.compile(r"^[ \t]*(?!self\.|cls\.)\w+\.(\w+)[ \t]*[-+*/|&]?=(?!=)", re.MULTILINE)


_REGISTERS = re.compile(r"regist|custom_op|triton_op|infer_schema|^define$|^impl$|^Library$|_ops?$")
_COMPUTED = ("setattr(", "__dict__", "vars(")  # what may give a name a new value that is not written beside it


def may_set(text: str) -> bool:
    """Whether code may give names of other modules new values."""
    return any(sign in text for sign in _COMPUTED) or _SET.search(text) is not None


class HostModules:
    """The first-party files of one run; each is read and parsed once."""

    def __init__(self, cwd: Path, known: Mapping[Path, SourceFile] | None = None,
                 registrars: Collection[str] = ()) -> None:
        """`known` gives the files that were read already, by path; `registrars` are the names of what registers ops."""
        self._cwd, self._known, self._registrars = cwd, known or {}, registrars
        self._registering: dict[ast.AST, bool] = {}  # whether code may register ops
        self._finder = Finder()
        self._modules: dict[Path, HostModule | None] = {}
        self._set = {name for source in self._known.values() for name in _SET.findall(source.text)}
        self._setting = [(source, any(sign in source.text for sign in _COMPUTED))
                         for source in self._known.values() if may_set(source.text)]
        self._naming: dict[str, list[tuple[SourceFile, bool]]] = {}  # those of them that name a file or folder
        self._owners: dict[tuple[Path, tuple[str, ...], ast.stmt], list[Resolved]] = {}
        self._where: dict[str, tuple[int, dict[str, list[HostModule]]]] = {}

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
        elsewhere = self._having("changed_elsewhere")
        return bool(names & module.changed) or any(
            other is not module for name in names for other in elsewhere.get(name, ()))

    def _having(self, names: str) -> Mapping[str, list[HostModule]]:
        """By name, the files read so far that have it among the `names` of this kind."""
        done, found = self._where.get(names, (0, {}))
        for module in filter(None, islice(self._modules.values(), done, None)):
            for name in getattr(module, names):
                found.setdefault(name, []).append(module)
        self._where[names] = len(self._modules), found
        return found

    def is_rebound(self, names: frozenset[str]) -> bool:
        """Whether a file, of those linted or read, gives a variable of another module one of `names` a new value."""
        return not names.isdisjoint(self._set)

    def setters(self, of: HostModule | Definition, name: str) -> Iterator[tuple[HostModule, Rebinding]]:
        """What gives a top-level name of a file, or an attribute of a class, a new value, in any file of the run."""
        module = of if isinstance(of, HostModule) else of.module
        asked = {name, ""}
        told = f".{name}" in module.text or any(sign in module.text for sign in ("global", *_COMPUTED))
        for store in module.stores if told else ():
            if store.name in asked and (self._is_of(of, module, store) if store.owner else of is module):
                yield module, store
        own = module.path.parent.name if module.place.is_package else module.path.stem
        if own not in self._naming:
            self._naming[own] = [(source, computed) for source, computed in self._setting if own in source.text]
        for source, computed in self._naming[own]:
            other = self.module(source.path) if computed or f".{name}" in source.text else None
            if other is not None and other is not module:
                yield from ((other, store) for store in other.stores if store.owner and store.name in asked
                            and self._is_of(of, other, store))

    def _is_of(self, of: HostModule | Definition, other: HostModule, store: Rebinding) -> bool:
        """Whether what a name of is set in `other` is that file or class."""
        key = (other.path, store.owner, store.unit)
        if key not in self._owners:
            self._owners[key] = [*self._owned(other, store)]
        wanted = getattr(of, "node", of)
        return any(getattr(one, "node", one) is wanted for one in self._owners[key])

    def _owned(self, other: HostModule, store: Rebinding) -> Iterator[Resolved]:
        """What a name of is set."""
        first, *rest = store.owner
        yield from self.resolve(other, store.owner)
        for node in walk(store.unit):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for name, bound in self.imported(other, node):
                    if name == first:
                        yield from (r for one in bound for r in self.members(one, tuple(rest)))

    def is_field_changed(self, name: str) -> bool:
        """Whether code of the files that were read changes in place what an attribute of that name holds."""
        return name in self._having("changed_fields")

    def is_field_given(self, name: str) -> bool:
        """Whether code of the files that were read gives objects an attribute of that name after they were made."""
        given = self._having("given_fields")
        return name in given or "" in given

    def _read(self, path: Path) -> HostModule | None:
        place = ModulePlace(path, self._finder.folders)
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

    # ------------------------------------------------------------------ what registers ops

    def registers(self, node: ast.AST, module: HostModule) -> bool:
        """Whether code of `module` may register ops, by what it calls and what those functions of its file call."""
        if node not in self._registering:
            self._registering[node] = False  # until known: functions that call each other
            self._registering[node] = any(True for _ in self.registering(node, module))
        return self._registering[node]

    def registering(self, node: ast.AST, module: HostModule) -> Iterator[ast.expr | None]:
        """What in code of `module` is called, or stands for a default, and may register ops."""
        for inner in walk(node):
            named = [inner.func] if isinstance(inner, ast.Call) else list(getattr(inner, "decorator_list", ()))
            given = (*inner.defaults, *inner.kw_defaults) if isinstance(inner, ast.arguments) else ()
            yield from (one for one in named if self._is_registrar(one))
            yield from (one for one in (*named, *given) if any(self.registers(n, module) for n in module.defined(one)))

    def _is_registrar(self, callee: ast.expr) -> bool:
        while isinstance(callee, ast.Call):
            callee = callee.func
        name = callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")
        return self.names_registrar(name)

    def names_registrar(self, name: str) -> bool:
        """Whether a name is, or sounds like, that of a function that registers ops."""
        return name in self._registrars or _REGISTERS.search(name) is not None

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
        for name, bound in imports(node):
            yield name, self._follow(module, bound, 0)

    def members(self, value: Resolved, names: tuple[str, ...], depth: int = 0) -> list[Resolved]:
        """What `value.a.b` may stand for; attributes of definitions are unknown ([])."""
        values = [value]
        for i, name in enumerate(names):
            found: list[Resolved] = []
            for owner in values:
                if isinstance(owner, External):
                    return [External(".".join([owner.name, *names[i:]]))]
                if isinstance(owner, HostModule):
                    found.extend(self._bound(owner, name, depth + 1, True) or self._submodule(owner, name))
            values = found
        return values

    def _bound(self, module: HostModule, name: str, depth: int, settled: bool = False) -> list[Resolved]:
        if depth > _DEPTH:
            return []
        found: list[Resolved] = []
        for bound in (module.settled if settled else module.bindings).get(name, ()):
            if isinstance(bound, Import):
                found.extend(self._follow(module, bound, depth + 1))
            elif isinstance(bound, Definition):
                found.extend(self._aliased(bound, depth + 1))
        if not found:
            for star in module.stars:
                for source in self._module_of(module, star):
                    if isinstance(source, HostModule) and source is not module:
                        found.extend(self._bound(source, name, depth + 1))
        return found

    def outside(self, module: HostModule) -> list[External]:
        """The modules outside the project whose names a file imports by `*`."""
        return [of for star in module.stars for of in self._module_of(module, star) if isinstance(of, External)]

    def _aliased(self, bound: Definition, depth: int) -> list[Resolved]:
        """`k = other` and `k = mod.other` stand for what the right side does."""
        chain = dotted(bound.node) if isinstance(bound.node, ast.expr) and not bound.index else ()
        if not chain or not bound.module.names_of(bound.node).isdisjoint(bound.module.given_by_functions):
            return [bound]
        return self.resolve(bound.module, chain, depth) or [bound]

    def _follow(self, module: HostModule, bound: Import, depth: int) -> list[Resolved]:
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

    def _module_of(self, module: HostModule, bound: Import) -> list[Resolved]:
        if bound.level:
            path = self._finder.relative(bound.module, bound.level, module.place)
        elif is_real(bound.module) or is_stood_in(bound.module):
            return [External(bound.module)]
        else:
            path = self._finder.absolute(bound.module, module.place)
        found = self.module(path) if path is not None else None
        return [found] if found is not None else [External(bound.module)]


_FOLDER = Path(__file__).parents[1] / "library"
FOLLOWED = "<python>", "<python trees>"  # in place of files


@lru_cache(maxsize=1)
def _in_python_modules() -> tuple[HostModule, ...]:
    made = []
    for name, display in zip(("in_python.py", "trees_in_python.py"), FOLLOWED, strict=True):
        path = _FOLDER / name
        text = path.read_text(encoding="utf-8")
        made.append(HostModule(path, display, text, ast.parse(text), ModulePlace(path, Finder().folders)))
    return tuple(made)


def in_python(name: str) -> tuple[HostModule, ast.FunctionDef | ast.ClassDef] | None:
    """What a full dotted name stands for, if it is one of them, and where that is written."""
    return _defined().get(name.replace(".", "_"))


@lru_cache(maxsize=1)
def _defined() -> dict[str, tuple[HostModule, ast.FunctionDef | ast.ClassDef]]:
    return {node.name: (module, node) for module in _in_python_modules() for node in module.tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
