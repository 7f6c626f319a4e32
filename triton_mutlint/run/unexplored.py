"""Whether a kernel may do under other compile-time values what it does not under the analysed ones."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from triton_mutlint.types import KernelReport, ParameterKind

WHY = "guessed compile-time values decide what is compiled"  # so that nothing is taken out of a declaration
_BOTH = {"True", "False"}
_LANGUAGES = frozenset({"tl", "language", "libdevice"})
_BUILTINS = frozenset({"range", "min", "max", "len", "float", "int"})
_COMPUTING = (ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.operator,
              ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)


def may_branch_otherwise(report: KernelReport, node: ast.FunctionDef | None, fixed: Collection[str] = ()) -> bool:
    """Whether variants were left out, or the kernel branches on a constexpr whose values were guessed.

    `node` is the kernel's `def`, None where it is not known; `fixed` are parameters that have an analysed value.

    A flag that was tried both ways is no guess. What a helper does with a guessed value is not
    looked into: passing one on counts as branching.
    """
    if report.total_variants > report.analyzed_variants or node is None:
        return True
    guessed = {
        p.name.partition(".")[0] for p in report.parameters
        if p.inferred and p.kind is ParameterKind.CONSTEXPR and set(p.type.split(" | ")) != _BOTH
        and p.name not in fixed
    }
    if not guessed:
        return False
    names = _following(node, guessed)
    return any(_mentions(deciding, names) for deciding in _deciding(node))


def _following(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """`names` and those computed from them by operators alone (a call makes a run-time value)."""
    found, before = set(names), -1
    while len(found) != before:
        before = len(found)
        for node in ast.walk(function):
            value = getattr(node, "value", None)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.expr) and _computes(value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if _mentions(value, found):
                    found |= {t.id for t in targets if isinstance(t, ast.Name)}
    return found


def _computes(value: ast.expr) -> bool:
    return all(isinstance(node, _COMPUTING) for node in ast.walk(value))


def _deciding(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What decides what is written: tests, what is chosen, and what helpers are given."""
    own = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node.test
        elif isinstance(node, (ast.BoolOp, ast.Compare)):
            yield node  # may be a mask that is constantly false
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, ast.Subscript):
            yield node.slice  # may choose among pointers, or functions
        elif isinstance(node, ast.Call) and not _is_language(node.func, own):
            yield from (*node.args, *(k.value for k in node.keywords))


def _is_language(function: ast.expr, own: set[str]) -> bool:
    """`tl.load`, `x.to`: called through the language's module or a value of the kernel's own."""
    if isinstance(function, ast.Name):
        return function.id in _BUILTINS
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    return not isinstance(root, ast.Name) or root.id in _LANGUAGES or root.id in own


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node))
