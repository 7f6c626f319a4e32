"""What Triton notes beside the IR of a kernel: for which GPU it was compiled, and with which options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton_mutlint.basics import UsageError
from triton_mutlint.types import Target, parse_target

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu")


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
