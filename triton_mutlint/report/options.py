"""How a report is to be rendered; every format takes the same options and reads what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_mutlint.report.sources import SourceLines

if TYPE_CHECKING:  # fixing is loaded when there is something to fix
    from triton_mutlint.fixes.plan import Offer
    from triton_mutlint.types import Finding


@dataclass(frozen=True)
class RenderOptions:
    """`width` is in terminal cells; `ascii` asks for no character beyond ASCII of the tool's own.

    `quiet` keeps findings and failures alone; `brief` gives a line for each kernel in place of all that is known of it,
    `verbose` adds reads and inference reasons and lifts the limits on how many places are shown. `fail_on` is the least
    severity that fails the run, or `never`. `fixes` holds the findings that `--fix` can settle, each with the edit.
    """

    width: int = 80
    color: bool = False
    ascii: bool = False
    quiet: bool = False
    brief: bool = False
    verbose: bool = False
    fail_on: str = "error"
    sources: SourceLines = field(default_factory=SourceLines, repr=False)
    fixes: Mapping[Finding, Offer] = field(default_factory=dict, repr=False)
