"""Random programs from a seed: terminating and in bounds by construction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzz.program import Assign, Body, Do, Function, If, Loop, Node, Program, Return, Stmt
from fuzz.rows import ACTIONS, BY_KIND, LOOPS, Row
from fuzz.shrink import calls

POINTERS = 8  # pointer parameters of every kernel
CONSTANTS = (4, 8, 12, -4)
DEPTH = 3  # of expressions
NESTING = 3  # of statements
_LOOP_WEIGHTS = {"constant": 0.4, "static": 0.7, "range": 3.0, "while_atomic": 0.5}
_START = {
    "i": "i.from", "t": "t.block", "d": "d.make", "b": "b.make", "x": "x.make", "a": "a.make",
}


@dataclass
class _Scope:
    """What may be used at one point of one function."""

    variables: dict[str, str]  # name -> kind; all may be read
    targets: list[str]  # those that may be assigned
    features: frozenset[str]
    is_kernel: bool = False
    returns: str = ""
    loops: list[str] = field(default_factory=list)  # variables of the loops around
    branches: int = 0
    budget: int = 12  # statements left


class Generator:
    """Makes one program; `features` are those of the Triton that is going to run it."""

    def __init__(self, seed: str, features: frozenset[str] = frozenset()) -> None:
        self._random = random.Random(seed)  # noqa: S311  # reproducible, not secret
        self._features = features
        self._flags = 0
        self._names = 0
        self._constants: dict[int, int] = {}  # of the top level, with their values
        self._helpers: list[Function] = []

    def program(self) -> Program:
        for _ in range(self._random.choice((0, 0, 1, 1, 2, 3))):
            self._helpers.append(self._helper())
        program = Program(self._kernel(), tuple(self._helpers))
        for helper in reversed(self._helpers):  # one that nobody calls would be a kernel of its own
            if not calls(program, helper.name):
                program = replace(program, helpers=tuple(h for h in program.helpers if h is not helper))
        return program

    # ------------------------------------------------------------------ functions

    def _kernel(self) -> Function:
        pick = self._random.random
        kinds = {f"a{i}": "p" for i in range(POINTERS)}
        features = {*self._features, "kernel"}
        for name, kind, chance in (("scr", "S", 0.2), ("tab", "T", 0.2), ("lens", "L", 0.15), ("hd", "d", 0.25),
                                   ("tp", "x", 0.2), ("opt", "O", 0.1)):
            if pick() < chance:
                kinds[name] = kind
                features.add(name)
        if "tab" in features and pick() < 0.2:
            features.add("outside")
        constants = {f"K{i}": "K" for i in range(self._random.choice((0, 0, 1, 2)))}
        variables = {name: kind for name, kind in kinds.items() if kind in "pdx"}
        scope = _Scope(variables, [], frozenset(features), is_kernel=True, budget=self._random.randint(5, 16))
        start = self._scratch(features)
        start += self._start(scope)
        scope.variables.update(constants)
        body = self._body(scope, 0)
        every = {**kinds, **constants}
        return Function("kernel", tuple(every), "".join(every.values()), start + body + self._last_store(scope))

    def _scratch(self, features: set[str]) -> Body:
        """Every slot holds an address from the beginning."""
        address = self._from_parameter("i")
        block = Node("j.splat", (address,))
        scratch = (*(Node("put", (Node("s", (slot,)), address)) for slot in range(2)), Node("put.block", (block,)),
                   Node("put.descriptor", (block,)))  # fmt: skip
        found: Body = tuple(map(Do, scratch)) if "scr" in features else ()
        return (*found, Do(Node("put.outside", (address,)))) if "outside" in features else found

    def _start(self, scope: _Scope) -> Body:
        """Variables of every kind that the body may assign."""
        wanted = ["p"] * self._random.randint(2, 3)
        for kind, chance in (("i", 0.5), ("t", 0.5), ("d", 0.25), ("x", 0.25), ("a", 0.15), ("v", 0.3), ("b", 0.3),
                             ("j", 0.2), ("e", 0.06), ("h", 0.4), ("z", 0.15)):
            needs = {"b": "block_ptr", "h": "tab"}.get(kind)
            if self._random.random() < chance and (needs is None or needs in scope.features):
                wanted += [kind] * self._random.choice((1, 2))
        body: list[Stmt] = []
        for number, kind in enumerate(wanted):
            name = f"{kind}{number}_"
            body.append(Assign((name,), (self._from_parameter(kind),)))
            scope.variables[name] = kind
            scope.targets.append(name)
        return tuple(body)

    def _from_parameter(self, kind: str) -> Node:
        def parameter() -> Node:
            return Node("var", (f"a{self._random.randrange(POINTERS)}",))

        if kind == "p":
            return Node("p.add", (parameter(), Node("k", (4,))))
        if kind == "v":
            return Node("v.flag", (Node("n.constant", (Node("o", (self._flag(),)),)),))
        if kind == "h":
            return Node("h.from", (self._from_parameter("i"), Node("n.constant", (Node("o", (self._flag(),)),))))
        if kind in "ezj":
            inner = self._from_parameter("t" if kind == "j" else "i")
            return Node({"e": "e.from", "z": "z.split", "j": "j.from"}[kind], (inner,))
        if kind in "xa":
            return Node(_START[kind], (parameter(), parameter()))
        return Node(_START[kind], (parameter(),))

    def _helper(self) -> Function:
        number = len(self._helpers)
        kinds = "p" * self._random.randint(1, 3) + self._random.choice(("", "", "i", "t", "v"))
        parameters = tuple(f"q{i}" for i in range(len(kinds)))
        returns = self._random.choice(("", "p", "p", "pp", "i", "t" if "t" in kinds else "p"))
        variables = dict(zip(parameters, kinds, strict=True))
        targets = [q for q, k in variables.items() if k in "pit"]
        scope = _Scope(variables, targets, self._features, returns=returns, budget=self._random.randint(2, 5))
        body = self._body(scope, 1)
        if returns:
            body = (*body, Return(tuple(self._expression(k, scope, 1) for k in returns)))
        elif not any(isinstance(s, Do) for s in body):
            body = (*body, Do(self._action(scope)))
        return Function(f"h{number}", parameters, kinds, body, returns,
                        self._random.random() < 0.5 and "t" not in kinds + returns)

    # ------------------------------------------------------------------ statements

    def _body(self, scope: _Scope, nesting: int) -> Body:
        found: list[Stmt] = []
        for _ in range(self._random.randint(1, 5)):
            if scope.budget <= 0:
                break
            scope.budget -= 1
            found.extend(self._statement(scope, nesting))
        return tuple(found) or (self._assign(scope),)

    def _statement(self, scope: _Scope, nesting: int) -> Body:
        choices = {"assign": 4.0, "permute": 2.0, "rotate": 1.0, "action": 3.0, "call": 2.0 if self._helpers else 0.0}
        if nesting < NESTING:
            choices |= {"if": 3.0, "loop": 3.0, "constant": 0.7 if scope.is_kernel else 0.0}
            if not scope.loops and scope.branches < 2 and (scope.is_kernel or scope.returns):
                choices["leave"] = 0.8
        kind = self._random.choices(list(choices), list(choices.values()))[0]
        if kind == "if":
            return (self._branch(scope, nesting),)
        if kind == "loop":
            return self._loop(scope, nesting)
        if kind == "constant":
            return (self._constant_branch(scope, nesting),)
        if kind == "leave":
            values = tuple(self._expression(k, scope, 1) for k in scope.returns)
            return (If(self._expression("c", scope, 1), (*self._actions(scope), Return(values))),)
        if kind == "action":
            return (Do(self._action(scope)),)
        if kind == "call":
            return (self._call(scope),)
        if kind == "rotate":
            return self._rotate(scope)
        return (self._permute(scope) if kind == "permute" else self._assign(scope),)

    def _actions(self, scope: _Scope) -> Body:
        return (Do(self._action(scope)),) if self._random.random() < 0.4 else ()

    def _branch(self, scope: _Scope, nesting: int) -> If:
        condition = self._expression("c", scope, 1)
        scope.branches += 1
        then = self._body(scope, nesting + 1)
        other = self._body(scope, nesting + 1) if self._random.random() < 0.5 else ()
        scope.branches -= 1
        return If(condition, then, other)

    def _constant_branch(self, scope: _Scope, nesting: int) -> If:
        """A branch that the compiler decides, by a constexpr parameter if there is one."""
        names = [n for n, k in scope.variables.items() if k == "K"]
        conditions = [Node("never"), *[Node("K", (n,)) for n in names], *[Node("top", self._constant())] * 2]
        condition = self._random.choice(conditions)
        scope.branches += 1
        then, other = self._body(scope, nesting + 1), self._body(scope, nesting + 1)
        scope.branches -= 1
        return If(condition, then, other if self._random.random() < 0.5 else ())

    def _constant(self) -> tuple[int, int]:
        """A constant that the top level of the file makes, and its value."""
        if not self._constants or self._random.random() < 0.4:
            self._constants.setdefault(self._random.randrange(100), self._random.randrange(2))
        return self._random.choice(list(self._constants.items()))

    def _loop(self, scope: _Scope, nesting: int) -> Body:
        form = self._random.choices(list(LOOPS), [_LOOP_WEIGHTS.get(f, 1.0) for f in LOOPS])[0]
        index = f"l{self._names}"
        self._names += 1
        scope.loops.append(index)
        scope.variables[index] = "l"
        body = self._body(scope, nesting + 1)
        header = self._expression("p", scope, 1) if form == "while_atomic" else None
        scope.loops.pop()
        del scope.variables[index]
        return (Loop(form, index, self._random.choice((0, 1, 2, 2, 3, 3)), body, header),)

    def _assign(self, scope: _Scope) -> Stmt:
        target = self._random.choice(scope.targets)
        kind = scope.variables[target]
        rows = [r for r in ACTIONS if r.kind == kind and self._usable(r, scope)]
        if rows and self._random.random() < 0.4:
            return Assign((target,), (self._filled(self._random.choice(rows), scope, 1),))
        value = self._expression(kind, scope, DEPTH)
        if value == Node("var", (target,)) or (kind == "d" and value.op == "var"):  # no copies of descriptors: `emit`
            value = self._from_parameter(kind) if scope.is_kernel else self._expression(kind, scope, DEPTH)
        return Assign((target,), (value,))

    def _alike(self, scope: _Scope) -> list[str]:
        """Two or three variables of one kind; fewer if there are no more."""
        kind = scope.variables[self._random.choice(scope.targets)]
        names = [t for t in scope.targets if scope.variables[t] == kind]
        self._random.shuffle(names)
        return names[: self._random.choice((2, 2, 3))]

    def _permute(self, scope: _Scope) -> Stmt:
        names = self._alike(scope)
        if len(names) < 2:
            return self._assign(scope)
        return Assign(tuple(names), tuple(Node("var", (n,)) for n in (*names[1:], names[0])))

    def _rotate(self, scope: _Scope) -> Body:
        """By hand: `t = a; a = b; b = t`."""
        names = self._alike(scope)
        if len(names) < 2:
            return (self._assign(scope),)
        spare = f"r{self._names}"
        self._names += 1
        chain = zip((spare, *names), (*names, spare), strict=True)
        return tuple(Assign((target,), (Node("var", (source,)),)) for target, source in chain)

    def _call(self, scope: _Scope) -> Stmt:
        helper = self._random.choice(self._helpers)
        arguments = tuple(self._expression(k, scope, 1) for k in helper.kinds)
        call = Node("call", (helper.name, *arguments))
        targets: list[str] = []
        for kind in helper.returns:
            names = [t for t in scope.targets if scope.variables[t] == kind and t not in targets]
            if not names:
                return Assign(self._spare(helper.returns), (call,))
            targets.append(self._random.choice(names))
        return Assign(tuple(targets), (call,)) if targets else Do(call)

    def _spare(self, kinds: str) -> tuple[str, ...]:
        """Names for results that nobody uses."""
        self._names += 1
        return tuple(f"u{self._names}_{i}" for i in range(len(kinds)))

    def _action(self, scope: _Scope) -> Node:
        rows = [r for r in ACTIONS if self._usable(r, scope)]
        row = self._random.choices(rows, [r.weight for r in rows])[0]
        return self._filled(row, scope, 2)

    def _last_store(self, scope: _Scope) -> Body:
        return (Do(self._action(scope)),) if self._random.random() < 0.7 else ()

    # ------------------------------------------------------------------ expressions

    def _expression(self, kind: str, scope: _Scope, depth: int) -> Node:
        leaf = self._leaf(kind, scope)
        if leaf is not None and (depth <= 0 or kind in "kosl" or self._random.random() < 0.45):
            return leaf
        if kind == "p" and depth > 0 and self._random.random() < 0.03:
            return Node("pick", (*self._constant(), *(self._expression("p", scope, depth - 1) for _ in range(2))))
        rows = [r for r in BY_KIND[kind] if self._usable(r, scope)]
        if depth <= 0:
            rows = _shallow(rows, kind)
        return self._filled(self._random.choices(rows, [r.weight for r in rows])[0], scope, depth)

    def _filled(self, row: Row, scope: _Scope, depth: int) -> Node:
        return Node(row.op, tuple(self._expression(k, scope, depth - 1) for k in row.operands))

    def _leaf(self, kind: str, scope: _Scope) -> Node | None:
        if kind == "k":
            return Node("k", (self._random.choice(CONSTANTS),))
        if kind == "o":
            return Node("o", (self._flag(),))
        if kind == "s":
            return Node("s", (self._random.randrange(2),))
        if kind == "l":
            return Node("var", (self._random.choice(scope.loops),))
        names = [n for n, k in scope.variables.items() if k == kind]
        assigned = [n for n in names if n in scope.targets]
        if assigned and self._random.random() < 0.7:
            names = assigned
        return Node("var", (self._random.choice(names),)) if names else None

    def _flag(self) -> int:
        """A fresh index: conditions do not depend on each other."""
        self._flags = (self._flags + 1) % 64
        return self._flags

    @staticmethod
    def _usable(row: Row, scope: _Scope) -> bool:
        if row.needs and row.needs not in scope.features:
            return False
        if ("l" in row.operands and not scope.loops) or ("e" in row.operands and not scope.is_kernel):
            return False
        return not (row.operands.strip("b") != row.operands and "block_ptr" not in scope.features)


_MAKERS = {
    "p": ("p.add",), "i": ("i.from",), "t": ("t.block",), "j": ("j.from", "j.splat"), "e": ("e.from",),
    "h": ("h.from",), "z": ("z.split",), "d": ("d.make",), "b": ("b.make",), "x": ("x.make",), "a": ("a.make",),
    "v": ("v.flag", "v.constant"), "w": ("w.lanes",), "c": ("c.flag", "c.bit"), "m": ("m.flags", "m.below"),
    "n": ("n.constant", "n.loop"),
}  # fmt: skip


def _shallow(rows: Sequence[Row], kind: str) -> list[Row]:
    """Rows that end soon."""
    return [r for r in rows if r.op in _MAKERS[kind]]
