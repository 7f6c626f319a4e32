"""Running the statements of a body, one by one and in the order of the file: section 9 of docs/analysis.md.

Imports and functions wait until their names are asked for. What a statement that fails may change is unknown from then
on.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from collections.abc import Iterable, Set
from functools import cached_property
from typing import Any

from triton_mutlint.source.slicing.jitdefs import bound
from triton_mutlint.source.slicing.scopes import Binding, bound_by
from triton_mutlint.source.slicing.spaces import (
    Space,
    import_value,
    is_available,
    is_fixed,
    reason,
    star_names,
    star_value,
)
from triton_mutlint.source.slicing.statement_text import defines, is_plain_with, is_timed, mentioned
from triton_mutlint.source.slicing.stubs import Missing, UndecidedError, find_missing
from triton_mutlint.source.walking import bound_in

_HAS_TRITON = re.compile(r"_*(HAS|HAVE)_TRITON|_*(IS_)?TRITON_(IS_)?AVAILABLE")  # often asks for a driver, too
_NOTHING = (ast.Pass, ast.Global, ast.Nonlocal, ast.Return)


class Runner:
    """Runs the body of one space.

    Of a function, only those statements are run that concern the functions and classes in it; of a module of which a
    name is `asked` for, what does not concern it waits.
    """

    def __init__(self, space: Space, asked: str = "") -> None:
        self.space, self.scope, self.asked = space, space.scope, asked
        self.is_function = isinstance(space.owner, (ast.FunctionDef, ast.AsyncFunctionDef))
        self.is_sure = True  # that the statement would be run
        self.is_tried = False  # an error that it raises is caught by the file

    @cached_property
    def wanted(self) -> set[str] | None:
        """The names that matter at once, where that is not all: in a function, those that functions and classes in it
        reach; in a linted file, those that jit functions and launches reach; in another, those that the name reaches
        that is asked for.
        """
        if self.is_function:
            inner = (node for node in self.scope.body if isinstance(node, ast.stmt) and defines(node))
            return self.scope.reach(name for node in inner for name in (*mentioned(node), *bound_in(node)))
        module = self.space.module
        if self.space.owner is not None or (not module.linted and (not self.asked or module.is_listed)):
            return None
        if not module.linted:
            return self.scope.reach([self.asked])
        jits = (name for found in module.outline.jits for name in (found.node.name, *mentioned(found.node)))
        launches = (name for call in module.outline.calls if isinstance(call.func, ast.Subscript)
                    for name in mentioned(call))
        makers = (found.parents[0].name for found in module.outline.jits if found.parents)
        return self.scope.reach([*jits, *launches, *makers])

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Run statements, whether or not those before them went well."""
        for node in body:
            self._statement(node)

    def _until(self, body: Iterable[ast.stmt]) -> BaseException | None:
        """Run statements until one does not go well; why it did not: an error, or a stand-in that it gave."""
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not is_available(self.space, node):
                return ImportError()
            if (error := self._statement(node)) is not None:
                return error
        return None

    def _statement(self, node: ast.stmt) -> BaseException | None:
        """Run a statement; why it did not go well."""
        if isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.Try):
            return self._try(node)
        elif is_plain_with(node):
            return self._with(node)  # type: ignore[arg-type]  # as it is a `with`
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        elif not isinstance(node, _NOTHING) and not (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            self.space.is_refused |= isinstance(node, ast.Raise) and self.is_sure and not self.is_tried
            return self._other(node)
        return None

    def _if(self, node: ast.If) -> None:
        inside = [inner for branch in (node.body, node.orelse) for inner in branch]
        if self.is_function and self.wanted is not None and self.wanted.isdisjoint(
                name for inner in inside for name in (
                    *bound_in(inner), *(() if isinstance(inner, (ast.If, ast.Try)) else self.scope.touched(inner)))):
            return
        value = self.space.attempt(ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test))
        if not isinstance(value, Missing):
            self.block(node.orelse if value else node.body)
            return
        before, self.is_sure = self.is_sure, False
        why = f"(line {node.lineno}) is not known"
        for branch in (node.orelse, node.body):  # what both bind is what the first does
            self.block(branch)
            names = {name for inner in branch for name in bound_in(inner)}
            self.space.notes.update((name, f"the condition above `{name}` {why}") for name in names)
        self.is_sure = before

    def _try(self, node: ast.Try) -> BaseException | None:
        """The handlers are run where the body does not go well: all of them, if what it raises is not known."""
        before, self.is_tried = self.is_tried, bool(node.handlers)
        error = self._until(node.body)
        self.is_tried = before
        if error is None or not node.handlers:
            self.block(node.orelse if error is None else ())
        else:
            fitting = [handler for handler in node.handlers if self._fits(handler, error) is not False]
            sure = [handler for handler in fitting if self._fits(handler, error)][:1]
            for handler in sure or fitting:
                self.block(handler.body)
            error = None if fitting else error
        self.block(node.finalbody)
        return error

    def _fits(self, handler: ast.ExceptHandler, error: BaseException) -> bool | None:
        """Whether a handler is for an error; None if that is not known."""
        kind = self.space.attempt(handler.type) if handler.type is not None else BaseException
        if isinstance(error, UndecidedError) or find_missing(kind) is not None:
            return None
        return isinstance(error, kind)

    def _with(self, node: ast.With) -> BaseException | None:
        managers = [self.space.attempt(item.context_expr) for item in node.items]
        if any(isinstance(manager, Missing) for manager in managers):
            self.block(node.body)
            return None
        before, self.is_tried = self.is_tried, True
        try:
            with contextlib.ExitStack() as stack:
                for manager in managers:
                    stack.enter_context(manager)
                if (error := self._until(node.body)) is not None and not isinstance(error, UndecidedError):
                    raise error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # linted code
            return error
        finally:
            self.is_tried = before
        return None

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        space = self.space
        for alias in node.names:
            if alias.name == "*":
                assert isinstance(node, ast.ImportFrom)
                self._catch_up(frozenset())
                space.stars.append(node)
                for name in star_names(space, node) & {*space, *space.waiting, *vars(builtins)}:
                    self._wait(name, Binding(node, alias))
            else:
                self._wait(bound_by(alias, node), Binding(node, alias))

    def _wait(self, name: str, binding: Binding) -> None:
        self.space.pop(name, None)
        self.space.waiting[name] = binding

    def _other(self, node: ast.stmt) -> BaseException | None:
        binds, touched = [*bound_in(node)], self.scope.touched(node)
        concerned, is_blind = {*binds, *touched}, self.scope.is_blind(node)
        is_unwanted = self.wanted is not None and self.wanted.isdisjoint(concerned)
        if (is_unwanted and self.is_function) or not (concerned or is_blind or (
                self.is_tried and isinstance(node, (ast.Expr, ast.Assert, ast.Raise)))):
            return None
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not touched and not is_timed(node):
            if not any(binding.is_triton for binding in self.scope.by_name[node.name]):
                self._wait(node.name, Binding(node))
            return None
        if is_unwanted and self.is_sure and not (self.is_tried or is_blind) and self._can_wait(node, touched):
            self._wait_together(node, concerned)
            return None
        if not self.is_sure and touched:
            self._lose(node, f"may be changed where a condition holds that is not known (line {node.lineno})")
            if not binds:
                return None
        return self.run(node, binds)

    def _can_wait(self, node: ast.stmt, touched: Set[str]) -> bool:
        """Whether a statement would come to the same later.

        It binds and reads what is bound once, and changes only what waits as well: in a linted file also what is
        imported.
        """
        by_name, linted, own = self.scope.by_name, self.space.module.linted, {*bound_in(node)}
        late = {name for name, binding in self.space.waiting.items() if binding.is_late} | own
        return all(len(by_name.get(name, ())) < 2 for name in (*own, *mentioned(node))) and all(
            name in late or (linted and all(binding.alias is not None for binding in by_name.get(name, ())))
            for name in touched)

    def _wait_together(self, node: ast.stmt, names: Set[str]) -> None:
        """A statement waits, with those whose values it changes."""
        waiting = self.space.waiting
        before = {b for name in names if (b := waiting.get(name)) is not None and b.is_late}
        first = sorted({n for binding in before for n in (*binding.first, binding.node)}, key=lambda n: n.lineno)
        together = Binding(node, first=tuple(first), is_late=True)
        for name in [*bound_in(node), *(name for name, binding in waiting.items() if binding in before)]:
            self._wait(name, together)

    def _catch_up(self, touched: Set[str], is_blind: bool = True) -> None:
        """Bind what waits before a statement that may change what it is made of: any name, if it is blind."""
        for name, binding in list(self.space.waiting.items()):
            if name in self.space.waiting and (
                    is_blind or not touched.isdisjoint(self.scope.reach([name])) if binding.is_late
                    else binding.alias is not None and "@" + binding.module in touched):
                bind_waiting(self.space, name)

    def run(self, node: ast.stmt, binds: list[str]) -> BaseException | None:
        """Run one statement, whatever it does; why it did not go well."""
        space = self.space
        error: BaseException | None = None
        if touched := self.scope.touched(node):
            self._catch_up(touched, self.scope.is_blind(node))
        try:
            if isinstance(node, ast.FunctionDef) and node in space.module.jits:
                space[node.name] = bound(space, node)
            elif isinstance(node, ast.Expr):
                error = self._undecided([space.evaluate(node.value)])
            else:
                space.execute([node])
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # linted code: it may raise anything, SystemExit included
            error = raised
            if not self.is_tried or isinstance(error, UndecidedError):
                space.update((name, space.missing(name, reason(raised))) for name in binds)
                self._lose(node, f"may be changed in line {node.lineno}, which {reason(error)}")
        for name in binds:
            self._prefer_known(name)
        if touched:
            space.shared.adopt()
        return error or self._undecided(dict.get(space, name) for name in binds)

    @staticmethod
    def _undecided(values: Iterable[Any]) -> UndecidedError | None:
        """Why a statement that gave these values did not go well: one of them is a stand-in."""
        return next((UndecidedError(missing) for value in values if (missing := find_missing(value)) is not None), None)

    def _prefer_known(self, name: str) -> None:
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
                bind_waiting(self.space, name)
            if blind or (name in self.space and not is_fixed(self.space[name])):
                self.space.waiting.pop(name, None)
                self.space[name] = self.space.missing(name, why)


def bind_waiting(space: Space, name: str) -> None:
    """Bind a name whose statement waits."""
    binding = space.waiting.pop(name)
    node = binding.node
    if binding.alias is None:
        for other in [other for other, same in space.waiting.items() if same is binding]:
            del space.waiting[other]
        for statement in (*binding.first, node):
            Runner(space).run(statement, [*bound_in(statement)])
        return
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    try:
        if binding.alias.name == "*" and isinstance(node, ast.ImportFrom):
            with contextlib.suppress(KeyError):  # it is bound where a condition holds that does not
                space[name] = star_value(space, name, [node])
        else:
            space[name] = import_value(space, node, binding.alias)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # linted code is run
        space[name] = space.missing(name, reason(error))
