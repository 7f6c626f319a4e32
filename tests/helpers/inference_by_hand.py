"""Inference over kernels written as text."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from tests.helpers.kernels_by_hand import loaded
from triton_mutlint.signature.infer import infer
from triton_mutlint.types import ArgType


def guesses(text: str, known: dict[str, ArgType] | None = None, **options: Any) -> dict[str, list[str]]:
    """Per parameter of the last function of `text`, its alternatives as printed, the main one first."""
    found = infer(loaded(dedent(text), **options), known or {})
    return {name: [str(a) for a in guess.alternatives] for name, guess in found.items()}


def main(text: str, **options: Any) -> dict[str, str]:
    return {name: shown[0] for name, shown in guesses(text, **options).items()}
