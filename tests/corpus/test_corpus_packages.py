"""Published packages, linted whole with nothing given: what loads, what is analysed, and at what cost."""

from __future__ import annotations

import functools
import operator

import pytest

from tests.helpers.corpus.measure import measure, tally
from tests.helpers.corpus.packages import Package, selected

pytestmark = pytest.mark.corpus

LOADED, ANALYZED = 0.998, 0.95  # shares, over all packages of a run
PEAK_MIB = 1024
SLOWEST_KERNEL = 180.0  # seconds: more is a hang


def test_a_package_is_linted_in_silence_and_within_bounds(package: Package) -> None:
    survey, printed = measure(package)
    assert printed == ""
    assert survey.peak_mib < PEAK_MIB
    assert max(survey.slowest.values()) < SLOWEST_KERNEL
    assert survey.load_seconds < survey.lower_seconds


def test_every_failure_says_where_why_and_what_to_do(package: Package) -> None:
    survey, _ = measure(package)
    lacking = [f for f in survey.failed if not (f.stage and f.message.strip() and f.hint.strip())]
    assert lacking == []
    assert len(survey.failed) + len(survey.verdicts) == survey.kernels


def test_nearly_everything_loads_and_is_analyzed() -> None:
    total = functools.reduce(operator.add, (tally(measure(p)[0]) for p in selected()))
    assert total.loaded >= LOADED, total
    assert total.analyzed >= ANALYZED, total
