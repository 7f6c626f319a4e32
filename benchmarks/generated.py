"""Kernels and modules of any size, for measuring how cost grows."""

from __future__ import annotations

from collections.abc import Iterator

_HEAD = """\
import triton
import triton.language as tl


@triton.jit
def generated(x_ptr, out_ptr, n):
    offs = tl.arange(0, 64)
    acc = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
"""
_STEP = "    acc = acc * 2.0 + tl.load(x_ptr + offs + {i}, mask=offs < n, other=0.0)\n"
_TAIL = "    tl.store(out_ptr + offs, acc, mask=offs < n)\n"
_OPS_PER_STEP = 12  # that the frontend makes of one _STEP


def kernel_source(ops: int) -> str:
    """A straight-line kernel of about `ops` TTIR ops."""
    return _HEAD + "".join(_STEP.format(i=i) for i in range(max(ops // _OPS_PER_STEP, 0))) + _TAIL


def variants_source(count: int, kind: str) -> tuple[str, str]:
    """A kernel with `count` variants, and its spec: by `flags` that each decide about one parameter, or by `sizes`."""
    flags = max(count.bit_length() - 1, 0) if kind == "flags" else 0
    names = [f"F{i}" for i in range(flags)]
    parameters = ", ".join(["x_ptr", "n", *(f"p{i}_ptr" for i in range(flags)),
                            *(f"{name}: tl.constexpr" for name in ("SIZE", *names))])
    body = [f"    if F{i}:\n        tl.store(p{i}_ptr + offs, acc, mask=offs < n)" for i in range(flags)]
    head = _HEAD.partition("def ")[0] + f"def generated({parameters}):\n    offs = tl.arange(0, 64)\n"
    load = "    acc = tl.load(x_ptr + offs * SIZE, mask=offs < n, other=0.0)\n"
    source = head + load + "".join(_STEP.format(i=i) for i in range(8)) + "\n".join(body) + \
        "\n    tl.store(x_ptr + offs, acc, mask=offs < n)\n"
    sizes = list(range(1, count + 1)) if kind == "sizes" else [16]
    args = ["x_ptr: '*fp32'", "n: i32", *(f"p{i}_ptr: '*fp32'" for i in range(flags)), f"SIZE: {sizes}",
            *(f"{name}: [true, false]" for name in names)]
    return source, "version: 1\nkernels:\n  generated: {args: {" + ", ".join(args) + "}}\n"


_FUNCTION = """\
  tt.func {visibility} @f{f}(%a: !tt.ptr<f32> loc(#loc), %b: !tt.ptr<f32> loc(#loc), %n: i32 loc(#loc)) {{
    %c0 = arith.constant 0 : i32 loc(#loc1)
    %c1 = arith.constant 1 : i32 loc(#loc1)
    %off = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32> loc(#loc1)
    %pa = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>> loc(#loc1)
    %pb = tt.splat %b : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>> loc(#loc1)"""
_LOOP = """\
    %r{i}:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %pa, %q = %pb) -> (POINTERS, POINTERS)  : i32 {{
      %s = tt.splat %i : i32 -> tensor<64xi32> loc(#loc{i}1)
      %o = arith.addi %off, %s : tensor<64xi32> loc(#loc{i}1)
      %m = arith.cmpi slt, %o, %s : tensor<64xi32> loc(#loc{i}1)
      %x = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32> loc(#loc{i}1)
      %v = tt.load %x, %m : tensor<64x!tt.ptr<f32>> loc(#loc{i}2)
      %w = arith.mulf %v, %v : tensor<64xf32> loc(#loc{i}2)
      %y = tt.addptr %q, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32> loc(#loc{i}2)
      tt.store %y, %w, %m : tensor<64x!tt.ptr<f32>> loc(#loc{i}2)
      scf.yield %q, %p : tensor<64x!tt.ptr<f32>>, tensor<64x!tt.ptr<f32>> loc(#loc{i}2)
    }} loc(#loc{i}1)
#loc{i}1 = loc(callsite(#loc1 at #loc))
#loc{i}2 = loc("k.py":{i}:7)""".replace("POINTERS", "tensor<64x!tt.ptr<f32>>")
_LOOPS_PER_FUNCTION = 50


def module_text(lines: int) -> str:
    """TTIR of about `lines` lines: one function that calls many, each with loops that swap pointers and store."""
    return "\n".join(_module(max(lines // (_LOOP.count("\n") + 1), 1)))


def _module(loops: int) -> Iterator[str]:
    aliases = ['#loc1 = loc("k.py":9:9)']
    yield '#loc = loc("k.py":1:1)\nmodule {'
    functions = -(-loops // _LOOPS_PER_FUNCTION)
    for f in range(functions):
        yield _FUNCTION.format(f=f, visibility="private" if f else "public")
        for i in range(f * _LOOPS_PER_FUNCTION, min(loops, (f + 1) * _LOOPS_PER_FUNCTION)):
            body, *own = _LOOP.format(i=i).split("\n#")
            yield body
            aliases += [f"#{line}" for line in own]
        for callee in range(1, functions) if f == 0 else ():
            yield f"    tt.call @f{callee}(%b, %a, %n) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> () loc(#loc1)"
        yield "    tt.return loc(#loc)\n  } loc(#loc)"
    yield "} loc(#loc)"
    yield from aliases
