"""The autograd functions of a file, as ops that declare nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.host.declarations.functions import without
from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.model import Form, HostFunction, Implementation, OpRegistration
from triton_mutlint.host.modules.module import Definition, HostModule
from triton_mutlint.host.state.core import World
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import Attribute, ClassValue, Sort, Value, thing
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import Declaration, Location


def autograd_functions(module: HostModule, world: World) -> Iterator[OpRegistration]:
    """Those that stand at the top level, in line order."""
    interpreter = Interpreter(world)
    interpreter.state, interpreter.here = State(), interpreter.top(module)
    bound = [one.node for several in module.bindings.values() for one in several if isinstance(one, Definition)]
    for node in sorted({n for n in bound if isinstance(n, ast.ClassDef)}, key=lambda n: n.lineno):
        owner = ClassValue(module, node)
        forward = _method(owner, "forward", interpreter)
        if forward is None or not interpreter.is_autograd(owner):
            continue
        context = 1 if _method(owner, "setup_context", interpreter) is None else 0
        place = Location(module.display, node.lineno)
        applied = Implementation(module, _without(forward, context), thing(Attribute(thing(owner), "apply")))
        backward = _method(owner, "backward", interpreter)
        yield OpRegistration(
            f"{module.place.dotted}:{node.name}", Form.FUNCTION, place, module,
            Declaration(None, place, stated=False, reason="an autograd function declares nothing", may_return=None),
            (applied,), owner=owner, backward=None if backward is None else _without(backward, 1))


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
