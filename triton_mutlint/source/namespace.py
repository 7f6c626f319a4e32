"""Globals that are evaluated when they are asked for.

CPython looks a global up through `__missing__` when a function's globals are a `dict` subclass, so
sliced code pulls in exactly what it evaluates, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from triton_mutlint.process.inputs import current, spoil
from triton_mutlint.source import jitdefs
from triton_mutlint.source.bounded import COUNTER, bounded
from triton_mutlint.source.branches import choose
from triton_mutlint.source.class_bodies import read_by_class
from triton_mutlint.source.closures import closure
from triton_mutlint.source.names import TRITON, may_be_jit
from triton_mutlint.source.outline import Function
from triton_mutlint.source.spaces import Space
from triton_mutlint.source.stubs import Missing, MissingValueError, UndecidedError, is_stand_in
from triton_mutlint.source.tracing import is_traced
from triton_mutlint.source.units import Scope, Unit
from triton_mutlint.source.walking import dotted

if TYPE_CHECKING:
    from triton_mutlint.source.sliced import SlicedModule

_BUILTINS = frozenset(vars(builtins))
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
        super().__init__()
        self.module, self.scope, self.parent, self.owner = module, scope, parent, owner
        self.guards: dict[ast.AST, bool | None] = {}  # decided conditions
        self.jits: dict[ast.AST, jitdefs.JitDefinition] = {}
        self.notes: dict[str, str] = {}  # name -> what was assumed for it
        self._done: set[Unit] = set()
        self._running: set[str] = set()
        if parent is not None:
            for name in ("__name__", "__file__", "__package__", "__builtins__", COUNTER):
                self[name] = parent[name]

    def __missing__(self, name: str) -> Any:
        if name in self._running or not self._may_find(name):
            raise KeyError(name)  # its own definition needs it, or nothing gives it
        with self.module.modules.session:
            stand_ins = self.module.modules.stand_ins
            lenient, stand_ins.lenient = stand_ins.lenient, True
            self._running.add(name)
            try:
                self._find(name)
            finally:
                self._running.discard(name)
                stand_ins.lenient = lenient
        return dict.__getitem__(self, name)

    def _may_find(self, name: str) -> bool:
        """The cheap test, before a session is entered: false only if `_find` would find nothing."""
        if self.module.modules.given or self.parent is not None or name in self.scope.by_name:
            return True
        return bool(self.scope.stars) and name not in _BUILTINS

    def _find(self, name: str) -> None:
        """Bind `name`, or raise `KeyError`."""
        key = self.given_as(name)
        if key:
            self[name] = self._given(name, self.module.modules.given[key])
        elif self.scope.binds(name) and not self._hides_triton(name):
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
            return self.module.namespace.evaluate(ast.parse(value["ref"], mode="eval").body)
        except (Exception, UndecidedError) as error:
            return self.missing(name, f"is given as `{{ref: {value['ref']}}}`, which gives nothing ({error})")

    def _hides_triton(self, name: str) -> bool:
        """Whether a nested function is named like Triton's module, by which it is decorated."""
        if self.parent is None or name not in TRITON:
            return False
        return all(isinstance(unit.node, ast.FunctionDef) for unit in self.scope.by_name[name])

    def _evaluate(self, name: str) -> None:
        """Run the units that bind or change `name`, and those of names that are bound along with it."""
        names, work = {name}, [name]
        units: dict[Unit, None] = {}
        while work:
            for unit in choose(self, work.pop()):
                units[unit] = None
                work.extend(other for other in unit.binds if other not in names)
                names.update(unit.binds)
        for unit in sorted(units, key=lambda u: u.order):
            if unit not in self._done:
                self._done.add(unit)
                self._guarded_run(unit, name)
        if name not in self:
            self[name] = self.missing(name, "could not be evaluated")

    def _guarded_run(self, unit: Unit, name: str) -> None:
        try:
            self.run(unit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # linted code: it may raise anything, SystemExit included
            for bound in unit.binds or (name,):
                if bound not in self or bound in unit.binds:
                    self[bound] = self._failed(bound, error)

    def _failed(self, name: str, error: BaseException) -> Missing:
        if isinstance(error, (MissingValueError, UndecidedError)):
            value = error.value
            return self.missing(name, f"is computed from `{value.mutlint_root}`, which {value.mutlint_reason}")
        text = f"{type(error).__name__}: {error}".split("\n")[0].rstrip(": ")
        return self.missing(name, f"could not be computed ({text[:160]})")

    def missing(self, name: str, reason: str) -> Missing:
        return self.module.modules.stand_ins.missing(name, reason)

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
            if isinstance(node, ast.ClassDef):
                self.prepare_class(node)
            self.execute([node])

    def execute(self, body: list[ast.stmt], local: dict[str, Any] | None = None) -> None:
        """Execute statements with their own file name and lines; `local` catches what they bind."""
        self._trace(body)
        tree = ast.Module(body=bounded(body), type_ignores=[])
        code = compile(tree, str(self.module.path), "exec", self.module.flags, True)
        exec(code, self, self if local is None else local)  # noqa: S102 - the slice is the input

    def _trace(self, body: Sequence[ast.AST]) -> None:
        if current() is not None and not is_traced(body):
            self.module.is_traced = False
            spoil()

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression here. Raises what the linted code raises."""
        chain = dotted(node)
        if chain:  # the usual case, without compiling
            value = self.lookup(chain[0])
            for attribute in chain[1:]:
                value = getattr(value, attribute)
            return value
        self._trace([node])
        tree = ast.Expression(body=node)
        with self.module.modules.session:
            stand_ins = self.module.modules.stand_ins
            lenient, stand_ins.lenient = stand_ins.lenient, True
            try:
                code = compile(tree, str(self.module.path), "eval", self.module.flags, True)
                return eval(code, self, self)  # noqa: S307 - the slice is the input
            finally:
                stand_ins.lenient = lenient

    def lookup(self, name: str) -> Any:
        """A global or builtin. Raises `NameError`."""
        try:
            return self[name]
        except KeyError:
            pass
        try:
            return self["__builtins__"][name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined") from None

    def prepare_class(self, node: ast.ClassDef) -> None:
        """Bind the globals that a class body reads: it looks them up without `__missing__`."""
        for name in read_by_class(node):
            try:
                self[name]
            except KeyError:
                continue  # a builtin, or a name of the class itself

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

    def _from_star(self, name: str) -> Any:
        """A name that a star import brings. Raises `KeyError`."""
        if name in _BUILTINS or name.startswith("__"):
            raise KeyError(name)
        modules, place = self.module.modules, self.module.place
        stood_in: list[ModuleType] = []
        for node in reversed(self.scope.stars):
            module = modules.origin(node, place)
            if is_stand_in(module):
                stood_in.append(module)
            elif name not in ("annotations",):
                try:
                    return getattr(module, name)
                except AttributeError:
                    continue
        if stood_in:
            return getattr(stood_in[0], name)
        raise KeyError(name)

    def names(self) -> Iterable[str]:
        """Every name that the scope binds."""
        return [name for name in self.scope.by_name if self.scope.binds(name)]

    def __copy__(self) -> Namespace:
        return self

    def __deepcopy__(self, memo: object) -> Namespace:
        return self


def closed(namespace: Namespace, function: Any, owner: Function | ast.ClassDef | None = None) -> Namespace:
    """The globals of a function that was made in another, `owner`, with what it took from there.

    What a spec gives takes the place of that.
    """
    inside = Namespace(namespace.module, Scope(), namespace, owner)
    inside.update((name, value) for name, value in closure(function).items() if not inside.given_as(name))
    return inside
