"""Kernels drawn from published packages, against verdicts that were found by reading their source."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.helpers.corpus.packages import FIXTURES, Package
from tests.helpers.corpus.sample import SHARES, drawn
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport

READ: dict[str, Any] = yaml.safe_load((FIXTURES / "read.yaml").read_text(encoding="utf-8"))["packages"]


def test_sixty_kernels_were_read() -> None:
    assert {name: len(read["kernels"]) for name, read in READ.items()} == SHARES
    assert sum(SHARES.values()) == 60


@pytest.mark.corpus
def test_those_read_are_those_drawn(package: Package) -> None:
    assert READ[package.name]["version"] == package.version
    read = {f"{k['at']} {k['name']}" for k in READ[package.name]["kernels"]}
    assert {f"{file}:{line} {name}" for file, line, name in drawn(package)} == read


@pytest.mark.corpus
def test_verdicts_are_what_reading_says(package: Package) -> None:
    read = READ[package.name]["kernels"]
    files = tuple(f"{k['at'].rpartition(':')[0]}::{k['name']}" for k in read)
    report = run(Request(files, package.folder, use_spec=False, targets=("cuda:90",)))
    found = {f"{k.location.file}:{k.location.line}": k for k in report.kernels}
    wrong = {k["name"]: said for k in read if (said := _differs(found[k["at"]], k)) is not None}
    assert wrong == {}


def _differs(kernel: KernelReport, read: dict[str, Any]) -> str | None:
    if kernel.failure is not None:
        return f"{kernel.failure.stage.value}: {kernel.failure.message}"
    indirect = {w.through for w in kernel.indirect_writes}
    said = (set(kernel.mutated), set(kernel.unknown), indirect)
    wanted = (set(read["mutated"]), set(), set(read.get("indirect", ())))
    return None if said == wanted else f"mutated, unknown, indirect: {said}, not {wanted}"
