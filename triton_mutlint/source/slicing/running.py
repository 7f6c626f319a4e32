"""Running the statements of a body, one by one and in the order of the file: section 9 of docs/analysis.md.

Imports and functions wait until their names are asked for. What a statement that fails may change is unknown from then
on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from triton_mutlint.source.slicing.importing import import_value, is_available, star_names
from triton_mutlint.source.slicing.scopes import DEFINITIONS, Binding, bound_by, is_plain_with, mentioned
from triton_mutlint.source.slicing.spaces import Space, reason
from triton_mutlint.source.slicing.stubs import Missing, find_missing
from triton_mutlint.source.walking import bound_in

_FIXED = (int, float, complex, str, bytes, type(None), FunctionType, BuiltinFunctionType, ModuleType, Missing)
_HAS_TRITON = re.compile(r"_*(HAS|HAVE)_TRITON|_*(IS_)?TRITON_(IS_)?AVAILABLE")  # often asks for a driver, too
_NOTHING = (ast.Pass, ast.Assert, ast.Raise, ast.Global, ast.Nonlocal, ast.Return)
Define = Callable[[Space, ast.FunctionDef], Any]


class Runner:
    """Runs the body of one space. `define` gives what the name of a decorated function is bound to.

    Of a function, only those statements are run that concern the functions and classes in it.
    """

    def __init__(self, space: Space, define: Define) -> None:
        self.space, self.scope, self.define = space, space.scope, define
        self.wanted: set[str] | None = None
        self.is_sure = True  # that the statement would be run
        if isinstance(space.owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = (node for node in self.scope.body if isinstance(node, ast.stmt) and _defines(node))
            self.wanted = self.scope.reach(name for node in inner for name in (*mentioned(node), *bound_in(node)))

    def block(self, body: Iterable[ast.stmt]) -> bool:
        """Run statements; whether all of them went well, and gave no stand-in."""
        went_well = True
        for node in body:
            went_well &= self._statement(node)
        return went_well

    def _statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.Try):
            return self._try(node)
        if is_plain_with(node):
            return self.block(node.body)  # type: ignore[attr-defined]  # as it is a `with`
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self._import(node)
        if isinstance(node, _NOTHING) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return True
        return self._other(node)

    def _if(self, node: ast.If) -> bool:
        if self.wanted is not None and self.wanted.isdisjoint(
                name for inner in (*node.body, *node.orelse) for name in (*bound_in(inner), *self._touched(inner))):
            return True
        value = self.space.attempt(ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test))
        if not isinstance(value, Missing):
            return self.block(node.orelse if value else node.body)
        before, self.is_sure = self.is_sure, False
        why = f"(line {node.lineno}) is not known"
        for branch in (node.orelse, node.body):  # what both bind is what the first does
            self.block(branch)
            names = {name for inner in branch for name in bound_in(inner)}
            self.space.notes.update((name, f"the condition above `{name}` {why}") for name in names)
        self.is_sure = before
        return True

    def _touched(self, node: ast.stmt) -> Iterable[str]:
        return () if isinstance(node, (ast.If, ast.Try)) else self.scope.touched(node)

    def _try(self, node: ast.Try) -> bool:
        """The handlers are run where the body fails: an import is not there, or a probe gives a stand-in."""
        went_well = True
        for statement in node.body:
            went_well = self._probed(statement)
            if not went_well:
                break
        if went_well or not node.handlers:
            self.block(node.orelse)
        else:
            for handler in node.handlers:
                self.block(handler.body)
        return self.block(node.finalbody)

    def _probed(self, node: ast.stmt) -> bool:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not is_available(self.space, node):
            return False
        value = getattr(node, "value", None)
        if isinstance(node, ast.Expr) and not isinstance(value, ast.Constant):
            return find_missing(self.space.attempt(node.value)) is None
        went_well = self._statement(node)
        return went_well or not isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr))

    def _import(self, node: ast.Import | ast.ImportFrom) -> bool:
        space = self.space
        for alias in node.names:
            if alias.name == "*":
                assert isinstance(node, ast.ImportFrom)
                space.stars.append(node)
                for name in star_names(space, node) & {*space, *space.waiting}:
                    space.pop(name, None)
                    space.waiting.pop(name, None)
            else:
                self._wait(bound_by(alias, node), Binding(node, alias))
        return True

    def _wait(self, name: str, binding: Binding) -> None:
        self.space.pop(name, None)
        self.space.waiting[name] = binding

    def _other(self, node: ast.stmt) -> bool:
        binds, touched = [*bound_in(node)], self.scope.touched(node)
        if not (binds or touched) or (self.wanted is not None and self.wanted.isdisjoint({*binds, *touched})):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not touched and not _is_timed(node):
            if any(binding.is_triton for binding in self.scope.by_name[node.name]):
                return True
            self._wait(node.name, Binding(node))
            return True
        if not self.is_sure and touched:
            self._lose(node, f"may be changed where a condition holds that is not known (line {node.lineno})")
            if not binds:
                return True
        return self.run(node, binds)

    def run(self, node: ast.stmt, binds: list[str]) -> bool:
        """Run one statement, whatever it does; whether it went well, and gave no stand-in."""
        space, touched, error = self.space, self.scope.touched(node), None
        try:
            if isinstance(node, ast.FunctionDef) and node in space.module.jits:
                space[node.name] = self.define(space, node)
            else:
                space.execute([node])
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # linted code: it may raise anything, SystemExit included
            error = reason(raised)
            for name in binds:
                space[name] = space.missing(name, error)
            self._lose(node, f"may be changed in line {node.lineno}, which {error}")
        for name in binds:
            self._settle(name)
        if touched:
            space.shared.adopt()
        return error is None and all(find_missing(dict.get(space, name)) is None for name in binds)

    def _settle(self, name: str) -> None:
        """What a name has been bound to stays, unless it is known better."""
        imported = next((b for b in self.scope.by_name.get(name, ()) if b.is_triton), None)
        if imported is not None:
            self._wait(name, imported)
            return
        self.space.waiting.pop(name, None)
        if self.space.given_as(name):
            self.space.pop(name, None)
        elif _HAS_TRITON.fullmatch(name):
            self.space[name] = True

    def _lose(self, node: ast.stmt, why: str) -> None:
        """What a statement may change is not known any more."""
        blind = self.scope.is_blind(node)
        for name in self.scope.touched(node):
            if name in self.space.waiting and not blind:
                bind_waiting(self.space, name, self.define)
            if blind or (name in self.space and not _is_fixed(self.space[name])):
                self.space.waiting.pop(name, None)
                self.space[name] = self.space.missing(name, why)


def bind_waiting(space: Space, name: str, define: Define) -> None:
    """Bind a name whose statement waits."""
    binding = space.waiting.pop(name)
    node = binding.node
    if binding.alias is None:
        Runner(space, define).run(node, [name])
        return
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    try:
        space[name] = import_value(space, node, binding.alias)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # linted code is run
        space[name] = space.missing(name, reason(error))


def _defines(node: ast.stmt) -> bool:
    """Whether a function or class stands in a statement."""
    return any(isinstance(inner, DEFINITIONS) for inner in ast.walk(node))


def _is_timed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it makes a difference when a function is made: parts of it are evaluated then."""
    parts = [*node.args.defaults, *filter(None, node.args.kw_defaults),
             *(d for d in node.decorator_list if isinstance(d, ast.Call))]
    own = any(node.name in mentioned(decorator) for decorator in node.decorator_list)
    return own or any(not isinstance(part, ast.Constant) for part in parts)


def _is_fixed(value: object) -> bool:
    """Whether nothing can change a value, other than by giving its name another one."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_fixed, value))
    return isinstance(value, _FIXED) or type(value).__name__ in ("constexpr", "dtype", "JITFunction", "Dtype")
