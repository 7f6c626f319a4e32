"""What a second run does to parameters, told by real kernels (rules/autotune/rerun.py)."""

from __future__ import annotations

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Rerun

HEAD = """\
import triton
import triton.language as tl


@triton.jit
def put(p, i, y):
    tl.store(p + i, 1.0)


@triton.jit
def update(p, i, y):
    if y > 0:
        tl.store(p + i, tl.load(p + i) * 2)


@triton.jit(noinline=True)
def far(p):
    tl.store(p, tl.load(p) * 2)
"""
KERNEL = """

@triton.autotune([triton.Config({{"BLOCK": b}}) for b in (16, 32)], key=[])
@triton.jit
def {name}(x, y, m, n, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {body}
"""
SPEC = """\
version: 1
kernels:
  "*":
    args: {x: "*fp32", y: "*fp32", m: "*i32", n: i32, FLAG: [true, false]}
"""
SAFE = {
    "overwritten": "tl.store(x + i, 1.0)",
    "read": "tl.store(y + i, tl.load(x + i))",
    "loaded and not used": "v = tl.load(x + i)\ntl.store(x + i, tl.load(y + i))",
    "used for nothing that is stored": "v = tl.load(x + i, volatile=True) + 1.0\ntl.store(x + i, 1.0 * n)",
    # written first
    "written, then read": "tl.store(x + i, 1.0 * n)\ntl.store(y + i, tl.load(x + i, volatile=True))",
    "written, then read elsewhere": "tl.store(x + i, 1.0 * n)\ntl.store(y + i, tl.load(x + (i ^ 1)))",
    "written in a loop, then read": "for j in range(n):\n    tl.store(x + j, 1.0 * j)\n"
                                    "for j in range(n):\n    tl.store(x + j, tl.load(x + j) + 1)",
    "the same branch": "if n > 3:\n    tl.store(x + i, 1.0 * n)\nput(m, i, n)\nif n > 3:\n    update(x, i, n)",
    "after a return": "if n > 3:\n    return\ntl.store(x + i, 1.0 * n)\nif n < 1:\n    return\n"
                      "tl.store(y + i, tl.load(x + (i ^ 1)))",
    "written, then added to": "tl.store(x + i, 1.0)\nif n > 3:\n    tl.atomic_add(x + i, 1.0)",
    "all that is added to was written": "tl.store(x + i, 0.0, mask=i < n)\n"
                                        "tl.atomic_add(x + i, 1.0, mask=(i < n) & (tl.load(m + i) > 0))",
    "rows written in a loop, then added to": "for j in range(n):\n    tl.store(x + j * 64 + i, 0.0, mask=i < n)\n"
                                             "for j in range(n):\n    tl.atomic_add(x + j * 64 + i, 1.0, mask=i < n)",
    "written in a loop, then added to from behind": "for j in range(n):\n    tl.store(x + j, 1.0 * j)\n"
                                                    "for j in range(n - 1, -1, -1):\n    tl.atomic_add(x + j, 1.0)",
    "helpers, the store first": "put(x, i, n)\nupdate(x, i, n)",
    # atomics
    "a maximum": "tl.atomic_max(m + i, n)",
    "an exchange": "tl.atomic_xchg(x + i, 1.0)",
    "a lock": "while tl.atomic_cas(m, 0, 1) == 1:\n    pass\ntl.atomic_xchg(m, 0)",
    "a lock that is stored to": "while tl.atomic_cas(m, 5, 1) == 1:\n    pass\ntl.store(m, 5)",
    "a counter that is set back": "if tl.atomic_add(m, 1) == 7:\n    tl.store(m, 0)",
    # what is kept
    "chosen from elsewhere": "c = tl.load(m + i) != 0\ntl.store(x + i, tl.where(c, 1.0, tl.load(x + i)))",
    "the other way": "c = tl.load(m + i)\ntl.store(x + i, tl.where(c > 3, tl.load(x + i), c * 2.0))",
    "clamped": "tl.store(x + i, tl.clamp(tl.load(x + i), -1.0, 1.0))",
    "limited twice": "v = tl.maximum(tl.load(x + i), 0.0)\ntl.store(x + i, tl.minimum(v, tl.load(y + i)))",
    "as it was": "tl.store(x + i, tl.load(x + i))",
    "in a loop": "for j in range(n):\n    p = x + j * n + i\n    tl.store(p, tl.maximum(tl.load(p), 0.0))",
    # one constant
    "cleared if set": "if tl.load(x) != 0.0:\n    tl.store(x + i, 0.0)",
    "cleared under a mask": "v = tl.load(x + i)\ntl.store(x + i + 1, 0.0, mask=(v > 0.0) & (i < n))",
    "set unless set": "if tl.load(x) != 1.0:\n    tl.store(x + i, 1.0)",
    # apart
    "the next portion": "tl.store(x + (n + 1) * 64 * n + i, tl.load(x + n * 64 * n + i) + 1)",
    "rows before the new ones": "for j in range(0, n, BLOCK):\n    v = tl.load(x + (j + i) * 64, mask=j + i < n)\n"
                                "    tl.store(x + (n + i) * 64, v * 2)",
    "the second half": "tl.store(x + n + i, tl.load(x + i, mask=i < n) * 2)",
    "beyond a mask": "tl.store(x + n + i, tl.load(x + 2 * i, mask=2 * i < n) * 2)",
    "one or the other": "if FLAG:\n    tl.store(x + i, 1.0)\nelse:\n    tl.store(y + i, tl.load(x + i))",
}
ACCUMULATES = {
    "atomic": "tl.atomic_add(x + i, 1.0)",
    "sum": "c = tl.load(x + i)\nc += 1.0\ntl.store(x + i, c)",
    "difference": "tl.store(x + i, tl.load(x + i).to(tl.float32) - tl.load(y + i))",
    "a sum over a loop": "c = tl.load(x + i)\nfor j in range(n):\n    c += tl.load(y + j)\ntl.store(x + i, c)",
    "a running sum": "c = tl.load(y + i)\nfor j in range(n):\n    p = x + j * n + i\n    c += tl.load(p)\n"
                     "    tl.store(p, c)",
    "a product that adds": "r = tl.arange(0, 16)\nt = r[:, None] * 16 + r[None, :]\n"
                           "c = tl.dot(tl.load(y + t), tl.load(y + t), tl.load(x + t))\ntl.store(x + t, c)",
    "the first one stores": "c = tl.load(y + i)\nif tl.load(m) != 0:\n    c += tl.load(x + i)\ntl.store(x + i, c)",
    "a maximum that is used": "tl.store(y + i, tl.atomic_max(m + i, n))",
    "a part of it was written": "tl.store(x + i, 0.0, mask=(i < n) & (i > 3))\n"
                                "tl.atomic_add(x + i, 1.0, mask=i < n)",
    "others were written": "tl.store(x + i, 0.0, mask=i >= n)\ntl.atomic_add(x + i, 1.0, mask=i < n)",
    "one was written": "tl.store(x, 0.0)\ntl.atomic_add(x + 1 + i, 1.0)",
    "read, then written in another loop": "c = 0.0\nfor j in range(n):\n    c += tl.load(x + j)\n"
                                          "for j in range(n):\n    tl.store(x + j, c)",
    "a lock that is kept": "while tl.atomic_cas(m, 0, 1) == 1:\n    pass\ntl.atomic_xchg(m, 1)",
    "an exchange that is used": "tl.store(y + i, tl.atomic_xchg(x + i, 1.0))",
    "in a function of its own": "far(x)",
    "asm stores to it, too": "tl.atomic_add(x + i, 1.0)\ntl.inline_asm_elementwise(\n"
                             "    'st.global.b32 [$1], 7; mov.b32 $0, 0;', '=r,l', [x + i], dtype=tl.int32,\n"
                             "    is_pure=False, pack=1)",
}
UPDATES = {
    "in place": "tl.store(x + i, tl.load(x + i) * 2)",
    "read, then written": "tl.store(y + i, tl.load(x + i))\ntl.store(x + i, 1.0)",
    "a part was written, then read": "tl.store(x + i, 1.0, mask=i < n)\ntl.store(x + i, tl.load(x + i) * 2)",
    "a scaled sum": "c = tl.load(x + i)\nc += 1.0\nc *= 2.0\ntl.store(x + i, c)",
    "a factor of a product": "r = tl.arange(0, 16)\nt = r[:, None] * 16 + r[None, :]\n"
                             "tl.store(x + t, tl.dot(tl.load(x + t), tl.load(y + t)))",
    "written sometimes": "if n > 3:\n    tl.store(x + i, 1.0)\ntl.store(y + i, tl.load(x + i))",
    "the other branch": "if n > 3:\n    tl.store(x + i, 1.0)\nelse:\n    update(x, i, n)",
    "before a return": "if n > 3:\n    tl.store(x + i, 1.0)\n    return\nupdate(x, i, n)",
    "in the same loop": "for j in range(n):\n    c = tl.load(x + j)\n    tl.store(x + j, c * 2)",
    "helpers, the store last": "update(x, i, n)\nput(x, i, n)",
    "a maximum of what is read": "tl.atomic_max(m, tl.load(m) + 1)",
    "chosen by itself": "v = tl.load(x + i)\ntl.store(x + i, tl.where(tl.load(x + i + 1) > 0, 1.0, v * 0.5))",
    "counted by others": "v = tl.load(x)\ntl.store(x, 0.0)\nj = 0.0\nwhile j < v:\n    j += 1\ntl.store(y, j)",
    "early return": "if tl.load(x) == 0.0:\n    return\ntl.store(x, 0.0)\ntl.store(y, 1.0)",
    "written by asm": "tl.store(y + i, tl.load(x + i))\ntl.inline_asm_elementwise(\n"
                      "    'st.global.b32 [$1], 7; mov.b32 $0, 0;', '=r,l', [x + i], dtype=tl.int32, is_pure=False,\n"
                      "    pack=1)",
}
# What is not told apart from a harmless kernel, and left alone: places that are computed in different ways, and values
# that are kept where they were and seen by others.
UNSEEN = {
    "a signal": "while tl.load(x, volatile=True) == 0.0:\n    pass\ntl.store(x + 1, 1.0)",
    "elsewhere": "tl.store(x + i + 1, tl.load(x + i) + 1.0)",
    "rounds": "k = n\nwhile k > 0:\n    for j in range(n):\n        k -= tl.load(m + j)\n    tl.store(m + i, k)",
    "a search": "j = n\nwhile tl.load(m + j) > 3:\n    j = j // 2\ntl.store(m + n, j)",
    "kept, but seen by others": "v = tl.load(x + i)\ntl.store(y + i, v)\ntl.store(x + i, tl.maximum(v, 0.0))",
    "kept, but decides for others": "v = tl.load(x)\ntl.store(x, tl.maximum(v, 0.0))\n"
                                    "if v > 0:\n    tl.store(y + i, 1.0)",
    "cleared, and others too": "if tl.load(x) != 0.0:\n    tl.store(x + i, 0.0)\n    tl.store(y, 1.0)",
    "added up": "v = 0.0\nfor j in range(n):\n    v += tl.load(x + j)\ntl.store(x, v)",
    "a stride away": "r = tl.program_id(1)\ntl.store(x + (r + 1) * n + i, tl.load(x + r * n + i))",
    "a loop that begins there": "for j in range(n, n * 2):\n    tl.store(x + n + i, tl.load(x + j) * 2)",
    "reversed": "tl.store(x + n - i, tl.load(x + i, mask=i < n) * 2)",
    "in a table": "tl.store(x + i, tl.load(x + tl.load(m + i)))",
}
CASES = {
    f"{rerun.name}: {case}": (rerun, body)
    for rerun, cases in ((Rerun.SAFE, {**SAFE, **UNSEEN}), (Rerun.ACCUMULATES, ACCUMULATES),
                         (Rerun.UPDATES, UPDATES))
    for case, body in cases.items()
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KernelReport]:
    """Every case's kernel, from one run."""
    folder = tmp_path_factory.mktemp("rerun")
    bodies = (body.replace("\n", "\n    ") for _, body in CASES.values())
    text = HEAD + "".join(KERNEL.format(name=f"k{n}", body=body) for n, body in enumerate(bodies))
    (folder / "k.py").write_text(text)
    (folder / "triton-mutlint.yaml").write_text(SPEC)
    found = {k.name: k for k in run(Request(("k.py",), folder, targets=("cuda:90",))).kernels}
    return {case: found[f"k{n}"] for n, case in enumerate(CASES)}


@pytest.mark.parametrize("case", CASES)
def test_what_a_rerun_does(kernels: dict[str, KernelReport], case: str) -> None:
    kernel, (expected, _) = kernels[case], CASES[case]
    assert kernel.failure is None, kernel.failure
    assert (kernel.analyzed_variants, kernel.total_variants) == (4, 4)
    assert max(parameter.rerun for parameter in kernel.parameters) is expected
