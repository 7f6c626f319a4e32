"""A command line whose engine is replaced: what is tested here is the shell around it."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from triton_mutlint.cli.shell import boundary
from triton_mutlint.config.request import Request
from triton_mutlint.types import (
    Environment,
    Finding,
    KernelReport,
    Location,
    Mutation,
    Origin,
    ParameterKind,
    ParameterReport,
    Report,
    Severity,
    Status,
)


def finding(severity: Severity, suppressed: bool = False) -> Finding:
    place = Location("kernels.py", 1)
    return Finding("TML201", "unanalyzable-op", severity, "what", place, kernel="k", suppressed=suppressed)


def report(*findings: Finding) -> Report:
    parameter = ParameterReport("out", 0, ParameterKind.POINTER, "*fp32", False, Mutation.WRITTEN, writes=True)
    place = Location("kernels.py", 1)
    kernel = KernelReport("k", place, Status.ANALYZED, Origin.INFERRED, 1, 1, (parameter,))
    return Report(Environment("3.9.0"), (kernel,), findings, 1)


class Stream(io.TextIOWrapper):
    """A text stream over bytes that says whether it is a terminal."""

    def __init__(self, encoding: str = "utf-8", terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


@dataclass
class Shell:
    """Runs command lines; `requests` are those that reached the engine, `behave` is the engine."""

    monkeypatch: pytest.MonkeyPatch
    behave: Callable[[Request, Callable[[int, int, str], None]], Report] = lambda request, progress: report()
    requests: list[Request] = field(default_factory=list)
    stdin: bytes = b""
    encoding: str = "utf-8"
    terminal: bool = False
    out: str = ""
    err: str = ""

    def engine(self, request: Request, progress: Callable[[int, int, str], None]) -> Report:
        self.requests.append(request)
        return self.behave(request, progress)

    def __call__(self, *arguments: str) -> int:
        out, err = Stream(self.encoding, self.terminal), Stream(terminal=self.terminal)
        with self.monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(self.stdin)))
            code = boundary.run(list(arguments))
        self.out, self.err = out.text(), err.text()
        return code

    @property
    def left(self) -> str:
        """Standard error without the progress, which a slow machine shows and which is erased again."""
        return re.sub(r"(\r\x1b\[K[^\r\n]*)*\r\x1b\[K", "", self.err)

    @property
    def request(self) -> Request:
        return self.requests[-1]
