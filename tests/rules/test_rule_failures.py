"""Kernels that could not be analysed: a warning where the tool guessed, else an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.rule_samples import subject_of
from triton_mutlint.config.request import Config, Request
from triton_mutlint.contracts.snapshot import Contract, Key, dump
from triton_mutlint.report.terminal.summary import fails
from triton_mutlint.rules import RULES
from triton_mutlint.run.run import run
from triton_mutlint.types import Failure, Finding, Severity, Stage, Status

HEAD = "import triton\nimport triton.language as tl\n\n\n"
KERNELS = {
    "TML902": "@triton.jit\ndef k(x_ptr, n):\n    tl.store(x_ptr + tl.arange(0, 100), n)\n",
    "TML901": "@triton.jit\ndef k(x_ptr, n):\n    tl.store(x_ptr + tl.arange(0, 128), n + OFFSET)\n",
}
GIVEN = {
    "nothing": ("", "", False),
    "another kernel": ("", "  other: {args: {x_ptr: i32}}\n", False),
    "defaults": ("", "  other: {mutates: []}\ndefaults: {types: {'*_ptr': '*fp32'}}\n", False),
    "no arguments": ("", "  k: {allow: [TML201]}\n", False),
    "arguments": ("", "  k: {args: {x_ptr: '*fp32', n: i32}}\n", True),
    "some arguments": ("", "  k.py::k: {args: {n: i32}}\n", True),
    "a compact signature": ("", "  'k*': {args: '*fp32, i32'}\n", True),
    "declared in the spec": ("", "  k: {mutates: [x_ptr]}\n", True),
    "declared in a comment": ("# triton-mutlint: mutates=x_ptr\n", "", True),
}


def failure(folder: Path, rule: str, given: str = "nothing", config: Config | None = None, *,
            spec: bool = True) -> Finding:
    comment, entries, _ = GIVEN[given]
    (folder / ".git").mkdir()
    (folder / "k.py").write_text(HEAD + comment + KERNELS[rule])
    if entries:
        (folder / "triton-mutlint.yaml").write_text(f"version: 1\nkernels:\n{entries}")
    request = Request(("k.py",), folder, config=config or Config(), use_spec=spec)
    (found,) = (f for f in run(request).findings if f.rule in KERNELS)
    assert found.rule == rule
    return found


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("rule", KERNELS)
def test_it_is_an_error_where_the_user_said_something_of_the_kernel(rule: str, given: str, tmp_path: Path) -> None:
    found = failure(tmp_path, rule, given)
    assert found.severity is (Severity.ERROR if GIVEN[given][2] else Severity.WARNING)
    assert fails(found, "error") == GIVEN[given][2]
    assert fails(found, "warning")


@pytest.mark.parametrize("rule", KERNELS)
def test_a_spec_that_is_not_used_gives_no_arguments(rule: str, tmp_path: Path) -> None:
    assert failure(tmp_path, rule, "arguments", spec=False).severity is Severity.WARNING


@pytest.mark.parametrize(("config", "given", "expected"), [
    (Config(strict=True), "nothing", Severity.ERROR),
    (Config(severity={"TML901": Severity.ERROR, "TML902": Severity.ERROR}), "nothing", Severity.ERROR),
    (Config(severity={"TML901": Severity.INFO, "TML902": Severity.INFO}), "arguments", Severity.INFO),
    (Config(severity={"TML901": Severity.INFO, "TML902": Severity.INFO}, strict=True), "nothing", Severity.INFO),
    (Config(severity={"TML201": Severity.ERROR}), "nothing", Severity.WARNING),
])
@pytest.mark.parametrize("rule", KERNELS)
def test_strict_and_severities(rule: str, config: Config, given: str, expected: Severity, tmp_path: Path) -> None:
    assert failure(tmp_path, rule, given, config).severity is expected


@pytest.mark.parametrize("argument", ["broken.py", "."])
def test_a_file_that_cannot_be_read_or_parsed_is_an_error(argument: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(f"{HEAD}@triton.jit\ndef k(x_ptr:\n")
    (found,) = run(Request((argument,), tmp_path)).findings
    assert (found.rule, found.severity) == ("TML901", Severity.ERROR)


def test_a_kernel_that_ends_the_process_is_an_error() -> None:
    subject = subject_of("def k(x_ptr):\n    tl.store(x_ptr, 1)\n")
    for crashed, expected in ((True, Severity.ERROR), (False, Severity.WARNING)):
        report = replace(subject.report, status=Status.FAILED, failure=Failure(Stage.LOWER, "died", crashed=crashed))
        (found,) = RULES["TML902"].check(replace(subject, report=report))
        assert found.severity is expected


@pytest.mark.parametrize(("held", "expected"), [
    (Contract({"x_ptr": ("written", "")}), [Severity.ERROR]), (Contract(), [Severity.ERROR]),
    (Contract(analyzed=False), []), (None, []),
])
def test_a_verdict_of_the_snapshot_that_is_lost_is_an_error(
    held: Contract | None, expected: list[Severity], tmp_path: Path,
) -> None:
    """What callers rely on cannot be checked then: that the arguments are guessed is no excuse."""
    (tmp_path / "k.py").write_text(HEAD + KERNELS["TML902"])
    (tmp_path / "held").write_text(dump({Key("k.py", "k" if held else "other"): held or Contract()}))
    found = run(Request(("k.py::k",), tmp_path, snapshot=Path("held"))).findings
    assert [f.severity for f in found if f.rule == "TML107"] == expected
