"""Kernels that between them use most ops of the language, for the parser tests."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def first_pair(a, b, c, d):
    return a + c, b * d


@triton.jit
def larger(a, i, b, j):
    take = a > b
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def many_ops(x, y, z, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + tl.num_programs(1)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0.0, eviction_policy="evict_last", cache_modifier=".cg")
    b = tl.load(y + offsets, mask=mask, volatile=True)
    top, at = tl.reduce((a, offsets), 0, larger)
    left, right = tl.associative_scan((a, b), 0, first_pair)
    counts = tl.histogram(offsets, 16)
    even, odd = tl.split(tl.join(a, b))
    turned = tl.permute(tl.reshape(a, (BLOCK // 16, 4, 4)), 2, 0, 1)
    c = tl.exp(a) + tl.sqrt_rn(b) + tl.div_rn(a, b) + tl.clamp(a, 0.0, 1.0) + tl.fma(a, b, a) + tl.erf(a)
    c += libdevice.tanh(a) + a.to(tl.float8e5).to(tl.float32)
    d = tl.umulhi(offsets, offsets) // 3 + offsets % 7
    p, q = tl.inline_asm_elementwise(
        """{
        // "quoted" \\ and %braces }
        mov.u32 $0, $2; st.global.b32 [$3], $2; mov.u32 $1, %clock;
        }""",
        "=r,=r,r,l", [offsets, x + offsets], dtype=(tl.int32, tl.int32), is_pure=False, pack=1,
    )  # fmt: skip
    tl.device_print("n : %d {", offsets, a)
    tl.device_print("nothing")
    tl.device_assert(n > 0, "bad : %x {")
    tl.assume(n > 4)
    tl.debug_barrier()
    total = 0.0
    for i in tl.range(0, n, 4, num_stages=3, loop_unroll_factor=2, flatten=True):
        total += i
        if total > 3:
            a += b
        else:
            b = a * 2.0
    pointer = x
    while total < 100.0:
        total += tl.load(pointer)
        pointer += 4
    grid = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    m = tl.load(x + grid).to(tl.float16)
    scale = tl.full((32, 1), 1, tl.uint8)
    product = tl.dot(m, m, input_precision="ieee")
    product += tl.dot_scaled(m.to(tl.float8e5), scale, "e5m2", tl.trans(m.to(tl.float8e5)), scale, "e5m2")
    picked = tl.gather(a, offsets % BLOCK, 0)
    tl.atomic_cas(z, 0, 1)
    tl.atomic_add(z + offsets, d, mask=mask, sem="relaxed", scope="cta")
    tl.atomic_xchg(z + offsets, d)
    result = a + b + c + left + right + even + odd + picked + (p + q + d).to(tl.float32) + total + top + at
    tl.store(y + offsets, result + tl.sum(tl.sort(a)) + tl.xor_sum(offsets, 0), mask=mask & (a != a))
    tl.store(z + tl.arange(0, 16), counts, cache_modifier=".cs")
    tl.store(y + grid, product)
    tl.store(tl.cast(x, tl.uint64, bitcast=True).to(tl.pointer_type(tl.float32)), tl.max(tl.sum(tl.sum(turned, 0), 0)))


@triton.jit
def block_pointers(x, y, n):
    source = tl.make_block_ptr(x, (n, 64), (64, 1), (0, 0), (16, 64), (1, 0))
    target = tl.make_block_ptr(y, (n, 64), (64, 1), (0, 0), (16, 64), (1, 0))
    for _ in range(3):
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0,))
        source = tl.advance(source, (16, 0))
        target = tl.advance(target, [16, 0])
