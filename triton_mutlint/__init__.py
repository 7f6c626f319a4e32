"""Which parameters may a Triton kernel write?

    import triton_mutlint

    report = triton_mutlint.analyze(add_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": 128})
    assert report.mutated == ("out_ptr",)

`analyze` looks at one kernel of a running program, `lint` at files, as the command line does.
"""

from __future__ import annotations

from triton_mutlint.version import __version__

TYPE_CHECKING = False  # importing `typing` takes most of the time in which an interrupt would show a traceback
if TYPE_CHECKING:  # imported on first use: `triton-mutlint --version` needs none of it
    from typing import Any

    from triton_mutlint.api import analyze
    from triton_mutlint.config.request import Request
    from triton_mutlint.run.run import run as lint
    from triton_mutlint.types import KernelReport, Report

__all__ = ["KernelReport", "Report", "Request", "__version__", "analyze", "lint"]

_HOMES = {
    "analyze": ("triton_mutlint.api", "analyze"),
    "lint": ("triton_mutlint.run.run", "run"),
    "Request": ("triton_mutlint.config.request", "Request"),
    "KernelReport": ("triton_mutlint.types", "KernelReport"),
    "Report": ("triton_mutlint.types", "Report"),
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home[0]), home[1])
