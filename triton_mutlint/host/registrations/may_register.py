"""Which functions are worth following: those that may register ops, and short ones that may name them."""

from __future__ import annotations

import ast
import re
from weakref import WeakKeyDictionary

from triton_mutlint.host.modules.module import Definition, HostModule
from triton_mutlint.host.values.values import FunctionValue
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


def is_followed(function: FunctionValue, root: HostModule) -> bool:
    """Whether a call of a function from code of `root` is followed."""
    node, owner = function.node, function.owner
    if isinstance(node, ast.Lambda) or registers(node, function.module) or node.name == "__init__":
        return True
    if len(node.body) > _SHORT:
        return False
    if owner is not None and registers(owner.node, owner.module):
        return True  # it may choose what the others register
    return function.module is root or REGISTERS.search(node.name) is not None or "lib" in node.name.lower()
