"""Names that kernels read and that may hold something else at a launch than running their file gives.

A function that is called later may give a name of its file another value, or change it in place. Any other file may do
so as soon as it is imported. Neither is run, so both are looked for in the text; and what a name is computed from is
looked at as well as the name itself. What is computed from random numbers or the clock is another in each run.
"""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from triton_mutlint.source.changes import changes
from triton_mutlint.source.finder import ModulePlace, is_real
from triton_mutlint.source.python_text import read_source
from triton_mutlint.source.searching import walk as searched
from triton_mutlint.source.slicing.module_text import ModuleText
from triton_mutlint.source.slicing.spaces import Space, is_fixed, origin, space_of
from triton_mutlint.source.slicing.statement_text import DEFINITIONS, mentioned
from triton_mutlint.source.slicing.stubs import Missing
from triton_mutlint.source.walking import called, children, walk
from triton_mutlint.types import SourceFile, StageError, parse_source

_READING = frozenset({*dir(Mapping), "copy", "count", "index"})  # methods of containers that change nothing
_BUILTINS = (("id",), ("hash",))
_VARYING = re.compile(r"""
    (random|secrets|tempfile|numpy\.random)\.
    | uuid\.(uuid[14]|getnode)$
    | time\.(?!sleep$|strptime$|struct_time$)
    | (datetime\.)+(date\.)?(now|utcnow|today)$
    | os\.(urandom|getrandom|getpid|getppid|times|getloadavg)$
""", re.VERBOSE)
_Read = tuple[Any, str]  # a namespace or module, and a name in it


def unsettled_among(read: Iterable[_Read], own: SourceFile, decides: Callable[[Set[str]], bool]) -> frozenset[str]:
    """Those of the names that a kernel has `read` which may have another value at a launch.

    `own` is its file, and `decides` says whether the values of some names decide what is written.
    """
    found, others = set[str](), dict[str, list[Space]]()
    for home, name in read:
        space, value = _resolved(home, name)
        file = own if space is None else space.module
        if isinstance(value, Missing | ModuleType) or (space is not None and space.given_as(name)):
            continue
        if isinstance(home, ModuleType) and is_real(home.__name__):
            continue
        is_assumed = space is not None and space.owner is not None and _is_assumed(space, name)
        if is_assumed or _may_change(file, name, value):
            found.add(name)
        elif space is not None and not isinstance(value, FunctionType | type) and not hasattr(value, "fn"):
            others.setdefault(name, []).append(space)
    if others and decides(found | others.keys()):
        found.update(name for name, spaces in others.items() if any(
            _varies_from_run_to_run(space, name) or _is_set_elsewhere(name, space, own) for space in spaces))
    return frozenset(found)


def _resolved(home: Any, name: str) -> tuple[Space | None, Any]:
    """The names among which `name` stands, if they are those of sliced code, and its value."""
    home = getattr(home, "_namespace", home)
    space = space_of(home) if isinstance(home, ModuleType) else home.maps[-1] if isinstance(home, ChainMap) else home
    with suppress(Exception):  # stand-ins may raise anything
        value = getattr(home, name) if isinstance(home, ModuleType) else home[name]
        return (_around(space, name) if isinstance(space, Space) else None), value
    return None, None


def _around(space: Space, name: str) -> Space:
    while space.parent is not None and name not in space.scope.by_name and name not in space.assumed:
        space = space.parent
    return space


def _may_change(file: SourceFile | ModuleText, name: str, value: Any) -> bool:
    """Whether a function of a file gives a name of it another value, or changes the one that it has."""
    if not is_fixed(value) and not isinstance(value, type):
        return name in _changes(file.tree, True)[1]
    said = ("global ", "nonlocal ", f".{name}", f"'{name}'", f'"{name}"')  # the cheap test
    return any(text in file.text for text in said) and name in _changes(file.tree, True)[0]


# ----------------------------------------------------------------- what names are computed from


def _origins(space: Space, name: str, is_whole: bool = False) -> Iterator[tuple[Space, str]]:
    """What a name is computed from, itself first: names of this module and of those it imports."""
    pending, seen = [(space, name)], set[tuple[int, str]]()
    while pending:
        space, name = pending.pop()
        space = _around(space, name)
        if (id(space), name) in seen:
            continue
        seen.add((id(space), name))
        yield space, name
        for binding in space.scope.by_name.get(name, ()):
            if isinstance(binding.node, ast.ImportFrom) and binding.alias is not None:
                inner = space_of(origin(space, binding.node))
                if inner is not None and binding.alias.name in inner.scope.by_name:
                    pending.append((inner, binding.alias.name))
        for made in _makers(space, name, is_whole):
            pending.extend((space, other) for other in mentioned(made))
            for node in walk(made):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    module = dict.get(_around(space, node.value.id), node.value.id)
                    inner = space_of(module) if isinstance(module, ModuleType) else None
                    if inner is not None and node.attr in inner.scope.by_name:
                        pending.append((inner, node.attr))


def _makers(space: Space, name: str, is_whole: bool) -> Iterator[ast.AST]:
    """The statements that compute a name; where it `is_whole`, functions and the conditions over them too."""
    for binding in space.scope.by_name.get(name, ()):
        if isinstance(binding.node, ast.FunctionDef) and is_whole:
            yield binding.node
        elif not isinstance(binding.node, (ast.Import, ast.ImportFrom, *DEFINITIONS)):
            yield binding.node
            yield from _conditions(space.scope.body, binding.node) if is_whole else ()


def _varies_from_run_to_run(space: Space, name: str) -> bool:
    """Whether it is computed from what differs from run to run."""
    return any(_reads_varying(at, node) for at, one in _origins(space, name, True) for node in _makers(at, one, True))


def _reads_varying(space: Space, node: ast.AST) -> bool:
    """Whether a node mentions random numbers, the clock, the number of a process, addresses, or the like."""
    file = space.module.outline
    for inner in walk(node):
        chain = called(inner)  # type: ignore[arg-type]  # or no name
        if chain and chain[0] in file.imports and _VARYING.match(file.full(chain)):
            return True
        is_builtin = isinstance(inner, ast.Call) and chain in _BUILTINS
        if is_builtin and chain[0] not in _around(space, chain[0]).scope.by_name:
            return True
    return False


def _conditions(body: list[ast.stmt], node: ast.stmt) -> list[ast.expr]:
    """The conditions in a body that decide whether a statement in it is run."""
    for top in body:
        if top is not node and isinstance(top, ast.If | ast.Try | ast.With) and any(n is node for n in walk(top)):
            inner = [child for child in children(top) if isinstance(child, ast.stmt)]
            inner += [child for h in getattr(top, "handlers", ()) for child in h.body]
            return [*([top.test] if isinstance(top, ast.If) else []), *_conditions(inner, node)]
    return []


def _is_assumed(space: Space, name: str) -> bool:
    """Whether it depends on a parameter of the function around it, which another file may call with something else."""
    return any(one in at.assumed for at, one in _origins(space, name))


def _is_set_elsewhere(name: str, space: Space, own: SourceFile) -> bool:
    """Whether another file sets a name, or what it is computed from, or a function of its file changes the latter."""
    return any(_is_set_outside(one, at.module.path, own) or (
        at is not space and one in _changes(at.module.tree, True)[1]) for at, one in _origins(space, name))


# ----------------------------------------------------------------- what a text may change


@lru_cache(64)
def _changes(tree: ast.Module, has_run: bool, is_own: bool = True) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a file gives other values, and those and what it changes in place: its own, or another file's.

    Of a file that `has_run`, only functions can change anything later.
    """
    bound, changed = set[str](), set[str]()
    imported = {alias.asname or alias.name for n in walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names}
    pending: list[tuple[ast.AST, bool]] = [(tree, not has_run)]
    while pending:
        node, counts = pending.pop()
        counts = counts or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for change in changes(node) if counts else ():
            if change.method in _READING or change.path in (("self",), ("cls",)):
                continue
            if change.name and (is_own or not isinstance(node, ast.Global | ast.Nonlocal)):
                bound.add(change.name)
            if change.path and (is_own or len(change.path) > 1 or change.path[0] in imported):
                changed.add(change.path[-1])
        pending.extend((child, counts) for child in children(node))
    return frozenset(bound), frozenset(bound | changed)


# ----------------------------------------------------------------- other files


def _is_set_outside(name: str, home: Path, own: SourceFile) -> bool:
    """Whether a file beside `home`, or in the package that it is in, changes that name of it."""
    found = {**_mentioning(home, name), own.path: own.text}
    return any(name in _changes(_tree(path, text), path == own.path, False)[1]
               for path, text in found.items() if path != home)


@lru_cache(256)
def _mentioning(home: Path, name: str) -> dict[Path, str]:
    """The other files that mention a name and the module in `home`, which it is in."""
    packages = ModulePlace(home).around.packages
    texts = _texts(packages[-1] if packages else home.parent, bool(packages))
    stem = home.parent.name if home.name == "__init__.py" else home.stem
    return {path: text for path, text in texts.items() if name in text and stem in text}


@lru_cache(8)
def _texts(folder: Path, is_package: bool) -> dict[Path, str]:
    """The files in a folder, and below it if it is a package."""
    found = {}
    for path in searched(folder, lambda _: False, lambda _: None) if is_package else sorted(folder.glob("*.py")):
        with suppress(StageError):
            found[path] = read_source(path, str(path))
    return found


@lru_cache(64)
def _tree(path: Path, text: str) -> ast.Module:
    with suppress(StageError):
        return parse_source(text, str(path), str(path))
    return ast.Module([], [])
