"""Functions of a project that register torch ops, by name: a file that uses one holds ops, though it says no more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Set

from triton_mutlint.source.function_text import parameters
from triton_mutlint.source.python_text import REGISTRAR, has_ops
from triton_mutlint.types import SourceFile, StageError

# What torch's own functions that register are called, as a call of them ends.
_OF_TORCH = frozenset({"custom_op", "triton_op", ".define", ".impl", "Library", "infer_schema", "register_kernel"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def registrars_of(sources: Iterable[SourceFile], known: Collection[str] = ()) -> frozenset[str]:
    """The names of functions and objects that register what their callers pass, beside those that are `known`.

    A function that passes what it is given on to another is one, too.
    """
    names = {name.rpartition(".")[2] for name in known}
    defined = [one for source in sources if has_ops(source.text, names) for one in _defined(source)]
    classes = {node.name for node in defined if isinstance(node, ast.ClassDef)
               and any(_is_registrar(end, ()) for m in node.body if isinstance(m, _FUNCTION) for end in _given_on(m))}
    objects = {name for node in defined if isinstance(node, ast.Assign) for name in _instances(node, classes)}
    names |= classes | objects
    functions = [(node.name, frozenset(_given_on(node))) for node in defined if isinstance(node, _FUNCTION)]
    others = [(name, frozenset(_stands_for(node.value))) for node in defined if isinstance(node, ast.Assign)
              for name in _names(node)]
    before = -1
    while before < len(names):
        before = len(names)
        names.update(name for name, ends in (*functions, *others) if any(_is_registrar(end, names) for end in ends))
    return frozenset(names)


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
