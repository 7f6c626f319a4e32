"""Names that a jit body reads from outside itself, and names that are launched."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_TRITON = frozenset({"tl", "libdevice", "tldevice", "triton"})
_LAUNCHERS = frozenset({"run", "warmup"})


@dataclass(frozen=True)
class Use:
    """A dotted name read by a body; `guarded` when a branch decides whether it is evaluated."""

    chain: tuple[str, ...]
    guarded: bool
    line: int


def children(node: ast.AST) -> Iterator[ast.AST]:
    """`ast.iter_child_nodes`, some three times as fast: loading walks every node of a file."""
    for value in vars(node).values():
        if isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            yield value


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node from `node` down, in no order."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


def dotted(node: ast.expr) -> tuple[str, ...]:
    """`a.b.c` as ("a", "b", "c"); () for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def local_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Parameters and everything that the body binds."""
    args = node.args
    names = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    names.update(a.arg for a in (args.vararg, args.kwarg) if a)
    for child in walk(node):
        if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            names.add(child.id)
        elif isinstance(child, ast.FunctionDef) and child is not node:
            names.add(child.name)
        elif isinstance(child, ast.arg):
            names.add(child.arg)
    return names


def global_uses(node: ast.FunctionDef) -> tuple[Use, ...]:
    """The outside names that the body reads, each dotted chain once per guardedness, in order."""
    collector = _Uses(local_names(node))
    collector.block(node.body, False)
    return tuple(dict.fromkeys(collector.found))


class _Uses:
    """Walks a body; `guarded` turns true inside branches, right operands of `and`/`or`, and ternaries."""

    def __init__(self, local: set[str]) -> None:
        self.local = local
        self.found: list[Use] = []

    def block(self, body: list[ast.stmt], guarded: bool) -> None:
        for statement in body:
            self.visit(statement, guarded)

    def visit(self, node: ast.AST, guarded: bool) -> None:
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._name(node, guarded)
        elif isinstance(node, ast.If):
            self.visit(node.test, guarded)
            self.block([*node.body, *node.orelse], True)
        elif isinstance(node, ast.IfExp):
            self.visit(node.test, guarded)
            self.visit(node.body, True)
            self.visit(node.orelse, True)
        elif isinstance(node, ast.BoolOp):
            for i, value in enumerate(node.values):
                self.visit(value, guarded or i > 0)
        elif isinstance(node, ast.AnnAssign):
            for part in (node.target, node.value):
                if part is not None:
                    self.visit(part, guarded)
        else:
            for child in children(node):
                if not isinstance(child, ast.arguments):
                    self.visit(child, guarded)

    def _name(self, node: ast.Name | ast.Attribute, guarded: bool) -> None:
        chain = dotted(node)
        if not chain:
            assert isinstance(node, ast.Attribute)
            self.visit(node.value, guarded)
        elif chain[0] not in self.local and isinstance(node.ctx, ast.Load):
            self.found.append(Use(chain, guarded, node.lineno))


def called_names(node: ast.AST) -> frozenset[str]:
    """Names read below `node` as plain names, or as the last part of a dotted one (`Ops.add`)."""
    found = set()
    for child in walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            owner = dotted(child)[:1]
            if owner and owner[0] not in _TRITON:
                found.add(child.attr)
    return frozenset(found)


def returns_value(node: ast.FunctionDef) -> bool:
    """Whether a `return` with a value other than None stands in the function itself."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Return) and child.value is not None:
            if not (isinstance(child.value, ast.Constant) and child.value.value is None):
                return True
        elif isinstance(child, ast.stmt) and not isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            stack.extend(children(child))
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            stack.extend(child.body)
    return False


def may_be_jit(node: ast.AST) -> bool:
    """Whether a decorator's own text may make a jit function; the cheap test before evaluating anything."""
    return isinstance(node, ast.FunctionDef) and any(map(mentions_jit, node.decorator_list))


def mentions_jit(decorator: ast.expr) -> bool:
    """`@triton.jit`, `@jit(…)`, `@my_jit`, `@partial(triton.jit, …)`."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    chain = dotted(target)
    if chain and "jit" in chain[-1].lower():
        return True
    if isinstance(decorator, ast.Call) and chain and chain[-1] == "partial":
        return any("jit" in (dotted(a) or ("",))[-1] for a in decorator.args)
    return False


@dataclass(frozen=True)
class Launches:
    """Names launched outright, and names handed to a host function that may launch them."""

    direct: frozenset[str]
    passed: frozenset[str]


def launched_names(tree: ast.Module) -> frozenset[str]:
    """Names launched in the file: `k[grid](…)`, `wrap_triton(k)[grid](…)`, `k.run(…)`, `k.warmup(…)`,
    `fn(k, …)`, and names that reach such a place through an assignment (`k = a if c else b`).
    """
    found = launches(tree)
    return found.direct | found.passed


def launches(tree: ast.Module) -> Launches:
    direct: set[str] = set()
    passed: set[str] = set()
    flows: dict[str, set[str]] = {}
    for node in _host_nodes(tree):
        if isinstance(node, ast.Call):
            launched = set(_launched_by(node))
            direct |= launched
            if not isinstance(node.func, ast.Subscript):  # a launch's own arguments are not launched
                arguments = (*node.args, *(k.value for k in node.keywords))
                passed.update(a.id for a in arguments if isinstance(a, ast.Name))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    flows.setdefault(target.id, set()).update(_carried(node.value))
    return Launches(_reach(direct, flows), frozenset(passed))


def _reach(names: set[str], flows: dict[str, set[str]]) -> frozenset[str]:
    work, reached = list(names), set(names)
    while work:
        for name in flows.get(work.pop(), ()):
            if name not in reached:
                reached.add(name)
                work.append(name)
    return frozenset(reached)


def _host_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Every node outside the bodies of jit functions."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if not may_be_jit(node):
            yield node
            stack.extend(children(node))


def _launched_by(call: ast.Call) -> Iterator[str]:
    function = call.func
    if isinstance(function, ast.Subscript):
        yield from _kernel_names(function.value)
    if isinstance(function, ast.Attribute) and function.attr in _LAUNCHERS:
        yield from _kernel_names(function.value)


def _kernel_names(node: ast.expr) -> Iterator[str]:
    """The names that a launched expression may stand for: `k`, `m.k`, `wrap(k)`, `TABLE[i]`, `a if c else b`."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Subscript):
        yield from _kernel_names(node.value)
    elif isinstance(node, ast.Call):
        for argument in node.args:
            yield from _kernel_names(argument)
    elif isinstance(node, ast.IfExp):
        yield from _kernel_names(node.body)
        yield from _kernel_names(node.orelse)


def _carried(node: ast.expr) -> Iterator[str]:
    """Plain names whose value an assigned expression may pass on."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.IfExp, ast.BoolOp, ast.Dict, ast.List, ast.Tuple, ast.Call, ast.Subscript)):
        for child in children(node):
            if isinstance(child, ast.expr):
                yield from _carried(child)
