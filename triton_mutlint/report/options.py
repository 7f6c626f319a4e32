"""How a report is to be rendered; every format takes the same options and reads what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from triton_mutlint.report.sources import SourceLines


@dataclass(frozen=True)
class RenderOptions:
    """`width` is in terminal cells; `ascii` asks for no character beyond ASCII of the tool's own.

    `quiet` keeps findings, failures and the summary; `verbose` adds reads and inference reasons
    and lifts the limits on how many places are shown. `fail_on` is the least severity that fails
    the run, or `never`.
    """

    width: int = 80
    color: bool = False
    ascii: bool = False
    quiet: bool = False
    verbose: bool = False
    fail_on: str = "error"
    sources: SourceLines = field(default_factory=SourceLines, repr=False)
