"""What the source of a kernel may store through, whatever its compile-time values are.

A walk that errs on one side only: what it does not know passes on the addresses it is given, and an unknown function
stores through all of them. Both sides of a branch count, unless its test is a constant that was given. It is asked
only of parameters that no analysed variant writes, where a guess decides what is compiled.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

from triton_mutlint.signature.evaluate import UNKNOWN
from triton_mutlint.signature.held import NOTHING, Held, compared, constant, either, mixed
from triton_mutlint.signature.helpers import Helper, Program
from triton_mutlint.signature.possible_calls import Calls, Env, of_global

MAX_DEPTH = 24  # calls within each other
MAX_CALLS = 2000  # bodies walked for one kernel
MAX_TRIPS = 24


class Stores:
    """The parameters of one kernel that its source may store through, each with a line of the kernel's own body."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[int, tuple[tuple[str, Held], ...]], tuple[Held, frozenset[str]]] = {}
        self._running: set[tuple[int, tuple[tuple[str, Held], ...]]] = set()
        self._calls = 0
        self.is_typed = False  # the source asks of what kind a value is

    def of(self, helper: Helper, env: Env) -> Mapping[str, int]:
        """Walk the kernel's body, its parameters holding what `env` says."""
        body = _Body(self, helper, dict(env))
        body.block(helper.node.body)
        return body.stored

    def call(self, helper: Helper, env: Env) -> tuple[Held, frozenset[str]]:
        """What a helper returns, and what it stores through."""
        key = (id(helper.node), tuple(env.items()))
        if key in self._known:
            return self._known[key]
        if key in self._running or len(self._running) >= MAX_DEPTH or self._calls >= MAX_CALLS:
            given = mixed(env.values())
            return Held(given.roots, is_open=True), given.roots
        self._calls += 1
        self._running.add(key)
        body = _Body(self, helper, dict(env))
        body.block(helper.node.body)
        self._running.discard(key)
        found = self._known[key] = body.returned or NOTHING, frozenset(body.stored)
        return found

    def helper(self, target: Any, name: str = "") -> Helper | None:
        return self._program.helper(target, name)


class _Body(Calls):
    """The walk over one function's body."""

    def __init__(self, stores: Stores, helper: Helper, env: Env) -> None:
        super().__init__(stores, helper.node.lineno)
        self.namespace, self.env = helper.namespace, env
        self.returned: Held | None = None

    # ----------------------------------------------------------------- statements

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.line = statement.lineno
            _STATEMENTS.get(type(statement), _Body.anything)(self, statement)

    def anything(self, node: ast.stmt) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
            elif isinstance(child, ast.withitem):
                value = self.eval(child.context_expr)
                if child.optional_vars is not None:
                    self.bind(child.optional_vars, value)
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(node, field, []))

    def assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.eval(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.bind(target, value)

    def augment(self, node: ast.AugAssign) -> None:
        load = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self.bind(node.target, self.eval(load))

    def bind(self, target: ast.expr, value: Held) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                starred = isinstance(element, ast.Starred) or any(isinstance(e, ast.Starred) for e in target.elts)
                self.bind(element.value if isinstance(element, ast.Starred) else element,
                          mixed((value,)) if starred else value.element(Held(value=index)))
        elif isinstance(target, ast.Attribute | ast.Subscript):  # a part of it holds the value from now on
            whole = self.eval(_loaded(target.value))
            self.bind(target.value, Held(whole.everything() | value.everything(), is_open=True))

    def branch(self, node: ast.If) -> None:
        test = self.eval(node.test)
        if test.value is not UNKNOWN:
            self.block(node.body if test.value else node.orelse)
            return
        before = dict(self.env)
        self.block(node.body)
        then, self.env = self.env, before
        self.block(node.orelse)
        self.env = _joined(then, self.env)

    def loop(self, node: ast.For | ast.While) -> None:
        for _ in range(MAX_TRIPS):
            before = dict(self.env)
            if isinstance(node, ast.For):
                iterated = self.eval(node.iter)
                self.bind(node.target, either(Held(iterated.roots), *iterated.items or ()))
            else:
                self.eval(node.test)
            self.block(node.body)
            self.env = _joined(before, self.env)
            if self.env == before:
                break
        else:  # tuples that grow with each trip, say
            self.env = {name: Held(value.everything(), is_open=True) for name, value in self.env.items()}
            self.block(node.body)
        self.block(node.orelse)

    def give_back(self, node: ast.Return) -> None:
        value = self.eval(node.value) if node.value is not None else NOTHING
        self.returned = value if self.returned is None else either(self.returned, value)

    # ----------------------------------------------------------------- expressions

    def eval(self, node: ast.expr) -> Held:
        return _EXPRESSIONS.get(type(node), _Body.whatever)(self, node)

    def whatever(self, node: ast.AST) -> Held:
        """Any other expression may be made of all that is in it."""
        return mixed(self.eval(n) if isinstance(n, ast.expr) else self.whatever(n) for n in ast.iter_child_nodes(node))

    def name(self, node: ast.Name) -> Held:
        if node.id in self.env:
            return self.env[node.id]
        found = self.namespace.get(node.id, getattr(builtins, node.id, UNKNOWN))
        if found is UNKNOWN:
            found = self.stores.helper(UNKNOWN, node.id) or UNKNOWN
        return of_global(found)

    def attribute(self, node: ast.Attribute) -> Held:
        return self.member(self.eval(node.value), node.attr)

    def sequence(self, node: ast.Tuple | ast.List) -> Held:
        if any(isinstance(e, ast.Starred) for e in node.elts):
            return self.whatever(node)
        return Held(items=tuple(self.eval(e) for e in node.elts))

    def subscript(self, node: ast.Subscript) -> Held:
        owner = self.eval(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [NOTHING if b is None else self.eval(b) for b in (node.slice.lower, node.slice.upper)]
            fixed = [None if b is None else v.value
                     for b, v in zip((node.slice.lower, node.slice.upper), bounds, strict=True)]
            if owner.items is not None and node.slice.step is None and UNKNOWN not in fixed:
                return Held(owner.roots, owner.items[slice(*fixed)])
            return Held(mixed((owner, *bounds)).roots, is_open=True)
        return owner.element(self.eval(node.slice))

    def binary(self, node: ast.BinOp) -> Held:
        left, right = self.eval(node.left), self.eval(node.right)
        return left + right if isinstance(node.op, ast.Add) else mixed((left, right))

    def compare(self, node: ast.Compare) -> Held:
        values = [self.eval(n) for n in (node.left, *node.comparators)]
        return compared(node, values[0], values[1])

    def unary(self, node: ast.UnaryOp) -> Held:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return NOTHING if value.value is UNKNOWN else Held(value=not value.value)
        negated = isinstance(node.op, ast.USub) and isinstance(value.value, int | float)
        return Held(value=-value.value) if negated else mixed((value,))

    def choice(self, node: ast.IfExp) -> Held:
        test = self.eval(node.test)
        if test.value is not UNKNOWN:
            return self.eval(node.body if test.value else node.orelse)
        return either(self.eval(node.body), self.eval(node.orelse))

    def chain(self, node: ast.BoolOp) -> Held:
        values = [self.eval(n) for n in node.values]
        stops = isinstance(node.op, ast.Or)
        for index, value in enumerate(values):
            if value.value is UNKNOWN:
                return either(*values[index:])
            if bool(value.value) is stops:
                return value
        return values[-1]

    def walrus(self, node: ast.NamedExpr) -> Held:
        value = self.eval(node.value)
        self.bind(node.target, value)
        return value

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Held:
        for part in node.generators:
            iterated = self.eval(part.iter)
            self.bind(part.target, either(Held(iterated.roots), *iterated.items or ()))
            for test in part.ifs:
                self.eval(test)
        return Held(self.eval(node.elt).everything(), is_open=True)

    def nothing(self, node: ast.expr) -> Held:
        self.whatever(node)
        return NOTHING

    def literal(self, node: ast.Constant) -> Held:
        return constant(node.value)


def _loaded(target: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target


def _joined(left: Env, right: Env) -> Env:
    both = {name: either(value, right[name]) if name in right else value for name, value in left.items()}
    return {**right, **both}


_STATEMENTS: dict[type[ast.stmt], Callable[[_Body, Any], None]] = {
    ast.Assign: _Body.assign, ast.AnnAssign: _Body.assign, ast.AugAssign: _Body.augment, ast.If: _Body.branch,
    ast.For: _Body.loop, ast.While: _Body.loop, ast.Return: _Body.give_back,
}  # fmt: skip
_EXPRESSIONS: dict[type[ast.expr], Callable[[_Body, Any], Held]] = {
    ast.Name: _Body.name, ast.Attribute: _Body.attribute, ast.Tuple: _Body.sequence, ast.List: _Body.sequence,
    ast.Subscript: _Body.subscript, ast.BinOp: _Body.binary, ast.Compare: _Body.compare, ast.UnaryOp: _Body.unary,
    ast.IfExp: _Body.choice, ast.BoolOp: _Body.chain, ast.NamedExpr: _Body.walrus, ast.Constant: _Body.literal,
    ast.ListComp: _Body.comprehension, ast.GeneratorExp: _Body.comprehension, ast.SetComp: _Body.comprehension,
    ast.JoinedStr: _Body.nothing, ast.Call: _Body.call,
}  # fmt: skip
