"""When every launch of a file passes zeros: then `reset_to_zero` is what an accumulation needs."""

from __future__ import annotations

import pytest
from rule_samples import TWO, subject_of

from triton_mutlint.rules import RULES
from triton_mutlint.rules.fresh_zeros import gets_zeros
from triton_mutlint.types import Autotune, Finding, ListKind

KERNEL = "@triton.jit\ndef k(x, y, BLOCK: tl.constexpr):\n    {body}\n"
ADDS = "tl.atomic_add(x, tl.load(y))"


def text(launch: str, body: str = ADDS) -> str:
    return f"{KERNEL.format(body=body)}\n\ndef call(a, n):\n" + "".join(f"    {x}\n" for x in launch.splitlines())


def found(launch: str, body: str = ADDS, **lists: tuple[str, ...]) -> list[Finding]:
    return list(RULES["TML301"].check(subject_of(text(launch, body), Autotune(TWO, line=1, **lists))))


@pytest.mark.parametrize(("launch", "expected"), [
    ("x = torch.zeros(n)\nk[1,](x, a)", True),
    ("x: Tensor = a.new_zeros(n)\nk[1,](y=a, x=x)", True),
    ("k[1,](torch.zeros_like(a), a)", True),
    ("x = torch.zeros(n)\nk[x.shape](x, a)\nreturn x.sum()", True),
    ("for b in a:\n    x = torch.zeros(n)\n    k[1,](x, b)", True),
    ("x = torch.empty(n)\nk[1,](x, a)", False),
    ("k[1,](a, a)", False),
    ("k[1,](*a)", False),
    ("x = torch.zeros(n)\nx = a\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx += 1\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nfill(x)\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx[0] = 1\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nx.add_(1)\nk[1,](x, a)", False),
    ("x = torch.zeros(n)\nfor b in a:\n    k[1,](x, b)", False),
    ("x = torch.zeros(n)\nk[1,](x, a)\nk[1,](x, a)", False),
    ("if n:\n    a = torch.zeros(n)\nk[1,](a, a)", False),
    ("k[1,](torch.zeros(n), a)\nk[1,](a, a)", False),
    ("pass", False),
])
def test_launches(launch: str, expected: bool) -> None:
    kernel = subject_of(text(launch)).kernel
    assert kernel is not None
    assert gets_zeros(kernel, "x") is expected


ZEROS = "x = torch.zeros(n)\nk[1,](x, a)"


def test_zeros_are_set_back_to_zeros() -> None:
    (finding,) = found(ZEROS)
    assert finding.help == 'add `reset_to_zero=["x"]`: every launch in this file passes zeros'
    assert [(c.kind, c.name, c.add) for c in finding.changes] == [(ListKind.RESET_TO_ZERO, "x", True)]


def test_other_values_are_restored() -> None:
    (finding,) = found("k[1,](a, a)")
    assert finding.help == 'add `restore_value=["x"]`, or `reset_to_zero=["x"]` if callers always pass zeros'
    assert [(c.kind, c.name, c.add) for c in finding.changes] == [(ListKind.RESTORE_VALUE, "x", True)]


def test_what_is_changed_in_place_is_restored_even_if_it_was_zeros() -> None:
    (finding,) = found(ZEROS, "tl.store(x, tl.load(x) * 2 + 1)")
    assert [(c.kind, c.name) for c in finding.changes] == [(ListKind.RESTORE_VALUE, "x")]
    wrong, = found(ZEROS, "tl.store(x, tl.load(x) * 2 + 1)", reset_to_zero=("x",))
    assert [(c.kind, c.add) for c in wrong.changes] == [(ListKind.RESTORE_VALUE, True), (ListKind.RESET_TO_ZERO, False)]


def test_each_parameter_gets_its_own_list() -> None:
    first, second = found(ZEROS, f"{ADDS}\n    tl.store(y, tl.load(y) * 2)")
    assert 'add `reset_to_zero=["x"]`' in first.help
    assert 'add `restore_value=["y"]`' in second.help
