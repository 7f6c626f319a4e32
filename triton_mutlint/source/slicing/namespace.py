"""Globals that run their file when they are asked for a name.

CPython looks a global up through `__missing__` when a function's globals are a `dict` subclass. So a module is not
run before one of its names is needed, and an import in it is not followed before the name that it binds is.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from triton_mutlint.source.function_text import closure, parameters
from triton_mutlint.source.outline import Function
from triton_mutlint.source.slicing.module_text import ModuleText
from triton_mutlint.source.slicing.running import Runner, bind_waiting
from triton_mutlint.source.slicing.scopes import Scope
from triton_mutlint.source.slicing.spaces import Space, Surroundings, star_value
from triton_mutlint.source.slicing.stubs import UndecidedError, is_stand_in
from triton_mutlint.source.slicing.tracing import PRIVATE
from triton_mutlint.source.walking import dotted

_BUILTINS = frozenset(vars(builtins))


class Namespace(Space):
    """The names of one body; `proxy` is what importers of a module get.

    Names come from the body, then from the parameters of `owner`, the enclosing namespace, and star imports.
    """

    def __init__(self, module: ModuleText, shared: Surroundings, scope: Scope, parent: Namespace | None = None,
                 owner: Function | ast.ClassDef | None = None) -> None:
        super().__init__(module, shared, scope, parent, owner)
        self._inner: dict[ast.AST, Namespace] = {}
        self._sought = set[str]()
        self.proxy = ModuleType(module.dotted)
        if parent is not None:
            self.update((name, parent[name]) for name in ("__name__", "__file__", "__package__", "__builtins__"))
            return
        self.update(self._dunders())
        vars(self.proxy).update(self._dunders(), __name__=module.dotted)
        vars(self.proxy).update(__getattr__=self.attribute, __dir__=self._listed)
        self._own = len(vars(self.proxy))
        shared.session.register(self["__name__"], self.proxy)

    def _dunders(self) -> dict[str, Any]:
        module = self.module
        names: dict[str, Any] = {
            "__name__": f"{PRIVATE}.{module.dotted}",
            "__file__": str(module.path),
            "__package__": module.dotted if module.is_package else module.dotted.rpartition(".")[0],
            "__builtins__": self.shared.builtins,
            "__doc__": None,
            "__spec__": None,
        }
        return names | ({"__path__": [str(module.place.folder)]} if module.is_package else {})

    def __missing__(self, name: str) -> Any:
        if self.has_run and not self._may_find(name):
            raise KeyError(name)
        with self.shared.session:
            self.ensure_run(name)
            if name not in self:
                self._find(name)
        return dict.__getitem__(self, name)

    def _may_find(self, name: str) -> bool:
        """The cheap test, before a session is entered: false only if `_find` would find nothing."""
        if self.shared.given or self.parent is not None or name in self.waiting:
            return True
        # what hides one of Python's own is bound at once
        return (bool(self.stars) or name in self.scope.by_name) and name not in _BUILTINS

    def ensure_run(self, name: str = "") -> None:
        """Run the body, if it has not been; where a name is asked for, what does not concern it waits."""
        if not self.has_run:
            self.has_run = True
            Runner(self, name).block(self.scope.body)

    def _find(self, name: str) -> None:
        """Bind `name`, or raise `KeyError`."""
        if key := self.given_as(name):
            self[name] = self._given(name, self.shared.given[key])
        elif name in self.waiting:
            bind_waiting(self, name)
        elif self.owner is not None and self._parameter(name):
            return
        elif self.parent is not None:
            self[name] = self.parent[name]
        else:
            try:
                self[name] = star_value(self, name)
            except KeyError:
                self._left_out(name)

    def _left_out(self, name: str) -> None:
        """Bind a name by the last statement that would bind it, had it been run: another device takes that branch."""
        bindings = self.scope.by_name.get(name)
        if not bindings or name in self._sought or name in _BUILTINS:
            raise KeyError(name)
        self._sought.add(name)
        self.waiting[name] = bindings[-1]
        bind_waiting(self, name)

    def _given(self, name: str, value: object) -> Any:
        """What a spec gives for a name: a plain value, or `{ref: name}` for something of the file."""
        if not (isinstance(value, dict) and [*value] == ["ref"] and isinstance(value["ref"], str)):
            return value
        outermost: Space = self
        while outermost.parent is not None:
            outermost = outermost.parent
        try:
            node = ast.parse(value["ref"], mode="eval").body
            if not dotted(node):
                raise ValueError("it is no dotted name")
            return outermost.evaluate(node)
        except (Exception, UndecidedError) as error:
            return self.missing(name, f"is given as `{{ref: {value['ref']}}}`, which gives nothing ({error})")

    def _parameter(self, name: str) -> bool:
        """Bind a parameter of the enclosing function, from its default where it has one and no call gives another."""
        if not isinstance(self.owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        found = dict(parameters(self.owner.args))
        if name not in found:
            return False
        self[name] = self.missing(name, f"is an argument of the enclosing function `{self.owner.name}`")
        default = found[name]
        if default is not None and not (isinstance(default, ast.Constant) and default.value is None):
            call = next((c for c in self.module.outline.calls if _passes(c, self.owner, name, default)), None)
            if call is not None:
                self[name] = self.missing(name, f"is an argument of the enclosing function `{self.owner.name}`, "
                                                f"which line {call.lineno} calls with another value")
                return True
            assert self.parent is not None
            with contextlib.suppress(Exception, UndecidedError):  # as good as none
                self[name] = self.parent.evaluate(default)
                self.assumed.add(name)
        return True

    def attribute(self, name: str) -> Any:
        """A name of the module, or a submodule. Raises `AttributeError` if there is neither."""
        with contextlib.suppress(KeyError):
            return self[name]
        if self.module.is_package and not name.startswith("__"):
            module = self.shared.find(name, 1, self.module.place)
            if not is_stand_in(module):
                return module
        if "__getattr__" in self.scope.by_name and not name.startswith("__"):
            with contextlib.suppress(Exception, UndecidedError), self.shared.session:
                return self["__getattr__"](name)
            # made on demand, from what is there at run time: not known, but it exists
            return self.missing(f"{self.module.dotted}.{name}", "is only made at run time")
        raise AttributeError(f"module `{self.module.dotted}` defines no `{name}`")

    def _listed(self) -> list[str]:
        self.ensure_run()
        return sorted({*self, *self.waiting})

    def adopt(self) -> None:
        """Take in what others have bound to attributes of the module."""
        given = vars(self.proxy)
        if len(given) != self._own:
            for name in list(given)[self._own:]:
                self.ensure_run(name)
                if name in self.waiting:
                    bind_waiting(self, name)
                self[name] = given.pop(name)

    def inner(self, parents: tuple[Function | ast.ClassDef, ...]) -> Namespace:
        """The namespace of code nested in `parents` (functions and classes, outermost first)."""
        if not parents:
            return self
        node, *rest = parents
        if node not in self._inner:
            self._inner[node] = Namespace(self.module, self.shared, Scope(node.body, self.scope), self, node)
        return self._inner[node].inner(tuple(rest))

    def names(self) -> Iterable[str]:
        """Every name that the body has bound."""
        self.ensure_run()
        return [name for name in self.scope.by_name if name in self or name in self.waiting]

    def __copy__(self) -> Namespace:
        return self

    def __deepcopy__(self, memo: object) -> Namespace:
        return self


def closed(namespace: Namespace, function: Any, owner: Function | ast.ClassDef | None = None) -> Namespace:
    """The globals of a function that was made in another, `owner`, with what it took from there.

    What a spec gives takes the place of that.
    """
    inside = Namespace(namespace.module, namespace.shared, Scope([]), namespace, owner)
    inside.update((name, value) for name, value in closure(function).items() if not inside.given_as(name))
    return inside


def _passes(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, default: ast.expr) -> bool:
    """Whether a call of a function, by its name, may pass something else than the default for a parameter."""
    called = call.func
    if not (called.id == function.name if isinstance(called, ast.Name) else
            isinstance(called, ast.Attribute) and called.attr == function.name):
        return False
    index = [n for n, _ in parameters(function.args)].index(name)
    given = [k.value for k in call.keywords if k.arg in (None, name)]
    given += call.args[index:index + 1] or [a for a in call.args if isinstance(a, ast.Starred)]
    return any(ast.dump(value) != ast.dump(default) for value in given)
