"""Inline asm: what each text reads, writes and passes on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_mutlint.ttir.asm import AsmReading, read_asm


def reading(
    reads: set[int] | None = None, writes: set[int] | None = None, atomics: set[int] | None = None,
    flows: set[int] | None = None,
) -> tuple[frozenset[int], ...]:  # fmt: skip
    return tuple(frozenset(found or ()) for found in (reads, writes, atomics, flows))


def effects(found: AsmReading) -> tuple[frozenset[int], ...]:
    assert found.understood, found.reason
    assert found.reason == ""
    return found.reads, found.writes, found.atomics, found.result_flows


PTX = [
    # text, constraints, operands, expected
    ("mov.u64 $0, %globaltimer;", "=l", 0, reading()),
    ("mov.u32 $0, %smid;", "=r", 0, reading()),
    ("griddepcontrol.wait; // dummy $0", "=r", 0, reading()),
    ("", "=r,r", 1, reading(flows={0})),
    ("popc.b32 $0, $1;", "=r,r", 1, reading(flows={0})),
    ("cvta.to.global.u64 $0, $1;", "=l,l", 1, reading(flows={0})),
    ("st.global.b32 [$1], $2; mov.b32 $0, 0;", "=r,l,r", 2, reading(writes={0})),
    ("ld.global.acquire.gpu.b32 $0, [$1];", "=r,l", 1, reading(reads={0})),
    ("ld.global.v4.b32 {$0,$1,$2,$3}, [$4 + 16];", "=r,=r,=r,=r,l", 1, reading(reads={0})),
    ("st.global.v2.f32 [$1], {$2, $3}; mov.b32 $0, $2;", "=r,l,f,f", 3, reading(writes={0}, flows={1})),
    ("atom.global.add.u32 $0, [$1], $2;", "=r,l,r", 2, reading(atomics={0})),
    ("atom.add.release.gpu.global.u32 $0, [$1+8], 1;", "=r,l", 1, reading(atomics={0})),
    ("@$3 red.global.gpu.relaxed.add.f32 [$1], $2; mov.u32 $0, 0;", "=r,l,f,b", 3, reading(atomics={0})),
    ("{ .reg .pred p; setp.ne.b32 p, $3, 0; @!p st.global.u32 [$1], $2; mov.u32 $0, 0; }", "=r,l,r,r", 3,
     reading(writes={0})),
    ("mov.u64 %rd1, $1; st.global.b32 [%rd1+4], $2; mov.u32 $0, 0;", "=r,l,r", 2, reading(writes={0})),
    ("{\n.reg .u64 rd;\ncvta.to.global.u64 rd, $1;\nadd.u64 rd, rd, 16;\nst.global.u32 [rd], $2;\n}",
     "=r,l,r", 2, reading(writes={0}, flows={0, 1})),
    ("{ .reg .b32 lo, hi; .reg .b64 a; mov.b64 {lo, hi}, $1; mov.b64 a, {lo, hi}; st.b32 [a], 1; mov.b32 $0, 0; }",
     "=r,l", 1, reading(writes={0})),
    ("st.shared.u32 [$1], $2; mov.u32 $0, 0;", "=r,r,r", 2, reading()),
    ("st.shared::cluster.u32 [$1], $2; mov.u32 $0, 0;", "=r,r,r", 2, reading()),
    ("prefetch.global.L2 [$1]; mov.u32 $0, 0;", "=r,l", 1, reading()),
    ("prefetch.global.L2 [$1]; st.global.u32 [$1], 0; mov.u32 $0, 0;", "=r,l", 1, reading(writes={0})),
    ("fence.acq_rel.gpu; membar.gl; bar.sync 0; mov.u32 $0, 0;", "=r", 0, reading()),
    ("mbarrier.init.shared::cta.b64 [$1], 1; mov.u32 $0, 0;", "=r,r", 1, reading()),
    ("nanosleep.u32 100; mov.u32 $0, $1;", "=r,r", 1, reading(flows={0})),
    ("cp.async.ca.shared.global [$1], [$2], 16; mov.u32 $0, 0;", "=r,r,l", 2, reading(reads={1})),
    ("cp.async.commit_group; cp.async.wait_group 0; cp.async.bulk.wait_group.read 0; mov.u32 $0, 0;", "=r", 0,
     reading()),
    ("cp.async.bulk.global.shared::cta.bulk_group [$1], [$2], $3; mov.u32 $0, 0;", "=r,l,r,r", 3,
     reading(writes={0})),
    ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2], 64, [$3]; mov.u32 $0, 0;",
     "=r,r,l,r", 3, reading(reads={1})),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$1], [$2], 64; mov.u32 $0, 0;", "=r,l,r", 2,
     reading(atomics={0})),
    ("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {$0,$1,$2,$3}, [$4];", "=r,=r,=r,=r,l", 1,
     reading(reads={0})),
    ("multimem.st.relaxed.sys.global.v4.f32 [$1], {$2,$2,$2,$2}; mov.u32 $0, 0;", "=r,l,r", 2,
     reading(writes={0})),
    ("multimem.red.release.sys.global.add.u32 [$1], 1; mov.u32 $0, 0;", "=r,l", 1, reading(atomics={0})),
    ("discard.global.L2 [$1], 128; mov.u32 $0, 0;", "=r,l", 1, reading(writes={0})),
    ("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [$1], {$2}, 16; mov.u32 $0, 0;", "=r,l,f", 2,
     reading(writes={0})),
    (".loc 1 2 3\nst.global.b32 [$1], 0; mov.u32 $0, 0;", "=r,l", 1, reading(writes={0})),
    # control flow, labels, escapes and comments
    ("$$loop: ld.global.acquire.sys.b32 $0, [$1]; setp.ne.u32 p, $0, 1; @p bra $$loop;", "=r,l", 1,
     reading(reads={0})),
    ("L1: { mov.u32 $0, 0; st.global.u32 [$1], 7; }", "=r,l", 1, reading(writes={0})),
    ("// st.global.b32 [$1], 0;\nmov.b64 $0, $1;", "=l,l", 1, reading(flows={0})),
    ("/* st.global.b32 [$2], 0; */ st.global.b32 [$1], 0; mov.b32 $0, 0;", "=r,l,l", 2, reading(writes={0})),
    ("st.global.b32 [${1:r}], 0; mov.b32 $0, 0;", "=r,l", 1, reading(writes={0})),
    # ties: `0` gives output 0 the input's value to start with
    ("st.global.b32 [$0], 7;", "=l,0", 1, reading(writes={0}, flows={0})),
    ("st.global.b32 [$2], 7; mov.b64 $0, 0;", "=&l,l,l,~{memory}", 2, reading(writes={1})),
    # an address made of two operands may be either one's
    ("add.u64 $0, $1, $2; st.global.b32 [$0], 7;", "=l,l,l", 2, reading(writes={0, 1}, flows={0, 1})),
    # a result that is never set may share an input's register
    ("st.global.b32 [$1], $2;", "=r,l,r", 2, reading(writes={0}, flows={0, 1})),
    ("selp.b64 $0, $1, $2, p;", "=l,l,l", 2, reading(flows={0, 1})),
    ("setp.eq.u64 p, $1, $2; selp.u32 $0, 1, 0, p;", "=r,l,l", 2, reading()),
    ("st.global.b32 [$1], $$1;", "=r,l", 1, reading(writes={0}, flows={0})),
]  # fmt: skip


@pytest.mark.parametrize(("text", "constraints", "operands", "expected"), PTX)
def test_ptx(text: str, constraints: str, operands: int, expected: tuple[frozenset[int], ...]) -> None:
    assert effects(read_asm(text, constraints, operands, "cuda")) == expected


NOT_UNDERSTOOD = [
    ("call (retval), helper, (param0);", "=r,l", 1, "call"),
    ("call.uni helper; mov.u32 $0, 0;", "=r", 0, "call"),
    ("frobnicate.global [$1], $2;", "=r,l,r", 2, "frobnicate"),
    ("frobnicate.x7 $0, <$1>;", "=r,l", 1, "frobnicate"),
    ("frobnicate.f32 $0, $1, $2;", "=f,f,f", 2, "frobnicate"),
    ("global_store_dword $1, $2, off", "=r,l,r", 2, "global_store_dword"),
    ("sust.b.2d.v4.b32 [$1, {$2, $2}], {$2, $2, $2, $2};", "=r,l,r", 2, "sust"),
    ("ld.global.b64 %rd1, [$1]; st.global.b32 [%rd1], $2;", "=r,l,r", 2, "loads"),
    ("st.global.b32 [%rd9], $1;", "=r,r", 1, "no operand"),
    ("st.global.b32 [4096], $1;", "=r,r", 1, "no operand"),
    ("st.global.b32 [$7], 0;", "=r,l", 1, "$7"),
    ("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$1, {0, 0}], [$2];", "=r,l,r", 2, "tensor map"),
    (".func foo { st.global.b32 [$1], 0; }", "=r,l", 1, "directive"),
    ("st.global.b32 [$1], 0", "=r,*l", 1, "constraint"),
    ("st.global.b32 [$0], 0", "+l", 1, "constraint"),
    ("/* st.global.b32 [$1], 0;", "=r,l", 1, "comment"),
    ("st.global.b32 [$1, 0;", "=r,l", 1, "brackets"),
    ("{ mov.b32 a, 1; { x: y { call foo; } }", "=r,l", 1, ""),
    ("st.global.b32 [$1], $2;", "=r,r,r,r,r", 2, "packed"),
    ("mov.b64 $0, $1;", "=l,1", 1, "ties"),
    ("$(st.global.b32 [$1], 0;$|nop;$)", "=r,l", 1, "`$`"),
    (".global .u32 g = 1; mov.u32 $0, 0;", "=r", 0, "initial value"),
]


@pytest.mark.parametrize(("text", "expected"), [
    ("ld.¤.gpu.global.b32 $0, [$1];", reading(reads={0})),
    ("ld.global¤.b32 $0, [$1];", reading(reads={0})),
    ("atom.global.¤.¤.cas.b32 $0, [$1], 0, 1;", reading(atomics={0})),
    ("fence.acq_rel.¤; st.¤ [$1], 0; mov.b32 $0, 0;", reading(writes={0})),
    ("¤.global.b32 $0, [$1];", None), ("ld¤ $0, [$1];", None), ("ld.global.b32 $0, [$1]; ¤", None),
    ("ld.global.b32 $0, [$1]¤", None), ("ld.global¤", None), ("@¤ ld.b32 $0, [$1];", None), ("¤: nop;", None),
    (".reg .b32 ¤; ld.b32 $0, [$1];", None), ("cp.async.bulk.¤.shared::cta.bulk_group [$1], [$2], 16;", None),
    ("wmma.¤.sync.aligned.b32 [$1], {$2};", None), ("tensormap.¤.shared::cta [$1], 0;", None),
    ("multimem.¤.global.b32 [$1], $2;", None), ("global_¤_dword $0, $1, off", None),
])  # fmt: skip
def test_a_part_that_is_not_known_is_a_word_behind_the_first(text: str,
                                                             expected: tuple[frozenset[int], ...] | None) -> None:
    readings = [read_asm(text, "=r,l,r", 2, backend) for backend in ("cuda", "hip")]
    assert [effects(found) for found in readings if found.understood] == ([] if expected is None else [expected])


@pytest.mark.parametrize(("text", "constraints", "operands", "reason"), NOT_UNDERSTOOD)
def test_ptx_that_cannot_be_decided(text: str, constraints: str, operands: int, reason: str) -> None:
    found = read_asm(text, constraints, operands, "cuda")
    assert not found.understood
    assert reason in found.reason
    assert found.reason


GCN = [
    ("s_waitcnt vmcnt(0)", "=r", 0, reading()),
    ("s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\ns_waitcnt lgkmcnt(0)", "=r", 0, reading()),
    ("s_memrealtime $0\ns_waitcnt vmcnt(0)", "=r", 0, reading()),
    ("s_memtime $0", "=s", 0, reading()),
    ("v_add_u32 $0, $1, $2", "=v,v,v", 2, reading(flows={0, 1})),
    ("global_store_dword $1, $2, off\nv_mov_b32 $0, 0", "=v,v,v", 2, reading(writes={0})),
    ("global_store_dwordx4 $1, $2, $3 offset:16 sc0\nv_mov_b32 $0, 0", "=v,v,v,s", 3, reading(writes={0, 2})),
    ("flat_store_b32 $1, $2\nv_mov_b32 $0, 0", "=v,v,v", 2, reading(writes={0})),
    ("buffer_store_dword $1, $2, $3, 0 offen\nv_mov_b32 $0, 0", "=v,v,v,s", 3, reading(writes={1, 2})),
    ("global_atomic_add $1, $2, off\nv_mov_b32 $0, 0", "=v,v,v", 2, reading(atomics={0})),
    ("global_atomic_add $0, $1, $2, off glc\ns_waitcnt vmcnt(0)", "=v,v,v", 2, reading(atomics={0})),
    ("flat_atomic_add_f32 $0, $1, $2 sc0", "=v,v,v", 2, reading(atomics={0})),
    ("global_load_dword $0, $1, off sc0 sc1\ns_waitcnt vmcnt(0)", "=v,v", 1, reading(reads={0})),
    ("s_load_dwordx2 $0, $1, 0x10", "=s,s", 1, reading(reads={0})),
    ("s_store_dword $1, $2, 0\ns_mov_b32 $0, 0", "=s,s,s", 2, reading(writes={1})),
    ("ds_write_b32 $1, $2\nv_mov_b32 $0, 0", "=v,v,v", 2, reading()),
    ("buffer_wbl2 sc1\nbuffer_inv sc1\ns_sleep 1\nv_mov_b32 $0, 0", "=v", 0, reading()),
    ("v_mov_b32 v0, $1\nv_mov_b32 v1, $2\nglobal_store_dword v[0:1], $3, off\nv_mov_b32 $0, 0", "=v,v,v,v", 3,
     reading(writes={0, 1})),
    ("loop: global_load_dword $0, $1, off ; spin\ns_cbranch_scc1 loop", "=v,v", 1, reading(reads={0})),
    ("v_dual_mov_b32 v0, $1 :: v_dual_mov_b32 v1, $2\nglobal_store_dword v[0:1], $2, off\nv_mov_b32 $0, 0",
     "=v,v,v", 2, reading(writes={0, 1})),
    ("s_nop 0; global_store_dword $1, $2, off\nv_mov_b32 $0, 0", "=v,v,v", 2, reading(writes={0})),
]


@pytest.mark.parametrize(("text", "constraints", "operands", "expected"), GCN)
def test_gcn(text: str, constraints: str, operands: int, expected: tuple[frozenset[int], ...]) -> None:
    assert effects(read_asm(text, constraints, operands, "hip")) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("s_swappc_b64 s[0:1], $1", "jump"),
        ("image_store $1, $2, $1", "not known"),
        ("st.global.b32 [$1], 0;", "not a known instruction"),
        ("global_load_dwordx2 v[0:1], $1, off\nglobal_store_dword v[0:1], $2, off", "loads"),
        ("exp mrt0 $1, $1, $1, $1", "not a known instruction"),
    ],
)
def test_gcn_that_cannot_be_decided(text: str, reason: str) -> None:
    found = read_asm(text, "=v,v,v", 2, "hip")
    assert not found.understood
    assert reason in found.reason


def test_real_packed_conversion() -> None:
    """Triton's own fp8e4b15 conversion: four bytes in one register, two results."""
    text = (
        "{ .reg .b32 a<2>, b<2>; prmt.b32 a0, 0, $2, 0x5746; and.b32 b0, a0, 0x7f007f00;"
        " lop3.b32 $0, b0, 0x80008000, a0, 0xf8; shl.b32 $1, b1, 7; }"
    )
    assert effects(read_asm(text, "=r,=r,r", 1, "cuda")) == reading(flows={0})


def test_packed_registers_are_told_apart_when_their_number_is_given() -> None:
    text, constraints = "st.global.b32 [$1], $5; mov.b32 $0, 0;", "=r,l,l,l,l,r"
    assert not read_asm(text, constraints, 2, "cuda").understood
    assert effects(read_asm(text, constraints, 2, "cuda", registers=(4, 1))) == reading(writes={0})


def test_unknown_backends_are_not_guessed() -> None:
    assert not read_asm("nop", "=r", 0, "xpu").understood


FRAGMENTS = st.sampled_from(
    ["st.global.b32", "ld.b64", "mov.b64", "atom.add", "[$1]", "[%r+4]", "$0", "$1", "$2", "{", "}", ";", ",",
     "@p", "call", "//", "/*", "*/", "$$", "${1:x}", "label:", ".reg", " ", "\n", "global_store_dword", "v[0:1]",
     "off", "s_waitcnt", "cp.async.bulk.global.shared", "::", "]", "[", "§1"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENTS, max_size=30).map(" ".join), st.sampled_from(["cuda", "hip"]))
def test_any_text_gives_an_answer(text: str, backend: str) -> None:
    found = read_asm(text, "=r,l,r", 2, backend)
    assert found.understood or found.reason
    everything = found.reads | found.writes | found.atomics | found.result_flows
    assert everything <= {0, 1}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["mov.b64 %a, $1;", "mov.b64 %b, %a;", "add.u64 %a, %b, 4;", "bar.sync 0;",
                                 "ld.global.b32 %c, [%a];", "{", "}"]), max_size=12))  # fmt: skip
def test_a_store_is_never_lost(noise: list[str]) -> None:
    """Whatever surrounds a store, its address is found or the text is given up."""
    noise = [part for part in noise if part not in "{}"]
    found = read_asm(" ".join([*noise, "st.global.b32 [$1], $2;"]), "=r,l,r", 2, "cuda")
    assert not found.understood or 0 in found.writes


@pytest.mark.parametrize(("text", "constraints", "backend", "target"), [
    ("global_load_dword $0, $1, off sc1", "=v,v", "cuda", "hip:gfx942"),
    ("s_new_instruction $0", "=s", "cuda", "hip:gfx942"),
    ("mov.b32 $0, $1;", "=r,r", "hip", "cuda:90"),
    ("call ($0), write_it, ($1);", "=r,r", "cuda", ""),
    ("global_unheard_of $0, $1", "=v,v", "hip", ""),
    ("something", "", "cuda", ""),
])
def test_asm_of_another_target_is_told(text: str, constraints: str, backend: str, target: str) -> None:
    found = read_asm(text, constraints, constraints.count(","), backend)
    assert not found.understood
    assert bool(found.advice) is bool(target)
    assert found.advice.endswith(f"`--target {target}`" if target else "")


@pytest.mark.parametrize(("backend", "text", "shares"), [
    ("cuda", "st.shared.b32 [$1], $1; mov.b32 $0, 0;", True),
    ("cuda", "atom.shared.add.u32 $0, [$1], 1;", True),
    ("cuda", "mbarrier.arrive.shared.b64 $0, [$1];", True),
    ("cuda", "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [$1], 0; selp.b32 $0, 1, 0, p; }", False),
    ("cuda", "ld.shared.b32 $0, [$1];", False),
    ("cuda", "{ .reg .b32 a; mov.b32 a, 0; st.local.b32 [a], $1; ld.local.b32 $0, [a]; }", False),
    ("cuda", "add.s32 $0, $1, 1;", False),
    ("hip", "ds_write_b32 $1, $1", True),
    ("hip", "ds_read_b32 $0, $1", False),
    ("hip", "ds_bpermute_b32 $0, $1, $1", False),
])
def test_who_changes_shared_memory(backend: str, text: str, shares: bool) -> None:
    reading = read_asm(text, "=r,r" if backend == "cuda" else "=v,v", 1, backend)
    assert reading.understood, reading.reason
    assert reading.shares is shares
