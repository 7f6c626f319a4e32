"""Random arithmetic on addresses, worked out in numbers, too: the analysis names whose address comes out."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.helpers.ttir_case import analyze, module, through, written

BITS = 64
NEAR = 64  # bytes, to either side of where a parameter's memory begins
STEPS = 8
ARGUMENTS = "%a: !tt.ptr<i8>, %b: !tt.ptr<i8>, %c: !tt.ptr<i8>, %t: !tt.ptr<i64>, %n: i64, %f: i1, %g: i1"
DIFFERENCE = """  tt.func private @difference(%x: i64, %y: i64) -> i64 {
    %d = arith.subi %x, %y : i64
    tt.return %d : i64
  }
"""
ATOMIC = "{x}, %true : (!tt.ptr<i64>, i64, i1) -> i64"


def _signed(number: int) -> int:
    return (number + (1 << BITS - 1)) % (1 << BITS) - (1 << BITS - 1)


@dataclass
class _Kernel:
    """Lines of TTIR, and the number that each value is in one launch of them."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    kept: int = 0  # what is in t's memory

    def __post_init__(self) -> None:
        self.bases = {p: self.random.randrange(1 << 36, 1 << 40) << 8 for p in "abc"}
        self.flags = [self.random.randrange(2) for _ in "fg"]
        self.lines += ["%true = arith.constant true", "%zero = arith.constant 0 : i64", "%one = arith.constant 1 : i64",
                       "tt.store %t, %zero : !tt.ptr<i64>", "%m = arith.extui %f : i1 to i64",
                       "%not_m = arith.subi %one, %m : i64", "%all = arith.subi %zero, %m : i64",
                       "%none = arith.subi %m, %one : i64"]  # fmt: skip
        for parameter, base in self.bases.items():
            self.add(f"tt.ptr_to_int %{parameter} : !tt.ptr<i8> -> i64", base)
        self.numbers["%n"] = self.random.randrange(1 << 48)

    def add(self, op: str, number: int) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {op}")
        self.numbers[name] = _signed(number)
        return name

    def pick(self) -> tuple[str, int]:
        recent = self.random.random() < 0.6
        return self.random.choice(list(self.numbers.items())[-6 if recent else 0 :])

    def step(self) -> None:
        self.random.choice(STEP_KINDS)(self, *self.pick(), *self.pick())


def _binary(name: str, function: Callable[[int, int], int]) -> Callable[[_Kernel, str, int, str, int], None]:
    def step(kernel: _Kernel, x: str, x_is: int, y: str, y_is: int) -> None:
        kernel.add(f"{name} {x}, {y} : i64", function(x_is, y_is))

    return step


def _negate(kernel: _Kernel, x: str, x_is: int, _y: str, _y_is: int) -> None:
    kernel.add(f"arith.subi %zero, {x} : i64", -x_is)


def _by_constant(kernel: _Kernel, x: str, x_is: int, _y: str, _y_is: int) -> None:
    name, number, result = kernel.random.choice((
        ("muli", -1, -x_is), ("muli", 2, 2 * x_is), ("xori", -1, ~x_is), ("shli", 2, x_is << 2),
        ("shrsi", 2, x_is >> 2), ("addi", 8, x_is + 8), ("addi", -8, x_is - 8),
    ))  # fmt: skip
    constant = f"%k{len(kernel.lines)}"
    kernel.lines.append(f"{constant} = arith.constant {number} : i64")
    kernel.add(f"arith.{name} {x}, {constant} : i64", result)


def _blend(kernel: _Kernel, x: str, x_is: int, y: str, y_is: int) -> None:
    first, second, op = kernel.random.choice((("%m", "%not_m", "arith.muli"), ("%all", "%none", "arith.andi")))
    flag = kernel.flags[0]
    one = kernel.add(f"{op} {x}, {first} : i64", x_is * flag)
    other = kernel.add(f"{op} {y}, {second} : i64", y_is * (1 - flag))
    joined = kernel.random.choice(("addi", "ori", "xori", "subi"))
    kernel.add(f"arith.{joined} {one}, {other} : i64", x_is if flag else -y_is if joined == "subi" else y_is)


def _select(kernel: _Kernel, x: str, x_is: int, y: str, y_is: int) -> None:
    kernel.add(f"arith.select %g, {x}, {y} : i64", x_is if kernel.flags[1] else y_is)


def _offset(kernel: _Kernel, x: str, x_is: int, y: str, y_is: int) -> None:
    if kernel.random.random() < 0.5:
        pointer = kernel.random.choice("abc")
        x, x_is = f"%{pointer}", kernel.bases[pointer]
    else:
        kernel.lines.append(f"%p{len(kernel.lines)} = tt.int_to_ptr {x} : i64 -> !tt.ptr<i8>")
        x = f"%p{len(kernel.lines) - 1}"
    kernel.lines.append(f"%q{len(kernel.lines)} = tt.addptr {x}, {y} : !tt.ptr<i8>, i64")
    kernel.add(f"tt.ptr_to_int %q{len(kernel.lines) - 1} : !tt.ptr<i8> -> i64", x_is + y_is)


def _call(kernel: _Kernel, x: str, x_is: int, y: str, y_is: int) -> None:
    kernel.add(f"tt.call @difference({x}, {y}) : (i64, i64) -> i64", x_is - y_is)


def _store(kernel: _Kernel, x: str, x_is: int, _y: str, _y_is: int) -> None:
    kernel.lines.append(f"tt.store %t, {x} : !tt.ptr<i64>")
    kernel.kept = x_is


def _load(kernel: _Kernel, _x: str, _x_is: int, _y: str, _y_is: int) -> None:
    kernel.add("tt.load %t : !tt.ptr<i64>", kernel.kept)


def _update(kernel: _Kernel, x: str, x_is: int, _y: str, _y_is: int) -> None:
    before = kernel.kept
    kind, kernel.kept = kernel.random.choice((("exch", x_is), ("add", _signed(before + x_is)), ("xor", before ^ x_is)))
    kernel.add(f"tt.atomic_rmw {kind}, acq_rel, gpu, %t, {ATOMIC.format(x=x)}", before)


STEP_KINDS = (*[_binary("arith.addi", int.__add__)] * 5, *[_binary("arith.subi", int.__sub__)] * 7, _negate,
              _binary("arith.maxsi", max), _by_constant, _by_constant, _by_constant, _blend, _blend, _select, _offset,
              _offset, _call, _store, _load, _update)  # fmt: skip


def _store_through(kernel: _Kernel, address: str) -> str:
    lines = [*kernel.lines, f"%address = tt.int_to_ptr {address} : i64 -> !tt.ptr<i64>",
             "tt.store %address, %zero : !tt.ptr<i64>"]  # fmt: skip
    return module(ARGUMENTS, "\n".join(f"    {line}" for line in lines), DIFFERENCE)


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_an_address_that_comes_out_is_its_parameters(start: int) -> None:
    found = 0
    for seed in range(start, start + 100):
        kernel = _Kernel(random.Random(seed))
        given = len(kernel.numbers)
        for _ in range(STEPS):
            kernel.step()
        reached = [(name, p) for name, number in list(kernel.numbers.items())[given:]
                   for p, base in kernel.bases.items() if abs(number - base) <= NEAR]  # fmt: skip
        for name, parameter in reached[-2:]:
            text = _store_through(kernel, name)
            assert parameter in written(analyze(text)), text
            found += 1
    assert found > 80


@pytest.mark.parametrize(("made", "root"), [
    ("%x = arith.subi %n, {a} : i64", ("n", "integer")),
    ("%l = tt.load %t : !tt.ptr<i64>\n    %x = arith.subi %l, {a} : i64", ("t", "loaded")),
])  # fmt: skip
def test_a_distance_from_a_number_leads_to_what_the_number_says(made: str, root: tuple[str, str]) -> None:
    kernel = _Kernel(random.Random(0))
    kernel.lines += [made.format(a=next(iter(kernel.numbers))), "%r = tt.addptr %a, %x : !tt.ptr<i8>, i64",
                     "%i = tt.ptr_to_int %r : !tt.ptr<i8> -> i64"]  # fmt: skip
    assert root in through(analyze(_store_through(kernel, "%i")))
