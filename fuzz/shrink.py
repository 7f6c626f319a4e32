"""Smaller programs with the same fault: statements go, control flow opens up, operands become plain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fuzz.program import Assign, Body, Do, Function, If, Loop, Node, Program, Return, Stmt
from fuzz.rows import ROWS

Keeps = Callable[[Program], bool]
_LEAVES = ("var", "k", "o", "s", "K", "top", "never")


def shrink(program: Program, keeps: Keeps, attempts: int = 600) -> Program:
    """The smallest program found for which `keeps` holds, as it does for `program`."""
    changed = True
    while changed and attempts > 0:
        changed = False
        for smaller in _smaller(program):
            attempts -= 1
            if attempts <= 0:
                break
            if keeps(smaller):
                program, changed = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    for index in reversed(range(len(program.helpers))):
        rest = (*program.helpers[:index], *program.helpers[index + 1 :])
        if not calls(program, program.helpers[index].name):
            yield replace(program, helpers=rest)
    for body in _bodies(program.kernel.body):
        yield replace(program, kernel=replace(program.kernel, body=body))
    for index, helper in enumerate(program.helpers):
        for body in _bodies(helper.body):
            if body:
                yield _with_helper(program, index, replace(helper, body=body))
        if helper.noinline:
            yield _with_helper(program, index, replace(helper, noinline=False))
    yield from _fewer_parameters(program)


def _with_helper(program: Program, index: int, helper: Function) -> Program:
    helpers = (*program.helpers[:index], helper, *program.helpers[index + 1 :])
    return replace(program, helpers=helpers)


def calls(program: Program, name: str) -> bool:
    """Whether anything in the program calls the helper of that name."""
    return any(n.op == "call" and n.args[0] == name for n in nodes(program))


def nodes(program: Program) -> Iterator[Node]:
    """Every expression of a program."""
    return (n for f in (*program.helpers, program.kernel) for s in _statements(f.body) for n in _nodes(s))


def _fewer_parameters(program: Program) -> Iterator[Program]:
    kernel = program.kernel
    used = {n.args[0] for s in _statements(kernel.body) for n in _nodes(s) if n.op in ("var", "K")}
    used |= {t for s in _statements(kernel.body) if isinstance(s, Assign) for t in s.targets}
    ops = {n.op for s in _statements(kernel.body) for n in _nodes(s)}
    needs = {ROWS[o].needs for o in ops if o in ROWS}
    used |= {"scr", "tab", "lens", "opt", "hd"} & needs
    used |= {"tab"} if "outside" in needs else set()
    used |= {"a0"} if "kernel" in needs else set()
    kept = [(p, k) for p, k in zip(kernel.parameters, kernel.kinds, strict=True) if p in used]
    if len(kept) < len(kernel.parameters):
        names, kinds = tuple(p for p, _ in kept), "".join(k for _, k in kept)
        yield replace(program, kernel=replace(kernel, parameters=names, kinds=kinds))


def _bodies(body: Body) -> Iterator[Body]:
    """Bodies with one thing less."""
    for size in (len(body) // 2, 4, 2, 1):
        if size > 0:
            for start in range(len(body) - size, -1, -size):
                yield (*body[:start], *body[start + size :])
    for index, statement in enumerate(body):
        for smaller in _simpler(statement):
            yield (*body[:index], *smaller, *body[index + 1 :])


def _simpler(statement: Stmt) -> Iterator[Body]:
    if isinstance(statement, If):
        yield from _simpler_branch(statement)
    elif isinstance(statement, Loop):
        yield from _simpler_loop(statement)
    elif isinstance(statement, Do):
        yield from ((Do(node),) for node in _plainer(statement.action, ""))
    elif isinstance(statement, Assign):
        if len(statement.values) == len(statement.targets) > 1:
            for index in range(len(statement.targets)):
                yield (Assign(_without(statement.targets, index), _without(statement.values, index)),)
        yield from ((replace(statement, values=values),) for values in _plainer_all(statement.values))
    else:
        yield from ((Return(values),) for values in _plainer_all(statement.values))


def _simpler_branch(statement: If) -> Iterator[Body]:
    yield statement.then
    yield statement.other
    for body in _bodies(statement.then):
        if body:
            yield (replace(statement, then=body),)
    for body in _bodies(statement.other):
        yield (replace(statement, other=body),)
    for node in _plainer(statement.condition, "c"):
        yield (replace(statement, condition=node),)


def _simpler_loop(statement: Loop) -> Iterator[Body]:
    yield statement.body
    for body in _bodies(statement.body):
        if body:
            yield (replace(statement, body=body),)
    if statement.form not in ("range", "static", "constant"):
        yield (replace(statement, form="range"),)


def _plainer_all(values: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    for index, value in enumerate(values):
        for node in _plainer(value, ""):
            yield (*values[:index], node, *values[index + 1 :])


def _without(items: tuple, index: int) -> tuple:  # type: ignore[type-arg]  # names or nodes
    return (*items[:index], *items[index + 1 :])


def _plainer(node: Node, kind: str) -> Iterator[Node]:
    """An operand of the same kind in the node's place, or a plain leaf."""
    if node.op in _LEAVES:
        return
    row = ROWS.get(node.op)
    kind = row.kind if row is not None else kind
    kinds = row.operands if row is not None else ""
    for operand, its in zip(node.operands, kinds, strict=False):
        if its == kind and kind:
            yield operand
    if kind == "c" and node.op != "c.flag":
        yield Node("c.flag", (Node("n.constant", (Node("o", (9,)),)),))
    if kind == "v" and node.op != "v.constant" and row is not None and not row.changes:
        yield Node("v.constant", (Node("k", (4,)),))
    if kind == "w" and node.op != "w.lanes":
        yield Node("w.lanes")
    if kind == "m" and node.op != "m.flags":
        yield Node("m.flags", (Node("n.constant", (Node("o", (9,)),)),))
    for index, argument in enumerate(node.args):
        if isinstance(argument, Node):
            for plain in _plainer(argument, ""):
                yield replace(node, args=(*node.args[:index], plain, *node.args[index + 1 :]))


def _statements(body: Body) -> Iterator[Stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, If):
            yield from _statements((*statement.then, *statement.other))
        elif isinstance(statement, Loop):
            yield from _statements(statement.body)


def _nodes(statement: Stmt) -> Iterator[Node]:
    """The expressions of a statement itself, operands included."""
    if isinstance(statement, If):
        stack = [statement.condition]
    elif isinstance(statement, Loop):
        stack = [statement.header] if statement.header is not None else []
    elif isinstance(statement, Do):
        stack = [statement.action]
    else:
        stack = list(statement.values) if isinstance(statement, (Assign, Return)) else []
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.operands)
