"""Calls of jax-triton's `triton_call` are found, however they are made."""

from pathlib import Path

import pytest

from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.jax import jax_calls

HEAD = """\
import functools
from functools import partial
import jax_triton as jt
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, total_ptr, n, out_ptr, BLOCK: tl.constexpr):
    pass

"""


@pytest.mark.parametrize("call", [
    "jt.triton_call(x, total, n, kernel=add_kernel, input_output_aliases={1: 0}, out_shape=s, BLOCK=64)",
    "partial_call(x, total, n, input_output_aliases={1: 0}, out_shape=s)",
    "twice(total, n, out_shape=s)",
    "overridden(x, total, n, input_output_aliases={1: 0}, out_shape=s)",
])
def test_a_call_and_its_partials(tmp_path: Path, call: str) -> None:
    (tmp_path / "calls.py").write_text(HEAD + f"""
partial_call = partial(jt.triton_call, kernel=add_kernel, BLOCK=64)
overridden = functools.partial(partial_call, input_output_aliases={{0: 0}})
def made(x, s):
    return {call}
twice = partial(partial_call, 0, input_output_aliases={{1: 0}})
""")
    modules = HostModules(tmp_path)
    module = modules.module(tmp_path / "calls.py")
    assert module is not None
    (found,) = jax_calls(module, modules)
    assert (found.inputs, found.outputs, found.aliased) == (("x_ptr", "total_ptr", "n"), ("out_ptr",), {"total_ptr"})
