"""What functions of Triton and of Python may do with the values of a kernel, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_mutlint.kernel_source.objects import fields_of, member, named_and_home
from triton_mutlint.kernel_source.values import NOTHING, SOME, MayBe, either, loaded_from, mixed

ANY = "**"  # stands for whichever parameters `*args` and `**kwargs` go to
_STORING = ("store", "scatter", "atomic_", "_experimental_descriptor_store",
            # Gluon's, of NVIDIA's and AMD's targets
            "async_store", "async_scatter", "async_atomic", "async_copy_shared", "shared_to_global", "buffer_store",
            "buffer_atomic")
GLUON = "triton.experimental.gluon."
VENDORS = (f"{GLUON}language.nvidia", f"{GLUON}language.amd")
_ACTING = re.compile("store|scatter|atomic|to_global|asm|specialize")
ALLOCATES = frozenset({"allocate_shared_memory", "allocate_tensor_memory"})
QUIET = frozenset({"triton", "builtins", "math", "operator"})  # modules whose functions are known
ASM_CALL = "inline_asm_elementwise"
SPECIALIZE = "warp_specialize"
ASM = frozenset({ASM_CALL, "extern_elementwise"})
COMBINING = {"reduce": ("combine_fn", 2), "associative_scan": ("combine_fn", 2), "map_elementwise": ("scalar_fn", 0)}
_RANGES = frozenset({"range", "static_range"})
WHOLE = _RANGES | {"cdiv", "arange"}  # take no pointers
CHECKS = frozenset({"static_assert"})
ANSWERING = frozenset({"len", "isinstance", "issubclass", "hasattr", "callable"})  # with a number or a truth value
TYPING = frozenset({"isinstance", "hasattr", "getattr", "type", "num_warps", "num_threads", "num_ctas"})
RESHAPES = frozenset({"reshape", "view", "broadcast_to", "expand_dims"})
LOADS = frozenset({"load", "buffer_load", "load_tensor_descriptor", "_experimental_descriptor_load"})
NUMBERS = frozenset({"dot", "dot_scaled", "program_id", "num_programs", "rand", "randn", "randint", "randint4x",
                     "rand4x", "randn4x"})
FACTS = frozenset({"dtype", "type", "shape", "block_shape", "strides", "element_ty", "scalar", "numel",
                   "primitive_bitwidth", "itemsize", "layout", "block_type", "nbytes_per_cta"})
SIZES = frozenset({"shape", "block_shape", "numel", "type", "block_type", "nbytes", "layout"})
# Triton's functions and methods that store nothing, and methods of texts and types
_PURE = """
    abs add advance arange argmax argmin associative_scan atomic_load atomic_poll assume bitonic_merge broadcast
    broadcast_to builtin_max builtin_min cast cat cdiv ceil clamp convert_custom_float8 convert_custom_float8_sm70
    convert_custom_float8_sm80 convert_float16_to_fp8e4b15 convert_fp8e4b15_to_float16 cos cumprod cumsum
    current_target debug_barrier device_assert device_print div_rn dot dot_scaled erf exp exp2 expand_dims
    expect_zero _experimental_descriptor_load _experimental_make_tensor_descriptor
    _experimental_reinterpret_tensor_descriptor fdiv flip floor fma full gather gdc_launch_dependents gdc_wait
    globaltimer histogram interleave item join load load_tensor_descriptor log log2 logical_and logical_or
    make_block_ptr make_tensor_descriptor map_elementwise max max_constancy max_contiguous maximum memrealtime min
    minimum mul multiple_of num_programs num_threads num_warps pair_uniform_to_normal permute philox philox_impl pow
    prefetch program_id _promote_bfloat16_to_float32 rand rand4x randint randint4x randn randn4x ravel reduce
    reduce_or _reduce_with_indices reshape rsqrt sigmoid sin smid softmax sort sort_impl split sqrt sqrt_rn squeeze
    static_assert static_print sub sum swizzle2d tanh to to_tensor topk trans uint_to_uniform_float umulhi unsqueeze
    view where xor_sum zeros zeros_like
    T count endswith format get index is_bf16 is_block is_floating is_fp16 is_fp32 is_fp64 is_fp8 is_int is_ptr
    lower reinterpret _reinterpret slice startswith upper
"""
PURE = frozenset(_PURE.split())


def dimensions(name: str, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> Sequence[MayBe]:
    """The sizes of a tensor among the arguments of a function of Triton; some are tuples of them."""
    if name == "arange":
        return (*args, *named.values())
    if name in ("zeros", "full"):
        return args[:1] or (named.get("shape", NOTHING),)
    return args[1:] if name in RESHAPES else ()


def loaded(address: MayBe, *others: MayBe) -> MayBe:
    """What a load gives: what is in memory, or the value given for where it is masked."""
    return MayBe(loaded_from(address.everything()) | mixed(others).roots)


def of_asm(args: Sequence[MayBe], named: Mapping[str, MayBe]) -> tuple[frozenset[str], MayBe] | None:
    """What an inline asm stores through, and what it gives; None where its text is not known or not understood.

    Both are what any target makes of it that understands it.
    """
    text, constraints, given, _, _, pack = (
        named[name] if name in named else args[index] if index < len(args) else NOTHING
        for index, name in enumerate(("asm", "constraints", "args", "dtype", "is_pure", "pack")))
    spelled = text.partial or text.value
    known = isinstance(spelled, str) and isinstance(constraints.value, str) and pack.value == 1
    if ANY in named or not known or not given.has_length:
        return None
    from triton_mutlint.ttir.asm import read_on_any  # here: most kernels have no asm

    operands = given.items or ()
    understood = read_on_any(spelled, constraints.value, len(operands), [1] * len(operands))
    stored = {i for reading in understood for i in reading.writes | reading.atomics}
    flows = {i for reading in understood for i in reading.result_flows}
    result = loaded(mixed(operands), *(operands[i] for i in flows))
    return (mixed(operands[i] for i in stored).roots, result) if understood else None


def mapped_elements(name: str, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> tuple[list[MayBe], int]:
    """What a function that is mapped over tensors gets, and how many elements of each; nothing, if not known."""
    pack = named["pack"].value if "pack" in named else 1
    if name != "map_elementwise" or ANY in named or type(pack) is not int:
        return [], 1
    return [operand for operand in args[1:] for _ in range(pack)], pack


def unpacked(results: MayBe, pack: int) -> MayBe:
    """The tensors that mapping a function gives, which returns so many elements of each."""
    items = results.items or ()
    if pack == 1:
        return results
    if not results.has_length or len(items) % pack:
        return mixed((results,))
    return MayBe(items=tuple(either(*items[start:start + pack]) for start in range(0, len(items), pack)))


def masked_off(name: str, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> bool:
    """Whether the mask of a store or atomic update is a constant that lets nothing through."""
    if ANY in named or (name != "store" and not name.startswith("atomic_")) or name == "atomic_cas":
        return False
    mask = named["mask"] if "mask" in named else args[2] if len(args) > 2 else NOTHING
    return mask.is_known and not mask.value


def trips(target: Any, args: Sequence[MayBe]) -> range | None:
    """The numbers that a loop over `target(*args)` counts, where they are known."""
    name, home = named_and_home(target)
    values = [arg.value for arg in args]
    if name not in _RANGES or home.partition(".")[0] not in QUIET or not all(type(v) is int for v in values):
        return None
    return range(*values) if 0 < len(values) < 4 and values[2:] != [0] else None


def reads(name: str) -> bool:
    """Whether a function or method of that name may read memory at an address that it is given."""
    return name in LOADS or name == "gather" or name.endswith(("_load", "_poll"))


def stores(name: str) -> bool:
    return name.startswith(_STORING) and not name.endswith(("_load", "_poll"))


def may_act(target: Any, name: str, home: str) -> bool:
    """Whether one of Triton's functions, other than those that store, may put what it is given anywhere, or call it."""
    if home.startswith(GLUON):
        return bool(_ACTING.search(name))
    is_builtin = member(target, "__triton_builtin__") is True
    is_known = name in PURE or name.startswith("__") or home.endswith(".libdevice")
    return is_builtin and not is_known


def with_fields(args: Sequence[MayBe], named: Mapping[str, MayBe]) -> MayBe:
    """An aggregate, which is the first of `args`, with other values for some fields."""
    instance = mixed(args) if len(args) != 1 else args[0]
    fields = fields_of(instance.kinds[0].it) if len(instance.kinds) == 1 else ()
    if instance.items is None or not named.keys() <= set(fields[:len(instance.items)]):
        return MayBe(mixed((instance, *named.values())).roots, is_open=True, kinds=(SOME,))
    items = tuple(named.get(f, held) for f, held in zip(fields, instance.items, strict=True))
    return replace(instance, items=items)
