"""Has torch's compilers take interpreted kernels for kernels, on a CPU (torch 2.11 to 2.13)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import torch

_launches: list[Callable[..., Any]] = []  # of kernels, which generated code calls by number


def capture_interpreted(pointers: Collection[str], written: Collection[str]) -> None:
    """Have Dynamo capture them, torch know what they write, and Inductor's programs launch them as they are.

    `pointers` and `written` are parameters, as `kernel.parameter`. Torch itself would lower a kernel to know what it
    writes, for which the interpreter has left no language, or a GPU would be needed; so that is what the analysis says.
    """
    from torch._higher_order_ops import triton_kernel_wrap
    from torch._inductor import config, ir

    torch.utils._triton.has_triton = lambda: True
    guess = triton_kernel_wrap.identify_accessed_tensors if hasattr(
        triton_kernel_wrap, "identify_accessed_tensors") else triton_kernel_wrap.identify_mutated_tensors

    def accessed(kernel: Any, arguments: dict[str, Any], metadata: Any) -> Any:
        name = kernel.fn.__name__
        known = {n for n in arguments if f"{name}.{n}" in pointers}
        told = [n for n in known if f"{name}.{n}" in written]
        return guess(kernel, {n: v for n, v in arguments.items() if n in told or n not in known}, metadata)

    vars(triton_kernel_wrap)[guess.__name__] = accessed
    config.force_disable_caches = True  # the numbers are those of this process
    ir.UserDefinedTritonKernel.codegen = _codegen


def launched(number: int, **tensors: Any) -> None:
    """For code of Inductor's: launch one of its kernels, with what is no tensor as it was when that code was made."""
    _launches[number](**tensors)


def _codegen(kernel: Any, wrapper: Any) -> None:
    """The code by which a program launches a kernel: Inductor's own would compile it for a GPU."""
    from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table
    from torch._inductor.ir import IRNode

    held = {name: kernel.get_kwargs_value(name) for name in kernel.ordered_kwargs_for_cpp_kernel}
    passed = ", ".join(f"{n}={v.codegen_reference()}" for n, v in held.items() if isinstance(v, IRNode))
    plain = {n: v for n, v in held.items() if not isinstance(v, IRNode)}
    function = kernel_side_table.get_kernel(kernel.kernel_idx)
    _launches.append(partial(function[tuple(map(int, kernel.grid[0]))], **plain))
    wrapper.add_import_once(f"from {__name__} import launched")
    wrapper.writeline(f"launched({len(_launches) - 1}, {passed})")
