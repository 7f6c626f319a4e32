"""TML301 against Triton's own autotuner: without hooks, it fires exactly where one tuned call goes wrong.

The autotuner is Triton's; kernels are Python functions on a list that stands for a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from test_rule_autotune import found

from triton_mutlint.types import Rerun

pytestmark = pytest.mark.both

autotuner = pytest.importorskip("triton.runtime.autotuner")


class Cell:
    """As much of a tensor as the autotuner uses."""

    def __init__(self, value: int) -> None:
        self.value = value

    def zero_(self) -> None:
        self.value = 0

    def clone(self) -> Cell:
        return Cell(self.value)

    def copy_(self, other: Cell) -> None:
        self.value = other.value


class Kernel:
    """What the autotuner launches."""

    def __init__(self, body: Callable[[Cell], None]) -> None:
        self.body = body
        self.fn = Kernel.launch  # the autotuner looks for a plain function below

    @staticmethod
    def launch(x: Cell) -> None:
        """Never called: only its name is read."""
        raise AssertionError(x)

    def run(self, x: Cell, **options: Any) -> None:
        self.body(x)


def double(x: Cell) -> None:
    x.value *= 2


def add(x: Cell) -> None:
    x.value += 1


def overwrite(x: Cell) -> None:
    x.value = 1


def no_hook(*args: Any, **kwargs: Any) -> None:
    """A hook that does nothing."""


CASES = {Rerun.UPDATES: (double, 3), Rerun.ACCUMULATES: (add, 0), Rerun.SAFE: (overwrite, 3)}


def tuned(body: Callable[[Cell], None], start: int, **arguments: Any) -> int | None:
    """What the first call of a tuned kernel leaves in `x`; None if it raises."""
    configs = [autotuner.Config({"BLOCK": block}) for block in (128, 256)]

    def bench(call: Callable[[], None], quantiles: Any) -> list[float]:
        for _ in range(3):
            call()
        return [1.0, 1.0, 1.0]

    x = Cell(start)
    try:
        made = autotuner.Autotuner(Kernel(body), ["x"], configs, [], do_bench=bench, **arguments)
        made.run(x)
    except (AttributeError, KeyError):
        return None
    return x.value


@pytest.mark.parametrize("rerun", CASES)
@pytest.mark.parametrize("hooks", [(), ("pre_hook",), ("post_hook",), ("pre_hook", "post_hook")])
def test_the_rule_fires_exactly_where_tuning_corrupts(rerun: Rerun, hooks: tuple[str, ...]) -> None:
    body, start = CASES[rerun]
    once = Cell(start)
    body(once)
    for restore, reset in product([(), ("x",)], repeat=2):
        given = dict.fromkeys(hooks, no_hook)
        truth = tuned(body, start, restore_value=list(restore), reset_to_zero=list(reset), **given)
        declared = {"restore_value": restore, "reset_to_zero": reset, **{f"has_{hook}": True for hook in hooks}}
        errors = found(rerun, **declared)
        replaced = [f for f in errors if "takes the place of" in f.message]
        if not hooks:
            assert bool(errors) == (truth != once.value), (restore, reset, truth)
        elif rerun is Rerun.SAFE:
            assert truth in (once.value, None)
            assert errors == replaced  # also where nothing needed the hook that is replaced
        elif restore or reset:
            assert bool(errors) == (truth != once.value), (restore, reset, truth)
        else:
            assert errors == []  # nobody knows what a hook does


def test_the_harness_sees_corruption_and_protection() -> None:
    assert tuned(double, 3, restore_value=None, reset_to_zero=None) == 3 * 2**7
    assert tuned(double, 3, restore_value=["x"], reset_to_zero=None) == 6
