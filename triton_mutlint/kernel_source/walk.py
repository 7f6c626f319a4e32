"""What the source of a kernel may touch, under what is known of its compile-time values.

A walk that errs on one side only: what it does not know passes on the addresses it is given, and an unknown function
stores through all of them. Both sides of a branch count, unless its test is a constant that was given.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.accesses import Accesses, Done
from triton_mutlint.kernel_source.expressions import Expressions
from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.objects import named_and_home
from triton_mutlint.kernel_source.observer import NOBODY, Observer
from triton_mutlint.kernel_source.operations import trips
from triton_mutlint.kernel_source.outside import Outside
from triton_mutlint.kernel_source.values import (
    NOTHING,
    SOME,
    Env,
    MayBe,
    constant,
    decided_by,
    either,
    mixed,
    of_global,
    parameter,
)
from triton_mutlint.types import Footprint, Site

MAX_DEPTH = 24  # calls within each other
MAX_CALLS = 2000  # bodies walked for one kernel
MAX_TRIPS = 24


class Walk:
    """One walk over a kernel and the helpers that it calls."""

    def __init__(self, program: Program, unsettled: Set[str] = frozenset(), observer: Observer = NOBODY,
                 body: type[WalkedBody] | None = None) -> None:
        self._program, self.outside, self.observer = program, Outside(unsettled), observer
        self._body = body or WalkedBody  # how the body of a function is walked
        self._known: dict[tuple[Helper, tuple[tuple[str, MayBe], ...]], Done] = {}
        self._running: set[tuple[Helper, tuple[tuple[str, MayBe], ...]]] = set()
        self._inside: set[tuple[Helper, tuple[tuple[str, MayBe], ...]]] = set()  # those of them that call themselves
        self._calls = 0
        self._walked: dict[tuple[object, ...], tuple[Footprint, frozenset[str]]] = {}

    def of(self, helper: Helper, env: Mapping[str, MayBe]) -> Footprint:
        """Walk the kernel's body, its parameters being what `env` says."""
        return self.consulting(helper, env)[0]

    def consulting(self, helper: Helper, env: Mapping[str, MayBe]) -> tuple[Footprint, frozenset[str]]:
        """What `of` gives, and the parameters whose constants have decided a branch, a loop or an access."""
        key = (helper.node, *env.items())
        if key not in self._walked:
            self._walked[key] = self._consulting(helper, env)
        return self._walked[key]

    def _consulting(self, helper: Helper, env: Mapping[str, MayBe]) -> tuple[Footprint, frozenset[str]]:
        self._calls = 0
        body = self._body(self, helper, dict(env))
        body.block(helper.node.body)
        sites: dict[str, set[Site]] = {}
        for root, site in body.sites:
            sites.setdefault(parameter(root), set()).add(site)
        return Footprint({name: frozenset(found) for name, found in sites.items()}), frozenset(body.consulted)

    def call(self, helper: Helper, env: Env, caller: Accesses) -> Done:
        """What a helper returns, and what it does to memory."""
        key = (helper, tuple(env.items()))  # not its text: two of a factory's products share that
        if key in self._known:
            return self._known[key]
        is_inside = key in self._running  # of itself: what it does is noted where it is walked
        if is_inside or len(self._running) >= MAX_DEPTH or self._calls >= MAX_CALLS:
            given = mixed(env.values())
            self._inside |= {key} if is_inside else set()
            stored = [] if is_inside else [(root, Site("store", ())) for root in given.roots]
            return Done(replace(given.converted(), is_open=True), frozenset(stored))
        self._calls += 1
        self._running.add(key)
        try:
            body = self._body(self, helper, dict(env), caller)
            body.block(helper.node.body)
        finally:  # another walk may follow one that took too long
            self._running.discard(key)
            self._inside.discard(key)
        returned = NOTHING if body.returned is None else body.returned
        found = Done(returned, frozenset(body.sites), body.effects > 0, frozenset(body.consulted))
        if not self._inside:  # else it lacks what a function does that is walked still
            self._known[key] = found
        return found

    def helper(self, target: Any, name: str = "") -> Helper | None:
        return self._program.helper(target, name)


class WalkedBody(Expressions):
    """The walk over one function's body: its statements."""

    def __init__(self, walk: Walk, helper: Helper, env: Env, caller: Accesses | None = None) -> None:
        super().__init__(walk, helper.node.lineno, caller)
        self.namespace, self.env = helper.namespace, env
        self.returned: MayBe | None = None
        self.unrolled = 1  # how often the body of the loop is walked that is walked now

    # ----------------------------------------------------------------- statements

    def block(self, body: list[ast.stmt]) -> bool:
        """Whether the function is left for certain, so that what follows is not reached."""
        return any(self.statement(statement) for statement in body)

    def statement(self, node: ast.stmt) -> bool:
        self.line = node.lineno
        method = _STATEMENTS.get(type(node), "anything")
        return bool(getattr(self, method)(node))

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

    def expression(self, node: ast.Expr) -> None:
        self.eval(node.value)

    def assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.eval(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.bind(target, value)

    def augment(self, node: ast.AugAssign) -> None:
        load = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self.bind(node.target, self.eval(load))

    def bind(self, target: ast.expr, value: MayBe) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                starred = isinstance(element, ast.Starred) or any(isinstance(e, ast.Starred) for e in target.elts)
                self.bind(element.value if isinstance(element, ast.Starred) else element,
                          mixed((value,)) if starred else value.element(constant(index)))
        elif isinstance(target, ast.Attribute | ast.Subscript):  # a part of it holds the value from now on
            whole = self.eval(_loaded(target.value))
            self.set_part(target.value, whole, value)

    def set_part(self, target: ast.expr, whole: MayBe, value: MayBe) -> None:
        """A part of `target`, which held `whole`, is `value` now: so it may be of other names for the same instance."""
        if value.has_objects() or not whole.kinds:
            whole = mixed((whole, value))
        self.bind(target, MayBe(whole.everything() | value.everything(), is_open=True, kinds=whole.kinds))
        for name, held in self.env.items():
            if held.has_objects():
                kinds = held.kinds if held.kinds and not value.has_objects() else (SOME,)
                everything = held.everything() | value.everything()
                self.env[name] = MayBe(everything, None, held.functions, held.is_open, kinds)

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

    def truth(self, node: ast.expr, held: MayBe) -> bool | None:
        """What a test comes to, where that is certain: of an `and`, one operand that is false is enough."""
        self.consult(held)
        if held.is_known:
            return bool(held.value)
        if isinstance(node, ast.BoolOp):
            decides = isinstance(node.op, ast.Or)
            if any(self.truth(n, self.eval(n)) is decides for n in node.values):
                return decides
        return None

    def joined(self, left: Env, right: Env) -> Env:
        """What names hold where two paths meet; one that a path does not bind is looked up outside of the function."""
        for env, other in ((left, right), (right, left)):
            missing = {name: of_global(self.namespace[name]) for name in other if name not in env
                       and name in self.namespace}
            env.update(missing)
        both = {name: either(value, right[name]) for name, value in left.items()
                if name in right and right[name] is not value}
        return {**right, **left, **both}

    def loop(self, node: ast.For | ast.While) -> None:
        numbers, is_unrolled, of = self.counted(node)
        if numbers and is_unrolled and not numbers[MAX_TRIPS // self.unrolled:]:
            assert isinstance(node, ast.For)
            self.unrolled *= len(numbers)
            for number in numbers:
                self.bind(node.target, replace(constant(number), of=of))
                self.block(node.body)
            self.unrolled //= len(numbers)
        elif numbers is None or numbers:
            self.trips(node, bool(numbers))
        self.block(node.orelse)

    def trips(self, node: ast.For | ast.While, is_certain: bool) -> None:
        """Walk the body until nothing changes; `is_certain` says that it runs at least once."""
        for trip in range(MAX_TRIPS):
            before = dict(self.env)
            if isinstance(node, ast.For):
                self.bind(node.target, self.eval(node.iter).any_element())
            else:
                self.eval(node.test)
            self.block(node.body)
            if trip or not is_certain:
                self.env = self.joined(before, self.env)
            if self.env == before:
                break
        else:  # tuples that grow with each trip, say
            self.env = {name: replace(mixed((value,)), is_open=True) for name, value in self.env.items()}
            self.block(node.body)

    def refuse(self, node: ast.Raise) -> bool:
        """A `raise`: Triton refuses a kernel that reaches it, so that nothing follows."""
        return True

    def counted(self, node: ast.For | ast.While) -> tuple[range | None, bool, frozenset[str]]:
        """The numbers that a loop counts, whether it is unrolled, and which parameters' constants decide that."""
        if isinstance(node, ast.While) or not isinstance(node.iter, ast.Call) or node.iter.keywords:
            return None, False, frozenset()
        functions, bounds = self.eval(node.iter.func), [self.eval(a) for a in node.iter.args]
        if functions.is_open or len(functions.functions) != 1:
            return None, False, frozenset()
        function = functions.functions[0].it
        found = trips(function, bounds)
        if found is not None:
            self.consult(*bounds)
        return found, named_and_home(function)[0] == "static_range", decided_by(bounds)

    def check(self, node: ast.Assert) -> None:
        test = self.eval(node.test)
        self.at = self.place(node)
        self.checked(test)

    def give_back(self, node: ast.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else NOTHING
        if self.returned is not None:
            self.show(node).joined(self.returned, value)
            value = either(self.returned, value)
        self.returned = value
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


_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.Expr: "expression", ast.Assign: "assign", ast.AnnAssign: "assign", ast.AugAssign: "augment",
    ast.If: "branch", ast.For: "loop", ast.While: "loop", ast.Return: "give_back", ast.Assert: "check",
    ast.Raise: "refuse",
}  # fmt: skip
