"""Calls of first-party functions and classes: they are interpreted where they are called."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from triton_mutlint.host.arguments import Arguments, bind, defaults, parameters
from triton_mutlint.host.core import Activation
from triton_mutlint.host.effects import Effects
from triton_mutlint.host.modules import External
from triton_mutlint.host.state import State
from triton_mutlint.host.statements import StatementsMixin
from triton_mutlint.host.values import (
    NONE,
    UNSEEN,
    BoundMethod,
    Cell,
    ClassValue,
    FunctionValue,
    ScopeId,
    Super,
    Value,
    join,
    thing,
)
from triton_mutlint.model import Frame

DEPTH = 24  # calls in calls, at most
_ROUNDS = 8  # of one recursive function


class FunctionsMixin(StatementsMixin):
    """Calls host functions."""

    def call(self, callee: Value, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        raise NotImplementedError

    def not_known(self, owner: Value, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        raise NotImplementedError

    def invoke(self, function: FunctionValue, arguments: Arguments, node: ast.AST, state: State,
               here: Activation) -> Value:
        """The result of calling a first-party function; what it does is noted."""
        running = next((a for a in self.active if a.node is function.node), None)
        given = self._given_to(function, arguments, node, state, here)
        if running is not None:
            return self._again(running, given)
        plain = not any(v.cells or v.things or v.roots for v in given.values())
        if plain and function.scope is None and not state.kept and self.active:
            return self._unreached(function, given, node, here)
        return self._entered(function, given, node, state, here)

    def _unreached(self, function: FunctionValue, given: dict[str, Value], node: ast.AST, here: Activation) -> Value:
        """A call that no op argument reaches, and that gives the same each time."""
        key = (id(function.node), frozenset(given.items()))
        results = self.world.shared.results
        if key not in results:
            results[key] = UNSEEN, Effects()  # for a call of it by itself
            results[key] = self.apart(lambda: self._entered(function, given, node, self.module_state, here))
        value, effects = results[key]
        self.effects.kernels.update(effects.kernels)
        self.effects.unwrapped.update(effects.unwrapped)
        return value

    def _entered(self, function: FunctionValue, given: dict[str, Value], node: ast.AST, state: State,
                 here: Activation) -> Value:
        if len(self.active) >= DEPTH:
            return self.not_known(UNSEEN, Arguments(tuple(given.values())), node, state, here)
        frame = Frame(here.name, here.module.display, getattr(node, "lineno", 1))
        place = (function.module.display, function.node.lineno, function.node.col_offset)
        chain = (*here.chain, (here.module.display, getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        name = "<lambda>" if isinstance(function.node, ast.Lambda) else function.node.name
        inner = Activation(function.module, name, (*place, chain), function.scope, function.node,
                           (*here.path, frame), chain, function.owner, entry=dict(given))
        self.scopes[inner.scope] = function.scope
        self.active.append(inner)
        try:
            return self.run(inner, state)
        finally:
            self.active.pop()
            if not inner.captured:
                state.names.pop(inner.scope, None)

    def run(self, inner: Activation, state: State) -> Value:
        """Interpret an activation's body until its recursive calls add nothing; `state` becomes that after it."""
        for _ in range(_ROUNDS):
            before, returned = dict(inner.entry), inner.returned
            start = state.copy()
            inner.left = []
            for name, value in inner.entry.items():
                start.put(inner.scope, name, value)
            self._body(inner, start)
            if not inner.recursive or (before == inner.entry and returned == inner.returned):
                break
        left = inner.left
        if left:
            ended = left[0]
            for other in left[1:]:
                ended.join(other)
            state.become(ended)
        return self._result(inner, state)

    def _body(self, inner: Activation, start: State) -> None:
        node = inner.node
        if isinstance(node, ast.Lambda):
            value = self.evaluate(node.body, start, inner)
            inner.returned = value if inner.returned is None else join(inner.returned, value)
            inner.left.append(start)
            return
        assert node is not None
        ended = self.block(node.body, start, inner)
        if ended is not None:
            inner.returned = NONE if inner.returned is None else join(inner.returned, NONE)
            inner.left.append(ended)

    def _result(self, inner: Activation, state: State) -> Value:
        if inner.yielded is not None:
            assert inner.node is not None
            return self.make(inner.node, Cell(rest=inner.yielded, kind="generator"), state, inner, "generator")
        return inner.returned if inner.returned is not None else UNSEEN

    def _again(self, running: Activation, given: Mapping[str, Value]) -> Value:
        """A recursive call: its arguments join those of the call that is running, which is then run again."""
        running.recursive = True
        for name, value in given.items():
            old = running.entry.get(name)
            running.entry[name] = value if old is None else join(old, value)
        return running.returned if running.returned is not None else Value()

    # ------------------------------------------------------------------ parameters

    def _given_to(self, function: FunctionValue, arguments: Arguments, node: ast.AST, state: State,
               here: Activation) -> dict[str, Value]:
        takes = function.node.args
        names, keyword_only = parameters(takes)
        bound = bind(names, keyword_only, arguments)
        values = dict(bound.values)
        outside = self.top(function.module)
        for name, default in defaults(takes).items():
            if name not in values:
                values[name] = self.evaluate(default, self.module_state, outside)
            elif values[name] in (arguments.star, arguments.double_star):
                values[name] = join(values[name], self.evaluate(default, self.module_state, outside))
        for name in (*names, *keyword_only):
            values.setdefault(name, UNSEEN)
        if takes.vararg is not None:
            content = Cell(dict(enumerate(bound.spare)), bound.spare_rest or Value(),
                           len(bound.spare) if bound.spare_rest is None else None, kind="tuple")
            values[takes.vararg.arg] = self.make(node, content, state, here, "args")
        if takes.kwarg is not None:
            rest = Cell(dict(bound.extra), bound.extra_rest or Value(), kind="dict")
            values[takes.kwarg.arg] = self.make(node, rest, state, here, "kwargs")
        return values

    def decorate(self, decorator: ast.expr, value: Value, state: State, here: Activation) -> Value:
        maker = self.evaluate(decorator, state, here)
        result = self.call(maker, Arguments((value,)), decorator, state, here)
        return result if result.things else value

    def get_property(self, method: BoundMethod, node: ast.AST, state: State, here: Activation) -> Value:
        return self.invoke(method.function, Arguments((method.owner,)), node, state, here)

    # ------------------------------------------------------------------ classes

    def instance(self, owner: ClassValue, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """An object of a first-party class, after `__init__`."""
        made = self.make(node, Cell(owner=owner, kind="object"), state, here, "object")
        init = self.class_member(owner, "__init__")
        if init is not None:
            self.call(self._bind_all(made, init), arguments, node, state, here)
            return made
        fields = (s.target for s in owner.node.body if isinstance(s, ast.AnnAssign))
        names = [target.id for target in fields if isinstance(target, ast.Name)]
        bound = bind(names, [], arguments)  # a dataclass or a NamedTuple
        for i, name in enumerate(names):
            value = bound.values.get(name)
            if value is not None:
                state.change(made, name, value)
                state.change(made, i, value)
        for value in (*bound.spare, *bound.extra.values(), bound.spare_rest, bound.extra_rest):
            if value is not None:
                state.change(made, None, value)
        return made

    @staticmethod
    def _bind_all(owner: Value, member: Value) -> Value:
        found = [thing(BoundMethod(owner, t)) for t in member.things if isinstance(t, FunctionValue)]
        return join(*found) if found else member

    def apply_autograd(self, owner: ClassValue, arguments: Arguments, node: ast.AST, state: State,
                       here: Activation) -> Value:
        """`Function.apply(...)`: its `forward`, with a context of its own where it takes one."""
        forward = self.class_member(owner, "forward")
        if forward is None:
            return self.not_known(UNSEEN, arguments, node, state, here)
        has_setup = self.class_member(owner, "setup_context") is not None
        if has_setup:
            return self.call(forward, arguments, node, state, here)
        context = self.make(node, Cell(kind="context"), state, here, "context")
        before = set(self.effects.written)
        result = self.call(forward, arguments.before(context), node, state, here)
        dirty = state.element(context, "<dirty>")
        inputs = frozenset[str]().union(*(value.same for value in arguments))
        for name in sorted((self.effects.written.keys() - before) & inputs - dirty.same):
            self.effects.unmarked[name, self.place(node, here)] = None
        return result

    def is_autograd(self, owner: ClassValue) -> bool:
        for base in owner.node.bases:
            value = self.evaluate(base, State(), self.top(owner.module))
            for item in value.things:
                if isinstance(item, External) and item.name.endswith("Function"):
                    return True
                if isinstance(item, ClassValue) and item != owner and self.is_autograd(item):
                    return True
        return False

    def super_of(self, state: State, here: Activation) -> Value:
        """`super()` in a method: the first parameter, as an object of the next class."""
        names = parameters(here.node.args)[0] if here.node is not None else []
        if here.owner is None or not names:
            return UNSEEN
        return thing(Super(self.name(ast.Name(names[0]), names[0], state, here), here.owner))

    # ------------------------------------------------------------------ scopes

    def scope_of(self, name: str, here: Activation) -> ScopeId:
        """The scope that an assignment to `name` binds in."""
        if here.node is None or isinstance(here.node, ast.Lambda):
            return here.scope
        for statement in declared_elsewhere(here.node):
            if name in statement.names:
                if isinstance(statement, ast.Global):
                    return ("module", here.module.display)
                outer = self.scopes.get(here.scope)
                return outer if outer is not None else here.scope
        return here.scope


@lru_cache(maxsize=2048)  # asked at every assignment
def declared_elsewhere(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.Global | ast.Nonlocal, ...]:
    """The `global` and `nonlocal` statements of a function."""
    return tuple(s for s in ast.walk(node) if isinstance(s, (ast.Global, ast.Nonlocal)))


