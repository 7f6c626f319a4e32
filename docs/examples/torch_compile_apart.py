"""Three kernels that write less than torch.compile takes them to write. Needs an NVIDIA GPU, torch and Triton.

    python docs/examples/torch_compile_apart.py

In each function the elements of a tensor are computed, a kernel reads them, and they are used again. Where the compiler
knows that the kernel only reads them, it computes both uses in one kernel of its own, before the launch. Where it takes
them for written, it must read them again afterwards, in a kernel more. The program prints how many kernels the compiled
function launches, and how many it launches where the same work is done by a kernel that hides nothing.
"""

from collections.abc import Callable

import torch
import triton
import triton.language as tl
from torch._inductor.utils import run_and_get_code


@triton.jit
def plain(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


# 1. A helper takes two pointers, and returns an address.


@triton.jit
def row_of(out_ptr, x_ptr, row):
    return out_ptr + row * 64 + 0 * tl.load(x_ptr).to(tl.int32)


@triton.jit
def through_helper(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(row_of(out_ptr, x_ptr, tl.program_id(0)) + offsets, tl.load(x_ptr + offsets))


# 2. Inline asm that is not marked pure.


@triton.jit
def with_asm(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    now = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], tl.int32, is_pure=False, pack=1)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 0 * now)


# 3. A number that a descriptor loads decides where a store goes.


@triton.jit
def scatter_by_descriptor(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [BLOCK], [1], [BLOCK])
    values = x.load([0])
    tl.store(out_ptr + tl.arange(0, BLOCK) + (0 * values).to(tl.int32), values)


def used_again(kernel: triton.JITFunction) -> Callable[[torch.Tensor], tuple[torch.Tensor, ...]]:
    def function(given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = given.sin()
        out = torch.empty_like(x)
        kernel[(1,)](x, out, 64)
        return out, x.cos()

    return function


def launches(kernel: triton.JITFunction) -> int:
    """How many kernels the function launches once it is compiled."""
    _, code = run_and_get_code(torch.compile(used_again(kernel)), torch.ones(64, device="cuda"))
    return sum(text.count(".run(") for text in code)


if __name__ == "__main__":
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}")
    print(f"{'launches with plain':24}{launches(plain)}")
    for kernel in (through_helper, with_asm, scatter_by_descriptor):
        print(f"{kernel.fn.__name__:24}{launches(kernel)}")
