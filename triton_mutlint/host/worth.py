"""Which functions are worth following: those that may register ops, and short ones that may name them."""

from __future__ import annotations

import ast
import re
from weakref import WeakKeyDictionary

from triton_mutlint.host.folded import Func
from triton_mutlint.host.modules import HostModule

_CALLED = re.compile(r"regist|custom_op|triton_op|infer_schema|^define$|^impl$|^Library$|_ops?$|[Oo]pWrapper")
_SHORT = 12  # statements
_known: WeakKeyDictionary[ast.AST, bool] = WeakKeyDictionary()


def registers(node: ast.AST) -> bool:
    """Whether code may register ops, by the names that it calls."""
    if node not in _known:
        _known[node] = any(_is_registering(inner) for inner in ast.walk(node))
    return _known[node]


def _is_registering(node: ast.AST) -> bool:
    called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
    return any(_CALLED.search(_last(callee)) for callee in called)


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _last(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def worth_following(func: Func, root: HostModule) -> bool:
    """Whether a call of `func` from code of `root` is followed."""
    if isinstance(func.node, ast.Lambda) or registers(func.node):
        return True
    return len(func.node.body) <= _SHORT and (func.module is root or _CALLED.search(func.name) is not None
                                              or "lib" in func.name.lower())


def is_stub(node: ast.AST) -> bool:
    """Whether a function is but a declaration for type checkers (`@overload`)."""
    return any(_last(decorator) == "overload" for decorator in getattr(node, "decorator_list", ()))
