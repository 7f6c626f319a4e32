"""`python -m fuzz.mutate`: breaks the analysis in one place at a time and sees whether a test notices.

The tests are the golden reports of every known-answer kernel, from TTIR that is lowered once, then the unit
tests of the analysis and of the asm reader. What no test notices is printed as a survivor.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pytest

from fuzz.mutants import Mutant, Unfit, mutants
from tests.helpers.casebook import BOOKS, report_of
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.run import kernel as pipeline
from triton_mutlint.run import lint as linting
from triton_mutlint.run.kernel import Tools
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import Kernel, KernelReport, Lowered, Plan, Target, Variant

SECONDS = 120  # per mutant: one that does not end is noticed
UNIT_TESTS = {"ops": ("tests/analysis", "tests/ttir/test_ttir_ops.py"), "asm": ("tests/ttir/test_ttir_asm.py",)}
OTHER_TESTS = ("tests/analysis",)
KILLED, SURVIVED, UNFIT = 1, 0, 3


@dataclass(frozen=True)
class _Job:
    kernel: Kernel
    plan: Plan
    targets: Sequence[Target]
    tools: Tools
    expected: KernelReport


class _Lowered:
    """A lowerer that remembers what it lowered."""

    def __init__(self) -> None:
        self._lowerer = Lowerer()
        self._lowered: dict[tuple[str, ...], Lowered] = {}
        self._simplified: dict[tuple[str, ...], Lowered] = {}
        self._keys: dict[int, tuple[str, ...]] = {}

    def lower(self, kernel: Kernel, variant: Variant, target: Target) -> Lowered:
        key = (str(kernel.location), str({n: str(a) for n, a in variant.args.items()}), str(target))
        if key not in self._lowered:
            self._lowered[key] = self._lowerer.lower(kernel, variant, target)
            self._keys[id(self._lowered[key])] = key
        return self._lowered[key]

    def simplify(self, lowered: Lowered) -> Lowered:
        key = self._keys[id(lowered)]
        if key not in self._simplified:
            self._simplified[key] = self._lowerer.simplify(lowered)
        return self._simplified[key]

    def simplify_all(self) -> None:
        """Both texts of everything: which one counts is for the analysis to say."""
        for lowered in self._lowered.values():
            with contextlib.suppress(Exception):  # one that cannot be simplified is not asked for later
                self.simplify(lowered)


def _jobs() -> list[_Job]:
    """Every kernel of the books as the pipeline gets it, with the report that the goldens hold."""
    jobs: list[_Job] = []
    lowered = _Lowered()
    original = pipeline.analyze_kernel

    def remember(kernel: Kernel, plan: Plan, targets: Sequence[Target], tools: Tools) -> KernelReport:
        cached = Tools(cast(Lowerer, lowered), tools.places, tools.opaque_asm)
        report = original(kernel, plan, targets, cached)
        jobs.append(_Job(kernel, plan, targets, cached, report))
        return report

    setattr(linting, "analyze_kernel", remember)  # noqa: B010  # mypy knows it as a constant
    with tempfile.TemporaryDirectory() as folder:
        for book in BOOKS:
            report_of(book, Path(folder))
    setattr(linting, "analyze_kernel", original)  # noqa: B010
    lowered.simplify_all()
    setattr(pipeline, "parse", lru_cache(maxsize=None)(parse))  # noqa: B010  # the parser is not mutated
    return [job for job in jobs if job.expected.failure is None]


def _notices(jobs: Sequence[_Job], tests: Sequence[str]) -> bool:
    for job in jobs:
        if pipeline.analyze_kernel(job.kernel, job.plan, job.targets, job.tools) != job.expected:
            return True
    return pytest.main([*tests, "-q", "-x", "-p", "no:cacheprovider", "-p", "no:warnings", "--no-header"]) != 0


def _fate(mutant: Mutant, jobs: Sequence[_Job]) -> int:
    """KILLED, SURVIVED or UNFIT, found out in a process of its own."""
    child = os.fork()
    if child == 0:
        code = KILLED
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            signal.alarm(SECONDS)
            mutant.apply()
            tests = UNIT_TESTS.get(mutant.name[:3], OTHER_TESTS)
            code = KILLED if _notices(jobs, tests) else SURVIVED
        except Unfit:
            code = UNFIT
        except BaseException:  # whatever a broken analysis raises, a test would have failed
            code = KILLED
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else KILLED


def run(pattern: str, every: int, seconds: float) -> Iterator[tuple[Mutant, int]]:
    """The fate of each mutant whose name matches, or of every n-th of them, as long as there is time."""
    jobs = _jobs()
    _notices(jobs, sum(UNIT_TESTS.values(), OTHER_TESTS))  # what is read and imported once is there for every mutant
    baseline = _fate(Mutant("none", lambda: None), jobs)
    if baseline != SURVIVED:
        raise SystemExit("the tests fail without any mutant")
    end = time.monotonic() + seconds
    chosen: list[Any] = [m for m in mutants() if re.search(pattern, m.name)]
    for mutant in chosen[::every]:
        if time.monotonic() > end:
            return
        yield mutant, _fate(mutant, jobs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutate", description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name matches this expression")
    parser.add_argument("--every", type=int, default=1, help="every n-th of them")
    parser.add_argument("--seconds", type=float, default=36_000, help="stop after this time")
    options = parser.parse_args()
    counts = {KILLED: 0, SURVIVED: 0, UNFIT: 0}
    for mutant, fate in run(options.only, options.every, options.seconds):
        counts[fate] += 1
        if fate == SURVIVED:
            sys.stdout.write(f"survivor: {mutant.name}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts[KILLED]} noticed, {counts[SURVIVED]} survived, {counts[UNFIT]} do not fit\n")
    return 1 if counts[SURVIVED] else 0


if __name__ == "__main__":
    sys.exit(main())
