"""Which files may register torch ops, and the functions of a project that do so for others, by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from pathlib import Path

from triton_mutlint.process.inputs import note_folder
from triton_mutlint.source.finder import Finder, ModulePlace, is_real, is_stood_in
from triton_mutlint.source.function_text import parameters
from triton_mutlint.source.python_text import REGISTRAR, names_registrar, read_bytes, registers
from triton_mutlint.types import SourceFile, StageError

# What torch's own functions that register are called, as a call of them ends.
_OF_TORCH = frozenset({"custom_op", "triton_op", ".define", ".impl", "Library", "infer_schema", "register_kernel"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORT = re.compile(r"\bfrom\s+(\.*)([\w.]*)\s+import\s*(?:\([^)]*\)|[^\n]*)|\bimport\s+([\w., \t]+)", re.ASCII)
_MODULE, _NAME, _USE = re.compile(r"(?:^|,)\s*([\w.]+)"), re.compile(r"\w+"), re.compile(r"[@`]\w+")


def registering(sources: Sequence[SourceFile], known: Collection[str] = ()) -> tuple[list[SourceFile], frozenset[str]]:
    """Those of the files that may register torch ops, and the names of functions, classes and objects that register
    what they are passed: those that are `known`, and what passes it on to torch or to one of these.

    A name that only sounds like that counts if the file that it comes from registers ops, or leads by imports to one
    that does: a project may have a registry of its own, which has nothing to do with torch.
    """
    names, before = {name.rpartition(".")[2] for name in known}, frozenset[str]("?")
    found, left, reach = set[Path](), sources, _Reach(sources)
    classes, passing, assigned = set[str](), list[tuple[str, Set[str]]](), list[ast.Assign]()
    while names != before:
        before = frozenset(names)
        new = reach.registering(left, before)
        found.update(source.path for source in new)
        left = [source for source in left if source.path not in found]
        for node in (node for source in new for node in _defined(source)):
            if isinstance(node, ast.ClassDef):
                ends = {end for m in node.body if isinstance(m, _FUNCTION) for end in _given_on(m)}
                classes.update([node.name] if any(_is_registrar(end, ()) for end in ends) else [])
            elif isinstance(node, _FUNCTION):
                passing.append((node.name, frozenset(_given_on(node))))
            elif isinstance(node, ast.Assign):
                assigned.append(node)
                passing.extend((name, frozenset(_stands_for(node.value))) for name in _names(node))
        names |= classes.union(*(_instances(node, classes) for node in assigned))
        count = -1
        while count < len(names):
            count = len(names)
            names.update(name for name, ends in passing if any(_is_registrar(end, names) for end in ends))
    return [source for source in sources if source.path in found], before


class _Reach:
    """Which files register ops, or lead by imports to files that do: everything that their code can call."""

    def __init__(self, sources: Iterable[SourceFile]) -> None:
        self._texts, self._finder = {source.path: source.text for source in sources}, Finder()

    def registering(self, sources: Iterable[SourceFile], registrars: Collection[str]) -> list[SourceFile]:
        """Those of the files that may register ops, by themselves or by one of `registrars`."""
        idle = set[Path]()  # from which nothing leads to a file that registers ops
        return [source for source in sources if registers(source.text, registrars) or (
            names_registrar(source.text) and self._leads_to_torch(source, registrars, idle))]

    def _leads_to_torch(self, source: SourceFile, registrars: Collection[str], idle: set[Path]) -> bool:
        """Whether the names in a file that sound like a registrar's may be ones."""
        imports = "\n".join(one[0] for one in _IMPORT.finditer(source.text) if names_registrar(one[0]))
        is_own = names_registrar(_USE.sub("", _IMPORT.sub("", source.text)))
        pending = [source.path] if is_own else self._imported(source.path, imports)
        for one in pending:  # which grows
            if registers(self._text(one), registrars):
                return True
            if one not in idle:
                pending.extend(new for new in self._imported(one, self._text(one)) if new not in pending)
        idle.update(pending)
        return False

    def _text(self, path: Path) -> str:
        if path not in self._texts:
            self._texts[path] = ""
            with suppress(StageError):  # it is a folder, or nobody can import it
                self._texts[path] = read_bytes(path, "").decode("latin-1")
        return self._texts[path]

    def _imported(self, path: Path, text: str) -> list[Path]:
        """What a file imports, wherever it does, and the modules that its text names of packages among that."""
        place, names = ModulePlace(path, self._finder.folders), set(_NAME.findall(text))
        found: list[Path | None] = []
        for dots, origin, plain in _IMPORT.findall(text):
            for name in [origin] if dots or origin else _MODULE.findall(plain):
                if dots:
                    found.append(self._finder.relative(name, len(dots), place))
                elif not is_real(name) and not is_stood_in(name):
                    found.append(self._finder.absolute(name, place))
                    found.append(self._finder.absolute(name.partition(".")[0], place) if plain else None)
        known = [one for one in dict.fromkeys(found) if one is not None]
        for one in known:  # which grows
            known.extend(module for module in self._modules(one, names) if module not in known)
        return known

    def _modules(self, package: Path, names: Set[str]) -> Iterator[Path]:
        """Those of a package that have one of these names."""
        folder = package.parent if package.name == "__init__.py" else package
        if folder is not package or not package.suffix:
            note_folder(folder)
            for name in sorted(names & {entry.stem for entry in folder.iterdir()}):
                if (path := self._finder.below(folder, name)) is not None:
                    yield path


def _is_registrar(end: str, others: Collection[str]) -> bool:
    name = end.lstrip(".")
    return bool({end, name} & _OF_TORCH) or name in others or REGISTRAR.fullmatch(name) is not None


def _defined(source: SourceFile) -> Iterator[ast.AST]:
    """What a file defines outside of functions."""
    try:
        pending: list[ast.AST] = [source.tree]
    except StageError:
        return
    while pending:
        for node in ast.iter_child_nodes(pending.pop()):
            if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
                pending.append(node)
            else:
                yield node


def _given_on(function: ast.FunctionDef | ast.AsyncFunctionDef, outer: Set[str] = frozenset()) -> Iterator[str]:
    """The ends of what is called with a parameter of the function, or of one that is defined in it."""
    given = {name for name, _ in parameters(function.args)} | outer
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, _FUNCTION):
            yield from _given_on(node, given)
            pending.extend(node.decorator_list)
            continue
        if isinstance(node, ast.Call) and any(
                isinstance(a, ast.Name) and a.id in given for a in (*node.args, *(k.value for k in node.keywords))):
            yield from _end(node.func)
        pending.extend(ast.iter_child_nodes(node))


def _instances(node: ast.Assign, classes: Collection[str]) -> list[str]:
    made = isinstance(node.value, ast.Call) and any(end.lstrip(".") in classes for end in _end(node.value.func))
    return _names(node) if made else []


def _stands_for(value: ast.expr) -> list[str]:
    """What a value is another name of, or a partial of."""
    if isinstance(value, ast.Call):
        return _end(value.args[0]) if value.args and _end(value.func) in (["partial"], [".partial"]) else []
    return _end(value)


def _names(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _end(node: ast.expr) -> list[str]:
    """The last name of what is called, with a dot where it is an attribute's; of `f(...)(...)`, that of `f`."""
    while isinstance(node, ast.Call):
        node = node.func
    return [f".{node.attr}"] if isinstance(node, ast.Attribute) else [node.id] if isinstance(node, ast.Name) else []
