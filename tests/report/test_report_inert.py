"""What a report shows of a file is never a command to the terminal or the service that reads the report."""

from __future__ import annotations

import json

import pytest

from triton_mutlint.report import FORMATS, render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import Environment, Failure, KernelReport, Location, Report, Stage, Status

NAME = "::error::b.py"
MESSAGE = "bad\n::error::hostile\n  ::stop-commands::x\n##[error]hostile \u202e \x9b31m \x1b[31m \x00"


def _report() -> Report:
    place = Location(NAME, 1)
    failure = Failure(Stage.LOWER, MESSAGE, place)
    return Report(Environment("3.9.0"), (KernelReport("k", place, Status.FAILED, failure=failure),), notes=(MESSAGE,))


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_a_command(name: str) -> None:
    text = render(name, _report(), RenderOptions())
    commands = [line for line in text.splitlines() if line.lstrip().startswith("::")]
    if name == "github":
        commands = [line for line in commands if not line.startswith(("::error file=", "::notice", "::warning file="))]
    assert not commands
    assert "##[" not in text
    if name not in ("json", "sarif"):
        assert not [char for char in text if not char.isprintable() and char != "\n"]


def test_data_is_what_it_was() -> None:
    (kernel,) = json.loads(render("json", _report(), RenderOptions()))["kernels"]
    assert kernel["file"] == NAME
