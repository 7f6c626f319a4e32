"""Which of several definitions of a name count, when `if` and `try` stand above them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from triton_mutlint.source.slicing.stubs import Missing, find_missing
from triton_mutlint.source.slicing.units import Guard, Unit

if TYPE_CHECKING:
    from triton_mutlint.source.slicing.namespace import Namespace


def choose(namespace: Namespace, name: str) -> list[Unit]:
    """The units to run for `name`, in order.

    A name with one definition takes it, whatever stands above. Otherwise conditions are evaluated;
    where that fails, the first branch that defines the name is taken and the namespace notes it.
    """
    units = namespace.scope.by_name.get(name, [])
    named_so = any(isinstance(unit.node, ast.FunctionDef) for unit in units)  # `@triton.jit def triton(…)`
    guarded = any(unit.guards for unit in units)
    for unit in units if named_so or guarded else ():
        if _imports_triton(unit, name):
            return [unit]
    if not guarded or len({unit.guards for unit in units}) == 1:
        return units
    verdicts = {unit: holds(namespace, unit.guards) for unit in units}
    sure = [unit for unit in units if verdicts[unit]]
    open_ = [unit for unit in units if verdicts[unit] is None]
    if any(unit.guards for unit in sure) or (sure and not open_):
        return sure
    alternatives = open_ or units
    if open_:
        line = open_[0].guards[-1].node.lineno
        namespace.notes[name] = f"the condition above `{name}` (line {line}) is not known"
    return [unit for unit in units if unit in sure or (unit.guards == alternatives[0].guards and not verdicts[unit])]


def _imports_triton(unit: Unit, name: str) -> bool:
    """Whether the unit really imports Triton or a part of it under this name."""
    node, alias = unit.node, unit.alias
    if isinstance(node, ast.Import) and alias is not None:
        return alias.name.partition(".")[0] == "triton"
    if isinstance(node, ast.ImportFrom) and alias is not None:
        if alias.name == "triton":
            return True
        return (node.module or "").partition(".")[0] == "triton" and alias.name == "language" and not node.level
    return False


def holds(namespace: Namespace, guards: tuple[Guard, ...]) -> bool | None:
    """Whether all guards hold; None when one cannot be decided and none is false."""
    open_ = False
    for guard in guards:
        verdict = _verdict(namespace, guard)
        if verdict is False:
            return False
        open_ |= verdict is None
    return None if open_ else True


def _verdict(namespace: Namespace, guard: Guard) -> bool | None:
    node = guard.node
    if node not in namespace.guards:
        namespace.guards[node] = None  # a condition that needs itself is not known
        if isinstance(node, ast.If):
            namespace.guards[node] = _truth(namespace, node.test)
        else:
            namespace.guards[node] = _succeeds(namespace, node)
    holds = namespace.guards[node]
    return holds if guard.branch == "body" or holds is None else not holds


def _truth(namespace: Namespace, test: ast.expr) -> bool | None:
    value = namespace.attempt(ast.copy_location(ast.UnaryOp(ast.Not(), test), test))
    return None if isinstance(value, Missing) else not value


def _succeeds(namespace: Namespace, node: ast.Try) -> bool | None:
    """Whether the body of a `try` would run through: its imports are there, its probes give values."""
    modules, place = namespace.module.modules, namespace.module.place
    for statement in node.body:
        if not modules.available(statement, place):
            return False
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) and isinstance(value, ast.expr):
            if isinstance(value, ast.Constant):
                continue
            if find_missing(namespace.attempt(value)) is not None:
                return False
    return True


