"""The autograd functions of a file, as ops that declare nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.host.declarations.functions import without
from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.model import Form, HostFunction, Implementation, OpRegistration
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.state.core import World
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import Attribute, ClassValue, Sort, Value, thing
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import Declaration, Location

LOCAL = "<locals>"  # in a qualified name, after that of a function


def autograd_functions(module: HostModule, world: World) -> Iterator[OpRegistration]:
    """In line order; those that stand in functions are named, and not followed: only the function can make them."""
    interpreter = Interpreter(world)
    interpreter.state, interpreter.here = State(), interpreter.top(module)
    for name, node in sorted(_classes(module.tree), key=lambda found: found[1].lineno):
        owner, is_local = ClassValue(module, node), LOCAL in name
        forward = _method(owner, "forward", interpreter)
        if forward is None or not interpreter.is_autograd(owner):
            continue
        context = 1 if _method(owner, "setup_context", interpreter) is None else 0
        place = Location(module.display, node.lineno)
        applied = Implementation(module, _without(forward, context), thing(Attribute(thing(owner), "apply")))
        backward = _method(owner, "backward", interpreter)
        yield OpRegistration(
            f"{module.place.dotted}:{name}", Form.FUNCTION, place, module,
            Declaration(None, place, stated=False, reason="an autograd function declares nothing", may_return=None),
            () if is_local else (applied,), missing="it is defined in a function" if is_local else "", owner=owner,
            backward=None if backward is None else _without(backward, 1))


def _classes(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    """The classes below `node`, by qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield within + child.name, child
            yield from _classes(child, f"{within}{child.name}.")
        elif isinstance(child, ast.stmt):
            inside = f"{child.name}.{LOCAL}." if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
            yield from _classes(child, within + inside)


def _method(owner: ClassValue, name: str, interpreter: Interpreter) -> ast.FunctionDef | None:
    """The `def` of a method, of the class or of a first-party base."""
    return next((s for one in interpreter.order(owner) for s in one.node.body
                 if isinstance(s, ast.FunctionDef) and s.name == name), None)


def _without(method: ast.FunctionDef, context: int) -> HostFunction:
    """A method as `apply` calls it: without the context, and the class of a class method."""
    return without(method, context + any(dotted(d)[-1:] == ("classmethod",) for d in method.decorator_list))


def gradients(op: OpRegistration) -> list[str]:
    """What an autograd function's `backward` is given, by name."""
    if op.backward is None:
        return []
    takes = op.backward.args
    return [a.arg for a in (*takes.posonlyargs, *takes.args, *([takes.vararg] if takes.vararg else []))]


def differentiate(op: OpRegistration, interpreter: Interpreter, function: HostFunction) -> None:
    """Interpret `backward`, given gradients and the context that `forward` filled."""
    method = interpreter.class_member(op.owner, "backward") if op.owner is not None else None
    if method is None or op.backward is None:
        return
    context = Value(cells=frozenset([interpreter.cell(function, "context")]))
    *given, rest = [*(Value(same=frozenset([name]), kind=Sort.TENSOR) for name in gradients(op)), None]
    if op.backward.args.vararg is not None:
        rest = given.pop()
    interpreter.call(method, Arguments((context, *given), star=rest), function)
