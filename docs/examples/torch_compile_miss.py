"""Four kernels whose writes torch.compile loses. Needs an NVIDIA GPU, torch and Triton.

    python docs/examples/torch_compile_miss.py

runs each function twice, once as it is and once under torch.compile, and prints the sums of what the kernel was
given to write. Where the two lines differ, the compiler took a tensor for untouched that the kernel writes: it goes
on with the zeros that the tensor was made with.
"""

from collections.abc import Callable

import torch
import triton
import triton.language as tl

# 1. An atomic add through a tensor descriptor.


@triton.jit
def accumulate(out_ptr, x_ptr, rows, columns, BLOCK: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    out.atomic_add([0, 0], x.load([0, 0]))


def descriptor_atomic() -> tuple[torch.Tensor, ...]:
    out = torch.zeros(16, 16, device="cuda")
    accumulate[(1,)](out, torch.ones_like(out), 16, 16, 16)
    return (out.sum(),)


# 2. Two pointers that change places in each trip of a loop, as double buffers do.


@triton.jit
def ping_pong(ping_ptr, pong_ptr, steps, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for _ in range(steps):
        tl.store(ping_ptr + offsets, tl.load(ping_ptr + offsets) + 1)
        ping_ptr, pong_ptr = pong_ptr, ping_ptr


def swapped_pointers() -> tuple[torch.Tensor, ...]:
    ping, pong = torch.zeros(64, device="cuda"), torch.zeros(64, device="cuda")
    ping_pong[(1,)](ping, pong, 3, 64)
    return ping.sum(), pong.sum()


# 3. A pointer that a `while` may replace before the store.


@triton.jit
def store_last(first_ptr, other_ptr, steps, BLOCK: tl.constexpr):
    target_ptr = first_ptr
    step = 0
    while step < steps:
        target_ptr = other_ptr
        step += 1
    tl.store(target_ptr + tl.arange(0, BLOCK), 3.0)


def chosen_pointer() -> tuple[torch.Tensor, ...]:
    first, other = torch.zeros(64, device="cuda"), torch.zeros(64, device="cuda")
    store_last[(1,)](first, other, 0, 64)
    return first.sum(), other.sum()


# 4. A custom op that declares one of the two arguments which its kernel writes.


@triton.jit
def moments_kernel(x_ptr, sums_ptr, squares_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(sums_ptr + offsets, x)
    tl.store(squares_ptr + offsets, x * x)


@torch.library.custom_op("examples::moments", mutates_args=("sums",))
def moments(x: torch.Tensor, sums: torch.Tensor, squares: torch.Tensor) -> None:
    moments_kernel[(1,)](x, sums, squares, x.numel())


def half_declared_op() -> tuple[torch.Tensor, ...]:
    x = torch.ones(128, device="cuda")
    sums, squares = torch.zeros_like(x), torch.zeros_like(x)
    moments(x, sums, squares)
    return sums.sum(), squares.sum(), (2 * squares).sum()


CASES = (descriptor_atomic, swapped_pointers, chosen_pointer, half_declared_op)


def numbers(case: Callable[[], tuple[torch.Tensor, ...]]) -> str:
    return str([int(value) for value in case()])


if __name__ == "__main__":
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}")
    print(f"{'':20}{'eager':20}compiled")
    for case in CASES:
        print(f"{case.__name__:20}{numbers(case):20}{numbers(torch.compile(case))}")
