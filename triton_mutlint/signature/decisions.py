"""What the compile-time values of a kernel decide: which accesses are compiled, and through which address.

A walk over names, in no order: `a` influences `b` if some assignment of `b` mentions `a`, or stands under a test that
does. Tests of tensors are compiled as they stand and decide nothing. What is found says only which variants are worth
lowering (`siblings`): verdicts do not rest on it.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from triton_mutlint.signature.evaluate import UNKNOWN, dotted
from triton_mutlint.signature.helpers import Helper, Program
from triton_mutlint.signature.possible_ops import ASM, FACTS, LOADS, METHODS, NUMBERS, QUIET, stores
from triton_mutlint.signature.python_objects import named_and_home

MAX_DEPTH = 24
_TENSORS = frozenset({"arange", "zeros", "full", "zeros_like", "make_tensor_descriptor", "make_block_ptr"})
_DOING = ASM | {"static_assert"}
_RANGES = frozenset({"range", "static_range"})
_NUMBERS = (bool, int, float, range, tuple, str)
_OTHER = ("triton.experimental", "triton.language.extra")
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.Try,
           ast.With, ast.Match)

Names = frozenset[str]
T = TypeVar("T", "frozenset[str]", "Decided")
NONE: Names = frozenset()


@dataclass(frozen=True)
class Decided:
    """What parameters of a function decide: by their values, by which address they hold, or, as masks, by what they
    are compared to."""

    values: Names = NONE
    addresses: Names = NONE
    masks: Names = NONE

    def __bool__(self) -> bool:
        return bool(self.values or self.addresses or self.masks)

    def __or__(self, other: Decided) -> Decided:
        if not self or not other:
            return self or other
        return Decided(self.values | other.values, self.addresses | other.addresses, self.masks | other.masks)


NOTHING = Decided()


@dataclass(frozen=True)
class Site:
    """An access, or what may be one: the parameters whose memory it may be, and what decides whether."""

    roots: Names
    decided: Decided


@dataclass(frozen=True)
class Decisions:
    """What decides each access of a function; `returned` decides which address the function returns."""

    sites: frozenset[Site] = frozenset()
    returned: Decided = NOTHING


@dataclass(frozen=True, eq=False)
class _Assigned:
    name: str
    value: ast.expr
    tests: tuple[ast.expr, ...]
    is_tensor: bool | None = None  # told by the statement; None: as the value is


class Deciding:
    """Looks at the functions of one program, each once for each way of calling it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[tuple[int, Names, Names], Decisions | None] = {}
        self._depth = 0

    def of(self, helper: Helper, tensors: Names, addresses: Names) -> Decisions | None:
        """What decides the accesses of a function, of whose parameters some are known to be tensors, and only some
        may hold addresses; None where it cannot be told."""
        key = (id(helper.node), tensors, addresses)
        if key not in self._known:
            self._known[key] = None  # for a function that calls itself
            if self._depth < MAX_DEPTH:
                self._depth += 1
                self._known[key] = _Function(self, helper, tensors, addresses).decisions()
                self._depth -= 1
        return self._known[key]


class _Body:
    """What there is in a function body: assignments, calls and ends, each with the tests it stands under."""

    def __init__(self, node: ast.FunctionDef) -> None:
        arguments = node.args
        self.parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self.assigned: list[_Assigned] = []
        self.calls: list[tuple[ast.Call, tuple[ast.expr, ...]]] = []
        self.ends: list[tuple[ast.expr, ...]] = []
        self.returns: list[tuple[ast.expr, tuple[ast.expr, ...]]] = []
        self.is_plain = arguments.vararg is None and arguments.kwarg is None
        self.block(node.body, ())
        self.locals = {*self.parameters, *(a.name for a in self.assigned)}
        self._names: dict[ast.expr, set[str]] = {}
        self.users: dict[str, list[_Assigned]] = {name: [] for name in self.locals}
        for a in self.assigned:
            for name in {a.name, *self.names(a.value), *(n for t in a.tests for n in self.names(t))}:
                self.users[name].append(a)

    def names(self, node: ast.expr) -> set[str]:
        """The local ones in an expression."""
        found = self._names.get(node)
        if found is None:
            found = self._names[node] = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & self.locals
        return found

    def block(self, body: Sequence[ast.stmt], tests: tuple[ast.expr, ...]) -> None:
        for statement in body:
            self.statement(statement, tests)

    def statement(self, node: ast.stmt, tests: tuple[ast.expr, ...]) -> None:
        if isinstance(node, _NESTED):
            self.is_plain = False
        elif isinstance(node, ast.If | ast.While | ast.For):
            self.branching(node, tests)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self.assignment(node, tests)
        elif isinstance(node, ast.Expr):
            self.expression(node.value, tests)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.expression(node.value, tests)
                self.returns.append((node.value, tests))
            self.ends.append(tests)
        elif isinstance(node, ast.Assert):
            self.expression(node.test, tests)
            self.ends.append((*tests, node.test))
        elif not isinstance(node, ast.Pass):
            self.ends.append(tests)

    def branching(self, node: ast.If | ast.While | ast.For, tests: tuple[ast.expr, ...]) -> None:
        if isinstance(node, ast.For):
            self.expression(node.iter, tests)
            is_run = _is_run_time(node.iter)
            self.assign(node.target, node.iter, tests, is_run)
            inside = (*tests, *_bounds(node.iter)) if is_run else (*tests, node.iter)
        else:
            self.expression(node.test, tests)
            inside = (*tests, node.test) if isinstance(node, ast.If) else tests
        self.block(node.body, inside)
        self.block(node.orelse, inside)

    def assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, tests: tuple[ast.expr, ...]) -> None:
        if node.value is None:
            return
        self.expression(node.value, tests)
        value = node.value
        if isinstance(node, ast.AugAssign):
            before = ast.Name(node.target.id, ast.Load()) if isinstance(node.target, ast.Name) else node.target
            value = ast.BinOp(before, node.op, node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.assign(target, value, tests)

    def assign(self, target: ast.expr, value: ast.expr, tests: tuple[ast.expr, ...],
               is_tensor: bool | None = None) -> None:
        if isinstance(target, ast.Name):
            self.assigned.append(_Assigned(target.id, value, tests, is_tensor))
        elif isinstance(target, ast.Tuple | ast.List):
            pairs = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else ()
            for index, element in enumerate(target.elts):
                self.assign(element, pairs[index] if pairs else value, tests, is_tensor)
        elif isinstance(target, ast.Starred | ast.Attribute | ast.Subscript):
            self.assign(target.value, value, tests, False)
        else:
            self.is_plain = False

    def expression(self, node: ast.expr, tests: tuple[ast.expr, ...]) -> None:
        """The calls in an expression, with the tests on which it depends whether they are reached."""
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            self.is_plain = False
        elif isinstance(node, ast.IfExp):
            self.expression(node.test, tests)
            self.expression(node.body, (*tests, node.test))
            self.expression(node.orelse, (*tests, node.test))
        elif isinstance(node, ast.BoolOp):
            for index, value in enumerate(node.values):
                self.expression(value, (*tests, *node.values[:index]))
        else:
            if isinstance(node, ast.Call):
                self.calls.append((node, tests))
            elif isinstance(node, ast.NamedExpr):
                self.assign(node.target, node.value, tests)
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.expression(child, tests)
                elif isinstance(child, ast.keyword):
                    self.expression(child.value, tests)


@lru_cache(maxsize=64)
def _body(node: ast.FunctionDef) -> _Body:
    """Of a helper, in all calls."""
    return _Body(node)


class _Function:
    """What comes of one function body, called in one way."""

    def __init__(self, deciding: Deciding, helper: Helper, tensors: Names, addresses: Names) -> None:
        self.deciding, self.namespace = deciding, helper.namespace
        self.body = _body(helper.node)
        parameters = self.body.parameters
        self._is_tensor: dict[ast.expr, bool] = {}
        self.tensors = self._tensors(tensors)
        self._roots: dict[ast.expr, Names] = {}
        self.roots: dict[str, Names] = {p: frozenset((p,)) for p in parameters if p in addresses}
        self.influences: dict[str, Names] = {p: frozenset((p,)) for p in parameters}
        self.masks: dict[str, Decided] = {p: Decided(masks=frozenset((p,))) for p in parameters if p in tensors}
        self.chosen: dict[str, Decided] = {p: Decided(addresses=frozenset((p,))) for p in self.roots}

    # ----------------------------------------------------------------- what it comes to

    def decisions(self) -> Decisions | None:
        if not self.body.is_plain:
            return None
        self._settle()
        ends = self.tested(t for tests in self.body.ends for t in tests)
        sites: set[Site] = set()
        for call, tests in self.body.calls:
            around = self.tested(tests) | ends
            if not self._call(call, around, sites):
                return None
        returned = NOTHING
        kinds = {self.root(value) for value, _ in self.body.returns}
        for value, tests in self.body.returns:
            returned |= self.choice(value)
            if _differ(kinds):
                returned |= self.tested(tests) | ends
        return Decisions(frozenset(sites), returned)

    def _tensors(self, given: Names) -> Names:
        """The names that hold tensors whatever the compile-time values are."""
        body = self.body
        mutable = {a.name for a in body.assigned if a.name in body.parameters}
        self.tensors = frozenset({*given, *(a.name for a in body.assigned)} - (mutable - given))
        while True:
            self._is_tensor.clear()
            wrong = {a.name for a in body.assigned if a.name in self.tensors
                     and not (self.is_tensor(a.value) if a.is_tensor is None else a.is_tensor)}
            if not wrong:
                return self.tensors
            self.tensors -= wrong

    def _settle(self) -> None:
        """What each name may hold."""
        self._fix(self.roots, self._root)
        by_name: dict[str, set[Names]] = {}
        for a in self.body.assigned:
            by_name.setdefault(a.name, set()).add(self.root(a.value))
        differing = {name for name, roots in by_name.items() if _differ(roots)} | {*self.body.parameters}
        self._fix(self.influences, lambda a: self.influence(a.value) | self.tested(a.tests).values)
        self._fix(self.masks, lambda a: self.mask(a.value) | self.tested(a.tests)
                  if a.name in self.tensors and not a.is_tensor else NOTHING)
        self._fix(self.chosen, lambda a: self.choice(a.value) | (
            self.tested(a.tests) if a.name in differing and a.name in self.roots else NOTHING))

    def _root(self, assigned: _Assigned) -> Names:
        self._roots.clear()  # what is known of names changes still
        return self.root(assigned.value)

    def _fix(self, table: dict[str, T], value: Callable[[_Assigned], T]) -> None:
        """Joins what each assignment gives its name, until nothing more is found."""
        pending = dict.fromkeys(self.body.assigned)
        while pending:
            assigned = next(iter(pending))
            del pending[assigned]
            before, found = table.get(assigned.name), value(assigned)
            after = found if before is None else before | found
            if after and after != before:
                table[assigned.name] = after
                pending.update(dict.fromkeys(self.body.users[assigned.name]))

    def tested(self, tests: Iterable[ast.expr]) -> Decided:
        """What decides tests that are made at compile time."""
        return _joined(map(self.mask, tests))

    def influence(self, *nodes: ast.expr) -> Names:
        """The parameters whose values expressions may depend on."""
        return NONE.union(*(self.influences.get(n, NONE) for node in nodes for n in self.body.names(node)))

    def mask(self, node: ast.expr | None) -> Decided:
        """What decides, at compile time, whether a mask may be false everywhere, or a test of a tensor fail."""
        if node is None:
            return NOTHING
        if not self.is_tensor(node):
            return Decided(self.influence(node))
        if isinstance(node, ast.Name):
            return self.masks.get(node.id, NOTHING)
        if isinstance(node, ast.Compare):  # of offsets with what may be a constant
            return _joined(self.mask(s) for s in (node.left, *node.comparators) if not self.is_tensor(s))
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.Mult):
            return NOTHING
        parts = _arguments(node) if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
        owner = _owner(node) if isinstance(node, ast.Call) else None
        return _joined(self.mask(n) for n in (owner, *parts) if isinstance(n, ast.expr) and not self.is_module(n))

    # ----------------------------------------------------------------- addresses

    def root(self, node: ast.expr | None) -> Names:
        """The parameters whose addresses an expression may hold."""
        if isinstance(node, ast.Name):
            return self.roots.get(node.id, NONE)
        if node is None or isinstance(node, ast.Compare | ast.Constant | ast.JoinedStr):
            return NONE
        known = self._roots.get(node)
        if known is None:
            known = self._roots[node] = self._root_of(node)
        return known

    def _root_of(self, node: ast.expr) -> Names:
        if isinstance(node, ast.IfExp):
            return self.root(node.body) | self.root(node.orelse)
        if isinstance(node, ast.Subscript | ast.Starred):
            return self.root(node.value)
        if isinstance(node, ast.Attribute):
            return NONE if node.attr in FACTS else self.root(node.value)
        if isinstance(node, ast.Call):
            return self._made(node)
        return NONE.union(*(self.root(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)))

    def _made(self, node: ast.Call) -> Names:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in LOADS or name in NUMBERS or stores(name):
            return NONE
        return NONE.union(self.root(_owner(node)), *map(self.root, _arguments(node)))

    def choice(self, node: ast.expr | None) -> Decided:
        """What decides which address an expression holds."""
        if node is None or not self.root(node):
            return NOTHING
        if isinstance(node, ast.Name):
            return self.chosen.get(node.id, NOTHING)
        if isinstance(node, ast.IfExp):
            differ = _differ({self.root(node.body), self.root(node.orelse)})
            return self.choice(node.body) | self.choice(node.orelse) | (self.tested([node.test]) if differ else NOTHING)
        if isinstance(node, ast.BoolOp):
            return _joined(self.choice(v) for v in node.values) | self.tested(node.values)
        if isinstance(node, ast.Subscript):
            return self.choice(node.value) | Decided(self.influence(node.slice))
        if isinstance(node, ast.Call):
            return self._result(node)
        return _joined(self.choice(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))

    def _result(self, node: ast.Call) -> Decided:
        owner = _owner(node)
        given = _joined(map(self.choice, (owner, *_arguments(node))))
        helper = self.helper(node.func)
        if helper is None:
            home = named_and_home(self.target(node.func))[1].partition(".")[0]
            known = home in QUIET or (owner is not None and self.is_local(owner))
            if not known or _differ({self.root(node)}):
                given |= Decided(self.influence(*_arguments(node)))
            return given
        called = self._called(helper, node)
        return self.outside(called[0].returned, called[1]) if called else given

    # ----------------------------------------------------------------- calls

    def target(self, node: ast.expr) -> Any:
        """The object that a call calls, where it is a global."""
        first = node
        while isinstance(first, ast.Attribute):
            first = first.value
        if not isinstance(first, ast.Name) or first.id in self.body.locals:
            return UNKNOWN
        found = dotted(node, self.namespace)
        if found is UNKNOWN and isinstance(node, ast.Name):
            return getattr(builtins, node.id, UNKNOWN)
        return found

    def is_module(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id not in self.body.locals

    def is_local(self, node: ast.expr) -> bool:
        """Whether it is made in the function, rather than a module."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return not isinstance(node, ast.Name) or node.id in self.body.locals

    def _call(self, node: ast.Call, around: Decided, sites: set[Site]) -> bool:
        """Notes the accesses of a call; whether that can be told."""
        if isinstance(node.func, ast.Attribute) and self.is_local(node.func.value):
            name, owner = node.func.attr, node.func.value
            if self.hands_over(node):
                return False
            if stores(name) or name in LOADS or name == "gather":
                sites.add(self.access(owner, around, _argument(node, "mask", 1)))
            return stores(name) or name in LOADS or name in METHODS
        target = self.target(node.func)
        helper = self.helper(node.func)
        if helper is not None:
            return self._helped(helper, node, around, sites)
        name, home = named_and_home(target)
        if isinstance(target, type):
            return target in _NUMBERS or (name in _RANGES and home.startswith("triton."))
        if target is UNKNOWN or self.hands_over(node):
            return False
        if type(target).__name__ == "ConstexprFunction":
            return True
        if home.partition(".")[0] not in QUIET:
            return False
        if stores(name) or name in LOADS:
            address = _argument(node, "pointer", 0) or _argument(node, "desc", 0)
            sites.add(self.access(address, around, _argument(node, "mask", 1 if name in LOADS else 2)))
        elif name in _DOING or home.startswith(_OTHER):
            sites.add(self.anything(node, around))
        return True

    def helper(self, function: ast.expr) -> Helper | None:
        """The jit function that is called: of a local name it cannot be told."""
        if isinstance(function, ast.Name) and function.id in self.body.locals:
            return None
        return self.deciding.program.helper(self.target(function), getattr(function, "id", ""))

    def hands_over(self, node: ast.Call) -> bool:
        """Whether a call hands a function on, which may do anything."""
        return any(isinstance(a, ast.Name | ast.Attribute) and self.helper(a) is not None for a in _arguments(node))

    def access(self, address: ast.expr | None, around: Decided, mask: ast.expr | None) -> Site:
        return Site(self.root(address), around | self.choice(address) | self.mask(mask))

    def anything(self, node: ast.Call, around: Decided) -> Site:
        """What a call does that may do anything."""
        parts = [*_arguments(node), node.func]
        decided = around | Decided(self.influence(*parts)) | _joined(map(self.choice, parts))
        return Site(NONE.union(*map(self.root, parts)), decided)

    def _helped(self, helper: Helper, node: ast.Call, around: Decided, sites: set[Site]) -> bool:
        called = self._called(helper, node)
        if called is None:
            return False
        found, bound = called
        for site in found.sites:
            roots = NONE.union(*(self.root(bound[n]) for n in site.roots if n in bound))
            sites.add(Site(roots, around | self.outside(site.decided, bound)))
        return True

    def _called(self, helper: Helper, node: ast.Call) -> tuple[Decisions, Mapping[str, ast.expr]] | None:
        """What decides the accesses of a helper, and the arguments of one call; None where that cannot be told."""
        bound = _bound(helper, node)
        if bound is None:
            return None
        tensors = frozenset(n for n, value in bound.items() if self.is_tensor(value))
        found = self.deciding.of(helper, tensors, frozenset(n for n, value in bound.items() if self.root(value)))
        return None if found is None else (found, bound)

    def outside(self, decided: Decided, bound: Mapping[str, ast.expr]) -> Decided:
        """What a helper's parameters decide, as what decides its arguments here."""
        values = self.influence(*(bound[n] for n in decided.values if n in bound))
        masks = _joined(self.mask(bound[n]) for n in decided.masks if n in bound)
        return Decided(values) | masks | _joined(self.choice(bound[n]) for n in decided.addresses if n in bound)

    # ----------------------------------------------------------------- tensors

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a run-time value, whatever the compile-time values are."""
        if isinstance(node, ast.Name):
            return node.id in self.tensors
        known = self._is_tensor.get(node)
        if known is None:
            known = self._is_tensor[node] = self._is_run_time(node)
        return known

    def _is_run_time(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return self.is_tensor(node.left) or self.is_tensor(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_tensor(node.operand)
        if isinstance(node, ast.Compare):
            run_time = not any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
            return run_time and all(self.is_tensor(a) or self.is_tensor(b)
                                    for a, b in zip((node.left, *node.comparators), node.comparators, strict=False))
        if isinstance(node, ast.BoolOp):
            return self.is_tensor(node.values[0])
        if isinstance(node, ast.IfExp):
            return self.is_tensor(node.body) and self.is_tensor(node.orelse)
        if isinstance(node, ast.Subscript):
            return self.is_tensor(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr == "T" and self.is_tensor(node.value)
        return isinstance(node, ast.Call) and self._computes(node)

    def _computes(self, node: ast.Call) -> bool:
        if isinstance(node.func, ast.Attribute) and self.is_local(node.func.value):
            return node.func.attr in METHODS and self.is_tensor(node.func.value)
        target = self.target(node.func)
        name, home = named_and_home(target)
        if not home.startswith("triton.") or self.deciding.program.helper(target) is not None:
            return False
        return name in LOADS | NUMBERS | _TENSORS or any(self.is_tensor(a) for a in _arguments(node))


def _is_run_time(iterable: ast.expr) -> bool:
    """Whether a loop over it is compiled as one, rather than unrolled."""
    if not isinstance(iterable, ast.Call):
        return False
    function = iterable.func
    return (function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")) == "range"


def _differ(roots: Collection[Names]) -> bool:
    """Whether addresses made of these parameters may be of several."""
    return len(roots) > 1 or any(len(r) > 1 for r in roots)


def _bounds(loop: ast.expr) -> Iterator[ast.expr]:
    """What decides whether a loop over a range has any trips: not its step, nor what a distance is divided by."""
    ends = [*loop.args[:2], *(k.value for k in loop.keywords)] if isinstance(loop, ast.Call) else []
    for end in ends:
        divided = isinstance(end, ast.Call) and getattr(end.func, "attr", "") == "cdiv" and end.args
        yield end.args[0] if divided and isinstance(end, ast.Call) else end


def _argument(node: ast.Call, name: str, index: int) -> ast.expr | None:
    named = (k.value for k in node.keywords if k.arg == name)
    return next(named, node.args[index] if len(node.args) > index else None)


def _owner(node: ast.Call) -> ast.expr | None:
    """What a method is called of, or the module of a function."""
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _arguments(node: ast.Call) -> Iterator[ast.expr]:
    yield from node.args
    yield from (k.value for k in node.keywords)


def _bound(helper: Helper, node: ast.Call) -> Mapping[str, ast.expr] | None:
    """The arguments of a call by parameter."""
    formal = helper.node.args
    names = [a.arg for a in (*formal.posonlyargs, *formal.args)]
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return None
    if len(node.args) > len(names):
        return None
    bound = dict(zip(names, node.args, strict=False))
    bound.update((k.arg, k.value) for k in node.keywords if k.arg is not None)
    return bound


def _joined(found: Iterable[Decided]) -> Decided:
    total = NOTHING
    for one in found:
        total |= one
    return total
