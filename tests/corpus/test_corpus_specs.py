"""Kernels of published packages with specs written by hand, and the mutated sets that reading found."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.helpers.corpus.packages import FIXTURES, Package
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Report

SPECS = {"liger-kernel": "liger", "fla-core": "fla", "flag-gems": "flag_gems", "mamba-ssm": "mamba", "sglang": "sglang"}


@lru_cache
def spec_of(package: Package) -> tuple[Path, dict[str, Any]]:
    path = FIXTURES / f"{SPECS[package.name]}.yaml"
    return path, yaml.safe_load(path.read_text(encoding="utf-8"))["kernels"]


def test_at_least_fifteen_kernels_have_specs() -> None:
    kernels = [k for name in SPECS for k in spec_of(Package(name, ""))[1]]
    assert len(kernels) >= 15


@pytest.mark.corpus
def test_mutated_sets_are_those_of_the_spec(package: Package) -> None:
    if package.name not in SPECS:
        pytest.skip("no hand-written spec")
    path, kernels = spec_of(package)
    report = run(Request(tuple(kernels), package.folder, spec=path, targets=("cuda:90",)))
    assert _verdicts(report, tuple(kernels)) == {name: set(k["mutates"]) for name, k in kernels.items()}
    assert [f.message for f in report.findings if f.rule in ("TML101", "TML102", "TML904")] == []


def _verdicts(report: Report, names: tuple[str, ...]) -> dict[str, set[str] | str]:
    by_key: dict[str, set[str] | str] = defaultdict(lambda: "no such kernel")
    for kernel in report.kernels:
        key = f"{kernel.location.file}::{kernel.name}"
        by_key[key] = kernel.failure.message if kernel.failure else set(kernel.mutated) | set(kernel.unknown)
    return {name: by_key[name] for name in names}
