"""What the command and the processes that run kernels tell each other: plain values, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from triton_mutlint.types import EMPTY

STRAY = ""  # in place of a parameter: addresses that belong to none
FILLS = ("random", "ones", "zeros", "ramp", "extreme")


@dataclass(frozen=True)
class VariantCase:
    """One variant to run: every argument as a spec says it, and what is predicted of it.

    `written` are the parameters that may be written in it, `through` those through which addresses may
    be; `label` is how reports tell it from its siblings.
    """

    args: Mapping[str, str]
    written: tuple[str, ...]
    through: tuple[str, ...]
    options: Mapping[str, Any] = EMPTY
    label: str = ""
    shapes: Mapping[str, tuple[int, ...]] = EMPTY  # of a recorded launch: before those of the job
    values: Mapping[str, Any] = EMPTY


@dataclass(frozen=True)
class RunCase:
    """One run: the variant, the grid, and how tensors and scalars get their values.

    `fill` is one of FILLS; `size` scales the integers that look like dimensions ("small", "medium", "large").
    """

    variant: int
    grid: tuple[int, ...]
    fill: str
    seed: int = 0
    size: str = "medium"

    def __str__(self) -> str:
        return f"variant {self.variant}, grid {list(self.grid)}, {self.size} {self.fill} values, seed {self.seed}"


@dataclass(frozen=True)
class Job:
    """One kernel to run: where its source is, and every run of it.

    `shapes` and `values` are what the spec's `verify` gives. Times in seconds, `memory` in MiB.
    """

    path: str
    display: str
    text: str
    kernel: str
    line: int
    variants: tuple[VariantCase, ...]
    runs: tuple[RunCase, ...]
    shapes: Mapping[str, tuple[int, ...]] = EMPTY
    values: Mapping[str, Any] = EMPTY
    addresses: tuple[str, ...] = ()  # integers and tables that hold addresses
    globals: Mapping[str, Any] = EMPTY
    stubs: tuple[str, ...] = ()
    true_import: bool = False
    device: str = "cpu"
    timeout: float = 10.0
    memory: int = 4096
    atol: float = 1e-5
    rtol: float = 1e-5


@dataclass(frozen=True)
class Difference:
    """How far an output of the run on clones is from that of the run in place, and where that is largest."""

    parameter: str
    largest: float
    index: int  # of the element, counted flat
    count: int  # elements outside the tolerance


@dataclass(frozen=True)
class RunResult:
    """What one run showed; `status` is "ok", or why there is nothing to compare.

    `changed` are the parameters whose memory differs afterwards, `through` those through whose addresses
    something was written. `outside` counts, per parameter, writes beside its memory, `read_outside` reads.
    `leaked` are originals that changed though only clones of the parameters predicted to be written were
    passed; `differences` compare those clones with the run in place.
    """

    run: int
    status: str = "ok"
    message: str = ""
    changed: tuple[str, ...] = ()
    through: tuple[str, ...] = ()
    outside: Mapping[str, int] = EMPTY
    read_outside: int = 0
    leaked: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = field(default=())
    compared: bool = False  # the run on clones took place
    seconds: float = 0.0


def dump(value: Any) -> str:
    """One line of JSON for a dataclass of this module or a plain mapping."""
    return json.dumps(value if isinstance(value, Mapping) else plain(value), default=_encode)


def plain(value: Any) -> dict[str, Any]:
    """A dataclass of this module as plain values."""
    fields: dict[str, Any] = asdict(value)
    return {name: dict(field) if isinstance(field, Mapping) else field for name, field in fields.items()}


def _encode(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def job_from(told: Mapping[str, Any]) -> Job:
    return Job(**{
        **told,
        "variants": tuple(map(_variant_from, told["variants"])),
        "runs": tuple(RunCase(**{**r, "grid": tuple(r["grid"])}) for r in told["runs"]),
        "shapes": {n: tuple(s) for n, s in told["shapes"].items()},
        "addresses": tuple(told["addresses"]),
        "stubs": tuple(told["stubs"]),
    })


def _variant_from(told: Mapping[str, Any]) -> VariantCase:
    return VariantCase(**{**told, "written": tuple(told["written"]), "through": tuple(told["through"]),
                          "shapes": {n: tuple(s) for n, s in told["shapes"].items()}})


def result_from(told: Mapping[str, Any]) -> RunResult:
    lists = {n: tuple(told[n]) for n in ("changed", "through", "leaked")}
    return RunResult(**{**told, **lists, "differences": tuple(Difference(**d) for d in told["differences"])})
