"""Which files may register torch ops, and the functions of a project that do so for others, by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path

from triton_mutlint.source.function_text import parameters
from triton_mutlint.source.python_text import REGISTRAR, registers
from triton_mutlint.source.walking import children
from triton_mutlint.types import SourceFile, StageError

# What torch's own functions that register are called, as a call of them ends.
_OF_TORCH = frozenset({"custom_op", "triton_op", ".define", ".impl", "Library", "infer_schema", "register_kernel"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_OWN = re.compile(r"^[ \t]*(?:async )?(?:def|class) (\w+)", re.MULTILINE)
_IMPORTS = re.compile(r"\bimport\b(?:\s*\([^)]*|[^\n(]*)")
_DEFINITION = re.compile(rf"(?:\bdef |^(?=\w+ *=))({REGISTRAR.pattern})", re.MULTILINE)


def registering(sources: Sequence[SourceFile], known: Collection[str] = ()) -> tuple[list[SourceFile], frozenset[str]]:
    """Those of the files that may register torch ops, and the names of functions, classes and objects that register
    what they are passed: those that are `known`, and what passes it on to torch or to one of these.

    A name that only sounds like that counts unless one of the files defines it, and passes nothing on to torch: a
    project may have a registry of its own. A name means what the file defines that uses it, if it does, in which case
    it stands among the names with the file, as `a.py:register`.
    """
    told = frozenset(name.rpartition(".")[2] for name in known)
    names, before = set(told), frozenset[str]("?")
    named = (source.text for source in sources if REGISTRAR.search(source.text))  # sooner told than what is defined
    own = {name for text in named for name in _DEFINITION.findall(text)}
    found, left = set[Path](), sources
    classes, passing, assigned = set[str](), list[tuple[str, Set[str]]](), list[ast.Assign]()
    while names != before:
        before = frozenset(names)
        new = [source for source in left if registers(source.text, _meant(source.text, before))
               or not own.issuperset(REGISTRAR.findall(source.text))]
        found.update(source.path for source in new)
        left = [source for source in left if source.path not in found]
        for at, node, renamed in ((f"{source.display}:", *one) for source in new for one in _defined(source, told)):
            if isinstance(node, ast.ClassDef):
                methods = [(m.name, _given_on(m, renamed)) for m in node.body if isinstance(m, _FUNCTION)]
                if any(_is_registrar(end, (), own) for _, ends in methods for end in ends):
                    classes |= {node.name, at + node.name}
                passing.extend((name, ends) for m, ends in methods if m in own for name in (m, at + m))
            elif isinstance(node, _FUNCTION):
                passing.extend((name, _given_on(node, renamed)) for name in (node.name, at + node.name))
            elif isinstance(node, ast.Assign):
                assigned.append(node)
                passing.extend((name, frozenset(_stands_for(node.value))) for name in _names(node))
        names |= classes.union(*(_instances(node, classes) for node in assigned))
        count = -1
        while count < len(names):
            count = len(names)
            names.update(name for name, ends in passing if any(_is_registrar(end, names, own) for end in ends))
    return [source for source in sources if source.path in found], frozenset(n for n in before if ":" not in n)


def _is_registrar(end: str, others: Collection[str], own: Collection[str]) -> bool:
    name = end.lstrip(".")
    sounds_like_one = name not in own and REGISTRAR.fullmatch(name) is not None
    return sounds_like_one or bool({end, name} & _OF_TORCH) or name in others


def _own(text: str) -> set[str]:
    """The names that a file defines, at whatever place, and does not import as well."""
    imported = {name for part in _IMPORTS.findall(text) for name in re.findall(r"\w+", part)}
    return set(_OWN.findall(text)) - imported


def _meant(text: str, names: Collection[str]) -> list[str]:
    """Those of the names that a file uses for what others define, or defines as a method that it may call of others."""
    used = [name for name in names if name in text]
    own = _own(text) if used else set()
    return [name for name in used if name not in own or re.search(rf"(?<!\bself)(?<!\bcls)\.{name}\b", text)]


def _defined(source: SourceFile, told: Set[str]) -> Iterator[tuple[ast.AST, Mapping[str, str]]]:
    """What a file defines outside of functions, and what names mean that it defines, or imports under another one."""
    renamed = {f"{of}{name}": f"{source.display}:{name}" for name in _own(source.text) - told for of in ("", "self.")}
    try:
        pending: list[ast.AST] = [source.tree]
    except StageError:
        return
    while pending:
        for node in children(pending.pop()):
            if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
                pending.append(node)
            elif isinstance(node, ast.ImportFrom):
                renamed.update((alias.asname, alias.name) for alias in node.names if alias.asname is not None)
            else:
                yield node, renamed


def _given_on(function: ast.FunctionDef | ast.AsyncFunctionDef, renamed: Mapping[str, str]) -> Set[str]:
    """The ends of what is called with a parameter of the function, or of one that is defined in it."""
    found, pending = set[str](), list[tuple[ast.AST, frozenset[str]]]([(function, frozenset())])
    while pending:
        node, given = pending.pop()
        if isinstance(node, _FUNCTION):
            given |= {name for name, _ in parameters(node.args)}
        elif isinstance(node, ast.Call) and any(
                isinstance(a, ast.Name) and a.id in given for a in (*node.args, *(k.value for k in node.keywords))):
            found.update(renamed.get(end, end.removeprefix("self")) for end in _end(node.func))
        pending.extend((child, given) for child in children(node))
    return found


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
    """The last name of what is called, with what is before it where it is a method's; of `f(...)(...)`, that of `f`."""
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return [f"self.{node.attr}" if getattr(node.value, "id", "") in ("self", "cls") else f".{node.attr}"]
    return [node.id] if isinstance(node, ast.Name) else []
