"""Programs as Python source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fuzz.program import Assign, Body, Do, Function, If, Loop, Node, Program, Return, Stmt, assigned
from fuzz.rows import LOOPS, ROWS
from fuzz.shrink import nodes
from fuzz.toplevel import text

RUNTIME = ("cond", "fl", "n", "m")  # parameters of every function: flags in memory, flags as bits, trip counts
IMPORTS = "import triton\nimport triton.language as tl\n"
PRELUDE = {
    "Pair": """
@tl.core._aggregate
class Pair:
    front: tl.tensor
    back: tl.tensor

    @triton.constexpr_function
    def __init__(self, front, back):
        self.front = front
        self.back = back

    @triton.jit
    def turned(self):
        return Pair(self.back, self.front)
""",
    "either": """
@triton.jit
def either(which, x, y):
    return Pair(tl.where(which, x.front, y.front), tl.where(which, x.back, y.back))
""",
    "Heaps": """
@tl.core._aggregate
class Heaps:
    there: tl.tensor
    here: tl.tensor

    @triton.constexpr_function
    def __init__(self, there, here):
        self.there = there
        self.here = here
""",
    "over": """
@triton.jit
def over(heaps, x):
    return heaps.there - (heaps.here - x)
""",
    "moved": """
@triton.jit(noinline=True)
def moved(x, there, here):
    return x + there - here
""",
    "paged": """
@triton.jit
def paged(x, base):
    return base + (x // 4096) * 4096 + x % 4096
""",
    "from_shorts": """
@triton.jit
def from_shorts(slot):
    short = slot.to(tl.pointer_type(tl.uint16), bitcast=True)
    x = tl.load(short).to(tl.int64)
    for i in tl.static_range(1, 4):
        x += tl.load(short + i).to(tl.int64) << (16 * i)
    return x
""",
    "skip_store": """
@triton.jit
def skip_store(x, value):
    tl.device_assert(value == value)
""",
    "put_value": """
@triton.jit
def put_value(x, value):
    tl.store(x, value)
""",
    "act": """
@triton.jit
def act(actions: tl.constexpr, x, value):
    for i in tl.static_range(2):
        actions[i](x, value)
""",
    "act_on_both": """
@triton.jit
def act_on_both(actions: tl.constexpr, places, value):
    for i in tl.static_range(2):
        actions[i](places[i], value)
""",
    "kept": """
@triton.jit
def kept(x, y):
    return x, y
""",
    "chosen": """
@triton.jit
def chosen(functions: tl.constexpr, x, y, which: tl.constexpr):
    return functions[which](x, y)[0]
""",
    "keep_larger": """
@triton.jit
def keep_larger(x, y):
    return tl.where(x > y, x, y)
""",
    "by_key": """
@triton.jit
def by_key(key, x, other_key, y):
    return tl.where(key > other_key, key, other_key), tl.where(key > other_key, x, y)
""",
    "joined": """
@triton.jit
def joined(parts):
    return (parts[0].to(tl.int64) << 32) | (parts[1].to(tl.int64) & 0xFFFFFFFF)
""",
    "from_halves": """
@triton.jit
def from_halves(slot):
    half = slot.to(tl.pointer_type(tl.int32), bitcast=True)
    low, high = tl.load(half), tl.load(half + 1)
    return (high.to(tl.int64) << 32) | (low.to(tl.int64) & 0xFFFFFFFF)
""",
    "to_halves": """
@triton.jit
def to_halves(slot, x):
    half = slot.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(half, x.to(tl.int32))
    tl.store(half + 1, (x >> 32).to(tl.int32))
""",
    "fetch": """
@triton.jit(noinline=True)
def fetch(slot):
    return tl.load(slot)
""",
    "stash": """
@triton.jit(noinline=True)
def stash(slot, x):
    tl.store(slot, x)
""",
    "nth": """
@triton.jit
def nth(items, number: tl.constexpr):
    found = items[0]
    for i in tl.static_range(2):
        if i == number:
            found = items[i]
    return found
""",
    "apply": """
@triton.jit
def apply(function: tl.constexpr, x, y):
    return function(x, y)
""",
    "store_if_given": """
@triton.jit
def store_if_given(x, value):
    if x is not None:
        tl.store(x, value)
""",
    "pieces": """
@triton.jit
def pieces(x):
    y = x & 0xFFF
    for i in tl.static_range(12, 64, 12):
        y = y | (((x >> i) & 0xFFF) << i)
    return y
""",
    "pick_lane": """
@triton.jit
def pick_lane(x, y, which):
    if which > 4:
        return x
    else:
        return y
""",
    "halves": """
@triton.jit
def halves(x, y):
    left, right = tl.split(tl.join(x, y))
    return left, right
""",
    "turned": """
@triton.jit
def turned(x, y):
    return y, x
""",
}


def module(programs: Iterable[tuple[str, Program]]) -> str:
    """The source of a file with these kernels; helpers are named after their kernel."""
    body = "\n".join(_program(name, program) for name, program in programs)
    used = [text for name, text in PRELUDE.items() if re.search(rf"\b{name}\b", body)]
    return IMPORTS + "\n".join(["", *used, body])


def _program(name: str, program: Program) -> str:
    functions = list(_constants(name, program))
    functions += [_function(f"{name}_{h.name}", h, name) for h in program.helpers]
    return "\n".join([*functions, _function(name, program.kernel, name)])


def _constants(name: str, program: Program) -> Iterator[str]:
    """What the top level of the file makes: constants, and a function that each picks."""
    found = {n.args[:2] for n in nodes(program) if n.op in ("top", "pick")}
    for number, value in sorted((int(str(n)), int(str(v))) for n, v in found):
        constant = f"{name}_t{number}"
        yield f"\n{text(constant, number, value)}\n{constant}_f = (kept, turned)[{constant}.value]\n"


def _function(name: str, function: Function, prefix: str) -> str:
    constants = [f"{p}: tl.constexpr" for p, k in zip(function.parameters, function.kinds, strict=True) if k == "K"]
    others = [p for p, k in zip(function.parameters, function.kinds, strict=True) if k != "K"]
    decorator = "@triton.jit(noinline=True)" if function.noinline else "@triton.jit"
    head = f"\n{decorator}\ndef {name}({', '.join([*others, *RUNTIME, *constants])}):\n"
    return head + "".join(f"{line}\n" for line in _lines(function.body, 1, prefix))


def _lines(body: Body, depth: int, prefix: str) -> Iterator[str]:
    for statement in body:
        for line in _statement(statement, prefix):
            yield "    " * depth + line
        if isinstance(statement, If):
            yield from _block(statement.then, depth + 1, prefix)
            if statement.other:
                yield "    " * depth + "else:"
                yield from _block(statement.other, depth + 1, prefix)
        elif isinstance(statement, Loop):
            yield from _block(statement.body, depth + 1, prefix)
            if statement.form.startswith("while"):
                yield "    " * (depth + 1) + f"{statement.index} += 1"


def _block(body: Body, depth: int, prefix: str) -> Iterator[str]:
    yield from _lines(body, depth, prefix) if body else iter(["    " * depth + "pass"])


def _statement(statement: Stmt, prefix: str) -> Iterator[str]:
    if isinstance(statement, Assign):
        values = ", ".join(expression(v, prefix) for v in statement.values)
        yield f"{', '.join(statement.targets)} = {values}"
    elif isinstance(statement, Do):
        yield expression(statement.action, prefix)
    elif isinstance(statement, Return):
        yield f"return {', '.join(expression(v, prefix) for v in statement.values)}".rstrip()
    elif isinstance(statement, If):
        yield f"if {expression(statement.condition, prefix)}:"
    else:
        yield from _copies(statement)
        if statement.form.startswith("while"):
            yield f"{statement.index} = 0"
        header = expression(statement.header, prefix) if statement.header is not None else ""
        yield LOOPS[statement.form].format(statement.index, statement.trips, header)


# A copy of a variable, by the letter that its name begins with.
_COPY = {
    **dict.fromkeys("pqitjehv", "{0} = {0} + 0"),
    **dict.fromkeys("xz", "{0} = ({0}[0] + 0, {0}[1] + 0)"),
    "a": "{0} = Pair({0}.front + 0, {0}.back + 0)", "b": "{0} = tl.advance({0}, (0,))",
}  # fmt: skip


def _copies(loop: Loop) -> Iterator[str]:
    """Copies of the variables that a loop assigns, before it.

    Triton's frontend does not carry a variable through a loop if the body, as it stands before the first trip,
    gives it the value that it has: with `p` and `q` the same at first, `p, q = q, r` leaves `p` as it was.
    """
    for name in dict.fromkeys(assigned(loop.body)):
        if name[0] in _COPY:
            yield _COPY[name[0]].format(name)


def expression(node: Node, prefix: str) -> str:
    """The source of an expression in the kernel named `prefix`."""
    if node.op in ("var", "k", "o", "s"):
        return str(node.args[0])
    if node.op == "K":
        return f"{node.args[0]} == 1"
    if node.op == "top":
        return f"{prefix}_t{node.args[0]} == 1"
    if node.op == "never":
        return "1 == 2"
    operands = [expression(o, prefix) for o in node.operands]
    if node.op == "pick":
        return f"{prefix}_t{node.args[0]}_f({', '.join(operands)})[0]"
    if node.op == "call":
        return f"{prefix}_{node.args[0]}({', '.join([*operands, *RUNTIME])})"
    return ROWS[node.op].template.format(*operands)
