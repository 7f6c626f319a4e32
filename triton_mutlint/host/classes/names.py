"""What a name in host code stands for: locals, closures, module-level names and builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from triton_mutlint.host.modules.module import Definition, External, HostModule, Resolved
from triton_mutlint.host.state.core import Activation, Core
from triton_mutlint.host.state.state import state_scope
from triton_mutlint.host.values.groups import Arguments, annotations_of
from triton_mutlint.host.values.values import (
    UNSEEN,
    Attribute,
    CellId,
    ClassValue,
    FunctionValue,
    KernelValue,
    Partial,
    ScopeId,
    Thing,
    Value,
    constant,
    join,
    thing,
)
from triton_mutlint.source.function_text import may_be_jit
from triton_mutlint.source.walking import dotted, walk

_BUILTINS = frozenset(vars(builtins))
_RUN = (ast.Expr, ast.For, ast.With, ast.If, ast.Try, ast.Assign)
_KNOWN = {"True": True, "False": False, "None": None, "__debug__": True}

class NameLookup(Core):
    """Looks names up."""

    def name(self, node: ast.expr, name: str) -> Value:
        scope: ScopeId | None = self.here.scope
        while scope is not None:
            value = self.state.get(scope, name)
            if value is None:
                value = self.module_state.get(scope, name)
            if value is not None:
                return value
            scope = self.scopes.get(scope)
        assigned = self.state.get(("module", self.here.module.display), name)
        value = self.module_name(self.here.module, name, self.here.chain[:1] != ("module",))
        return value if assigned is None else join(value, assigned)

    def module_name(self, module: HostModule, name: str, settled: bool = False) -> Value:
        """What a name means at the top level of a module; `settled` after its import."""
        found = self.world.modules.resolve(module, (name,), settled=settled)
        if found:
            return join(self.meaning(found), self.rebound(module, name))
        if name in _KNOWN:
            return constant(_KNOWN[name])
        if name in _BUILTINS:
            return thing(External(f"builtins.{name}"))
        starred = self.world.modules.outside(module)
        return join(*(thing(External(f"{of.name}.{name}")) for of in starred)) if starred else UNSEEN

    def meaning(self, found: Iterable[Resolved]) -> Value:
        resolved = list(found)
        real = [r for r in resolved if isinstance(r, External) and r.name.partition(".")[0] == "triton"]
        values = [self._resolved(r) for r in real or resolved]  # what stands in for Triton where there is none
        return join(*values) if values else UNSEEN

    def member(self, module: HostModule, name: str) -> Value:
        """`module.name`."""
        if name == "__dict__":
            return thing(Attribute(thing(module), name))
        given = self.state.get(("module", module.display), name)
        return join(self.meaning(self.world.modules.members(module, (name,))), self.rebound(module, name),
                    given or Value())

    def rebound(self, of: HostModule | ClassValue, name: str) -> Value:
        """What code of the run gives a top-level name, or an attribute of a class: it may have run before an op."""
        shared, key = self.world.shared, (state_scope(of), name)
        if key not in shared.asked:
            shared.asked.add(key)
            owner = of if isinstance(of, HostModule) else Definition(of.module, of.node)
            for other, store in self.world.modules.setters(owner, name):
                if store.deep:
                    shared.rebound[key] = join(shared.rebound.get(key, Value()), UNSEEN)
                self._run(other, store.unit)
        return shared.rebound.get(key, Value())

    def _run(self, module: HostModule, unit: ast.stmt) -> None:
        """Run code that gives top-level names values: with any arguments, and as its file calls it."""
        shared, bound = self.world.shared, list[tuple[ScopeId, str, Value]]()
        if unit in shared.asked:
            return
        shared.asked.add(unit)

        def work() -> Value:
            self.state.bound = bound
            if not isinstance(unit, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.block([unit], self.state)
                return Value()
            given = Arguments(star=UNSEEN, double_star=UNSEEN)
            self.iterate(self.call(thing(FunctionValue(module, unit)), given, unit), unit)
            for node in module.tree.body:
                if isinstance(node, _RUN) and any(isinstance(n, ast.Name) and n.id == unit.name for n in walk(node)):
                    self.state = self.block([node], self.state) or self.state
            return Value()

        before = dict(self.module_state.names)
        self.apart(work, self.top(module))
        for scope in [scope for scope in self.module_state.names if scope[0] in ("module", "class")]:
            self.module_state.names[scope] = before.get(scope, {})
        for scope, name, value in bound:
            self.loosen(value, False)
            shared.rebound[scope, name] = join(shared.rebound.get((scope, name), Value()), value)

    def _resolved(self, resolved: Resolved) -> Value:
        if not isinstance(resolved, Definition):
            return thing(resolved)
        node = resolved.node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = resolved.module.bindings.get(node.name, ())
            is_top = any(isinstance(one, Definition) and one.node is node for one in own)
            return join(self._defined(FunctionValue(resolved.module, node)),
                        self.rebound(resolved.module, node.name) if is_top else Value())
        if isinstance(node, ast.ClassDef):
            made = ClassValue(resolved.module, node)
            return self._defined(made) if node.decorator_list else thing(made)
        return self._global(resolved.module, node, resolved.index)

    def _defined(self, made: FunctionValue | ClassValue) -> Value:
        """A module-level function or class, decorated once."""
        key = id(made.node)
        if key in self.evaluating:
            return thing(made)
        if key not in self.globals:
            self.evaluating.add(key)
            try:
                value, _ = self.apart(lambda: self._made_once(made), self.top(made.module))
                self.loosen(value, False)
                self.globals[key] = value if value != UNSEEN else thing(made)
            finally:
                self.evaluating.discard(key)
        return self.globals[key]

    def _made_once(self, made: FunctionValue | ClassValue) -> Value:
        if isinstance(made.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.function(made.module, made.node)
        return self.as_decorated(getattr(made.node, "decorator_list", ()), thing(made))

    def _global(self, module: HostModule, node: ast.expr, index: tuple[int, ...]) -> Value:
        """A module-level variable: its expression, evaluated once."""
        key = id(node)
        if key in self.evaluating:
            return UNSEEN
        if key not in self.globals:
            self.evaluating.add(key)
            try:
                value, _ = self.apart(lambda: self.evaluate(node), self.top(module))
                self.loosen(value, self.world.modules.is_changed(module, module.names_of(node)))
                self.globals[key] = value
            finally:
                self.evaluating.discard(key)
        value = self.globals[key]
        names = module.names_of(node)
        set_elsewhere = value.constant is not None and self.world.modules.is_rebound(names)
        if set_elsewhere or (names & module.rebound) - module.given_by_functions:
            value = join(value, UNSEEN)
        for position in index:
            value = self.module_state.element(value, position) if value.cells else UNSEEN
        return _called(value, module, node, index)

    def top(self, module: HostModule) -> Activation:
        """Module-level code, as if it were called."""
        return Activation(module, "<module>", ("module", module.display), chain=("module",))

    # ------------------------------------------------------------------ what may change later

    def loosen(self, value: Value, changed: bool) -> None:
        """Loosen what a module-level name holds, at any depth; `changed` if code changes it by that name.

        Constants in containers and objects are taken for unknown. If any code changes what a field of that
        name holds, or a name of a function around, so is everything in it.
        """
        state, seen = self.module_state, self.world.shared.loosened
        pending = [(cell, changed) for cell in state.holds(value)]
        things = list(value.things)
        while pending or things:
            if not pending:
                pending.extend(self._around_it(things.pop()))
                continue
            cell, altered = pending.pop()
            content = state.cell(cell)
            if content is None or (cell, altered) in seen or (cell, True) in seen:
                continue
            seen.add((cell, altered))
            for key, held in content.fields.items():
                named = isinstance(key, str) and content.kind == "object" and self.world.modules.is_field_changed(key)
                pending.extend((inner, altered or named) for inner in state.holds(held))
                things.extend(held.things)
            for held in (content.rest, content.source):
                pending.extend((inner, altered) for inner in state.holds(held))
                things.extend(held.things)
            if content.kind != "tuple":
                is_object, fields = content.kind == "object", {}
                as_it_was = is_object or self.state.importing
                for key, held in content.fields.items():
                    given = is_object and isinstance(key, str) and self.world.modules.is_field_given(key)
                    fields[key] = join(held, UNSEEN) if given else held if as_it_was else replace(held, constant=None)
                content = replace(content, fields=fields, rest=replace(content.rest, constant=None))
                state.store(cell, replace(content.spread(UNSEEN), size=None) if altered else content)

    def _around_it(self, item: Thing) -> Iterator[tuple[CellId, bool]]:
        """The containers that a function made in another holds by name; what names are given anew is not known."""
        if isinstance(item, Partial):
            for held in (item.function, *item.positional, *(value for _, value in item.keywords)):
                for inner in held.things:
                    yield from self._around_it(inner)
        scope = item.scope if isinstance(item, FunctionValue) else None
        state = self.module_state
        while isinstance(item, FunctionValue) and scope is not None and scope not in self.world.shared.opened:
            self.world.shared.opened.add(scope)
            names = state.names.get(scope, {})
            for name, value in names.items():
                altered = name in item.module.changed
                yield from ((cell, altered) for cell in state.holds(value))
                for inner in value.things:
                    yield from self._around_it(inner)
            again = {name: join(value, UNSEEN) for name, value in names.items() if name in item.module.nonlocals}
            if again:
                state.names[scope] = {**names, **again}
            scope = self.scopes.get(scope)


    # ------------------------------------------------------------------ functions

    def function(self, module: HostModule, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        """What a `def` binds: a kernel, or a function as its decorators leave it."""
        if isinstance(node, ast.FunctionDef) and may_be_jit(node) and not _is_torch_jit(node):
            return thing(KernelValue(module, node))
        self.here.captured = True
        made = FunctionValue(module, node, self.closure, defaults=self.defaults_of(node.args))
        if self.here.name != "<module>" and not module.has_later_annotations:
            for annotation in annotations_of(node):
                self.evaluate(annotation)
        return self.as_decorated(node.decorator_list, thing(made))

    def as_decorated(self, decorators: Sequence[ast.expr], value: Value) -> Value:
        """A function or class after its decorators, the nearest first."""
        for decorator in reversed(decorators):
            value = self.decorated(decorator, value)
        return value

    def decorated(self, decorator: ast.expr, value: Value) -> Value:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        chain = dotted(target)
        if chain and chain[-1] in ("setter", "deleter"):
            return join(value, self.name(target, chain[0]))
        maker = self.evaluate(target)
        if chain and chain[-1] in ("singledispatch", "singledispatchmethod"):
            return join(value, UNSEEN)
        partial = External("functools.partial") in maker.things
        if partial or maker.cells or any(
                isinstance(t, (FunctionValue, ClassValue, Partial)) or is_tuner(t) for t in maker.things):
            return self.decorate(decorator, value)
        called = maker if target is decorator else join(maker, self.evaluate(decorator))
        self.special(called, "__call__", (value,), decorator)
        return value

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, found in self.world.modules.imported(self.here.module, node):
            self.state.put(self.here.scope, name, self.meaning(found))


def _called(value: Value, module: HostModule, node: ast.expr, index: tuple[int, ...]) -> Value:
    """What an expression gives: a jit function with the names that only this one is bound to.

    A decorated function of the module itself is known by its `def`.
    """
    made = [t for t in value.things if isinstance(t, KernelValue) and t.module is module and not t.names
            and not module.is_decorated_kernel(t.node)]
    if not made or len(value.things) > 1:
        return value
    bound = ((name, module.bindings[name]) for name in module.names_of(node) - module.rebound)
    names = frozenset(name for name, (first, *others) in bound
                      if not others and isinstance(first, Definition) and first.index == index)
    return replace(value, things=frozenset(replace(t, names=names) for t in made))


def is_tuner(made: object) -> bool:
    """Whether it is Triton's `jit`, `autotune` or `heuristics`."""
    return isinstance(made, External) and made.name.partition(".")[0] == "triton" \
        and made.name.rpartition(".")[2] in ("jit", "autotune", "heuristics")


def _is_torch_jit(node: ast.FunctionDef) -> bool:
    return any(not {"torch", "numba"}.isdisjoint(dotted(getattr(one, "func", one))) for one in node.decorator_list)
