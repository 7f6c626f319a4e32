"""What a program may write, by the language's own rules and nothing of the analysis.

The program is run on every state at once: a state gives each variable the parameter that its address
belongs to, so that values which belong together stay together. Conditions that the kernel computes go
both ways, loops whose bounds it computes make any number of trips; constants decide as they are. What
comes out is what some path writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from fuzz.program import Assign, Body, Do, Function, If, Loop, Node, Program, Return, Stmt, assigned
from fuzz.rows import EXACT, ROWS, Value

MAX_STATES = 1500
MAX_DEPTH = 40
# What each op does to the memory in which the kernel keeps addresses: the slot (None: its operand says), what
# happens there, and through which parameter.
_SLOTS: dict[str, tuple[int | None, str, str]] = {
    **dict.fromkeys(("i.slot", "i.slot_halves", "i.slot_fetch", "i.slot_asm"), (None, "read", "")),
    **dict.fromkeys(("put", "put.halves", "put.helper"), (None, "write", "scr")),
    "swap_in": (None, "write", "scr"), "cas_in": (None, "may write", "scr"), "max_in": (None, "may write", "scr"),
    "add_in": (None, "keep", "scr"),
    "put.block": (2, "write", "scr"), "j.slot": (2, "read", ""), "i.slot_lane": (2, "member", ""),
    "put.descriptor": (3, "write", "scr"), "j.slot_descriptor": (3, "read", ""),
    "put.outside": (4, "write", "tab>"), "i.outside": (4, "read", ""),
}  # fmt: skip
SLOTS = 5
_HIDDEN = {"store.host": "hd", "store.optional": "opt"}  # parameters that a template names itself

Memory = tuple[Value, ...]
State = tuple[tuple[Value, ...], Memory]
Returned = tuple[tuple[Value, ...], Memory]


class TooManyStatesError(Exception):
    """The program has more states than are worth following."""


@dataclass(frozen=True)
class Truth:
    """Parameters whose memory some path writes, and those through whose loaded addresses one does."""

    written: frozenset[str]
    indirect: frozenset[str]


def truth_of(program: Program) -> Truth:
    """The union over the values of the constexpr parameters; raises TooManyStatesError."""
    kernel = program.kernel
    names = [p for p, k in zip(kernel.parameters, kernel.kinds, strict=True) if k == "K"]
    written: set[str] = set()
    for values in product((0, 1), repeat=len(names)):
        written |= _Run(program, dict(zip(names, values, strict=True))).run()
    return Truth(frozenset(w for w in written if not w.endswith(">")),
                 frozenset(w.removesuffix(">") for w in written if w.endswith(">")))


class _Frame:
    """Where the variables of one function stand in a state."""

    def __init__(self, function: Function) -> None:
        self.function = function
        names = dict.fromkeys((*function.parameters, *assigned(function.body)))
        self.slots = {name: index for index, name in enumerate(names)}


class _Run:
    def __init__(self, program: Program, constants: dict[str, int]) -> None:
        self._program, self._constants = program, constants
        self._frames = {f.name: _Frame(f) for f in (*program.helpers, program.kernel)}
        self._written: set[str] = set()
        self._calls: dict[tuple[str, tuple[Value, ...], Memory], set[Returned]] = {}

    def run(self) -> set[str]:
        kernel = self._program.kernel
        given: list[Value] = []
        for name, kind in zip(kernel.parameters, kernel.kinds, strict=True):
            given.append((f"{name}.0", f"{name}.1") if kind == "x" else name)
        self._function(kernel, tuple(given), (None,) * SLOTS)
        return self._written

    def _function(self, function: Function, arguments: tuple[Value, ...], memory: Memory) -> set[Returned]:
        key = (function.name, arguments, memory)
        if key not in self._calls:
            frame = self._frames[function.name]
            values = arguments + (None,) * (len(frame.slots) - len(arguments))
            ends: set[Returned] = set()
            left = self._body(function.body, {(values, memory)}, frame, ends)
            self._calls[key] = ends | {((), m) for _, m in left}
        return self._calls[key]

    def _body(self, body: Body, states: set[State], frame: _Frame, ends: set[Returned]) -> set[State]:
        for statement in body:
            states = self._statement(statement, states, frame, ends)
            if len(states) > MAX_STATES:
                raise TooManyStatesError
        return states

    def _statement(self, statement: Stmt, states: set[State], frame: _Frame, ends: set[Returned]) -> set[State]:
        if isinstance(statement, If):
            return self._branch(statement, states, frame, ends)
        if isinstance(statement, Loop):
            return self._loop(statement, states, frame, ends)
        if isinstance(statement, Return):
            for state in states:
                ends.update(self._all(statement.values, state, frame))
            return set()
        found: set[State] = set()
        values = statement.values if isinstance(statement, Assign) else (statement.action,)
        targets = statement.targets if isinstance(statement, Assign) else ()
        for state in states:
            for results, memory in self._all(values, state, frame):
                variables = list(state[0])
                for target, value in zip(targets, results, strict=False):
                    variables[frame.slots[target]] = value
                found.add((tuple(variables), memory))
        return found

    def _branch(self, statement: If, states: set[State], frame: _Frame, ends: set[Returned]) -> set[State]:
        condition = statement.condition
        taken = None
        if condition.op == "never":
            taken = False
        elif condition.op == "top":
            taken = condition.args[1] == 1
        elif condition.op == "K":
            taken = self._constants[str(condition.args[0])] == 1
        else:
            states = {(state[0], m) for state in states for _, m in self._all((condition,), state, frame)}
        found: set[State] = set()
        if taken is not False:
            found |= self._body(statement.then, states, frame, ends)
        if taken is not True:
            found |= self._body(statement.other, states, frame, ends)
        return found

    def _loop(self, statement: Loop, states: set[State], frame: _Frame, ends: set[Returned]) -> set[State]:
        if statement.header is not None:  # the condition acts before each trip and after the last
            states = self._statement(Do(Node("c.atomic", (statement.header,))), states, frame, ends)
            action: Body = (Do(Node("c.atomic", (statement.header,))),)
            statement = replace(statement, body=statement.body + action)
        if statement.form in EXACT:
            for _ in range(statement.trips):
                states = self._body(statement.body, states, frame, ends)
            return states
        found, new = set(states), set(states)
        while new:
            new = self._body(statement.body, new, frame, ends) - found
            found |= new
            if len(found) > MAX_STATES:
                raise TooManyStatesError
        return found

    # ------------------------------------------------------------------ expressions

    def _all(self, nodes: Iterable[Node], state: State, frame: _Frame) -> set[Returned]:
        """Every combination of the nodes' values, with memory as it is after them; in order."""
        found: set[Returned] = {((), state[1])}
        for node in nodes:
            found = {
                ((*values, *new), after)
                for values, memory in found
                for new, after in self._results(node, (state[0], memory), frame)
            }
        return found

    def _results(self, node: Node, state: State, frame: _Frame) -> set[Returned]:
        if node.op == "var":
            slot = frame.slots.get(str(node.args[0]))
            return {((state[0][slot] if slot is not None else None,), state[1])}
        if node.op not in ROWS and node.op not in ("call", "pick"):
            return {((None,), state[1])}
        found: set[Returned] = set()
        for values, memory in self._all(node.operands, state, frame):
            found |= self._apply(node, values, memory)
        return found

    def _apply(self, node: Node, values: tuple[Value, ...], memory: Memory) -> set[Returned]:
        if node.op == "pick":
            return {((values[int(str(node.args[1]))],), memory)}
        if node.op == "call":
            return self._function(self._program.helper(str(node.args[0])), values, memory)
        if node.op in _SLOTS:
            return self._slot(node, values, memory)
        row = ROWS[node.op]
        for index in row.changes:
            self._write(values[index])
        if node.op in _HIDDEN:
            self._write(_HIDDEN[node.op])
        return {((value,), memory) for value in row.rule(values)}

    def _slot(self, node: Node, values: tuple[Value, ...], memory: Memory) -> set[Returned]:
        slot, action, owner = _SLOTS[node.op]
        if slot is None:
            slot = int(str(node.operands[0].args[0]))
        before = memory[slot]
        if owner:
            self._write(owner)
        if action == "member":
            assert isinstance(before, frozenset)
            return {((member,), memory) for member in before}
        after = (*memory[:slot], values[-1], *memory[slot + 1 :]) if values else memory
        outcomes = {"read": (memory,), "keep": (memory,), "write": (after,), "may write": (memory, after)}
        return {((before,), m) for m in outcomes[action]}

    def _write(self, value: Value) -> None:
        assert value is not None
        self._written.update([value] if isinstance(value, str) else value)
