"""One compiled kernel: its IR, and what the files beside it say of how it was compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_mutlint.basics import EMPTY
from triton_mutlint.types import Target

STAGES = ("source", "ttir", "ttgir")  # the stages whose IR is read, the first that is there


@dataclass(frozen=True)
class PythonText:
    """The Python that a kernel was compiled from: `text` stands from line `line` of `file` on."""

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class CompiledKernel:
    """The IR of one kernel as it was compiled once; `label` says where that is kept, and `entry` says it briefly.

    `texts` has the IR by stage. `options` are compile options (`num_warps`), `values` the arguments that were
    compiled in or that all launches had in common, as texts by parameter, or by position (`(4,)`).
    """

    label: str
    entry: str
    texts: Mapping[str, str]
    target: Target | None = None
    options: Mapping[str, str] = EMPTY
    values: Mapping[str, str] = EMPTY
    python: PythonText | None = None
