"""Stands in for `torch._inductor.runtime.triton_helpers`, which the kernels that Inductor writes call.

Each function takes what its namesake takes, touches memory through the same parameters and gives values of the same
shapes and kinds. The values themselves are not those of torch, as nobody runs this: what would differ in them alone is
one function under several names.
"""

import triton
import triton.language as tl
from triton.language import math  # noqa: F401 - kernels import it from here
from triton.language.extra import libdevice  # noqa: F401 - kernels import it from here


@triton.jit
def promote_to_tensor(x):
    return x + tl.zeros((1,), tl.int1)


@triton.jit
def fp8e4m3fn_to_float32(x):
    return x.to(tl.float32)


@triton.jit
def div_floor_integer(a, b):
    return a // b


remainder_integer = div_floor_integer


@triton.jit
def pow_integer(base, exponent):
    return base * base + exponent.to(base.dtype)


@triton.jit
def is_floating(x):
    return promote_to_tensor(x).dtype.is_floating()


@triton.jit
def minimum(a, b):
    return tl.where(a < b, a, b)


maximum = minimum


@triton.jit
def prod(a, dim):
    return tl.reduce(a, dim, minimum)


any = min2 = max2 = prod


@triton.jit
def minimum_with_index(a_value, a_index, b_value, b_index):
    first = a_value < b_value
    return tl.where(first, a_value, b_value), tl.where(first, a_index, b_index)


@triton.jit
def min_with_index(value, index, dim):
    return tl.reduce((value, index), dim, minimum_with_index)


max_with_index, maximum_with_index = min_with_index, minimum_with_index


@triton.jit
def exp(x, use_fast_math: tl.constexpr):
    return tl.exp(x)


@triton.jit
def online_softmax_combine_with_sum(a_max, a_sum, b_max, b_sum, use_fast_math: tl.constexpr = True):
    top = maximum(a_max, b_max)
    return top, a_sum * tl.exp(a_max - top) + b_sum * tl.exp(b_max - top)


@triton.jit
def _softmax_pair(a_max, a_sum, b_max, b_sum):
    return online_softmax_combine_with_sum(a_max, a_sum, b_max, b_sum)


@triton.jit
def online_softmax_reduce(lhs_max, lhs_sum, dim, use_fast_math: tl.constexpr):
    return tl.reduce((lhs_max, lhs_sum), dim, _softmax_pair)


@triton.jit
def online_softmax_combine(lhs_max, lhs_sum, rhs_max, use_fast_math: tl.constexpr):
    return _softmax_pair(lhs_max, lhs_sum, rhs_max, 1.0)


@triton.jit
def welford_reduce(value, mean, m2, weight, first_iteration):
    if first_iteration:
        moved, spread, count = value, tl.zeros_like(m2), tl.full(weight.shape, 1, weight.dtype)
    else:
        moved = mean + (value - mean) / (weight + 1)
        spread = m2 + (value - mean) * (value - moved)
        count = weight + 1
    return moved, spread, count


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    weight = weight_1 + weight_2
    mean = (mean_1 * weight_1 + mean_2 * weight_2) / weight
    return mean, m2_1 + m2_2, weight


@triton.jit
def welford(mean, m2, weight, dim):
    return tl.reduce((mean, m2, weight), dim, welford_combine)


@triton.jit
def device_assert_then(cond, msg, r):
    tl.device_assert(cond, msg)
    return r


@triton.jit
def rand_eager_kernel(seed, offset_blocks, tid: tl.tensor, VEC: tl.constexpr):
    return tl.rand(seed, tid + offset_blocks.to(tl.int32))


@triton.jit
def randn4x(seed, offsets, BLOCK: tl.constexpr):
    return tl.randn(seed, offsets)


rand4x = randn4x


@triton.jit
def randint64(seed, offset, low, high):
    return tl.randint(seed, offset).to(tl.int64) % (high - low) + low


@triton.jit
def bucketize_binary_search(
    values: tl.tensor, boundaries_ptr: tl.tensor, BOUNDARIES_SIZE: int, BOUNDARIES_UNDERLYING_NUMEL: int,
    BOUNDARIES_STRIDE: int, boundary_indices: tl.tensor, indexing_dtype: tl.dtype, right: "bool",
    sorter_ptr: tl.tensor, SORTER_STRIDE: int, sorter_indices: tl.tensor,
):
    at = tl.zeros(values.shape, dtype=indexing_dtype) + boundary_indices  # which may be a number
    if sorter_ptr is not None:
        at = tl.load(sorter_ptr + at + sorter_indices).to(indexing_dtype)
    bound = tl.load(boundaries_ptr + at * BOUNDARIES_STRIDE)
    return (bound < values).to(indexing_dtype)


@triton.jit
def pack_value_flag(value, flag, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr):
    return value.to(DTYPE_VALUE_AS_UINT, bitcast=True).to(DTYPE_PACK) << 8 | flag.to(DTYPE_PACK)


@triton.jit
def unpack_value(pack, DTYPE_VALUE, DTYPE_VALUE_AS_UINT):
    return (pack >> 8).to(DTYPE_VALUE_AS_UINT).to(DTYPE_VALUE, bitcast=True)


@triton.jit
def unpack_flag(pack, DTYPE_FLAG):
    return pack.to(DTYPE_FLAG)


@triton.jit
def exclusive_scan_decoupled_lookback(
    scratch_base, block_value, index, combine_fn, DTYPE_VALUE_AS_UINT: tl.constexpr, DTYPE_PACK: tl.constexpr
):
    scratch = scratch_base.to(tl.pointer_type(DTYPE_PACK))
    flag = tl.full(block_value.shape, 1, DTYPE_VALUE_AS_UINT)
    pack = pack_value_flag(block_value, flag, DTYPE_VALUE_AS_UINT, DTYPE_PACK)
    tl.atomic_xchg(scratch + index, pack, sem="relaxed")
    before = tl.atomic_add(scratch + index - 1, 0, sem="acquire")
    prefix = unpack_value(before, block_value.dtype, DTYPE_VALUE_AS_UINT)
    return combine_fn(prefix, block_value)


@triton.jit
def exclusive_scan_decoupled_lookback_64(scratch_base, block_value, index, combine_fn):
    bits = block_value.to(tl.uint64, bitcast=True)
    tl.store(scratch_base + 3 * index + 1, bits)
    tl.atomic_xchg(scratch_base + 3 * index, 1, sem="release")
    tl.atomic_add(scratch_base + 3 * index - 3, 0, sem="acquire")
    prefix = tl.load(scratch_base + 3 * index - 2).to(block_value.dtype, bitcast=True)
    return combine_fn(prefix, block_value)


@triton.jit
def frexp(x):
    exponent = (tl.abs(x) + 1.0).to(tl.int32)
    return x, exponent


@triton.jit
def sort_with_index(
    x, idxs, rnumel, dim: tl.constexpr = None, stable: tl.constexpr = tl.constexpr(False),
    descending: tl.constexpr = tl.constexpr(False),
):
    x, idxs = tl.broadcast(x, idxs)
    return x, idxs


@triton.jit
def select_one(x, mask, dim, keep_dims=False):
    bits = tl.where(mask, x, 0.0).to(x.dtype)
    return tl.sum(bits, dim, keep_dims=keep_dims).to(x.dtype)


@triton.jit
def x_grid_barrier(sem):
    tl.debug_barrier()
    tl.atomic_add(sem, 1, sem="release")
    tl.atomic_add(sem, 0, sem="acquire")
    tl.debug_barrier()


@triton.jit
def inline_asm_pack(x, pack: tl.constexpr):
    return x


@triton.jit
def inline_asm_unpack(x, orig, pack: tl.constexpr):
    return tl.reshape(x, orig.shape)


def constexpr_next_power_of_2(n, **_):
    return tl.constexpr(triton.next_power_of_2(n.value))


def if_mask(mask, val, **_):
    absent = isinstance(mask, tl.constexpr) and mask.value is None
    return tl.constexpr(None) if absent else val


constexpr_next_power_of_2.__triton_builtin__ = True
if_mask.__triton_builtin__ = True
