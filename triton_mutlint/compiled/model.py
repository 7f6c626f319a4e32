"""One compiled kernel: its IR, and what Triton notes beside it: for which GPU it was compiled, with which options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.basics import EMPTY, UsageError
from triton_mutlint.types import Target, parse_target

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu")
STAGES = ("source", "ttir", "ttgir")  # the stages whose IR is read, the first that is there


@dataclass(frozen=True)
class CompiledKernel:
    """The IR of one kernel as it was compiled once; `label` says where that is kept, and `entry` says it briefly.

    `texts` has the IR by stage. `options` are compile options (`num_warps`), `values` the arguments that were
    compiled in or that all launches had in common, as texts by parameter, or by position (`(4,)`). `python` is the text
    that it was compiled from, where that is kept as well.
    """

    label: str
    entry: str
    texts: Mapping[str, str]
    target: Target | None = None
    options: Mapping[str, str] = EMPTY
    values: Mapping[str, str] = EMPTY
    python: str = ""


def target_of(metadata: Mapping[str, Any]) -> Target | None:
    """The GPU that a kernel was compiled for, from the metadata of Triton or a trace, if they say so."""
    noted = metadata.get("target")
    backend, arch = ((noted.get("backend"), noted.get("arch")) if isinstance(noted, Mapping)
                     else (metadata.get("backend_name"), metadata.get("arch")))
    try:
        return parse_target(f"{backend}:{arch}", "compiled")
    except UsageError:
        return None


def options_of(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The compile options that tell variants of one kernel apart."""
    return {name: str(metadata[name]) for name in _OPTIONS if metadata.get(name) is not None}
