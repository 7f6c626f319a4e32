"""What the options of `verify` say of every run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """`timeout` in seconds and `memory` in MiB hold for one run; `runs` is the most that one kernel gets."""

    device: str = "cpu"
    runs: int = 24
    timeout: float = 10.0
    memory: int = 4096
    atol: float = 1e-5
    rtol: float = 1e-5
    jobs: int = 1
    stubs: tuple[str, ...] = ()
    true_import: bool = False
