"""What linted code computes while a file loads has an end: in time, in memory."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run

_KERNELS = """
        @triton.jit
        def k(x):
            tl.store(x, N)
        @triton.jit
        def other(x):
            tl.store(x, 1)
"""


def _failure(load_text, text: str) -> str:
    """Why `k` does not load; `other` does."""
    result = load_text(textwrap.dedent(text) + textwrap.dedent(_KERNELS))
    assert [kernel.name for kernel in result.kernels] == ["other"]
    ((name, failure),) = result.failures
    assert name == "k"
    return failure.message


def test_an_endless_loop_is_ended_by_the_watchdog(load_text, monkeypatch) -> None:
    monkeypatch.setattr("triton_mutlint.source.slicing.sandbox.SECONDS", 0.2)
    message = _failure(
        load_text,
        """
        import itertools
        def forever():
            for number in itertools.count():
                number += 1
        N = tl.constexpr(forever())
        """,
    )
    assert message.endswith("which could not be computed (still running after 0.2 s)")


def test_a_loop_that_follows_a_stand_in_ends_at_once(load_text) -> None:
    start = time.perf_counter()
    message = _failure(
        load_text,
        """
        import pipeline
        def depth(stage):
            found = 0
            while stage is not None:
                found, stage = found + 1, stage.behind
            return found
        N = tl.constexpr(depth(pipeline.first()))
        """,
    )
    assert "`pipeline.first`, which is not installed, and a loop follows it on and on" in message
    assert time.perf_counter() - start < 2


def test_a_loop_in_a_kernels_own_factory(load_text) -> None:
    result = load_text(
        """
        from triton.runtime.jit import JITFunction
        def with_even(runner):
            target = runner
            while type(target) is not JITFunction:
                target = target.base_fn
            even = triton.heuristics({"EVEN": lambda args: True})(target)
            return even
        """
    )
    assert (result.kernels, result.failures) == ((), ())


def test_a_factory_whose_call_gives_nothing(load_text) -> None:
    """Neither the loop's end nor the advice hides that the call is there, and what it lacks."""
    result = load_text(
        """
        import pipeline
        def build(stage):
            depth = 0
            while stage is not None:
                depth, stage = depth + 1, stage.behind
            @triton.jit
            def k(x):
                tl.store(x, depth)
            return k
        k = build(pipeline.first_stage())
        """
    )
    ((name, failure),) = result.failures
    assert name == "k"
    assert failure.message.endswith("; `k` is computed from `pipeline.first_stage`, which is not installed, "
                                    "and a loop follows it on and on")
    assert failure.hint == "give `depth` in the spec under `globals:` (a function of the file as `{ref: name}`)"


@pytest.mark.apart
def test_memory_is_bounded(tmp_path: Path) -> None:
    text = "import triton\nimport triton.language as tl\nN = tl.constexpr(len(bytearray(1 << 34)))\n"
    (tmp_path / "kernels.py").write_text(text + textwrap.dedent(_KERNELS), encoding="utf-8")
    report = run(Request(("kernels.py",), tmp_path, use_spec=False, targets=("cuda:90",), jobs=1))
    (failed,) = [k for k in report.kernels if k.failure is not None]
    assert failed.name == "k"
    assert failed.failure.message.endswith("which could not be computed (MemoryError)")


@pytest.mark.parametrize("text", ["first.second.third", "first().second[1] + 2"])
def test_what_is_written_down_is_no_loop(load_text, text: str) -> None:
    message = _failure(load_text, f"import pipeline as first\nN = tl.constexpr({text})\n")
    assert "on and on" not in message
