"""Pointers that may be None because a heuristic asks (`"HAS_BIAS": lambda args: args["bias"] is not None`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triton_mutlint.signature.evidence import Dossier
from triton_mutlint.signature.inferred import Inferred
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, Kernel, PointerType


class _Asked(dict[str, Any]):
    """Arguments that remember which of them were looked at."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.names: list[str] = []

    def __getitem__(self, name: str) -> Any:
        self.names.append(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.append(name)
        return super().get(name, default)


def optional_by_heuristics(
    kernel: Kernel, dossiers: Mapping[str, Dossier], known: Iterable[str]
) -> set[str]:
    """The parameters whose None changes a heuristic value that decides what is written."""
    found: set[str] = set()
    for name, heuristic in kernel.heuristics.items():
        dossier = dossiers.get(name)
        if dossier is not None and dossier.slot.matters:
            found.update(_depends(heuristic, kernel.parameter_names))
    return found.difference(known)


def _depends(heuristic: Callable[[Mapping[str, Any]], Any], names: Iterable[str]) -> list[str]:
    present = dict.fromkeys(names, object())
    asked = _Asked(present)
    try:
        normal = heuristic(asked)
        return [n for n in dict.fromkeys(asked.names) if heuristic({**present, n: None}) != normal]
    except Exception:  # the project's own code: with placeholders for tensors it may raise anything
        return []


def with_none(guess: Inferred) -> Inferred:
    if not isinstance(guess.main, (PointerType, DescriptorType)) or len(guess.alternatives) > 1:
        return guess
    none: ArgType = ConstexprValue(None, "None")
    return Inferred((guess.main, none), f"{guess.reason}; a heuristic asks whether it is None")
