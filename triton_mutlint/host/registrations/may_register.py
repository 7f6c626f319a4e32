"""Which functions are worth following: those that may register ops, and short ones that may name them."""

from __future__ import annotations

import ast
import re
from weakref import WeakKeyDictionary

from triton_mutlint.host.modules.module import Definition, HostModule
from triton_mutlint.host.registrations.folded import Func, Instance
from triton_mutlint.source.walking import walk

REGISTERS = re.compile(r"regist|custom_op|triton_op|infer_schema|^define$|^impl$|^Library$|_ops?$")
_SHORT = 12  # statements
_known: WeakKeyDictionary[ast.AST, bool] = WeakKeyDictionary()


def registers(node: ast.AST, module: HostModule) -> bool:
    """Whether code of `module` may register ops, by what it calls and what those functions of its file call."""
    if node not in _known:
        _known[node] = False  # until known: functions that call each other
        _known[node] = any(_is_registering(inner, module) for inner in walk(node))
    return _known[node]


def _is_registering(node: ast.AST, module: HostModule) -> bool:
    if isinstance(node, ast.arguments) and any(
            _defined_registers(d, module) for d in (*node.defaults, *node.kw_defaults)):
        return True
    for callee in [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", []):
        if REGISTERS.search(last_name(callee)):
            return True
        if _defined_registers(callee, module):
            return True
    return False


def _defined_registers(node: ast.expr | None, module: HostModule) -> bool:
    """Whether a name stands for a function or class of the file that registers ops."""
    bound = module.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return any(isinstance(b, Definition) and not isinstance(b.node, ast.expr) and registers(b.node, module)
               for b in bound)


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def worth_following(func: Func, root: HostModule) -> bool:
    """Whether a call of `func` from code of `root` is followed."""
    if isinstance(func.node, ast.Lambda) or registers(func.node, func.module):
        return True
    if len(func.node.body) > _SHORT:
        return False
    if isinstance(func.owner, Instance) and registers(func.owner.cls.node, func.owner.cls.module):
        return True  # it may choose what the others register
    return func.module is root or REGISTERS.search(func.name) is not None or "lib" in func.name.lower()


def is_stub(node: ast.AST) -> bool:
    """Whether a function is but a declaration for type checkers (`@overload`)."""
    return any(last_name(decorator) == "overload" for decorator in getattr(node, "decorator_list", ()))
