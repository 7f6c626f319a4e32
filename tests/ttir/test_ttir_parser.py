"""The parser on single constructs; agreement with MLIR is in test_ttir_parser_oracle.py."""

from __future__ import annotations

import pytest

from triton_mutlint.ttir.ir import Function, Module, Op, ParseError, walk
from triton_mutlint.ttir.lexer import unescape
from triton_mutlint.ttir.parser import MAX_DEPTH, parse

HEAD = "tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32)"


def function(body: str, head: str = HEAD) -> Function:
    return parse(f"module {{\n  {head} attributes {{noinline = false}} {{\n{body}\n  }}\n}}\n").entry()


def ops(body: str) -> list[Op]:
    return list(walk(function(body).body))


def only(body: str, name: str) -> Op:
    (found,) = [op for op in ops(body) if op.name == name]
    return found


def types_of(body: str, name: str) -> list[str]:
    parsed = function(body)
    return [parsed.types[r] for op in walk(parsed.body) if op.name == name for r in op.results]


def test_function_header() -> None:
    parsed = function("tt.return")
    assert (parsed.name, parsed.public, parsed.n_args) == ("k", True, 3)
    assert parsed.arg_names == ("a", "b", "n")
    assert parsed.types == ("!tt.ptr<f32>", "!tt.ptr<f32>", "i32")
    assert parsed.body.blocks[0].args == (0, 1, 2)


def test_a_private_function_with_a_quoted_name() -> None:
    text = """module {
      tt.func private @"k.<locals>.f"(%x: !tt.ptr<f32, "constant"> loc("x \\22 (y"(#loc))) -> (i32, f32) {
        tt.return %x, %x : i32, f32
      } loc(#loc)
    }
    #loc = loc(unknown)"""
    module = parse(text)
    assert set(module.functions) == {"k.<locals>.f"}
    assert module.functions["k.<locals>.f"].types[0] == '!tt.ptr<f32, "constant">'
    assert not module.functions["k.<locals>.f"].public
    with pytest.raises(LookupError):
        module.entry()


def test_functions_without_a_module() -> None:
    assert parse("tt.func @f() {\n  tt.return\n}").entry().name == "f"


@pytest.mark.parametrize(
    ("line", "operands", "types"),
    [
        ("%x = tt.addptr %a, %n : !tt.ptr<f32>, i32", (0, 2), ["!tt.ptr<f32>"]),
        ("%x = tt.load %a : !tt.ptr<f32>", (0,), ["f32"]),
        ("%x = tt.load %a, %n cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>", (0, 2), ["f32"]),
        ("%x = arith.cmpi slt, %n, %n : i32", (2, 2), ["i1"]),
        ("%x = arith.cmpi eq, %n, %n : tensor<4x8xi32>", (2, 2), ["tensor<4x8xi1>"]),
        ("%x = arith.extsi %n : i32 to i64", (2,), ["i64"]),
        ("%x = arith.select %n, %a, %b : !tt.ptr<f32>", (2, 0, 1), ["!tt.ptr<f32>"]),
        ("%x = arith.select %n, %a, %b : tensor<4xi1>, tensor<4xf32>", (2, 0, 1), ["tensor<4xf32>"]),
        ("%x = tt.splat %a : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>", (0,), ["tensor<4x!tt.ptr<f32>>"]),
        ("%x:2 = tt.split %a : tensor<4x2xf32> -> tensor<4xf32>", (0,), ["tensor<4xf32>"] * 2),
        ("%x, %y = tt.split %a : tensor<4x2xf32> -> tensor<4xf32>", (0,), ["tensor<4xf32>"] * 2),
        ("%x:2 = arith.mulsi_extended %n, %n : i32", (2, 2), ["i32", "i32"]),
        ("%x, %o = arith.addui_extended %n, %n : i32, i1", (2, 2), ["i32", "i1"]),
        ("%x = tt.make_tensor_ptr %a, [%n], [%n], [%n] {order = array<i32: 0>} : <tensor<4xf16>>", (0, 2, 2, 2),
         ["!tt.ptr<tensor<4xf16>>"]),
        ("%x = tt.cat %a, %b : tensor<4xf16> -> tensor<8xf16>", (0, 1), ["tensor<8xf16>"]),
        ("%x = tt.advance %a, [%n, %n] : <tensor<4x8xf16>>", (0, 2, 2), ["!tt.ptr<tensor<4x8xf16>>"]),
        ("%x = tt.make_tensor_descriptor %a, [%n], [%n] : <f16>, <4xf16>", (0, 2, 2), ["!tt.tensordesc<4xf16>"]),
        ("%x = tt.dot %a, %b, %n, inputPrecision = tf32 : tensor<4x4xf16> * tensor<4x4xf16> -> tensor<4x4xf32>",
         (0, 1, 2), ["tensor<4x4xf32>"]),
        ("%x = some.op %a[%n] keyword %b {k = 1 : i32} : (!tt.ptr<f32>) -> (i32)", (0, 2, 1), ["i32"]),
        ('%x = "some.op"(%a, %b) <{p = 1 : i32}> {q} : (!tt.ptr<f32>, !tt.ptr<f32>) -> i8', (0, 1), ["i8"]),
    ],
)  # fmt: skip
def test_operands_and_result_types(line: str, operands: tuple[int, ...], types: list[str]) -> None:
    parsed = function(line + "\n    tt.return")
    op = parsed.body.blocks[0].ops[0]
    assert op.operands == operands
    assert [parsed.types[r] for r in op.results] == types


def test_results_are_numbered_in_text_order_and_used_by_index() -> None:
    found = ops("%x:3 = some.op %a : f32 -> i1, i2, i3\n tt.store %b, %x#2 : !tt.ptr<f32>\n tt.return")
    assert found[0].results == (3, 4, 5)
    assert found[1].operands == (1, 5)


def test_descriptor_store_counts_the_value_before_the_indices() -> None:
    op = only("tt.descriptor_store %a[%n, %n], %b : !tt.tensordesc<4xf16>, tensor<4xf16>\ntt.return",
              "tt.descriptor_store")  # fmt: skip
    assert op.operands == (0, 1, 2, 2)
    op = only("tt.descriptor_reduce add, %a[%n], %b : !tt.tensordesc<4xf16>, f16\ntt.return",
              "tt.descriptor_reduce")  # fmt: skip
    assert op.operands == (0, 1, 2)
    assert op.attrs["kind"] == "add"


@pytest.mark.parametrize(
    ("line", "attrs"),
    [
        ("%x = arith.constant dense<[1, 2]> : tensor<2xi32>", {"value": "dense<[1, 2]>"}),
        ("%x = arith.constant true", {"value": "true"}),
        ("%x = arith.constant -1 : i64", {"value": "-1"}),
        ('%x = arith.constant dense<"0x00FF : {"> : tensor<2xi8>', {"value": 'dense<"0x00FF : {">'}),
        ("%x = arith.cmpf oge, %n, %n fastmath<nnan> : f32", {"predicate": "oge"}),
        ("%x = tt.atomic_rmw fadd, acq_rel, gpu, %a, %n : (!tt.ptr<f32>, f32) -> f32",
         {"rmw_op": "fadd", "sem": "acq_rel", "scope": "gpu"}),
        ("%x = tt.atomic_cas acquire, sys, %a, %n, %n : (!tt.ptr<f32>, f32, f32) -> f32",
         {"sem": "acquire", "scope": "sys"}),
        ("%x = tt.call @f.g__i32(%n) {inline = true} : (i32) -> i32", {"callee": "f.g__i32", "inline": "true"}),
        ('tt.call @"f <x> (y)"(%n) : (i32) -> ()', {"callee": "f <x> (y)"}),
        ("%x = tt.get_program_id y : i32", {"axis": "y"}),
        ("%x = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>",
         {"end": "128 : i32", "start": "0 : i32"}),
        ("%x = tt.fp_to_fp %n, rounding = rtne : f32 -> f16", {"rounding": "rtne"}),
        ('tt.print "a : %x {" {hex = false, isSigned = array<i32: 1>} : %n : i32',
         {"prefix": "a : %x {", "hex": "false", "isSigned": "array<i32: 1>"}),
        ('tt.assert %n, "n : \\22q\\22" : i1', {"message": 'n : "q"'}),
        ('%x = tt.extern_elementwise %n {libname = "", pure = true, symbol = "__nv_exp"} : (f32) -> f32',
         {"libname": "", "pure": "true", "symbol": "__nv_exp"}),
        ("%x = some.op %n {a = [{b = 1 : i32}, {c}], d} : i32 -> i32", {"a": "[{b = 1 : i32}, {c}]", "d": "unit"}),
        ("ttg.barrier local|global_read", {"addrSpace": "local|global_read"}),
    ],
)  # fmt: skip
def test_attributes(line: str, attrs: dict[str, str]) -> None:
    assert dict(function(line + "\n tt.return").body.blocks[0].ops[0].attrs) == attrs


def test_inline_asm_text_survives() -> None:
    op = only(
        r'%x = tt.elementwise_inline_asm "{ @p st.b32 [$1], \22%r\22; }\0A// a : b, %c\\" '
        r'{constraints = "=r,l,~{memory}", packed_element = 1 : i32, pure = false} %a, %n '
        ': !tt.ptr<f32>, i32 -> i32 loc("f.py":1:2)\n tt.return',
        "tt.elementwise_inline_asm",
    )
    assert op.attrs["asm_string"] == '{ @p st.b32 [$1], "%r"; }\n// a : b, %c\\'
    assert op.attrs["constraints"] == "=r,l,~{memory}"
    assert op.attrs["pure"] == "false"
    assert op.operands == (0, 2)
    assert op.loc.chain == (("f.py", 1, 2),)


def test_inline_asm_without_operands() -> None:
    line = (
        '%x:2 = tt.elementwise_inline_asm "mov.u64 $0, %t;" {constraints = "=l,=l", packed_element = 1 : i32, '
        "pure = true} -> i64, i32\n tt.return"
    )
    assert only(line, "tt.elementwise_inline_asm").operands == ()
    assert types_of(line, "tt.elementwise_inline_asm") == ["i64", "i32"]


FOR = """
    %c:2 = scf.for %i = %n to %n step %n iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
      scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
    } {tt.num_stages = 3 : i32, tt.flatten} loc("f.py":4:1)
    tt.return"""


def test_for() -> None:
    parsed = function(FOR)
    op = parsed.body.blocks[0].ops[0]
    assert op.operands == (2, 2, 2, 0, 1)
    assert op.results == (3, 4)
    (body,) = op.regions[0].blocks
    assert [parsed.types[v] for v in body.args] == ["i32", "!tt.ptr<f32>", "!tt.ptr<f32>"]
    assert body.ops[0].operands == (body.args[2], body.args[1])
    assert op.attrs["tt.num_stages"] == "3 : i32"
    assert op.attrs["tt.flatten"] == "unit"
    assert op.loc.chain == (("f.py", 4, 1),)


def test_terminators_that_are_not_printed() -> None:
    found = ops("scf.for %i = %n to %n step %n  : i32 {\n scf.if %n {\n } else {\n }\n }\n tt.return")
    assert [op.name for op in found] == [
        "scf.yield", "scf.yield", "scf.if", "scf.yield", "scf.for", "tt.return",
    ]  # fmt: skip


def test_while() -> None:
    parsed = function("""
    %w:2 = scf.while (%p = %a, %k = %n) : (!tt.ptr<f32>, i32) -> (!tt.ptr<f32>, i32) {
      scf.condition(%k) %p, %k : !tt.ptr<f32>, i32
    } do {
    ^bb0(%p: !tt.ptr<f32> loc("p"(#loc)), %k: i32 loc(unknown)):
      scf.yield %p, %k : !tt.ptr<f32>, i32
    } attributes {x = 1 : i32}
    tt.return""")
    op = parsed.body.blocks[0].ops[0]
    before, after = (region.blocks[0] for region in op.regions)
    assert op.operands == (0, 2)
    assert before.ops[0].operands == (before.args[1], *before.args)
    assert after.ops[0].operands == after.args
    assert [parsed.types[v] for v in op.results] == ["!tt.ptr<f32>", "i32"]
    assert op.attrs["x"] == "1 : i32"


def test_execute_region() -> None:
    parsed = function("""
    %e = scf.execute_region -> i32 {
      scf.yield %n : i32
    }
    tt.return""")
    execute, _ = parsed.body.blocks[0].ops
    assert parsed.types[execute.results[0]] == "i32"


def test_reduce_with_two_results() -> None:
    parsed = function("""
    %r:2 = "tt.reduce"(%a, %b) <{axis = 0 : i32}> ({
    ^bb0(%x: f32 loc(unknown), %y: i32, %z: f32, %w: i32):
      tt.reduce.return %x, %y : f32, i32
    }) {note = "}) : ("} : (tensor<4xf32>, tensor<4xi32>) -> (f32, i32) loc("f.py":3:3)
    tt.return""")
    op = parsed.body.blocks[0].ops[0]
    assert op.operands == (0, 1)
    assert [parsed.types[v] for v in op.results] == ["f32", "i32"]
    assert [parsed.types[v] for v in op.regions[0].blocks[0].args] == ["f32", "i32", "f32", "i32"]
    assert dict(op.attrs) == {"axis": "0 : i32", "note": "}) : ("}
    assert op.loc.chain == (("f.py", 3, 3),)


def test_branches_and_blocks() -> None:
    parsed = function("""
    cf.cond_br %n, ^bb1(%a : !tt.ptr<f32>), ^bb2 {branch_weights = array<i32: 1, 2>}
  ^bb1(%p: !tt.ptr<f32> loc("p"(#loc))):  // 2 preds: ^bb0, ^bb2
    cf.br ^bb3(%p, %n : !tt.ptr<f32>, i32)
  ^bb2:  // pred: ^bb0
    cf.br ^bb1(%b : !tt.ptr<f32>)
  ^bb3(%q: !tt.ptr<f32>, %m: i32):
    tt.return""")
    blocks = parsed.body.blocks
    assert [len(b.args) for b in blocks] == [3, 1, 0, 2]
    cond, br, back = (b.ops[-1] for b in blocks[:3])
    assert cond.operands == (2, 0)
    assert [(s.block, s.operands) for s in cond.successors] == [(1, (0,)), (2, ())]
    assert [(s.block, s.operands) for s in br.successors] == [(3, (blocks[1].args[0], 2))]
    assert [(s.block, s.operands) for s in back.successors] == [(1, (1,))]


def test_a_value_may_be_defined_in_a_block_printed_later() -> None:
    parsed = function("""
    cf.br ^bb2
  ^bb1:
    scf.if %n {
      tt.store %x, %n : !tt.ptr<f32>
    }
    cf.br ^bb3(%x : !tt.ptr<f32>)
  ^bb2:
    %x = tt.addptr %a, %n : !tt.ptr<f32>, i32
    cf.br ^bb1
  ^bb3(%y: !tt.ptr<f32>):
    tt.return""")
    (x,) = parsed.body.blocks[2].ops[0].results
    conditional, branch = parsed.body.blocks[1].ops
    assert conditional.regions[0].blocks[0].ops[0].operands == (x, 2)
    assert branch.successors[0].operands == branch.operands == (x,)
    assert all(v >= 0 for op in walk(parsed.body) for v in op.operands)


def test_sibling_regions_may_use_a_name_again() -> None:
    found = ops("""
    scf.if %n {
      %0 = tt.load %a : !tt.ptr<f32>
      tt.store %a, %0 : !tt.ptr<f32>
    } else {
      %0 = tt.load %b : !tt.ptr<f32>
      tt.store %b, %0 : !tt.ptr<f32>
    }
    tt.return""")
    loads = [op.results[0] for op in found if op.name == "tt.load"]
    stores = [op.operands[1] for op in found if op.name == "tt.store"]
    assert loads == stores
    assert len(set(loads)) == 2


LOCATED = """
#loc = loc("k.py":1:1)
#loc1 = loc("v"(#loc2))
#loc2 = loc(callsite(#loc3 at #loc4))
module {
  tt.func public @k(%a: i32 loc("a"(#loc))) {
    some.op %a : i32 loc(LOCATION)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc3 = loc("a \\22b\\22\\5C.py":2:3)
#loc4 = loc("k.py":4:5 to :9)
#loc5 = loc(callsite(#loc5 at #loc5))
#loc7 = loc(unknown)
"""


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("#loc", (("k.py", 1, 1),)),
        ("#loc1", (('a "b"\\.py', 2, 3), ("k.py", 4, 5))),
        ("#loc5", ()),
        ("#loc7", ()),
        ("#loc99", ()),
        ("unknown", ()),
        ('"name"', ()),
        ('"x loc(y.py":7:8', (("x loc(y.py", 7, 8),)),
        ('"n"("f.py":1:2)', (("f.py", 1, 2),)),
        ('callsite("g"("f.py":1:2) at callsite("f.py":3:4 at #loc))',
         (("f.py", 1, 2), ("f.py", 3, 4), ("k.py", 1, 1))),
        ('fused["f.py":1:2, "f.py":3:4]', ()),
    ],
)  # fmt: skip
def test_locations(text: str, chain: tuple[tuple[str, int, int], ...]) -> None:
    op = parse(LOCATED.replace("LOCATION", text)).entry().body.blocks[0].ops[0]
    assert op.name == "some.op"
    assert op.operands == (0,)
    assert op.loc.chain == chain


def test_call_chains_that_double_are_cut() -> None:
    aliases = "\n".join(f"#loc{i} = loc(callsite(#loc{i + 1} at #loc{i + 1}))" for i in range(1, 60))
    text = LOCATED.split("module {")[1].replace("LOCATION", "#loc1")
    module = parse(f'{aliases}\n#loc60 = loc("k.py":1:1)\nmodule {{{text}')
    assert 0 < len(module.entry().body.blocks[0].ops[0].loc.chain) <= 256


def test_lines_are_counted_from_one() -> None:
    parsed = parse(f"module {{\n{HEAD} {{\n\n  // a comment\n  tt.return\n}}\n}}").entry()
    assert parsed.body.blocks[0].ops[0].line == 5


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no module"),
        ("module {", 1, "not closed"),
        ("}", 1, "nothing to close"),
        ("hello, world", 1, "not an operation|outside"),
        ("^bb0:", 1, "label"),
        ("module {\n tt.func @f() {\n  ???\n }\n}", 3, "not an operation"),
        ("module {\n tt.func @f() {\n  tt.store %x, %x : i32\n tt.return\n }\n}", 3, "%x is not defined"),
        ("module {\n tt.func @f() {\n  cf.br ^bb7\n }\n}", 3, "no block bb7"),
        ("module {\n tt.func @f(%a: i32) {\n %a = x.y : i32\n }\n}", 3, "%a is defined twice"),
        ("module {\n tt.func @f() {\n ^bb1:\n ^bb1:\n }\n}", 4, "defined twice"),
        ("module {\n tt.func @f() {\n }\n tt.func @f() {\n }\n}", 4, "defined twice"),
        ("module {\n tt.func @f() {\n  x.y ((((\n }\n}", 3, "several lines"),
        ("module {\n tt.func @f() {\n  %x:1000000 = x.y : i32\n }\n}", 3, "results"),
        ("module {\n tt.func private @f(i32)\n}", 2, "without a body"),
        ("module {\n tt.func @f(%n: i32) {\n \"cf.br\"(%n)[^bb2] : (i32) -> ()\n", 3, "generic form"),
        ("module {\n tt.func f {\n }\n}", 2, "form of a function"),
        ("module {\n tt.func @f() {\n scf.if {\n tt.func @g() {\n", 4, "inside of"),
        ("!alias = !tt.ptr<f32>\nmodule {\n}", 1, "not an operation"),
    ],
)
def test_errors_name_the_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as info:
        parse(text)
    assert info.value.line == line


def test_deep_nesting_is_refused_not_overflowed() -> None:
    opened = "module {\n tt.func @f(%c: i1) {\n" + "scf.if %c {\n" * 5000
    with pytest.raises(ParseError, match="nested") as info:
        parse(opened)
    assert info.value.line == MAX_DEPTH + 1


def test_an_empty_module() -> None:
    assert parse("module {\n}") == Module({})


@pytest.mark.parametrize(("escaped", "text"), [
    (r"k\C3\BC.py", "kü.py"),
    (r"\E9\95\B7\E3\81\95", "長さ"),
    (r"\F0\9F\98\80a\C3\A9", "😀aé"),
    (r"a\5Cb\22\0A\09", 'a\\b"\n\t'),
    (r"\\C3\"\n\t\\", '\\C3"\n\t\\'),
    (r"\\\C3\BC\\BC", "\\ü\\BC"),
    (r"\FFa\C3\BC\C3", "\udcffaü\udcc3"),
    ("ü\\C3\\BC", "üü"),
])
def test_bytes_in_strings_are_utf8(escaped: str, text: str) -> None:
    assert unescape(escaped) == text
    asm = f'%x = tt.elementwise_inline_asm "{escaped}" {{constraints = "{escaped}"}} %a : i32 -> i32\n'
    op = parse(f'tt.func @"{escaped}"(%a: i32) {{\n{asm}tt.return\n}}').functions[text].body.blocks[0].ops[0]
    assert (op.attrs["asm_string"], op.attrs["constraints"]) == (text, text)
    at = parse(LOCATED.replace("LOCATION", f'"{escaped}":1:2')).entry().body.blocks[0].ops[0]
    assert at.loc.chain == ((text, 1, 2),)
