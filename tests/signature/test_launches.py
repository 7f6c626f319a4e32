"""What launch sites say of a kernel's parameters."""

from __future__ import annotations

import ast

from tests.signature.inference_by_hand import guesses
from tests.signature.kernels_by_hand import loaded
from triton_mutlint.signature.infer import infer
from triton_mutlint.signature.launching import launches

KERNEL = """
def launch(x: torch.Tensor, bias: Optional[torch.Tensor] = None, causal: bool = False, alpha: float = 1.0):
    lock = torch.zeros(4, dtype=torch.int32)
    out = torch.empty_like(x)
    out = out.contiguous()
    n = x.shape[0]
    BLOCK = 32
    k[(4,)](out, lock, n, x.stride(0), alpha, bias if bias is not None else None, kind="sum",
            SIZE=BLOCK * 2, CAUSAL=causal, DT=tl.float16, desc=TensorDescriptor.from_tensor(x, [BLOCK, 16]))

def k(a, b, c, d, e, f, desc, kind: tl.constexpr, SIZE: tl.constexpr, CAUSAL: tl.constexpr, DT: tl.constexpr):
    if CAUSAL:
        tl.store(a, 1.0)
"""


def evidence(text: str, parameter: str, kernel: str = "k") -> list[tuple[str, str, object]]:
    tree = ast.parse(text)
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == kernel)
    names = [a.arg for a in node.args.args]
    found = launches.arguments(kernel, names, [tree], {})
    return [(e.kind, e.element, e.value) for e in found.get(parameter, ())]


def test_tensors_and_their_dtypes() -> None:
    assert evidence(KERNEL, "a") == [("tensor", "", None)]
    assert evidence(KERNEL, "b") == [("tensor", "i32", None)]
    assert [kind for kind, _, _ in evidence(KERNEL, "f")] == ["tensor", "none"]


def test_numbers() -> None:
    assert evidence(KERNEL, "c") == [("int", "", None)]
    assert evidence(KERNEL, "d") == [("int", "", None)]
    assert evidence(KERNEL, "e") == [("float", "", None)]


def test_compile_time_values() -> None:
    assert evidence(KERNEL, "kind") == [("value", "", "sum")]
    assert evidence(KERNEL, "SIZE") == [("int", "", 64)]
    assert evidence(KERNEL, "CAUSAL") == [("bool", "", None)]
    assert evidence(KERNEL, "DT") == [("dtype", "", "fp16")]
    assert evidence(KERNEL, "desc") == [("descriptor", "", (32, 16))]


def test_they_become_guesses() -> None:
    found = infer(loaded(KERNEL), {})
    shown = {name: [str(a) for a in guess.alternatives] for name, guess in found.items()}
    assert shown["b"] == ["*i32"]
    assert (shown["c"], shown["e"]) == (["i32"], ["fp32"])
    assert shown["SIZE"] == ["64"]
    assert shown["CAUSAL"] == ["False", "True"]
    assert shown["desc"] == ["tensordesc<fp16[32, 16]>"]
    assert "launch site line 8" in found["e"].reason


def test_a_branch_gives_both_and_a_name_passed_twice_is_followed() -> None:
    text = """
def go(x, flag):
    mode = 1
    if flag:
        mode = 2
    k[(1,)](x.data_ptr(), mode)

def k(p, MODE: tl.constexpr):
    if MODE == 1:
        tl.store(p.to(tl.pointer_type(tl.float32)), 1.0)
"""
    assert evidence(text, "MODE") == [("int", "", 1), ("int", "", 2)]
    assert guesses(text)["p"] == ["i64"]


def test_wrapped_launches_and_starred_arguments() -> None:
    text = """
def go(x, args, n: int):
    wrap_triton(k)[(1,)](x.contiguous(), *args, N=n)

def k(a, b, N):
    pass
"""
    assert evidence(text, "a") == [("tensor", "", None)]
    assert evidence(text, "b") == []
    assert evidence(text, "N") == [("int", "", None)]


def test_names_made_of_one_another_many_times_over_cost_nothing() -> None:
    names = [f"v{i}" for i in range(12)]
    lines = [f"    {a} = {b} + {c} * {b}" for a in names for b in names for c in names[:4]]
    text = "def go(x):\n" + "\n".join(lines) + "\n    k[(1,)](v0, v1)\n\ndef k(a, b):\n    pass\n"
    assert evidence(text, "a") == []


def test_names_that_refer_to_each_other_end() -> None:
    text = """
def go(x):
    y = x
    x = y
    y = x.view(-1)
    k[(1,)](y)

def k(a):
    pass
"""
    assert {kind for kind, _, _ in evidence(text, "a")} <= {"tensor"}
