"""Kernels with many compile-time choices, made up at random: what they decide, they decide in all kinds of ways."""

from __future__ import annotations

import random

HEAD = '''"""Made up."""

import triton
import triton.language as tl


@triton.jit
def put(p, v, n, F: tl.constexpr):
    o = tl.arange(0, 16)
    if F:
        tl.store(p + o, v, mask=o < n)


@triton.jit
def choose(p, q, F: tl.constexpr):
    return p if F else q


@triton.jit
def look(p, o, n, F: tl.constexpr):
    x = tl.zeros((16,), tl.float32)
    if F:
        x += tl.load(p + o, mask=o < n, other=0.0)
    return x


@triton.jit
def most(n, F: tl.constexpr):
    r: tl.constexpr = n if F else 2 * n
    return r


@triton.jit
def k(a, b, c, d, n, F: tl.constexpr, G: tl.constexpr, H: tl.constexpr, S: tl.constexpr, T: tl.constexpr):
    i = tl.program_id(0)
    o = i * S + tl.arange(0, 16)
    x = tl.zeros((16,), tl.float32)
    p = a
    q = b
    t: tl.constexpr = S // 16
'''
SPEC = """version: 1
kernels:
  k:
    args: {a: "*fp32", b: "*fp32", c: "*fp32", d: "*fp32", n: i32, F: [true, false], G: [true, false],
           H: [0, 1, 2], S: [16, 32], T: ["x", "y"]}
"""


def kernel(seed: int) -> str:
    """A file with one kernel `k`; most seeds give one that Triton lowers."""
    rng = random.Random(seed)
    return HEAD + "\n".join(_block(rng, 1, 3)) + "\n    tl.store(p + o, x)\n"


def _block(rng: random.Random, indent: int, depth: int) -> list[str]:
    lines: list[str] = []
    for _ in range(rng.randint(1, 4)):
        lines += _statement(rng, indent, depth)
    return lines


def _statement(rng: random.Random, indent: int, depth: int) -> list[str]:
    pad = "    " * indent
    if depth and rng.random() < 0.45:
        head = rng.choice([f"if {_test(rng)}:", f"if {_test(rng)}:", f"for j in range({_bound(rng)}):",
                           f"for j in tl.static_range({_bound(rng)}):"])
        lines = [pad + head, *_block(rng, indent + 1, depth - 1)]
        if head.startswith("if") and rng.random() < 0.5:
            lines += [f"{pad}else:", *_block(rng, indent + 1, depth - 1)]
        return lines
    return [pad + rng.choice([
        f"tl.store({_pointer(rng)} + o, x)",
        f"tl.store({_pointer(rng)} + o, x, mask=o < {rng.choice(['n', 'S', 't - 1', 'H'])})",
        f"tl.atomic_add({_pointer(rng)} + o, x)",
        f"x += tl.load({_pointer(rng)} + o)",
        f"x += look({_pointer(rng)}, o, n, {_flag(rng)})",
        f"put({_pointer(rng)}, x, n, {_flag(rng)})",
        f"p = {_pointer(rng)}", f"q = {_pointer(rng)}", f"p = {_pointer(rng)} + S * 0",
        f"x = x + {rng.choice(['S', 'H', 't', 'n'])}",
        f"w: tl.constexpr = {_flag(rng)}",
        f"x = x * (1 if {_flag(rng)} else 2)",
        f"o = {rng.choice(['o + S', 'tl.arange(0, 16)', 'o % 16'])}",
    ])]


def _pointer(rng: random.Random, depth: int = 1) -> str:
    if depth and rng.random() < 0.3:
        left, right = _pointer(rng, 0), _pointer(rng, 0)
        return rng.choice([f"({left} if {_test(rng)} else {right})", f"choose({left}, {right}, {_flag(rng)})",
                           f"({left}, {right})[{rng.choice(['H % 2', '0', 't % 2'])}]"])
    return rng.choice(["a", "b", "c", "d", "p", "q"])


def _flag(rng: random.Random) -> str:
    return rng.choice(["F", "G", "H > 1", "not F", "F and G", "T == 'x'", "S > 16", "most(4, F) == 4", "True"])


def _test(rng: random.Random) -> str:
    return rng.choice([_flag(rng), _flag(rng), "i < n", "n > S", "i == 0", "t > 1"])


def _bound(rng: random.Random) -> str:
    return rng.choice(["H", "t", "2", "1 if F else 0", "H - 1"])
