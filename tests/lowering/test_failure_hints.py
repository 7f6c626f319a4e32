"""A kernel that does not lower says which arguments to give."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.lowering import triton_api
from triton_mutlint.run.run import run
from triton_mutlint.types import Failure, KernelReport, Stage

pytestmark = pytest.mark.both

HEAD = "import triton\nimport triton.language as tl\n\n\n"


def reports_of(body: str, folder: Path, spec: str = "") -> tuple[KernelReport, ...]:
    (folder / "kernels.py").write_text(HEAD + textwrap.dedent(body), encoding="utf-8")
    (folder / "spec.yaml").write_text(textwrap.dedent(spec) or "version: 1\n", encoding="utf-8")
    return run(Request(("kernels.py",), folder, spec=folder / "spec.yaml", targets=("cuda:90",))).kernels


def failure_of(body: str, folder: Path, spec: str = "") -> Failure:
    failures = [k.failure for k in reports_of(body, folder, spec) if k.failure is not None]
    assert len(failures) == 1
    return failures[0]


def test_a_config_that_an_assertion_refuses_is_left_out_as_the_autotuner_does(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(HEAD + textwrap.dedent("""
        @triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 16})], key=[])
        @triton.jit
        def kernel(x, BLOCK: tl.constexpr):
            tl.static_assert(BLOCK % 32 == 0, "whole tiles only")
            tl.store(x + tl.arange(0, BLOCK), 0)
    """), encoding="utf-8")
    kernel, = run(Request(("kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (kernel.failure, kernel.mutated) == (None, ("x",))
    assert (kernel.analyzed_variants, kernel.total_variants) == (1, 2)
    assert "static_assert failed: whole tiles only" in " ".join(kernel.notes)


IMPOSSIBLE = """
    @triton.jit
    def helper(p, value, SIZE: tl.constexpr):
        tl.static_assert(SIZE == 7 and SIZE == 8, "no size will do")
        tl.store(p + tl.arange(0, 16), value)

    @triton.jit
    def kernel(x, unrelated, n, BLOCK: tl.constexpr):
        half: tl.constexpr = BLOCK // 2
        tl.store(unrelated, n)
        helper(x, 1, half)
"""


def test_the_hint_names_what_reaches_the_statement_in_the_kernel(tmp_path: Path) -> None:
    failure = failure_of(IMPOSSIBLE, tmp_path)
    assert (failure.stage, failure.message) == (Stage.LOWER, "static_assert failed: no size will do")
    assert failure.location is not None
    assert failure.location.line == 8, "the helper's line"
    assert "`kernels: kernel: args:`" in failure.hint
    assert "x: *" in failure.hint
    assert "BLOCK: " in failure.hint
    assert "unrelated" not in failure.hint


def test_the_hint_shows_the_arguments_of_the_spec(tmp_path: Path) -> None:
    spec = """
        version: 1
        kernels:
          kernel:
            args: {x: "*fp32", unrelated: "*fp32", n: i32, BLOCK: 64}
    """
    failure = failure_of(IMPOSSIBLE, tmp_path, spec)
    assert failure.hint.endswith("it was lowered with x: *fp32, BLOCK: 64")


def test_a_name_that_no_branch_defined_points_at_the_conditions(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def kernel(x, MODE: tl.constexpr, OTHER: tl.constexpr):
            if MODE == "one":
                width: tl.constexpr = 1
            elif MODE == "two":
                width: tl.constexpr = 2
            tl.store(x, width)
    """
    spec = """
        version: 1
        kernels:
          kernel: {args: {x: "*fp32", MODE: three, OTHER: 1}}
    """
    failure = failure_of(body, tmp_path, spec)
    assert "width is not defined" in failure.message
    assert "MODE: 'three'" in failure.hint
    assert "OTHER" not in failure.hint


def test_an_api_that_this_triton_lacks_is_no_matter_of_arguments(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def kernel(x):
            tl.store(x, tl.math.gone_since(tl.load(x)))
    """
    failure = failure_of(body, tmp_path)
    assert "gone_since" in failure.message
    assert "Triton version" in failure.hint


def test_removed_features_are_told_by_their_message(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def kernel(x):
            p = tl.make_block_ptr(x, (64,), (1,), (0,), (64,), (0,))
            tl.store(p, tl.load(p))
    """
    if triton_api.version() < (3, 9):  # which still have block pointers
        assert [k.mutated for k in reports_of(body, tmp_path)] == [("x",)]
        return
    failure = failure_of(body, tmp_path)
    assert failure.message.startswith("Block pointers have been removed")
    assert failure.hint == "analyse it with the Triton version that it is written for"


def test_a_name_that_triton_refuses_is_told(tmp_path: Path) -> None:
    failure = failure_of("""
        @triton.jit
        def größe(x):
            tl.store(x, 1)
    """, tmp_path)
    assert failure.message == "invalid function identifier: größe"
    assert failure.hint == "rename it: Triton compiles functions with ASCII names only"


def test_places_are_known_where_the_environment_turns_them_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    (tmp_path / "kernels.py").write_text(f"{HEAD}@triton.jit\ndef k(x):\n    tl.store(x, 1)\n", encoding="utf-8")
    kernel, = run(Request(("kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    (access,) = kernel.parameters[0].accesses
    assert (access.location.file, access.location.line) == ("kernels.py", 7)


def test_an_assertion_without_a_message_shows_its_condition(tmp_path: Path) -> None:
    failure = failure_of("""
        @triton.jit
        def kernel(d):
            d.store([0, 0], tl.zeros([16, 16], tl.float16))
    """, tmp_path, "version: 1\nkernels: {kernel: {args: {d: 'tensordesc<fp16[64, 64]>'}}}\n")
    if not triton_api.has_descriptor_types():
        assert "Triton 3.5 or newer" in failure.hint
        return
    said = "expected value shape" if triton_api.version() >= (3, 8) else "does not hold: assert "
    assert said in failure.message
    assert failure.location is not None
    assert failure.location.line == 8


def test_repairs_that_got_no_further_leave_the_first_guess_in_the_hint(tmp_path: Path) -> None:
    failure = failure_of("""
        @triton.jit
        def kernel(x, n, BLOCK: tl.constexpr):
            tl.static_assert(BLOCK < 0, "never")
            tl.store(x + n + tl.arange(0, BLOCK), 1)
    """, tmp_path)
    given = f'version: 1\nkernels: {{kernel: {{args: {{BLOCK: {failure.hint.rpartition("BLOCK: ")[2]}}}}}}}'
    assert failure_of("""
        @triton.jit
        def kernel(x, n, BLOCK: tl.constexpr):
            tl.static_assert(BLOCK < 0, "never")
            tl.store(x + n + tl.arange(0, BLOCK), 1)
    """, tmp_path, given).hint == failure.hint


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("tl.store(x, PLAIN)", "give it in the spec under `globals:`"),
        ("for i in range(4):\n        continue", "does not compile such a statement"),
        ("tl.store(x, tl.float32(1))", "does not compile such a statement"),
    ],
)
def test_what_no_argument_changes_is_said(statement: str, hint: str, tmp_path: Path) -> None:
    failure = failure_of(f"PLAIN = 3\n\n\n@triton.jit\ndef kernel(x):\n    {statement}\n", tmp_path)
    assert hint in failure.hint, failure.message


def test_a_plain_global_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(f"{HEAD}PLAIN = 3\n\n\n@triton.jit\ndef kernel(x):\n    tl.store(x, PLAIN)\n",
                                         encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("version: 1\nglobals: {PLAIN: 3}\n", encoding="utf-8")
    kernel, = run(Request(("kernels.py",), tmp_path, spec=tmp_path / "spec.yaml", targets=("cuda:90",))).kernels
    assert (kernel.failure, kernel.mutated) == (None, ("x",))


def test_what_an_old_triton_does_not_compile_is_not_only_a_matter_of_arguments(tmp_path: Path) -> None:
    body = """
        @triton.jit
        def kernel(x, MODE: tl.constexpr):
            if MODE[0] == "a":
                tl.store(x, 1.0)
    """
    if triton_api.version() >= (3, 4):  # which take an item of a compile-time value
        assert [k.failure for k in reports_of(body, tmp_path)] == [None]
        return
    hint = failure_of(body, tmp_path).hint
    assert hint.startswith("give other arguments")
    assert hint.endswith("or analyse it with Triton 3.5 or newer, which compiles more of Python")


@pytest.mark.parametrize(
    ("parameters", "statement", "hint"),
    [
        ("x, n", "i = 0\n    while i < n:\n        if i == 3:\n            return\n        i += 1", "such a statement"),
        ("x, n", "kernel(x, n)", "such a statement"),
        ("x", "tl.store(x, 'x' + 1)", "the line depends on none"),
        ("x", "tl.store(x + tl.arange(0, 100), 1)", "the line depends on none"),
        ("x, C: tl.constexpr", "while C > 5000:\n        tl.store(x, 1)", "a constexpr stands where"),
    ],
)
def test_arguments_are_not_asked_for_where_they_change_nothing(
    parameters: str, statement: str, hint: str, tmp_path: Path
) -> None:
    failure = failure_of(f"@triton.jit\ndef kernel({parameters}):\n    {statement}\n", tmp_path)
    assert failure.hint.startswith("no argument changes that"), failure.message
    assert (hint in failure.hint, failure.lacks) == (True, "")


def test_an_operator_that_this_triton_lacks_is_no_matter_of_arguments(tmp_path: Path) -> None:
    form = "ACT in ('relu',)" if triton_api.version() >= (3, 9) else "1 < ACT < 3"
    failure = failure_of(
        f"@triton.jit\ndef kernel(x, ACT: tl.constexpr):\n    if {form}:\n        tl.store(x, 1)\n", tmp_path)
    assert failure.hint.endswith("does not compile such a statement"), failure.message


def test_types_that_do_not_go_together_are_a_matter_of_arguments(tmp_path: Path) -> None:
    spec = "version: 1\nkernels: {kernel: {args: {x: '*fp32', y: fp32}}}\n"
    failure = failure_of("@triton.jit\ndef kernel(x, y):\n    tl.store(x, y << 1)\n", tmp_path, spec)
    assert failure.lacks == "arguments", failure.message


@pytest.mark.parametrize("condition", ["if BAD:\n        ", "if not BAD:\n        return\n    "])
def test_arguments_are_asked_for_where_they_may_leave_the_statement_out(condition: str, tmp_path: Path) -> None:
    body = f"{condition}tl.store(x + tl.arange(0, 100), 1)"
    spec = "version: 1\nkernels: {kernel: {args: {x: '*fp32', BAD: true}}}\n"
    failure = failure_of(f"@triton.jit\ndef kernel(x, BAD: tl.constexpr):\n    {body}\n", tmp_path, spec)
    assert "BAD: True" in failure.hint
    assert failure.lacks == "arguments"


@pytest.mark.parametrize(("name", "hint", "lacks"), [
    ("offets", "did you mean `offset`?", ""),
    ("UNBOUND", "bind it in the file, or give `UNBOUND` in the spec under `globals:`", ""),
    ("ABSENT", "give `ABSENT` in the spec under `globals:`", "globals"),
])
def test_a_name_that_is_not_bound_is_taken_for_a_mistake_first(
    name: str, hint: str, lacks: str, tmp_path: Path
) -> None:
    head = "from absent_package import ABSENT\n\n\n"
    failure = failure_of(
        f"{head}@triton.jit\ndef kernel(x):\n    offset = 1\n    tl.store(x + offset, {name})\n", tmp_path)
    assert (failure.hint, failure.lacks) == (hint.replace("`ABSENT`", "`absent_package.ABSENT`"), lacks)
    assert failure.location is not None
    assert failure.location.column == len("    tl.store(x + offset, ") + 1


def test_a_size_that_is_no_power_of_two(tmp_path: Path) -> None:
    spec = "version: 1\nkernels: {kernel: {args: {x: '*fp32', SIZE: [3, 5]}}}\n"
    failure = failure_of(
        "@triton.jit\ndef kernel(x, SIZE: tl.constexpr):\n    tl.store(x + tl.arange(0, SIZE), 1)\n", tmp_path, spec)
    assert failure.hint == ("give a power of two in the spec under `kernels: kernel: args:`, such as `SIZE: 4`; "
                            "it was lowered with x: *fp32, SIZE: 3")
