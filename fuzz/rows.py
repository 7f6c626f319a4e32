"""The vocabulary of random kernels: how each expression is written, and where its address comes from.

Kinds, one letter each: `p` pointer, `i` address as an integer, `t` block of pointers, `j` block of addresses, `e`
address relative to that of `a0`, `h` address relative to one that a table holds, `z` address in two 32-bit halves (a
tuple), `d` descriptor, `b` block pointer, `x` pair of pointers (a tuple), `a` the same as an aggregate, `v` number (a
multiple of 4 below 16), `w` block of small numbers, `c` condition, `m` mask, `n` index of a flag, `l` loop variable,
`s` slot of the scratch memory, `k` constant, `o` constant index of a flag.

Every pointer is aligned to 16 bytes and moves by a few elements at a time, so that a kernel stays in
bounds. Conditions read fresh bits, so that every path can be taken.

A value, as the truth sees it: the parameter that an address belongs to, a set of them for a block, a
pair for `x` and `a`, None for a number. A rule maps the operands' values to the possible results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

Value = Union[str, frozenset[str], tuple[str, ...], None]  # noqa: UP007  # evaluated at run time
Rule = Callable[[tuple[Value, ...]], tuple[Value, ...]]

POINTER = "tl.pointer_type(tl.int32)"
WIDE = "tl.pointer_type(tl.int64)"
BASE = "a0.to(tl.int64)"
LANE = "tl.arange(0, 16)"


@dataclass(frozen=True)
class Row:
    """`template` is filled with the operands in order; `changes` are those through which memory changes.

    `needs` names what a function must have in scope, or the Triton that must be installed.
    """

    op: str
    kind: str
    operands: str
    template: str
    rule: Rule
    weight: float = 1.0
    changes: tuple[int, ...] = ()
    needs: str = ""


def number(_: tuple[Value, ...]) -> tuple[Value, ...]:
    return (None,)


def operand(*indices: int) -> Rule:
    """Any one of these operands."""
    return lambda values: tuple(values[i] for i in indices)


def _set(value: Value) -> frozenset[str]:
    assert isinstance(value, frozenset)
    return value


def _pair(value: Value) -> tuple[str, ...]:
    assert isinstance(value, tuple)
    return value


def _block(values: tuple[Value, ...]) -> tuple[Value, ...]:
    assert isinstance(values[0], str)
    return (frozenset((values[0],)),)


def _mixed(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """A mask may take all lanes from one block, or some from each."""
    return (values[1], values[2], _set(values[1]) | _set(values[2]))


def _together(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return (_set(values[0]) | _set(values[1]),)


def _member(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(sorted(_set(values[0])))


def _moved(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """An address that is moved from one entry of a table to another: the entries may be the same, or not."""
    return (values[0], "tab>")


def _entry(_: tuple[Value, ...]) -> tuple[Value, ...]:
    return ("tab>",)


def _made(values: tuple[Value, ...]) -> tuple[Value, ...]:
    assert isinstance(values[0], str)
    assert isinstance(values[1], str)
    return ((values[0], values[1]),)


def _element(index: int) -> Rule:
    return lambda values: (_pair(values[0])[index],)


def _swapped(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return (_pair(values[0])[::-1],)


def _asm(text: str, constraints: str, operands: str, dtype: str, pure: bool) -> str:
    return (f'tl.inline_asm_elementwise("{text}", "{constraints}", [{operands}], dtype={dtype}, '
            f"is_pure={pure}, pack=1)")


FIRST, SECOND = operand(0), operand(1)
CHOICE = operand(1, 2)

EXPRESSIONS = (
    # pointers
    Row("p.add", "p", "pk", "({0} + {1})", FIRST, 3),
    Row("p.move", "p", "pv", "({0} + {1})", FIRST, 2),
    Row("p.where", "p", "cpp", "tl.where({0}, {1}, {2})", CHOICE, 2),
    Row("p.ternary", "p", "cpp", "({1} if {0} else {2})", CHOICE, 2),
    Row("p.cast", "p", "i", f"{{0}}.to({POINTER})", FIRST, 3),
    Row("p.tl_cast", "p", "i", f"tl.cast({{0}}, {POINTER})", FIRST),
    Row("p.retype", "p", "p", f"{{0}}.to({WIDE}, bitcast=True).to({POINTER}, bitcast=True)", FIRST),
    Row("p.bytes", "p", "pv", f"({{0}}.to(tl.pointer_type(tl.int8), bitcast=True) + {{1}} * 4)"
        f".to({POINTER}, bitcast=True)", FIRST),
    Row("p.front", "p", "x", "{0}[0]", _element(0)),
    Row("p.back", "p", "x", "{0}[1]", _element(1)),
    Row("p.field_a", "p", "a", "{0}.front", _element(0)),
    Row("p.field_b", "p", "a", "{0}.back", _element(1)),
    Row("p.table", "p", "n", f"tl.load(tab + {{0}} % 4).to({POINTER})", _entry, 0.5, needs="tab"),
    Row("p.remote", "p", "pnn", "({0} + (tl.load(tab + {1} % 4) - tl.load(tab + {2} % 4)) // 4)", _moved, needs="tab"),
    Row("p.beside_entry", "p", "hn", f"(tl.load(tab + {{1}} % 4).to({POINTER}) + {{0}} // 4)", _moved, needs="tab"),
    Row("p.chosen", "p", "pp", "chosen((kept, turned), {0}, {1}, 1)", SECOND, 0.3),
    Row("p.hint", "p", "p", "tl.multiple_of({0}, 4)", FIRST, 0.3),
    Row("p.apply", "p", "pp", "apply(turned, {0}, {1})[0]", SECOND, 0.3),
    Row("p.spread", "p", "x", "turned(*{0})[0]", _element(1), 0.3),
    Row("p.nth", "p", "x", "nth({0}, 1)", _element(1), 0.3),
    Row("p.relative", "p", "e", "(a0 + {0} // 4)", FIRST, 0.1, needs="kernel"),
    # addresses as integers
    Row("i.from", "i", "p", "{0}.to(tl.int64)", FIRST, 3),
    Row("i.tl_cast", "i", "p", "tl.cast({0}, tl.int64)", FIRST),
    Row("i.add", "i", "i", "({0} + 16)", FIRST),
    Row("i.number", "i", "iv", "({0} + {1} * 4)", FIRST),
    Row("i.where", "i", "cii", "tl.where({0}, {1}, {2})", CHOICE, 2),
    Row("i.ternary", "i", "cii", "({1} if {0} else {2})", CHOICE),
    Row("i.max", "i", "ii", "tl.maximum({0}, {1})", operand(0, 1)),
    Row("i.min", "i", "ii", "tl.minimum({0}, {1})", operand(0, 1), 0.5),
    Row("i.difference", "i", "ii", "({0} + ({1} - {0}))", SECOND, 0.2),
    Row("i.there_and_back", "i", "ii", "(({0} + {1}) - {1})", FIRST, 0.1),
    Row("i.align", "i", "i", "({0} & -16)", FIRST, 0.5),
    Row("i.shift", "i", "i", "(({0} >> 4) << 4)", FIRST, 0.5),
    Row("i.halves", "i", "i", "((({0} >> 32) << 32) | ({0} & 0xFFFFFFFF))", FIRST, 0.5),
    Row("i.scale", "i", "i", "(({0} // 16) * 16)", FIRST, 0.3),
    Row("i.narrow", "i", "i",
        "(({0} >> 32).to(tl.int32).to(tl.int64) << 32 | ({0}.to(tl.int32).to(tl.int64) & 0xFFFFFFFF))", FIRST, 0.3),
    Row("i.unsigned", "i", "i", "{0}.to(tl.uint64).to(tl.int64)", FIRST, 0.5),
    Row("i.float", "i", "i", "{0}.to(tl.float64, bitcast=True).to(tl.int64, bitcast=True)", FIRST, 0.5),
    Row("i.reduce", "i", "j", "(tl.reduce({0}, 0, keep_larger) & -16)", _member),
    Row("i.reduce_max", "i", "j", "(tl.max({0}, 0) & -16)", _member, 0.5),
    Row("i.lane", "i", "j", f"(tl.sum(tl.where({LANE} == 3, {{0}}, 0), 0) & -16)", _member, 0.5),
    Row("i.lane_xor", "i", "j", f"(tl.xor_sum(tl.where({LANE} == 5, {{0}}, 0), 0) & -16)", _member, 0.3),
    Row("i.keyed", "i", "wj", "(tl.reduce(({0}, {1}), 0, by_key)[1] & -16)", lambda v: _member(v[1:]), 0.5),
    Row("i.blend", "i", "nii",
        "({1} * (tl.load(cond + {0}) // 2) + {2} * (1 - tl.load(cond + {0}) // 2))", CHOICE, 0.3),
    Row("i.mask", "i", "nii",
        "((-(tl.load(cond + {0}) // 2) & {1}) | ((tl.load(cond + {0}) // 2 - 1) & {2}))", CHOICE, 0.3),
    Row("i.paired", "i", "niii", "(tl.where(tl.load(cond + {0}) > 1, {1}, {2} + {3})"
        " - tl.where(tl.load(cond + {0}) > 1, 16, {3}))", CHOICE, 0.05),
    Row("i.pieces", "i", "i", "pieces({0})", FIRST, 0.2),
    Row("i.relative", "i", "e", f"({BASE} + {{0}})", FIRST, 3, needs="kernel"),
    Row("i.joined", "i", "z", "joined({0})", FIRST, 3),
    Row("i.asm_move", "i", "i", _asm("mov.b64 $0, $1;", "=l,l", "{0}", "tl.int64", True), FIRST, 0.3),
    Row("i.asm_add", "i", "i", _asm("add.s64 $0, $1, 16;", "=l,l", "{0}", "tl.int64", True), FIRST, 0.2),
    Row("i.asm_second", "i", "ii", _asm("mov.b64 $0, $2;", "=l,l,l", "{0}, {1}", "tl.int64", True), SECOND, 0.3),
    Row("i.asm_select", "i", "nii", _asm(
        "{{ .reg .pred p; setp.gt.s32 p, $3, 1; selp.b64 $0, $1, $2, p; }}", "=l,l,l,r",
        "{1}, {2}, tl.load(cond + {0})", "tl.int64", False), CHOICE, 0.3),
    Row("i.index", "i", "in", "({0} + tl.load(cond + {1}).to(tl.int64) * 16)", FIRST, 0.5),
    Row("i.length", "i", "in", "({0} + tl.load(lens + {1} % 8))", FIRST, needs="lens"),
    Row("i.words", "i", "n", "from_halves(tab + {0} % 4)", _entry, 0.5, needs="tab"),
    Row("i.shorts", "i", "n", "from_shorts(tab + {0} % 4)", _entry, 0.3, needs="tab"),
    Row("i.remote", "i", "inn", "(tl.load(tab + {1} % 4) + ({0} - tl.load(tab + {2} % 4)))", _moved, needs="tab"),
    Row("i.remote_xor", "i", "inn", "({0} ^ tl.load(tab + {1} % 4) ^ tl.load(tab + {2} % 4))", _moved, 0.3,
        needs="tab"),
    Row("i.moved", "i", "inn", "moved({0}, tl.load(tab + {1} % 4), tl.load(tab + {2} % 4))", _moved, 0.5, needs="tab"),
    Row("i.heaps", "i", "inn", "over(Heaps(tl.load(tab + {1} % 4), tl.load(tab + {2} % 4)), {0})", _moved, 0.5,
        needs="tab"),
    Row("i.near", "i", "hn", "(tl.load(tab + {1} % 4) + {0})", _moved, 3, needs="tab"),
    Row("i.paged", "i", "hn", "paged({0}, tl.load(tab + {1} % 4))", _moved, 0.5, needs="tab"),
    Row("h.from", "h", "in", "({0} - tl.load(tab + {1} % 4))", FIRST, 3, needs="tab"),
    Row("h.add", "h", "h", "({0} + 16)", FIRST, needs="tab"),
    Row("h.where", "h", "chh", "tl.where({0}, {1}, {2})", CHOICE, needs="tab"),
    Row("h.negated", "h", "in", "(0 - (tl.load(tab + {1} % 4) - {0}))", FIRST, 0.5, needs="tab"),
    Row("i.slot", "i", "s", "tl.load(scr + {0})", number, 3, needs="scr"),
    Row("i.slot_halves", "i", "s", "from_halves(scr + {0})", number, 0.5, needs="scr"),
    Row("i.slot_fetch", "i", "s", "fetch(scr + {0})", number, 0.5, needs="scr"),
    Row("i.slot_asm", "i", "s", _asm("ld.global.b64 $0, [$1];", "=l,l", "(scr + {0}).to(tl.int64)", "tl.int64", False),
        number, 0.3, needs="scr"),
    Row("i.slot_lane", "i", "", "(tl.load(scr + 35) & -16)", number, 0.5, needs="scr"),
    Row("i.outside", "i", "", f"tl.load(tl.load(tab).to({WIDE}) - 256)", number, 3, needs="outside"),
    Row("e.from", "e", "i", f"({{0}} - {BASE})", FIRST, 3, needs="kernel"),
    Row("e.add", "e", "e", "({0} + 16)", FIRST, needs="kernel"),
    Row("e.where", "e", "cee", "tl.where({0}, {1}, {2})", CHOICE, needs="kernel"),
    Row("e.negated", "e", "i", f"(0 - ({BASE} - {{0}}))", FIRST, 0.5, needs="kernel"),
    Row("z.split", "z", "i", "(({0} >> 32).to(tl.int32), {0}.to(tl.int32))", FIRST, 3),
    # blocks of pointers and of addresses
    Row("t.block", "t", "p", f"({{0}} + {LANE})", _block, 4),
    Row("t.index", "t", "pw", "({0} + {1})", _block, 2),
    Row("t.add", "t", "tk", "({0} + {1})", FIRST),
    Row("t.where", "t", "mtt", "tl.where({0}, {1}, {2})", _mixed, 2),
    Row("t.choose", "t", "ctt", "tl.where({0}, {1}, {2})", CHOICE),
    Row("t.ternary", "t", "ctt", "({1} if {0} else {2})", CHOICE),
    Row("t.cast", "t", "j", f"{{0}}.to({POINTER})", FIRST, 2),
    Row("t.turn", "t", "t", "tl.reshape(tl.trans(tl.reshape({0}, [4, 4])), [16])", FIRST, 0.5),
    Row("t.expand", "t", "t", "tl.reshape(tl.broadcast_to({0}[:, None], [16, 1]), [16])", FIRST, 0.3),
    Row("j.from", "j", "t", "{0}.to(tl.int64)", FIRST, 3),
    Row("j.add", "j", "jw", "({0} + {1} * 4)", FIRST),
    Row("j.splat", "j", "i", f"({{0}} + {LANE} * 4)", _block),
    Row("j.where", "j", "mjj", "tl.where({0}, {1}, {2})", _mixed, 2),
    Row("j.scan", "j", "j", "tl.associative_scan({0}, 0, keep_larger)", FIRST),
    Row("j.flip", "j", "j", "tl.flip({0}, 0)", FIRST, 0.2),
    Row("j.sort", "j", "j", "tl.sort({0})", FIRST, 0.05),
    Row("j.gather", "j", "jw", "tl.gather({0}, {1}, 0)", FIRST, 0.5),
    Row("j.split_left", "j", "jj", "halves({0}, {1})[0]", FIRST, 0.5),
    Row("j.split_right", "j", "jj", "halves({0}, {1})[1]", SECOND, 0.5),
    Row("j.map", "j", "jjw", "tl.map_elementwise(pick_lane, {0}, {1}, {2})", lambda v: _mixed((None, *v)), 0.5,
        needs="map"),
    Row("j.scan_keyed", "j", "wj", "tl.associative_scan(({0}, {1}), 0, by_key)[1]", SECOND, 0.3),
    Row("j.remote", "j", "jnn", "({0} + (tl.load(tab + {1} % 4) - tl.load(tab + {2} % 4)))",
        lambda v: (v[0], frozenset(("tab>",))), 0.5, needs="tab"),
    Row("j.index", "j", "jw", "({0} + tl.load(cond + {1}) * 16)", FIRST, 0.5),
    Row("j.slot", "j", "", f"tl.load(scr + 32 + {LANE})", number, 0.7, needs="scr"),
    Row("j.slot_descriptor", "j", "", "tl.make_tensor_descriptor(scr + 64, [16], [1], [16]).load([0])", number, 0.7,
        needs="scr"),
    # descriptors and block pointers
    Row("d.make", "d", "p", "tl.make_tensor_descriptor({0}, [64], [1], [16])", FIRST, 3),
    Row("b.make", "b", "p", "tl.make_block_ptr({0}, (64,), (1,), (0,), (16,), (0,))", FIRST, 3, needs="block_ptr"),
    Row("b.advance", "b", "b", "tl.advance({0}, (4,))", FIRST, needs="block_ptr"),
    # pairs
    Row("x.make", "x", "pp", "({0}, {1})", _made, 2),
    Row("x.swap", "x", "x", "({0}[1], {0}[0])", _swapped, 2),
    Row("x.helper", "x", "pp", "turned({0}, {1})", lambda v: ((str(v[1]), str(v[0])),)),
    Row("a.make", "a", "pp", "Pair({0}, {1})", _made, 2),
    Row("a.swap", "a", "a", "{0}.turned()", _swapped, 2),
    Row("a.either", "a", "caa", "either({0}, {1}, {2})", CHOICE),
    Row("a.swap_by_hand", "a", "a", "Pair({0}.back, {0}.front)", _swapped),
    # numbers
    Row("v.constant", "v", "k", "{0}", number, 2),
    Row("v.flag", "v", "n", "(tl.load(cond + {0}) * 4)", number, 2),
    Row("v.data", "v", "p", "(tl.load({0}) & 12)", number, 2),
    Row("v.loop", "v", "l", "(({0} & 3) * 4)", number, 2),
    Row("v.block", "v", "w", "(tl.max({0}, 0) & 12)", number, 0.5),
    Row("v.asm_load", "v", "i", "(" + _asm("ld.global.b32 $0, [$1];", "=r,l", "{0}", "tl.int32", False) + " & 12)",
        number, 0.3),
    Row("v.difference", "v", "i", "((({0} + 16) - {0}) // 4).to(tl.int32)", number, 0.3),
    Row("v.low_bits", "v", "i", "((({0} >> 4) & 3) * 4).to(tl.int32)", number, 0.3),
    Row("w.lanes", "w", "", LANE, number, 3),
    Row("w.load", "w", "t", "(tl.load({0}) & 12)", number, 2),
    Row("w.masked", "w", "tmw", "(tl.load({0}, mask={1}, other={2}) & 12)", number, 2),
    Row("w.descriptor", "w", "d", "({0}.load([0]) & 12)", number),
    Row("w.block_ptr", "w", "b", "(tl.load({0}, boundary_check=(0,)) & 12)", number, needs="block_ptr"),
    Row("w.splat", "w", "v", f"(({LANE} * 0 + {{0}}) & 12)", number),
    # conditions and masks: nothing here is known before the kernel runs
    Row("c.flag", "c", "n", "(tl.load(cond + {0}) > 1)", number, 4),
    Row("c.bit", "c", "n", "(((fl >> ({0} % 40)) & 1) != 0)", number, 3),
    Row("c.count", "c", "n", "(n > {0} % 3)", number),
    Row("c.data", "c", "pn", "((tl.load({0}) + tl.load(cond + {1})) % 2 == 0)", number),
    Row("c.address", "c", "iin", "(({0} > {1}) ^ (tl.load(cond + {2}) > 1))", number, 0.5),
    Row("c.program", "c", "n", "(tl.program_id(0) + tl.load(cond + {0}) > 1)", number, 0.5),
    Row("c.atomic", "c", "p", "((tl.atomic_add({0}, 4) & 8) != 0)", number, 0.3, (0,)),
    Row("m.flags", "m", "n", f"(tl.load(cond + ({{0}} + {LANE}) % 64) > 1)", number, 3),
    Row("m.below", "m", "n", f"({LANE} < tl.load(cond + {{0}}) * 5)", number, 2),
    Row("m.count", "m", "", f"({LANE} < n * 4)", number),
    Row("n.constant", "n", "o", "{0}", number, 2),
    Row("n.loop", "n", "ol", "(({0} + {1} * 5) % 64)", number, 6),
)

# Actions stand as statements of their own; those of kind `v` or `i` may be assigned.
ACTIONS = (
    Row("store", "", "pv", "tl.store({0}, {1})", number, 5, (0,)),
    Row("store.block", "", "tw", "tl.store({0}, {1})", number, 3, (0,)),
    Row("store.masked", "", "twm", "tl.store({0}, {1}, mask={2})", number, 3, (0,)),
    Row("store.dead_mask", "", "tw", f"tl.store({{0}}, {{1}}, mask={LANE} < 0)", number, 0.3),
    Row("store.wide", "", "pv", f"tl.store({{0}}.to({WIDE}, bitcast=True), tl.cast({{1}}, tl.int64))", number, 0.5,
        (0,)),
    Row("store.float", "", "p", "tl.store({0}.to(tl.pointer_type(tl.float32), bitcast=True), 0.0)", number, 0.5, (0,)),
    Row("store.descriptor", "", "dw", "{0}.store([0], {1})", number, 2, (0,)),
    Row("add.descriptor", "", "dw", "{0}.atomic_add([0], {1})", number, 1, (0,)),
    Row("max.descriptor", "", "dw", "{0}.atomic_max([0], {1})", number, 0.5, (0,)),
    Row("store.block_ptr", "", "bw", "tl.store({0}, {1}, boundary_check=(0,))", number, 3, (0,), needs="block_ptr"),
    Row("store.interleaved", "", "jj",
        f"tl.store(tl.interleave({{0}}, {{1}}).to({POINTER}), tl.arange(0, 32))", number, 0.3, (0, 1)),
    Row("atomic.add", "v", "pv", "(tl.atomic_add({0}, {1}) & 12)", number, 1, (0,)),
    Row("atomic.max", "v", "pv", "(tl.atomic_max({0}, {1}) & 12)", number, 0.5, (0,)),
    Row("atomic.min", "", "pv", "tl.atomic_min({0}, {1})", number, 0.5, (0,)),
    Row("atomic.and", "", "pv", "tl.atomic_and({0}, {1})", number, 0.3, (0,)),
    Row("atomic.or", "", "pv", "tl.atomic_or({0}, {1})", number, 0.3, (0,)),
    Row("atomic.xor", "", "pv", "tl.atomic_xor({0}, {1})", number, 0.3, (0,)),
    Row("atomic.exchange", "v", "pv", "(tl.atomic_xchg({0}, {1}) & 12)", number, 0.5, (0,)),
    Row("atomic.cas", "v", "pvv", "(tl.atomic_cas({0}, {1}, {2}) & 12)", number, 0.7, (0,)),
    Row("atomic.block", "", "twm", "tl.atomic_add({0}, {1}, mask={2})", number, 1, (0,)),
    Row("atomic.block_max", "", "tw", "tl.atomic_max({0}, {1})", number, 0.5, (0,)),
    Row("store.host", "", "w", "hd.store([0], {0})", number, 0.7, needs="hd"),
    Row("store.scatter", "", "p", "tl.make_tensor_descriptor({0}, [8, 16], [16, 1], [1, 16])"
        ".scatter(tl.zeros([8, 16], tl.int32), tl.arange(0, 8), 0)", number, 0.5, (0,)),
    Row("store.asm", "", "iv", _asm("st.global.b32 [$1], $2; mov.b32 $0, 0;", "=r,l,r", "{0}, {1}", "tl.int32", False),
        number, 0.7, (0,)),
    Row("atomic.asm", "", "iv", _asm("atom.global.add.u32 $0, [$1], $2;", "=r,l,r", "{0}, {1}", "tl.int32", False),
        number, 0.5, (0,)),
    Row("store.handed_on", "", "pv", "act((skip_store, put_value), {0}, {1})", number, 0.5, (0,)),
    Row("store.not_handed_on", "", "pv", "act((skip_store, skip_store), {0}, {1})", number, 0.3),
    Row("store.one_of_pair", "", "ppv", "act_on_both((skip_store, put_value), ({0}, {1}), {2})", number, 0.5, (1,)),
    Row("atomic.store", "", "pv", "tl.atomic_store({0}, {1})", number, 1, (0,), needs="atomic_store"),
    Row("store.optional", "", "v", "store_if_given(opt, {0})", number, 1, needs="opt"),
    Row("noise.barrier", "", "", "tl.debug_barrier()", number, 0.2),
    Row("put", "", "si", "tl.store(scr + {0}, {1})", number, 2, needs="scr"),
    Row("put.halves", "", "si", "to_halves(scr + {0}, {1})", number, 0.5, needs="scr"),
    Row("put.helper", "", "si", "stash(scr + {0}, {1})", number, 0.5, needs="scr"),
    Row("put.block", "", "j", f"tl.store(scr + 32 + {LANE}, {{0}})", number, 0.5, needs="scr"),
    Row("put.descriptor", "", "j", "tl.make_tensor_descriptor(scr + 64, [16], [1], [16]).store([0], {0})", number, 0.5,
        needs="scr"),
    Row("put.outside", "", "i", f"tl.store(tl.load(tab).to({WIDE}) - 256, {{0}})", number, 2, needs="outside"),
    Row("swap_in", "i", "si", "tl.atomic_xchg(scr + {0}, {1})", number, 1, needs="scr"),
    Row("cas_in", "i", "sii", "tl.atomic_cas(scr + {0}, {1}, {2})", number, 0.7, needs="scr"),
    Row("max_in", "i", "si", "tl.atomic_max(scr + {0}, {1})", number, 0.5, needs="scr"),
    Row("add_in", "i", "s", "tl.atomic_add(scr + {0}, 16)", number, 0.5, needs="scr"),
)
ROWS = {row.op: row for row in (*EXPRESSIONS, *ACTIONS)}
BY_KIND = {kind: tuple(r for r in EXPRESSIONS if r.kind == kind) for kind in "pitjehzdbxavwcmn"}

# Loop headers: `{0}` is the loop's variable, `{1}` the constant number of trips, `{2}` an address of flags.
LOOPS = {
    "range": "for {0} in range(n):",
    "range_other": "for {0} in range(0, m):",
    "tl_range": "for {0} in tl.range(0, n, num_stages=2):",
    "down": "for {0} in range(n, 0, -1):",
    "constant": "for {0} in range({1}):",
    "static": "for {0} in tl.static_range({1}):",
    "while": "while {0} < n:",
    "while_atomic": "while ({0} < 4) & ((tl.atomic_add({2}, 4) & 12) < 8):",
    "while_data": "while ({0} < 4) & (tl.load(cond + {0} * 3) > 1):",
}
EXACT = frozenset({"constant", "static"})  # these make exactly their trips
