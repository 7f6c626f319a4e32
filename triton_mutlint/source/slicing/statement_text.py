"""What one statement of a body says by its text: the names it mentions, the parts that act, what they may change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from triton_mutlint.source.changes import changes
from triton_mutlint.source.walking import dotted, walk

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNING = (ast.Assign, ast.AnnAssign)
GLOBAL = "global "  # before a name that a function binds here
_MADE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)  # anew, and can be changed
_LITERALS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body that are run one by one: those in its conditions, `try` and plain `with` blocks too."""
    for node in body:
        if isinstance(node, ast.If):
            if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
                yield ast.copy_location(ast.Expr(node.test), node.test)
            yield from statements((*node.body, *node.orelse))
        elif isinstance(node, ast.Try):
            handlers = (statement for handler in node.handlers for statement in handler.body)
            yield from statements((*node.body, *node.orelse, *handlers, *node.finalbody))
        elif is_plain_with(node):
            yield from statements(node.body)  # type: ignore[attr-defined]  # as it is a `with`
        else:
            yield node


def is_plain_with(node: ast.stmt) -> bool:
    return isinstance(node, ast.With) and not any(item.optional_vars for item in node.items)


def acting(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that may change a value when it is run."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (ast.Call(decorator, [], []) for decorator in node.decorator_list)
    elif isinstance(node, ast.ClassDef):
        parts = (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
        yield from (ast.Call(part, [], []) for part in parts)
        for statement in node.body:
            yield from acting(statement)
    elif isinstance(node, ASSIGNING):
        targets = [t for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
                   if not isinstance(t, ast.Name)]
        yield from targets
        if node.value is not None and (targets or not isinstance(node.value, (ast.Constant, ast.Name, ast.Lambda))):
            yield node.value
    else:
        yield node


def mentioned(node: ast.AST) -> Iterator[str]:
    """The names from `node` down; through `sys.modules`, every name is reached."""
    for inner in walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Global):
            yield from (GLOBAL + name for name in inner.names)
        elif isinstance(inner, ast.Attribute):
            yield from ["globals"] if dotted(inner) == ("sys", "modules") else []
        elif isinstance(inner, ast.Call) and not inner.args and dotted(inner.func) in (("vars",), ("locals",)):
            yield "globals"


def defines(node: ast.stmt) -> bool:
    """Whether a function or class stands in a statement."""
    return any(isinstance(inner, DEFINITIONS) for inner in ast.walk(node))


def is_timed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it makes a difference when a function is made: parts of it are evaluated then."""
    parts = [*node.args.defaults, *filter(None, node.args.kw_defaults),
             *(d for d in node.decorator_list if isinstance(d, ast.Call))]
    own = any(node.name in mentioned(decorator) for decorator in node.decorator_list)
    return own or any(not isinstance(part, ast.Constant) for part in parts)


def altered(node: ast.AST) -> Iterator[str]:
    """Names with attributes that are assigned or have their methods called: `kernel.configs.append(…)`, and those
    that are handed to a function for what it does to them.
    """
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from (argument.id for argument in node.value.args if isinstance(argument, ast.Name))
    for change in (change for inner in walk(node) for change in changes(inner)):
        if change.path and (not change.method or len(change.path) > 1 or not change.whole):
            yield change.path[0]


def root_name(node: ast.expr) -> str:
    """The name that an expression begins with: `f` of `f.g(…)(…)`."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def keeps_something(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call may find what an earlier one left: in a default that can change, or an attribute of its own."""
    defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
    return any(isinstance(value, _MADE) and not is_literal(value) for value in defaults) or any(
        isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load) and root_name(inner) == node.name
        for inner in walk(node))


def is_literal(value: ast.expr) -> bool:
    """Whether it gives a number, a text or the like, by its text."""
    if isinstance(value, ast.Call):
        return "constexpr" in ast.unparse(value.func) and all(map(is_literal, value.args))
    return isinstance(value, _LITERALS) and all(
        is_literal(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
