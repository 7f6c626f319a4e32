"""The memory effects of every op that TTIR holds, as data.

An op without a row is unanalyzable: nothing is pure unless it is listed here. Sources: `TritonOps.td`
of Triton 3.3 to 3.9 (per-operand `MemRead`/`MemWrite`, `Pure`), the TritonGPU, TritonNvidiaGPU, TritonAMDGPU and
Gluon dialects beside it, and the arith, math, scf, cf, ub, nvvm and rocdl dialects of the LLVM they are built with.
Operands are numbered as `Op.operands` holds them: in the order of the text, but for those that the parser reorders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from triton_mutlint.ttir.ir import Op


class Flow(str, Enum):
    """Where a result's address may come from."""

    ALL = "all"  # any operand
    NONE = "none"  # results carry no address of an operand
    FIRST = "first"  # operand 0 alone
    POINTER_BASE = "pointer-base"  # operand 0; operand 1 is an offset
    SELECT = "select"  # operands 1 and 2, never the condition
    LOADED = "loaded"  # the memory read
    MASKED = "masked"  # the memory read, and the operands after the mask, which lanes that are masked out yield
    PARKED = "parked"  # shared memory: what is in memory goes there, nothing comes back
    SPECIAL = "special"  # regions, calls, asm: the analysis decides


@dataclass(frozen=True)
class OpInfo:
    """One op: through which operands it reads, writes or atomically updates memory, and its flow.

    `parks`: the operands whose values go into shared memory. `takes`: its results, or what it stores, come from there.
    """

    name: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    atomics: tuple[int, ...] = ()
    flow: Flow = Flow.ALL
    parks: tuple[int, ...] = ()
    takes: bool = False

    @cached_property
    def changes(self) -> tuple[int, ...]:
        """The operands through which the op may change memory."""
        return self.writes + self.atomics

    @cached_property
    def fetches(self) -> tuple[int, ...]:
        """The operands through which the op gets what is in memory."""
        return self.reads + self.atomics

    @cached_property
    def touches_memory(self) -> bool:
        """Whether the op accesses memory, be it shared."""
        return bool(self.reads or self.writes or self.atomics or self.parks or self.takes)


def lookup(name: str) -> OpInfo | None:
    """The row of an op; None means that its effects are not known, so it must not be taken as pure."""
    return _TABLE.get(name)


def computes(name: str) -> bool:
    """Whether what an op gives follows from its operands alone."""
    info = lookup(name)
    return info is not None and not info.touches_memory and info.flow is not Flow.SPECIAL


def mask_of(op: Op) -> tuple[int, ...]:
    """The operand that says which elements of an access are left out, if there is one."""
    at = _MASKS.get(op.name, len(op.operands))
    return op.operands[at : at + 1]


def mask_of_write(op: Op) -> tuple[int, ...]:
    """The operand that says which elements are not written, if there is one."""
    return () if op.name == "tt.load" else mask_of(op)


def rows() -> tuple[OpInfo, ...]:
    """The whole table."""
    return tuple(_TABLE.values())


_MASKS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2}
# What computes a result of its operands.
_PURE = {
    "tt": """
        approx_divf bitcast broadcast cat clampf dot dot_scaled expand_dims fp_to_fp get_num_programs get_program_id
        histogram int_to_ptr join make_range mulhiui precise_divf precise_sqrt ptr_to_int reshape splat split trans
        unsplat
    """,
    "arith": """
        addf addi addui_extended andi bitcast ceildivsi ceildivui constant convertf divf divsi divui extf extsi extui
        floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf minnumf minsi
        minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf scaling_truncf
        shli shrsi shrui sitofp subf subi truncf trunci uitofp xori
    """,
    "math": """
        absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz
        erf erfc exp exp2 expm1 floor fma fpowi ipowi log log10 log1p log2 powf round roundeven rsqrt sin
        sincos sinh sqrt tan tanh trunc
    """,
    "ttg": "convert_layout fp4_to_fp global_scratch_alloc warp_id",
    "ttng": "clc_get_program_id clc_try_cancel_sync packed_arith warp_group_dot_wait",
    "amdg": """
        concat extract_slice in_thread_transpose scaled_downcast_fp4 scaled_downcast_fp8 scaled_upcast_fp4
        scaled_upcast_fp8 upcast_mxfp
    """,
    "tti": "experimental_fpsan_embed experimental_fpsan_unembed",
    "gluon": "set_auto_layout",
    "ub": "poison",
    "builtin": "unrealized_conversion_cast",
}
_COMPARE = "arith.cmpi arith.cmpf math.isfinite math.isinf math.isnan math.isnormal"
# Prints, asserts, barriers, hints: no memory of a parameter is touched.
_HARMLESS = """
    tt.print tt.assert tt.grid_dependency_wait tt.grid_dependency_launch_dependents cf.assert gpu.barrier
    nvvm.barrier0 nvvm.barrier nvvm.griddepcontrol nvvm.griddepcontrol.wait nvvm.griddepcontrol.launch.dependents
    llvm.intr.assume tt.experimental_tensormap_fenceproxy_acquire rocdl.sched.barrier rocdl.sched.group.barrier
    rocdl.iglp.opt rocdl.s.setprio rocdl.s.sleep rocdl.s.barrier
    ttg.barrier ttg.local_barrier ttg.local_dealloc ttg.async_wait ttg.async_commit_group ttg.memdesc_index
    ttg.memdesc_subslice ttg.memdesc_trans ttg.memdesc_reshape ttg.memdesc_reinterpret ttg.predicate_stage
    ttng.cluster_barrier ttng.fence_async_shared ttng.fence_mbarrier_init_release_cluster ttng.init_barrier
    ttng.inval_barrier ttng.wait_barrier ttng.barrier_expect ttng.arrive_barrier ttng.async_copy_mbarrier_arrive
    ttng.tc_gen5_commit ttng.tc_gen5_mma ttng.tc_gen5_mma_scaled ttng.async_tma_store_wait ttng.tmem_wait
    ttng.tmem_subslice ttng.tmem_copy ttng.tensormap_fenceproxy_acquire ttng.clc_try_cancel ttng.clc_is_canceled
    amdg.arrive_barrier amdg.async_copy_mbarrier_arrive amdg.async_tdm_intrinsic_wait amdg.async_tdm_wait
    amdg.async_wait amdg.cluster_barrier_arrive amdg.cluster_barrier_wait amdg.cond_barrier amdg.init_barrier
    amdg.wait_barrier amdg.instruction_sched_hint amdg.memory_counter_wait
"""
# Those with regions, calls and asm. scf.forall, scf.parallel and the like are left out: the parser does not know their
# block arguments.
_SPECIAL = """
    scf.for scf.if scf.while scf.execute_region scf.yield scf.condition cf.br cf.cond_br ub.unreachable
    tt.func tt.call tt.return func.return tt.reduce tt.reduce.return tt.scan tt.scan.return tt.map_elementwise
    tt.map_elementwise.return tt.elementwise_inline_asm tt.extern_elementwise
    ttg.warp_specialize ttg.warp_yield ttg.warp_return ttng.reinterpret_tensor_descriptor
"""
# Of the first operand, which is an address: block pointers and descriptors.
_FIRST = """
    tt.gather tt.make_tensor_ptr tt.advance tt.make_tensor_descriptor tt.reinterpret_tensor_descriptor
    amdg.update_tensor_descriptor
"""
# Through the first operand. Those of descriptors count it, [the value,] and the indices.
_LOADED = """
    tt.descriptor_load tt.descriptor_gather tt.experimental_descriptor_load tt.experimental_descriptor_gather
    tt.atomic_load
"""  # tt.atomic_load has a MemWrite only to keep polling loops from being folded: it changes nothing
_LOADED_OR_OTHER = "tt.load amdg.buffer_load amdg.masked_load"
_STORED = """
    tt.store tt.atomic_store tt.descriptor_store tt.descriptor_scatter tt.experimental_descriptor_store
    tt.experimental_descriptor_scatter amdg.masked_store
"""
_UPDATED = "tt.atomic_rmw tt.atomic_cas"
# Shared and tensor memory, of which no descriptor leads to a parameter; and between these and global memory.
_PARKED = "ttg.local_alloc ttg.local_store ttng.tmem_alloc ttng.tmem_store ttng.async_shared_store"
_TAKEN = """
    ttng.warp_group_dot ttg.local_load ttg.local_gather ttng.tmem_load ttng.clc_load_result
    amdg.local_load_packed_transposed amdg.local_load_packed_tranposed
"""
_COPIED_IN = """
    ttng.async_tma_copy_global_to_local ttng.async_tma_gather amdg.async_tdm_copy_global_to_local amdg.async_tdm_gather
"""
_COPIED_OUT = """
    ttng.async_tma_copy_local_to_global ttng.async_tma_scatter amdg.async_tdm_copy_local_to_global
    amdg.async_tdm_scatter
"""


def _rows() -> Iterator[OpInfo]:
    for dialect, names in _PURE.items():
        yield from (OpInfo(f"{dialect}.{name}") for name in names.split())
    for names, like in _ALIKE.items():
        yield from (replace(like, name=name) for name in names.split())
    yield from _SINGLE


_ALIKE = {
    f"{_COMPARE} {_HARMLESS}": OpInfo("", flow=Flow.NONE),
    _SPECIAL: OpInfo("", flow=Flow.SPECIAL),
    _FIRST: OpInfo("", flow=Flow.FIRST),
    _LOADED: OpInfo("", reads=(0,), flow=Flow.LOADED),
    _LOADED_OR_OTHER: OpInfo("", reads=(0,), flow=Flow.MASKED),
    _STORED: OpInfo("", writes=(0,), flow=Flow.NONE),
    _UPDATED: OpInfo("", atomics=(0,), flow=Flow.LOADED),
    _PARKED: OpInfo("", flow=Flow.NONE, parks=(0,)),
    _TAKEN: OpInfo("", takes=True),
    _COPIED_IN: OpInfo("", reads=(0,), flow=Flow.PARKED),
    _COPIED_OUT: OpInfo("", writes=(0,), flow=Flow.NONE, takes=True),
}
_SINGLE = (
    OpInfo("tt.addptr", flow=Flow.POINTER_BASE),
    OpInfo("arith.select", flow=Flow.SELECT),
    OpInfo("tt.atomic_poll", reads=(0,), flow=Flow.NONE),  # as tt.atomic_load
    OpInfo("tt.descriptor_reduce", atomics=(0,), flow=Flow.NONE),
    OpInfo("ttg.local_scatter", flow=Flow.NONE, parks=(1, 2)),  # the indices are one of these
    OpInfo("ttg.local_atomic_scatter_rmw", parks=(1, 2), takes=True),
    OpInfo("ttg.async_copy_global_to_local", reads=(0,), flow=Flow.PARKED, parks=(2, 3)),
    OpInfo("amdg.buffer_load_to_local", reads=(0,), flow=Flow.PARKED, parks=(2, 3, 4)),
    OpInfo("amdg.async_tdm_fused_copy_global_to_local", reads=(0, 1, 2, 3), flow=Flow.PARKED),
    OpInfo("ttng.async_tma_reduce", atomics=(0,), flow=Flow.NONE, takes=True),
    OpInfo("amdg.async_copy_local_to_global", writes=(1,), flow=Flow.NONE, takes=True),
    OpInfo("ttng.tensormap_create", writes=(0,), flow=Flow.SPECIAL),  # a descriptor in memory
    OpInfo("amdg.tdm_prefetch", reads=(0,), flow=Flow.NONE),
    OpInfo("amdg.buffer_store", writes=(1,), flow=Flow.NONE),
    OpInfo("amdg.buffer_atomic_rmw", atomics=(1,), flow=Flow.LOADED),
    OpInfo("amdg.buffer_atomic_cas", atomics=(2,), flow=Flow.LOADED),
)
_TABLE = {row.name: row for row in _rows()}
