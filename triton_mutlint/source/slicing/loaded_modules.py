"""The modules of a run: real ones, sliced ones and stand-ins, each made once."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from triton_mutlint.process.inputs import spoil
from triton_mutlint.source.finder import Finder, ModulePlace, is_real
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.slicing.module_text import ModuleText
from triton_mutlint.source.slicing.namespace import Namespace
from triton_mutlint.source.slicing.sandbox import Session, safe_builtins
from triton_mutlint.source.slicing.scopes import Scope
from triton_mutlint.source.slicing.spaces import Surroundings, is_there, node_of
from triton_mutlint.source.slicing.stubs import StandIns
from triton_mutlint.source.slicing.tracing import is_traced_module
from triton_mutlint.source.torch_facts import known_facts
from triton_mutlint.types import SourceFile, StageError, parse_source

_MAX_BYTES = 8 << 20
_import_really = importlib.import_module  # while sliced code runs, its name means another function


class Modules:
    """Everything that one run has loaded, and the ways to import more.

    `given` are values for names that files cannot give; `backend` and `arch` the target's; `stubs` the
    modules to stand in for although their source is at hand, each with all that is below it.
    """

    def __init__(self, given: Mapping[str, object], backend: str, arch: str, stubs: tuple[str, ...] = ()) -> None:
        self._stubs = stubs
        self.finder = Finder()
        session = Session(backend, arch, self._import_module, _inspecting())
        facts = {**known_facts(backend, arch), "pytest.importorskip": self._import_module}
        self.stand_ins = StandIns(given, facts, backend, session)
        builtins = safe_builtins(self._import)
        self.shared = Surroundings(dict(given), session, self.stand_ins, builtins, self.find, self._adopt)
        self._sliced: dict[str, Namespace] = {}  # by path
        self._broken: set[str] = set()
        self._names: dict[tuple[Path, str], tuple[ModuleType, Path | None]] = {}

    def _import_module(self, name: str, package: str | None = None, **options: object) -> ModuleType:
        """The module of that name, for the sliced code that calls this."""
        caller = sys._getframe(1).f_globals
        if not isinstance(caller, Namespace):
            return _import_really(name, package)
        level = len(name) - len(name.lstrip("."))
        return self._import(name[level:], caller, None, ("",), level)

    def linted(self, source: SourceFile) -> Namespace:
        """The names of a file that is linted: shared with its importers while the text is the same."""
        path, text = source.path, source.text
        known = self._sliced.get(str(path))
        if known is None or known.module.text != text:
            known = self._add(path, text, source.tree)
        known.module.linted = True
        return known

    def _add(self, path: Path, text: str, tree: ast.Module) -> Namespace:
        module = ModuleText(ModulePlace(path, self.finder.folders), text, tree)
        self._sliced[str(path)] = Namespace(module, self.shared, Scope(tree.body))
        return self._sliced[str(path)]

    def _adopt(self) -> None:
        """Let each module see what linted code has bound to its attributes."""
        for namespace in [*self._sliced.values()]:
            namespace.adopt()

    def at(self, path: Path) -> ModuleType:
        """The module in `path` (a folder, for a namespace package), or a stand-in if it cannot be read."""
        name = str(path)
        if name not in self._sliced and name not in self._broken:
            try:
                is_read = not path.is_dir() and os.path.getsize(path) < _MAX_BYTES  # noqa: PTH202
                text = read_source(path, name) if is_read else ""
                self._add(path, text, parse_source(text, name, name))
            except StageError:
                self._broken.add(name)
        if name in self._broken:
            return self.stand_ins.module(ModulePlace(path).dotted)
        return self._sliced[name].proxy

    def sources(self, module: ModuleText) -> tuple[Path, ...]:
        """The file and every file whose text took part in loading it, itself first."""
        found: dict[Path, ModuleText] = {}
        work = [module]
        while work:
            current = work.pop()
            if current.path not in found:
                found[current.path] = current
                asked = (self._sliced.get(str(path)) for path in sorted(current.place.asked))
                work.extend(namespace.module for namespace in asked if namespace is not None)
        return tuple(m.path for m in found.values() if m.tree.body or m is module)

    def module(self, name: str, place: ModulePlace) -> ModuleType:
        """The module that `import name` means in a file at `place`; a stand-in if there is none."""
        key = (place.folder, name)
        if key not in self._names:
            self._names[key] = self._module(name, place)
        module, path = self._names[key]
        if path is not None:
            place.asked.add(path)
        return module

    def _module(self, name: str, place: ModulePlace) -> tuple[ModuleType, Path | None]:
        """The module, and the file that it is read from."""
        if not self._is_stub(name):
            if name == "__future__" or is_real(name):
                if not is_traced_module(name):
                    spoil()
                with contextlib.suppress(Exception):  # an absent submodule, or one that needs torch or a device
                    return _import_really(name), None
            elif (path := self.finder.source(name, place)) is not None:
                return self.at(path), path
        return self.stand_ins.module(name), None

    def _is_stub(self, name: str) -> bool:
        return any(name == stub or name.startswith(f"{stub}.") for stub in self._stubs)

    def find(self, name: str, level: int, place: ModulePlace) -> ModuleType:
        """The module that an import statement of a file at `place` names; a stand-in if there is none."""
        if not level:
            return self.module(name, place)
        path = self.finder.relative(name, level, place)
        if path is None:
            package = ".".join(place.dotted.split(".")[:-level])
            return self.stand_ins.module(f"{package}.{name}" if package else name)
        if self._stubs and self._is_stub(dotted := ModulePlace(path).dotted):
            return self.stand_ins.module(dotted)
        place.asked.add(path)
        return self.at(path)

    def _import(
        self,
        name: str,
        globals_: Mapping[str, Any] | None = None,
        locals_: object = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """`__import__` for sliced code: import statements inside the functions it runs."""
        if not isinstance(globals_, Namespace):
            return importlib.__import__(name, globals_, None, fromlist or (), level)
        place = globals_.module.place
        module = self.find(name, level, place)
        if level:
            return module
        if not is_there(module):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return module if fromlist else self.module(name.partition(".")[0], place)


def _inspecting() -> ModuleType:
    """`inspect` as Triton uses it, with the source lines of sliced functions, whatever is on disk by then."""
    def lines(function: Any) -> tuple[list[str], int]:
        node = node_of(function)
        if node is None:
            return inspect.getsourcelines(function)
        first = function.__code__.co_firstlineno
        return function.__globals__.module.lines[first - 1 : node.end_lineno], first

    proxy = ModuleType("inspect")
    proxy.__dict__.update(vars(inspect), getsourcelines=lines, getsource=lambda function: "".join(lines(function)[0]))
    return proxy
