"""What the source says at a memory access, beyond what the compiled op tells.

The report knows that `tt.atomic_rmw` updates a parameter; whether it adds or takes a maximum, and
whether its result is used, stands in the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from triton_mutlint.model import Access, LoadedKernel

_MODULES = frozenset({"tl", "language", "libdevice"})


@dataclass(frozen=True, eq=False)
class AccessCall:
    """The call that made an access: its last name and its arguments after the address.

    `statement` is the statement it stands in, `enclosing` the compound statements and functions
    around that, outermost first.
    """

    name: str
    call: ast.Call
    arguments: tuple[ast.expr, ...]
    keywords: dict[str, ast.expr]
    statement: ast.stmt
    enclosing: tuple[ast.stmt, ...]

    @property
    def is_discarded(self) -> bool:
        """Whether the call's result is not used."""
        return isinstance(self.statement, ast.Expr) and self.statement.value is self.call

    def argument(self, index: int, name: str) -> ast.expr | None:
        """The argument at `index` after the address, or by keyword."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)


class AccessCalls:
    """Finds the calls of one kernel's accesses; empty where the file is not the kernel's own."""

    def __init__(self, kernel: LoadedKernel | None) -> None:
        self._file = kernel.location.file if kernel else ""
        self._by_line: dict[int, list[AccessCall]] = {}
        if kernel is not None:
            self._visit(kernel.tree.body, ())

    def at(self, access: Access) -> AccessCall | None:
        """The call that made `access`, or None when that cannot be told."""
        if access.location.file != self._file:
            return None
        wanted = [c for c in self._by_line.get(access.location.line, ()) if _makes(c.name, access.op)]
        exact = [c for c in wanted if c.call.col_offset + 1 == access.location.column]
        if exact:
            return exact[-1]
        return wanted[0] if len(wanted) == 1 else None

    def _visit(self, body: Iterable[ast.stmt], enclosing: tuple[ast.stmt, ...]) -> None:
        for statement in body:
            blocks = [getattr(statement, name, None) or [] for name in ("body", "orelse", "finalbody")]
            for node in _expressions(statement):
                if isinstance(node, ast.Call):
                    found = _access_call(node, statement, enclosing)
                    self._by_line.setdefault(node.lineno, []).append(found)
            for block in blocks:
                self._visit(block, (*enclosing, statement))
            for handler in getattr(statement, "handlers", ()):
                self._visit(handler.body, (*enclosing, statement))


def _expressions(statement: ast.stmt) -> Iterable[ast.AST]:
    """Every expression node of a statement, not those of the statements inside it."""
    stack: list[ast.AST] = [c for c in ast.iter_child_nodes(statement) if not isinstance(c, ast.stmt)]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt))


def _access_call(call: ast.Call, statement: ast.stmt, enclosing: tuple[ast.stmt, ...]) -> AccessCall:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    is_method = isinstance(function, ast.Attribute) and _last_name(function.value) not in _MODULES
    arguments = tuple(call.args) if is_method else tuple(call.args[1:])
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    return AccessCall(name, call, arguments, keywords, statement, enclosing)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _makes(name: str, op: str) -> bool:
    """Whether a call of this name can have made this op."""
    if "atomic" in op or op == "tt.descriptor_reduce":
        return name.startswith("atomic_")
    if op in {"tt.store", "tt.descriptor_store"}:
        return name == "store"
    return op in {"tt.load", "tt.descriptor_load"} and name == "load"


def literal(node: ast.expr | None) -> object:
    """The constant that an argument is, `...` (Ellipsis) when it is not one."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, (int, float)) else ...
    return ...
