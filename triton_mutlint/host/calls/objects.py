"""Calls of first-party classes, and the scopes of names that functions assign to."""

from __future__ import annotations

import ast
from functools import lru_cache

from triton_mutlint.host.calls.first_party import FunctionsMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments, bind, parameters
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import (
    UNSEEN,
    BoundMethod,
    ClassValue,
    FunctionValue,
    ScopeId,
    Super,
    Value,
    join,
    thing,
)


class ObjectsMixin(FunctionsMixin):
    """Makes objects of first-party classes."""

    def instance(self, owner: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
        """An object of a first-party class, after `__init__`."""
        made = self.make(node, Cell(owner=owner, kind="object"), "object")
        init = self.class_member(owner, "__init__")
        new = self.class_member(owner, "__new__")
        if new is not None:
            made = join(made, self.call(new, arguments.before(thing(owner)), node))
        if init is not None:
            self.call(self._bind_all(made, init), arguments, node)
        elif new is None:
            self._fields_of(made, owner, arguments, node)
        if owner.node.keywords:  # a metaclass, or what `__init_subclass__` takes
            return join(made, self.not_known(thing(owner), arguments, node))
        return made

    def _fields_of(self, made: Value, owner: ClassValue, arguments: Arguments, node: ast.AST) -> None:
        """What a dataclass or a NamedTuple does with its arguments."""
        declared = [s for c in reversed(self.order(owner)) for s in c.node.body if isinstance(s, ast.AnnAssign)]
        names = list(dict.fromkeys(s.target.id for s in declared if isinstance(s.target, ast.Name)))
        bound = bind(names, [], arguments)
        for i, name in enumerate(names):
            value = bound.values.get(name)
            if value is not None:
                self.state.change(made, name, value)
                self.state.change(made, i, value)
        for value in (*bound.spare, *bound.extra.values(), bound.spare_rest, bound.extra_rest):
            if value is not None:
                self.state.change(made, None, value)
        self.special(made, "__post_init__", (), node)

    @staticmethod
    def _bind_all(owner: Value, member: Value) -> Value:
        found = [thing(BoundMethod(owner, t)) for t in member.things if isinstance(t, FunctionValue)]
        return join(*found) if found else member

    def apply_autograd(self, owner: ClassValue, arguments: Arguments, node: ast.AST) -> Value:
        """`Function.apply(...)`: its `forward`, with a context of its own where it takes one."""
        forward = self.class_member(owner, "forward")
        if forward is None:
            return self.not_known(UNSEEN, arguments, node)
        has_setup = self.class_member(owner, "setup_context") is not None
        if has_setup:
            return self.call(forward, arguments, node)
        context = self.make(node, Cell(kind="context"), "context")
        before = set(self.effects.written)
        result = self.call(forward, arguments.before(context), node)
        dirty = self.state.element(context, "<dirty>")
        inputs = frozenset[str]().union(*(value.same for value in arguments))
        for name in sorted((self.effects.written.keys() - before) & inputs - dirty.same):
            self.effects.unmarked[name, self.place(node)] = None
        return result

    def is_autograd(self, owner: ClassValue) -> bool:
        for base in owner.node.bases:
            value = self.evaluate_in(base, State(), self.top(owner.module))
            for item in value.things:
                if isinstance(item, External) and item.name.endswith("Function"):
                    return True
                if isinstance(item, ClassValue) and item != owner and self.is_autograd(item):
                    return True
        return False

    def super_of(self) -> Value:
        """`super()` in a method: the first parameter, as an object of the next class."""
        names = parameters(self.here.node.args)[0] if self.here.node is not None else []
        if self.here.owner is None or not names:
            return UNSEEN
        return thing(Super(self.name(ast.Name(names[0]), names[0]), self.here.owner))

    # ------------------------------------------------------------------ scopes

    def scope_of(self, name: str) -> ScopeId:
        """The scope that an assignment to `name` binds in."""
        if self.here.node is None or isinstance(self.here.node, ast.Lambda):
            return self.here.scope
        for statement in declared_elsewhere(self.here.node):
            if name in statement.names:
                if isinstance(statement, ast.Global):
                    return ("module", self.here.module.display)
                first = outer = self.scopes.get(self.here.scope)
                while outer is not None and self.state.get(outer, name) is None:
                    outer = self.scopes.get(outer)
                return outer or first or self.here.scope
        return self.here.scope


@lru_cache(maxsize=2048)  # asked at every assignment
def declared_elsewhere(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.Global | ast.Nonlocal, ...]:
    """The `global` and `nonlocal` statements of a function."""
    found: list[ast.Global | ast.Nonlocal] = []
    pending: list[ast.AST] = list(node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            found.append(inner)
        elif not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(inner))
    return tuple(found)
