"""What the source of a kernel may store through, and load from, whatever its compile-time values are.

A walk that errs on one side only: what it does not know passes on the addresses it is given, and an unknown function
stores through all of them. Both sides of a branch count, unless its test is a constant that was given. It is asked
only of parameters that no analysed variant writes, or reads, where a guess decides what is compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.signature.evaluate import UNKNOWN
from triton_mutlint.signature.held import NOTHING, SOME, Held, either, mixed
from triton_mutlint.signature.helpers import Helper, Program
from triton_mutlint.signature.possible_calls import Env, of_global
from triton_mutlint.signature.possible_ops import runs_never
from triton_mutlint.signature.possible_values import Expressions

MAX_DEPTH = 24  # calls within each other
MAX_CALLS = 2000  # bodies walked for one kernel
MAX_TRIPS = 24


class Stores:
    """The parameters of one kernel that its source may store through, each with a line of the kernel's own body."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[tuple[Helper, tuple[tuple[str, Held], ...]], tuple[Held, frozenset[str]]] = {}
        self._running: set[tuple[Helper, tuple[tuple[str, Held], ...]]] = set()
        self._calls = 0
        self.is_typed = False  # the source asks of what kind a value is
        self.is_sized = False  # it asks for the shape of one
        self.kept: dict[str, int] = {}  # what is put into memory
        self.loads: set[str] = set()  # what may be read

    def of(self, helper: Helper, env: Env) -> Mapping[str, int]:
        """Walk the kernel's body, its parameters holding what `env` says."""
        body = _Body(self, helper, dict(env))
        body.block(helper.node.body)
        return body.stored

    def call(self, helper: Helper, env: Env) -> tuple[Held, frozenset[str]]:
        """What a helper returns, and what it stores through."""
        key = (helper, tuple(env.items()))  # not its text: two of a factory's products share that
        if key in self._known:
            return self._known[key]
        if key in self._running or len(self._running) >= MAX_DEPTH or self._calls >= MAX_CALLS:
            given = mixed(env.values())
            return replace(given.converted(), is_open=True), given.roots
        self._calls += 1
        self._running.add(key)
        body = _Body(self, helper, dict(env))
        body.block(helper.node.body)
        self._running.discard(key)
        found = self._known[key] = body.returned or NOTHING, frozenset(body.stored)
        return found

    def helper(self, target: Any, name: str = "") -> Helper | None:
        return self._program.helper(target, name)


class _Body(Expressions):
    """The walk over one function's body."""

    def __init__(self, stores: Stores, helper: Helper, env: Env) -> None:
        super().__init__(stores, helper.node.lineno)
        self.namespace, self.env = helper.namespace, env
        self.returned: Held | None = None

    # ----------------------------------------------------------------- statements

    def block(self, body: list[ast.stmt]) -> bool:
        """Whether the function is left for certain, so that what follows is not reached."""
        for statement in body:
            self.line = statement.lineno
            if _STATEMENTS.get(type(statement), _Body.anything)(self, statement):
                return True
        return False

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
            self.set_part(target.value, whole, value)

    def set_part(self, target: ast.expr, whole: Held, value: Held) -> None:
        """Other names may stand for the same instance, and have the part then, too."""
        if value.has_objects() or not whole.kinds:
            whole = mixed((whole, value))
        self.bind(target, Held(whole.everything() | value.everything(), is_open=True, kinds=whole.kinds))
        for name, held in self.env.items():
            if held.has_objects():
                kinds = held.kinds if held.kinds and not value.has_objects() else (SOME,)
                self.env[name] = Held(held.everything() | value.everything(), None, held.functions, held.is_open, kinds)

    def branch(self, node: ast.If) -> bool:
        test = self.eval(node.test)
        truth = self.truth(node.test, test)
        if truth is not None:
            return self.block(node.body if truth else node.orelse)
        self.overloaded(test)
        before = dict(self.env)
        is_left = self.block(node.body)
        then, self.env = self.env, before
        asked = _asked_for_pointer(node.test)
        if asked in self.env:
            self.env[asked] = self.env[asked].number()
        if self.block(node.orelse):
            self.env = then
            return is_left
        if not is_left:
            self.env = self.joined(then, self.env)
        return False

    def truth(self, node: ast.expr, held: Held) -> bool | None:
        """What a test comes to, where that is certain: of an `and`, one operand that is false is enough."""
        if held.value is not UNKNOWN:
            return bool(held.value)
        if isinstance(node, ast.BoolOp):
            decides = isinstance(node.op, ast.Or)
            if any(self.truth(n, self.eval(n)) is decides for n in node.values):
                return decides
        return None

    def joined(self, left: Env, right: Env) -> Env:
        """One or the other; a name that only one has is looked up outside of the function where there is none."""
        for env, other in ((left, right), (right, left)):
            missing = {name: of_global(self.namespace[name]) for name in other if name not in env
                       and name in self.namespace}
            env.update(missing)
        return {**right, **left, **{name: either(left[name], right[name]) for name in left if name in right}}

    def loop(self, node: ast.For | ast.While) -> None:
        if not self.is_skipped(node):
            self.trips(node)
        self.block(node.orelse)

    def trips(self, node: ast.For | ast.While) -> None:
        for _ in range(MAX_TRIPS):
            before = dict(self.env)
            if isinstance(node, ast.For):
                self.bind(node.target, self.eval(node.iter).any_element())
            else:
                self.eval(node.test)
            self.block(node.body)
            self.env = self.joined(before, self.env)
            if self.env == before:
                break
        else:  # tuples that grow with each trip, say
            self.env = {name: replace(mixed((value,)), is_open=True) for name, value in self.env.items()}
            self.block(node.body)

    def is_skipped(self, node: ast.For | ast.While) -> bool:
        """Whether a loop's own text says that it has no trips (`range(0)`)."""
        if isinstance(node, ast.While) or not isinstance(node.iter, ast.Call) or node.iter.keywords:
            return False
        functions = self.eval(node.iter.func)
        return not functions.is_open and len(functions.functions) == 1 and runs_never(
            functions.functions[0].it, [self.eval(a) for a in node.iter.args])

    def give_back(self, node: ast.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else NOTHING
        self.returned = value if self.returned is None else either(self.returned, value)
        return True


def _asked_for_pointer(test: ast.expr) -> str:
    """The name that is no pointer where a test does not hold: `x.dtype.is_ptr()`, after `isinstance(x, tl.tensor)`."""
    *others, asked = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    match asked:
        case ast.Call(func=ast.Attribute(ast.Attribute(ast.Name(name), "dtype"), "is_ptr")):
            tensor = {f"isinstance({name}, {cls})" for cls in ("tl.tensor", "tl.core.tensor", "triton.language.tensor")}
            return name if all(ast.unparse(other) in tensor for other in others) else ""
    return ""


def _loaded(target: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Name(target.id, ast.Load()), target) if isinstance(target, ast.Name) else target


_STATEMENTS: dict[type[ast.stmt], Callable[[_Body, Any], bool | None]] = {
    ast.Assign: _Body.assign, ast.AnnAssign: _Body.assign, ast.AugAssign: _Body.augment, ast.If: _Body.branch,
    ast.For: _Body.loop, ast.While: _Body.loop, ast.Return: _Body.give_back,
}  # fmt: skip
