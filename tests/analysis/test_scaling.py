"""Time and memory that a module takes, by its size."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from benchmarks.generated import module_text
from tests.helpers.places import ROOT
from triton_mutlint.analysis import VariantEffects, analyze_module
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import ArgOwner, ArgRole

OWNERS = (ArgOwner("a", ArgRole.ADDRESS), ArgOwner("b", ArgRole.ADDRESS), ArgOwner("n", ArgRole.SCALAR))


def analyzed(text: str) -> VariantEffects:
    return analyze_module(parse(text), OWNERS, "cuda", SourcePlaces(ROOT))


def test_a_generated_module_is_understood() -> None:
    effects = analyzed(module_text(3_000))
    assert effects.unanalyzable_ops == ()
    kinds = {name: {a.kind.value for a in found} for name, found in effects.accesses.items()}
    assert kinds == {"a": {"read", "write"}, "b": {"read", "write"}}


def test_four_times_the_lines_take_about_four_times_the_time() -> None:
    def seconds(lines: int) -> float:
        text = module_text(lines)
        start = time.process_time()
        analyzed(text)
        return time.process_time() - start

    small = min(seconds(3_000) for _ in range(3))
    large = min(seconds(12_000) for _ in range(2))
    assert large < 12 * small  # the rest is for a busy machine


@pytest.mark.slow
@pytest.mark.long
def test_200_000_lines_take_below_15_seconds_and_a_gibibyte() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.scaling", "--module", "200000", "--json"],
                          cwd=ROOT, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    assert measured["lines"] > 190_000
    assert measured["seconds"] < 15
    assert measured["peak_mib"] < 1024
