"""The memory effects of every op that TTIR holds, as data.

An op without a row is unanalyzable: nothing is pure unless it is listed here. Sources: `TritonOps.td`
of Triton 3.3 to 3.9 (per-operand `MemRead`/`MemWrite`, `Pure`), the TritonGPU, TritonNvidiaGPU, TritonAMDGPU and
Gluon dialects beside it, and the arith, math, scf, cf, ub, nvvm and rocdl dialects of the LLVM they are built with.
Operands are numbered as `Op.operands` holds them: in the order of the text, but for those that the parser reorders.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property


class Kind(str, Enum):
    """What an analysis has to know of an op beyond its effects."""

    PURE = "pure"
    COMPARE = "compare"
    SELECT = "select"
    ADDPTR = "addptr"
    INT_TO_PTR = "int_to_ptr"
    PTR_TO_INT = "ptr_to_int"
    BITCAST = "bitcast"
    MAKE_ADDRESS = "make_address"  # block pointers and descriptors
    LOAD = "load"
    STORE = "store"
    ATOMIC_RMW = "atomic_rmw"
    ATOMIC_CAS = "atomic_cas"
    ATOMIC_LOAD = "atomic_load"
    ATOMIC_STORE = "atomic_store"
    ATOMIC_POLL = "atomic_poll"
    DESCRIPTOR_LOAD = "descriptor_load"
    DESCRIPTOR_STORE = "descriptor_store"
    DESCRIPTOR_REDUCE = "descriptor_reduce"
    FUNCTION = "function"
    CALL = "call"
    RETURN = "return"  # of a function, a combine body or a map body
    STRUCTURED = "structured"  # scf ops with regions
    YIELD = "yield"
    BRANCH = "branch"
    COMBINE = "combine"  # tt.reduce, tt.scan
    MAP = "map"
    INLINE_ASM = "inline_asm"
    EXTERN = "extern"
    LOCAL = "local"  # into shared memory, or out of it
    HARMLESS = "harmless"  # prints, asserts, barriers, hints: no parameter's memory is touched


class Flow(str, Enum):
    """Where a result's address may come from."""

    ALL = "all"  # any operand
    NONE = "none"  # results carry no address of an operand
    FIRST = "first"  # operand 0 alone
    POINTER_BASE = "pointer-base"  # operand 0; operand 1 is an offset
    SELECT = "select"  # operands 1 and 2, never the condition
    LOADED = "loaded"  # the memory read, and `other`
    PARKED = "parked"  # shared memory: what is in memory goes there, nothing comes back
    SPECIAL = "special"  # regions, calls, asm: the analysis decides


@dataclass(frozen=True)
class OpInfo:
    """One op: through which operands it reads, writes or atomically updates memory, and its flow.

    `parks`: the operands whose values go into shared memory. `takes`: its results, or what it stores, come from there.
    """

    name: str
    kind: Kind
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


def rows() -> tuple[OpInfo, ...]:
    """The whole table."""
    return tuple(_TABLE.values())


_PURE_TT = """
    approx_divf broadcast cat clampf dot dot_scaled expand_dims fp_to_fp get_num_programs get_program_id
    histogram join make_range mulhiui precise_divf precise_sqrt reshape splat split trans unsplat
"""
_PURE_ARITH = """
    addf addi addui_extended andi ceildivsi ceildivui constant convertf divf divsi divui extf extsi extui
    floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf minnumf minsi
    minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf scaling_truncf
    shli shrsi shrui sitofp subf subi truncf trunci uitofp xori
"""
_PURE_MATH = """
    absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz
    erf erfc exp exp2 expm1 floor fma fpowi ipowi log log10 log1p log2 powf round roundeven rsqrt sin
    sincos sinh sqrt tan tanh trunc
"""
_PURE_GPU = """
    ttg.convert_layout ttg.fp4_to_fp ttng.packed_arith ttng.warp_group_dot_wait ttng.clc_get_program_id
    gluon.set_auto_layout amdg.in_thread_transpose amdg.extract_slice amdg.concat amdg.upcast_mxfp
    amdg.scaled_upcast_fp4 amdg.scaled_upcast_fp8 amdg.scaled_downcast_fp4 amdg.scaled_downcast_fp8 ttg.warp_id
    tti.experimental_fpsan_embed tti.experimental_fpsan_unembed ttng.clc_try_cancel_sync ttg.global_scratch_alloc
"""
_COMPARE = "arith.cmpi arith.cmpf math.isfinite math.isinf math.isnan math.isnormal"
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
# scf.forall, scf.parallel and the like are left out: the parser does not know their block arguments.
_STRUCTURED = "scf.for scf.if scf.while scf.execute_region"
_RETURNS = """
    tt.return tt.reduce.return tt.scan.return tt.map_elementwise.return func.return ttg.warp_yield ttg.warp_return
"""


def _rows() -> list[OpInfo]:
    rows = [OpInfo(f"tt.{name}", Kind.PURE) for name in _PURE_TT.split()]
    rows += [OpInfo(f"arith.{name}", Kind.PURE) for name in _PURE_ARITH.split()]
    rows += [OpInfo(f"math.{name}", Kind.PURE) for name in _PURE_MATH.split()]
    rows += [OpInfo(name, Kind.PURE) for name in _PURE_GPU.split()]
    rows += [OpInfo(name, Kind.COMPARE, flow=Flow.NONE) for name in _COMPARE.split()]
    rows += [OpInfo(name, Kind.HARMLESS, flow=Flow.NONE) for name in _HARMLESS.split()]
    rows += [OpInfo(name, Kind.STRUCTURED, flow=Flow.SPECIAL) for name in _STRUCTURED.split()]
    rows += [OpInfo(name, Kind.RETURN, flow=Flow.SPECIAL) for name in _RETURNS.split()]
    return rows + list(_SINGLE)


_SINGLE = (
    # addresses
    OpInfo("tt.addptr", Kind.ADDPTR, flow=Flow.POINTER_BASE),
    OpInfo("tt.int_to_ptr", Kind.INT_TO_PTR),
    OpInfo("tt.ptr_to_int", Kind.PTR_TO_INT),
    OpInfo("tt.bitcast", Kind.BITCAST),
    OpInfo("arith.bitcast", Kind.BITCAST),
    OpInfo("arith.select", Kind.SELECT, flow=Flow.SELECT),
    OpInfo("tt.gather", Kind.PURE, flow=Flow.FIRST),
    OpInfo("tt.make_tensor_ptr", Kind.MAKE_ADDRESS, flow=Flow.FIRST),  # up to 3.7
    OpInfo("tt.advance", Kind.MAKE_ADDRESS, flow=Flow.FIRST),  # up to 3.7
    OpInfo("tt.make_tensor_descriptor", Kind.MAKE_ADDRESS, flow=Flow.FIRST),
    OpInfo("tt.reinterpret_tensor_descriptor", Kind.MAKE_ADDRESS, flow=Flow.FIRST),  # before 3.4
    # memory through pointers
    OpInfo("tt.load", Kind.LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("tt.store", Kind.STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("tt.atomic_rmw", Kind.ATOMIC_RMW, atomics=(0,), flow=Flow.LOADED),
    OpInfo("tt.atomic_cas", Kind.ATOMIC_CAS, atomics=(0,), flow=Flow.LOADED),
    # Their MemWrite only keeps polling loops from being folded: they change nothing.
    OpInfo("tt.atomic_load", Kind.ATOMIC_LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("tt.atomic_poll", Kind.ATOMIC_POLL, reads=(0,), flow=Flow.NONE),
    OpInfo("tt.atomic_store", Kind.ATOMIC_STORE, writes=(0,), flow=Flow.NONE),
    # memory through descriptors; operands: descriptor, [value,] indices
    OpInfo("tt.descriptor_load", Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("tt.descriptor_gather", Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("tt.experimental_descriptor_load", Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.LOADED),  # 3.3
    OpInfo("tt.experimental_descriptor_gather", Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("tt.experimental_descriptor_store", Kind.DESCRIPTOR_STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("tt.experimental_descriptor_scatter", Kind.DESCRIPTOR_STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("tt.descriptor_store", Kind.DESCRIPTOR_STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("tt.descriptor_scatter", Kind.DESCRIPTOR_STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("tt.descriptor_reduce", Kind.DESCRIPTOR_REDUCE, atomics=(0,), flow=Flow.NONE),
    # shared and tensor memory, of which no descriptor leads to a parameter
    OpInfo("ttng.warp_group_dot", Kind.LOCAL, takes=True),
    *(OpInfo(name, Kind.LOCAL, flow=Flow.NONE, parks=(0,))
      for name in ("ttg.local_alloc", "ttg.local_store", "ttng.tmem_alloc", "ttng.tmem_store",
                   "ttng.async_shared_store")),
    OpInfo("ttg.local_scatter", Kind.LOCAL, flow=Flow.NONE, parks=(1, 2)),  # the indices are one of these
    OpInfo("ttg.local_atomic_scatter_rmw", Kind.LOCAL, parks=(1, 2), takes=True),
    *(OpInfo(name, Kind.LOCAL, takes=True)
      for name in ("ttg.local_load", "ttg.local_gather", "ttng.tmem_load", "ttng.clc_load_result",
                   "amdg.local_load_packed_transposed", "amdg.local_load_packed_tranposed")),
    # between these and global memory
    OpInfo("ttg.async_copy_global_to_local", Kind.LOAD, reads=(0,), flow=Flow.PARKED, parks=(2, 3)),
    OpInfo("amdg.buffer_load_to_local", Kind.LOAD, reads=(0,), flow=Flow.PARKED, parks=(2, 3, 4)),
    *(OpInfo(name, Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.PARKED)
      for name in ("ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather",
                   "amdg.async_tdm_copy_global_to_local", "amdg.async_tdm_gather")),
    OpInfo("amdg.async_tdm_fused_copy_global_to_local", Kind.DESCRIPTOR_LOAD, reads=(0, 1, 2, 3), flow=Flow.PARKED),
    *(OpInfo(name, Kind.DESCRIPTOR_STORE, writes=(0,), flow=Flow.NONE, takes=True)
      for name in ("ttng.async_tma_copy_local_to_global", "ttng.async_tma_scatter",
                   "amdg.async_tdm_copy_local_to_global", "amdg.async_tdm_scatter")),
    OpInfo("ttng.async_tma_reduce", Kind.DESCRIPTOR_REDUCE, atomics=(0,), flow=Flow.NONE, takes=True),
    OpInfo("amdg.async_copy_local_to_global", Kind.STORE, writes=(1,), flow=Flow.NONE, takes=True),
    # descriptors in memory
    OpInfo("ttng.tensormap_create", Kind.MAKE_ADDRESS, writes=(0,), flow=Flow.SPECIAL),
    OpInfo("ttng.reinterpret_tensor_descriptor", Kind.MAKE_ADDRESS, flow=Flow.SPECIAL),
    OpInfo("amdg.update_tensor_descriptor", Kind.MAKE_ADDRESS, flow=Flow.FIRST),
    OpInfo("amdg.tdm_prefetch", Kind.DESCRIPTOR_LOAD, reads=(0,), flow=Flow.NONE),
    # AMD's own loads and stores
    OpInfo("amdg.buffer_load", Kind.LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("amdg.buffer_store", Kind.STORE, writes=(1,), flow=Flow.NONE),
    OpInfo("amdg.buffer_atomic_rmw", Kind.ATOMIC_RMW, atomics=(1,), flow=Flow.LOADED),
    OpInfo("amdg.buffer_atomic_cas", Kind.ATOMIC_CAS, atomics=(2,), flow=Flow.LOADED),
    OpInfo("amdg.masked_load", Kind.LOAD, reads=(0,), flow=Flow.LOADED),
    OpInfo("amdg.masked_store", Kind.STORE, writes=(0,), flow=Flow.NONE),
    OpInfo("ttg.warp_specialize", Kind.STRUCTURED, flow=Flow.SPECIAL),
    # structure
    OpInfo("tt.func", Kind.FUNCTION, flow=Flow.SPECIAL),
    OpInfo("tt.call", Kind.CALL, flow=Flow.SPECIAL),
    OpInfo("scf.yield", Kind.YIELD, flow=Flow.SPECIAL),
    OpInfo("scf.condition", Kind.YIELD, flow=Flow.SPECIAL),
    OpInfo("cf.br", Kind.BRANCH, flow=Flow.SPECIAL),
    OpInfo("cf.cond_br", Kind.BRANCH, flow=Flow.SPECIAL),
    OpInfo("tt.reduce", Kind.COMBINE, flow=Flow.SPECIAL),
    OpInfo("tt.scan", Kind.COMBINE, flow=Flow.SPECIAL),
    OpInfo("tt.map_elementwise", Kind.MAP, flow=Flow.SPECIAL),
    OpInfo("tt.elementwise_inline_asm", Kind.INLINE_ASM, flow=Flow.SPECIAL),
    OpInfo("tt.extern_elementwise", Kind.EXTERN, flow=Flow.SPECIAL),
    OpInfo("ub.poison", Kind.PURE),
    OpInfo("ub.unreachable", Kind.RETURN, flow=Flow.SPECIAL),
    OpInfo("builtin.unrealized_conversion_cast", Kind.PURE),
)
_TABLE = {row.name: row for row in _rows()}
