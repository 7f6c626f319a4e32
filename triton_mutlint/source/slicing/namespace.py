"""Globals that are evaluated when they are asked for.

CPython looks a global up through `__missing__` when a function's globals are a `dict` subclass, so
sliced code pulls in exactly what it evaluates, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from triton_mutlint.source.names import TRITON, may_be_jit
from triton_mutlint.source.outline import Function
from triton_mutlint.source.slicing import jitdefs
from triton_mutlint.source.slicing.branches import choose, holds
from triton_mutlint.source.slicing.closures import closure
from triton_mutlint.source.slicing.scopes import Linked, Scope
from triton_mutlint.source.slicing.spaces import Space, reason
from triton_mutlint.source.slicing.stubs import Missing, UndecidedError, is_stand_in
from triton_mutlint.source.slicing.units import Unit
from triton_mutlint.source.walking import dotted

if TYPE_CHECKING:
    from triton_mutlint.source.slicing.sliced import SlicedModule

_BUILTINS = frozenset(vars(builtins))
_FIXED = (int, float, complex, str, bytes, type(None), FunctionType, BuiltinFunctionType, ModuleType, Missing)
_HAS_TRITON = re.compile(r"_*(HAS|HAVE)_TRITON|_*(IS_)?TRITON_(IS_)?AVAILABLE")


class Namespace(Space):
    """The globals of one module, or of code nested in a function or class (`owner`).

    Names come from the scope's units, then from the enclosing scope, then from star imports.
    """

    def __init__(
        self,
        module: SlicedModule,
        scope: Scope,
        parent: Namespace | None,
        owner: Function | ast.ClassDef | None = None,
    ) -> None:
        super().__init__(module)
        self.scope, self.parent, self.owner = scope, parent, owner
        self.guards: dict[ast.AST, bool | None] = {}  # decided conditions
        self.jits: dict[ast.AST, jitdefs.JitDefinition] = {}
        self.notes: dict[str, str] = {}  # name -> what was assumed for it
        self._done: set[Unit | Linked] = set()
        self._running: set[str] = set()
        if parent is not None:
            for name in ("__name__", "__file__", "__package__", "__builtins__"):
                self[name] = parent[name]

    def __missing__(self, name: str) -> Any:
        if name in self._running or not self._may_find(name):
            raise KeyError(name)  # its own definition needs it, or nothing gives it
        with self.module.modules.session:
            stand_ins = self.module.modules.stand_ins
            lenient, stand_ins.lenient = stand_ins.lenient, True
            try:
                self._find(name)
            finally:
                stand_ins.lenient = lenient
        return dict.__getitem__(self, name)

    def _may_find(self, name: str) -> bool:
        """The cheap test, before a session is entered: false only if `_find` would find nothing."""
        if self.module.modules.given or self.parent is not None or name in self.scope.by_name:
            return True
        return bool(self.scope.stars or self.scope.is_open) and name not in _BUILTINS

    def _find(self, name: str) -> None:
        """Bind `name`, or raise `KeyError`."""
        key = self.given_as(name)
        if key:
            self[name] = self._given(name, self.module.modules.given[key])
        elif name in self.scope.by_name and not self._hides_triton(name):
            if self._is_bound_by_star(name):
                return
            if _HAS_TRITON.fullmatch(name):  # often asks for a driver, too
                self[name] = True
            else:
                self._evaluate(name)
        elif self.owner is not None and self._parameter(name):
            return
        elif self.parent is not None:
            self[name] = self.parent[name]
        else:
            self[name] = self._from_star(name)

    def given_as(self, name: str) -> str:
        """What a spec calls `name` where it gives it a value, else nothing."""
        given = self.module.modules.given
        keys = (name if self.module.linted else "", f"{self.module.dotted}.{name}") if given else ()
        return next((key for key in keys if key in given), "")

    def _given(self, name: str, value: object) -> Any:
        """What a spec gives for a name: a plain value, or `{ref: name}` for something of the file."""
        if not (isinstance(value, dict) and [*value] == ["ref"] and isinstance(value["ref"], str)):
            return value
        try:
            node = ast.parse(value["ref"], mode="eval").body
            if not dotted(node):
                raise ValueError("it is no dotted name")
            return self.module.namespace.evaluate(node)
        except (Exception, UndecidedError) as error:
            return self.missing(name, f"is given as `{{ref: {value['ref']}}}`, which gives nothing ({error})")

    def _hides_triton(self, name: str) -> bool:
        """Whether a nested function is named like Triton's module, by which it is decorated."""
        if self.parent is None or name not in TRITON:
            return False
        return all(isinstance(unit.node, ast.FunctionDef) for unit in self.scope.by_name[name])

    def settle(self, name: str) -> None:
        """Run what may change a value that `name` reaches."""
        for group in self.scope.groups(name):
            self._run_group(group)

    def _evaluate(self, name: str) -> None:
        """Run the units that bind `name`, and those that may change what it reaches."""
        self.settle(name)
        if name not in self:
            for unit in choose(self, name):
                self._run_once(unit)
        if name not in self:
            self[name] = self.missing(name, "could not be evaluated")

    def _run_group(self, group: Linked) -> None:
        if group in self._done:
            return
        self._done.add(group)
        for unit in group.units:
            if unit.binds:
                if any(unit in choose(self, name) for name in unit.binds):
                    self._run_once(unit)
            elif holds(self, unit.guards) is None:
                line = unit.guards[-1].node.lineno
                self._lose(unit, f"may be changed where the condition in line {line} holds, which is not known")
            elif holds(self, unit.guards):
                self._run_once(unit)

    def _run_once(self, unit: Unit) -> None:
        if unit in self._done:
            return
        self._done.add(unit)
        known = {*self} if self.scope.is_blind(unit) else None
        self._running.update(unit.binds)
        try:
            self.run(unit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # linted code: it may raise anything, SystemExit included
            why = reason(error)
            for name in unit.binds:
                self[name] = self.missing(name, why)
            self._lose(unit, f"may be changed in line {unit.node.lineno}, which {why}")
        finally:
            self._running.difference_update(unit.binds)
        if self.scope.acts(unit):
            self.module.modules.adopt()
        if known is not None:
            for name in {*self} - known:  # what is bound again further down is evaluated when it is asked for
                if any(later.order > unit.order for later in self.scope.by_name.get(name, ())):
                    del self[name]

    def _lose(self, unit: Unit, why: str) -> None:
        """What the unit may change is not known any more."""
        blind = self.scope.is_blind(unit)
        for name in self.scope.touched(unit):
            if blind or (name in self and not _is_fixed(self[name])):
                self[name] = self.missing(name, why)

    def run(self, unit: Unit) -> None:
        """Run one unit in this namespace. Raises what the linted code raises."""
        node = unit.node
        if unit.alias is not None:
            assert isinstance(node, (ast.Import, ast.ImportFrom))
            self[unit.binds[0]] = self.module.modules.resolve(node, unit.alias, self.module.place)
        elif isinstance(node, ast.FunctionDef) and node in self.module.jits:
            definition = jitdefs.define(self, node)
            if isinstance(definition.error, jitdefs.NotJitError) and not may_be_jit(node):
                self.execute([node])
            else:
                self[node.name] = definition.bound
        else:
            self.execute([node])

    def _parameter(self, name: str) -> bool:
        """Bind a parameter of the enclosing function, from its default where it has one."""
        if not isinstance(self.owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        args = self.owner.args
        positional = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
        pairs = [
            *zip(positional, [*defaults, *args.defaults], strict=True),
            *zip(args.kwonlyargs, args.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if argument.arg == name:
                self[name] = self._default(name, default)
                return True
        if name in {a.arg for a in (args.vararg, args.kwarg) if a}:
            self[name] = self._default(name, None)
            return True
        return False

    def _default(self, name: str, default: ast.expr | None) -> Any:
        assert self.owner is not None
        if default is not None and not (isinstance(default, ast.Constant) and default.value is None):
            try:
                assert self.parent is not None
                return self.parent.evaluate(default)
            except (Exception, UndecidedError):  # a default that cannot be evaluated here is as good as none
                default = None
        return self.missing(name, f"is an argument of the enclosing function `{self.owner.name}`")

    def _is_bound_by_star(self, name: str) -> bool:
        """Bind a name that a star import brings after its last definition."""
        last = self.scope.by_name[name][-1].order
        if any(order > last for order, _ in self.scope.stars):
            with contextlib.suppress(KeyError):
                self[name] = self._from_star(name, last)
                return True
        return False

    def _from_star(self, name: str, after: int = -1) -> Any:
        """A name that a star import brings. Raises `KeyError`."""
        if name in _BUILTINS or name.startswith("__"):
            raise KeyError(name)
        modules, place = self.module.modules, self.module.place
        stood_in: list[ModuleType] = []
        for order, node in reversed(self.scope.stars):
            module = modules.origin(node, place) if order > after else None
            if module is not None and is_stand_in(module):
                stood_in.append(module)
            elif module is not None and name != "annotations":
                with contextlib.suppress(AttributeError):
                    return getattr(module, name)
        if stood_in and after < 0:
            return getattr(stood_in[0], name)
        raise KeyError(name)

    def names(self) -> Iterable[str]:
        """Every name that the scope binds."""
        return self.scope.by_name

    def __copy__(self) -> Namespace:
        return self

    def __deepcopy__(self, memo: object) -> Namespace:
        return self


def _is_fixed(value: object) -> bool:
    """Whether nothing can change a value, other than by giving its name another one."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_fixed, value))
    return isinstance(value, _FIXED) or type(value).__name__ in ("constexpr", "dtype", "JITFunction", "Dtype")


def closed(namespace: Namespace, function: Any, owner: Function | ast.ClassDef | None = None) -> Namespace:
    """The globals of a function that was made in another, `owner`, with what it took from there.

    What a spec gives takes the place of that.
    """
    inside = Namespace(namespace.module, Scope([]), namespace, owner)
    inside.update((name, value) for name, value in closure(function).items() if not inside.given_as(name))
    return inside
