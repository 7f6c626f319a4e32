from __future__ import annotations

import ast

import pytest

from tests.helpers.fix_samples import changes, document, edited
from triton_mutlint.fixes.document import CannotFixError
from triton_mutlint.fixes.lists import edit_autotune
from triton_mutlint.types import Change, ListKind, Location

RESTORE, RESET = ListKind.RESTORE_VALUE, ListKind.RESET_TO_ZERO
ORDER = ("x", "y", "z", "BLOCK")


def fix(decorator: str, *asked: tuple[ListKind, tuple[str, ...], tuple[str, ...]],
        head: str = "import triton\n") -> str:
    tail = "\n@triton.jit\ndef k(x, y, z, BLOCK): pass\n"
    text = f"{head}{decorator}{tail}"
    place = Location("kernels.py", head.count("\n") + 1)
    wanted: list[Change] = []
    for kind, add, remove in asked:
        wanted += changes(kind, place, add, remove, ORDER)
    result = edited(text, edit_autotune(document(text), place, wanted))
    assert result.startswith(head)
    assert result.endswith(tail)
    ast.parse(result)
    return result.removeprefix(head).removesuffix(tail)


@pytest.mark.parametrize(("before", "after"), [
    ("@triton.autotune(C, key=['n'])", "@triton.autotune(C, key=['n'], restore_value=['x', 'y'])"),
    ('@triton.autotune(C, ["n"])', '@triton.autotune(C, ["n"], restore_value=["x", "y"])'),
    ("@triton.autotune(**options)", '@triton.autotune(**options, restore_value=["x", "y"])'),
    ("@triton.autotune(configs=C, key=[], )", '@triton.autotune(configs=C, key=[], restore_value=["x", "y"], )'),
    ("@triton.autotune(\n    C,\n    key=[],  # why\n)",
     '@triton.autotune(\n    C,\n    key=[],  # why\n    restore_value=["x", "y"],\n)'),
    ("@triton.autotune(\n    C,\n    key=[]  # why\n)",
     '@triton.autotune(\n    C,\n    key=[],  # why\n    restore_value=["x", "y"]\n)'),
    ("@triton.autotune([\n    A,\n    B,\n], key=([]))",
     '@triton.autotune([\n    A,\n    B,\n], key=([]), restore_value=["x", "y"])'),
    ("@triton.autotune(C, restore_value=['z'])", "@triton.autotune(C, restore_value=['x', 'y', 'z'])"),
    ("@triton.autotune(C, restore_value=('x',))", "@triton.autotune(C, restore_value=('x', \"y\"))"),
    ("@triton.autotune(C, restore_value=())", '@triton.autotune(C, restore_value=("x", "y"))'),
    ("@triton.autotune(C, restore_value=None, key=[])", '@triton.autotune(C, restore_value=["x", "y"], key=[])'),
    ("@triton.autotune(C, restore_value=[\n    'z',\n])",
     "@triton.autotune(C, restore_value=[\n    'x',\n    'y',\n    'z',\n])"),
])
def test_restoring(before: str, after: str) -> None:
    assert fix(before, (RESTORE, ("y", "x"), ())).replace('"y"', "'y'") == after.replace('"y"', "'y'")


@pytest.mark.parametrize(("before", "after"), [
    ("@triton.autotune(C, reset_to_zero=['x'], key=[])",
     "@triton.autotune(C, reset_to_zero=[], key=[], restore_value=['x'])"),
    ("@triton.autotune(C, reset_to_zero=('z', 'x'))",
     "@triton.autotune(C, reset_to_zero=('z',), restore_value=['x'])"),
    ("@triton.autotune(C, reset_to_zero=['x'], restore_value=['y'])",
     "@triton.autotune(C, reset_to_zero=[], restore_value=['x', 'y'])"),
    ("@triton.autotune(C, restore_value=['x'], reset_to_zero={'x'},)",
     "@triton.autotune(C, restore_value=['x'], reset_to_zero=[],)"),
])
def test_restoring_what_was_zeroed(before: str, after: str) -> None:
    assert fix(before, (RESTORE, ("x",), ()), (RESET, (), ("x",))) == after


def test_one_is_zeroed_and_the_other_restored() -> None:
    both = (RESET, ("x",), ()), (RESTORE, ("y",), ())
    assert fix("@triton.autotune(C, [])", *both) == (
        '@triton.autotune(C, [], reset_to_zero=["x"], restore_value=["y"])')
    assert fix("@triton.autotune(C, reset_to_zero=['z'])", *both) == (
        "@triton.autotune(C, reset_to_zero=['x', 'z'], restore_value=['y'])")


def test_a_constexpr_is_taken_out() -> None:
    before = "@triton.autotune(C, key=[], restore_value=['x', 'BLOCK'], reset_to_zero=['BLOCK'])"
    after = "@triton.autotune(C, key=[], restore_value=['x'], reset_to_zero=[])"
    assert fix(before, (RESTORE, (), ("BLOCK",)), (RESET, (), ("BLOCK",))) == after


@pytest.mark.parametrize("head", [
    "import triton as tr\n", "from triton import autotune as at\n", "from triton.runtime import autotune\n",
])
def test_triton_goes_by_its_name_in_the_file(head: str) -> None:
    name = {"as tr": "tr.autotune", "as at": "at"}.get(head.strip()[-5:], "autotune")
    assert "restore_value" in fix(f"@{name}(C, [])", (RESTORE, ("x",), ()), head=head)


def test_an_import_that_may_fail() -> None:
    head = "try:\n    import triton\nexcept ImportError:\n    triton = None\nimport triton.language as tl\nÉ = 'é'\n"
    assert fix("@triton.autotune(É, key='é')", (RESTORE, ("x",), ()), head=head).endswith("restore_value=['x'])")


@pytest.mark.parametrize(("decorator", "reason"), [
    ("@triton.autotune(C, restore_value=NAMES)", "not a list of names"),
    ("@triton.autotune(C, restore_value=['y'] + NAMES)", "not a list of names"),
    ("@triton.autotune(C, restore_value=['y', *NAMES])", "not a list of names"),
    ("@triton.autotune(C, restore_value=['y', Y])", "not a list of names"),
    ("@triton.autotune(C, restore_value=('x'))", "not a list of names"),
    ("@triton.autotune(C, restore_value=['y',  # why\n'z'])", "more than commas"),
    ("@tuned", "a call that is its decorator"),
    ("@triton.autotune(C, reset_to_zero=['y', 'x'], restore_value=NAMES)", "not a list of names"),
])
def test_what_is_not_written_out_is_left_alone(decorator: str, reason: str) -> None:
    with pytest.raises(CannotFixError, match=reason):
        fix(decorator, (RESTORE, ("x",), ()))


def test_a_kernel_made_by_a_call_has_no_decorator() -> None:
    text = "import triton\nk = triton.autotune(C, [])(triton.jit(f))\n"
    place = Location("kernels.py", 2)
    with pytest.raises(CannotFixError, match="not autotuned by a call"):
        edit_autotune(document(text), place, changes(RESTORE, place, ["x"]))
