"""A write that torch.compile does not see. Needs a Hopper GPU, torch and Triton.

    python docs/examples/torch_compile_miss.py

Prints 256.0 for eager. On an H100 with torch 2.11 and Triton 3.6 it printed 0.0 for compiled: the
compiler's own pass finds no write in `accumulate`, so it takes `out` for zeros still.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def accumulate(out_ptr, x_ptr, rows, columns, BLOCK: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    out.atomic_add([0, 0], x.load([0, 0]))


def total(x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    accumulate[(1,)](out, x, 16, 16, 16)
    return out.sum()


if __name__ == "__main__":
    triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    ones = torch.ones(16, 16, device="cuda")
    print("eager   ", total(ones).item())
    print("compiled", torch.compile(total)(ones).item())
