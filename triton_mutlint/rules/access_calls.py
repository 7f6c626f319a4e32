"""What the source says at a memory access, beyond what the compiled op tells.

The report knows that `tt.atomic_rmw` updates a parameter; whether it adds or takes a maximum, and
whether its result is used, stands in the call.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from triton_mutlint.contracts.spans import parse
from triton_mutlint.types import Access, Kernel, SourceFile

_MODULES = frozenset({"tl", "language", "libdevice"})


@dataclass(frozen=True, eq=False)
class AccessCall:
    """The call that made an access: its last name, its address and the arguments after that.

    `statement` is the statement it stands in, `enclosing` the compound statements and functions
    around that, outermost first.
    """

    name: str
    call: ast.Call
    address: ast.expr | None
    arguments: tuple[ast.expr, ...]
    keywords: dict[str, ast.expr]
    statement: ast.stmt
    enclosing: tuple[ast.stmt, ...]

    @property
    def is_discarded(self) -> bool:
        """Whether the call's result is not used."""
        return isinstance(self.statement, ast.Expr) and self.statement.value is self.call

    @property
    def is_polled(self) -> bool:
        """Whether the call is all that a `while` loop does: it waits for somebody else."""
        if isinstance(self.statement, ast.While):
            return True  # an expression of the loop itself: its condition
        loop = self.enclosing[-1] if self.enclosing else None
        if not isinstance(loop, ast.While):
            return False
        return all(s is self.statement or isinstance(s, ast.Pass) for s in loop.body)

    def argument(self, index: int, name: str) -> ast.expr | None:
        """The argument at `index` after the address, or by keyword."""
        return self.arguments[index] if index < len(self.arguments) else self.keywords.get(name)


class AccessCalls:
    """Finds the calls of one kernel's accesses, in its own file and in those given as `sources`.

    Files are indexed when an access in them is asked for; in any other file nothing is found.
    """

    def __init__(self, kernel: Kernel | None, sources: Iterable[SourceFile] = ()) -> None:
        self._texts = {source.display: source.text for source in sources}
        self._files: dict[str, _File | None] = {}
        if kernel is not None:
            self._files[kernel.location.file] = _indexed(kernel.tree)

    def at(self, access: Access) -> AccessCall | None:
        """The call that made `access`, or None when that cannot be told."""
        file = self._file(access.location.file)
        return file.call(access) if file else None

    def chain(self, access: Access) -> tuple[ast.stmt, ...] | None:
        """From the kernel's body inwards, through calls of helpers, the statements that hold `access`."""
        found = self.at(access)
        if found is None:
            return None
        steps: list[ast.stmt] = []
        for frame in access.path[:-1]:
            file = self._file(frame.file)
            holder = file.holder(frame.line) if file else None
            if holder is None:
                return None
            steps += holder
        return (*steps, *_within_function(found.enclosing), found.statement)

    def _file(self, display: str) -> _File | None:
        if display not in self._files:
            text = self._texts.get(display)
            self._files[display] = None if text is None else _File(parse(text))
        return self._files[display]


class _File:
    """The calls and statements of one file; each statement of the module is indexed when a line of it is asked for."""

    def __init__(self, tree: ast.Module) -> None:
        self._indexed: dict[ast.stmt, _Indexed] = {}
        self._body = tree.body

    def call(self, access: Access) -> AccessCall | None:
        calls = [c for indexed in self._on(access.location.line) for c in indexed.by_line[access.location.line]]
        wanted = [c for c in calls if _makes(c.name, access.op)]
        exact = [c for c in wanted if c.call.col_offset + 1 == access.location.column]
        if exact:
            return exact[-1]
        return wanted[0] if len(wanted) == 1 else None

    def holder(self, line: int) -> tuple[ast.stmt, ...] | None:
        """The innermost statement on `line`, after those that enclose it within its function."""
        held = [found for indexed in self._on(line) for found in indexed.statements]
        covering = [(s, e) for s, e in held if s.lineno <= line <= (s.end_lineno or s.lineno)]
        if not covering:
            return None
        statement, enclosing = max(covering, key=lambda item: len(item[1]))
        return (*_within_function(enclosing), statement)

    def _on(self, line: int) -> Iterator[_Indexed]:
        for statement in self._body:
            if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
                if statement not in self._indexed:
                    self._indexed[statement] = _Indexed(statement)
                yield self._indexed[statement]


class _Indexed:
    """The calls by line, and the statements, of one statement of a module."""

    def __init__(self, statement: ast.stmt) -> None:
        self.by_line: defaultdict[int, list[AccessCall]] = defaultdict(list)
        self.statements: list[tuple[ast.stmt, tuple[ast.stmt, ...]]] = []
        self._visit([statement], ())

    def _visit(self, body: Iterable[ast.stmt], enclosing: tuple[ast.stmt, ...]) -> None:
        for statement in body:
            self.statements.append((statement, enclosing))
            for node in _expressions(statement):
                if isinstance(node, ast.Call):
                    self.by_line[node.lineno].append(_access_call(node, statement, enclosing))
            for block in blocks(statement):
                self._visit(block, (*enclosing, statement))


@lru_cache(maxsize=4)
def _indexed(tree: ast.Module) -> _File:
    """The file of several kernels, one after the other."""
    return _File(tree)


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The statement lists that a compound statement holds."""
    held = [getattr(statement, name, None) or [] for name in ("body", "orelse", "finalbody")]
    held += [handler.body for handler in getattr(statement, "handlers", ())]
    return [*held, *(case.body for case in getattr(statement, "cases", ()))]


def _within_function(enclosing: tuple[ast.stmt, ...]) -> tuple[ast.stmt, ...]:
    """The part of an enclosing chain below its innermost function."""
    starts = [i + 1 for i, s in enumerate(enclosing) if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return enclosing[starts[-1] :] if starts else enclosing


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
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    if isinstance(function, ast.Attribute) and _last_name(function.value) not in _MODULES:
        return AccessCall(name, call, function.value, tuple(call.args), keywords, statement, enclosing)
    address = next(iter(call.args), keywords.get("pointer"))
    return AccessCall(name, call, address, tuple(call.args[1:]), keywords, statement, enclosing)


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
