"""One file of programs: what the analysis says of each, what running it shows, and what is true."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from fuzz.emit import RUNTIME, module
from fuzz.program import Program
from fuzz.truth import Truth
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport

ROOT = Path(__file__).resolve().parent.parent
TYPES = {"p": "*i32", "S": "*i64", "T": "*i64", "L": "*i64", "d": "tensordesc<i32[16]>", "x": "(*i32, *i32)",
         "K": [0, 1], "O": [None, "*i32"]}  # fmt: skip
RUNTIME_TYPES = {"cond": "*i32", "fl": "i64", "n": "i32", "m": "i32"}
SECONDS_PER_KERNEL = 20


@dataclass(frozen=True)
class Case:
    """A program under a name, and its truth."""

    name: str
    program: Program
    truth: Truth


@dataclass(frozen=True)
class Verdict:
    """What the analysis found in one kernel; `failure` says why it found nothing."""

    written: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    through: frozenset[str] = frozenset()
    failure: str = ""

    @property
    def possible(self) -> frozenset[str]:
        return self.written | self.unknown


@dataclass(frozen=True)
class Observation:
    """What running a kernel wrote, `tab>` for memory that `tab` points to; `error` if it did not run."""

    written: frozenset[str] = frozenset()
    error: str = ""


def write_file(cases: Sequence[Case], path: Path) -> None:
    path.write_text(module((c.name, c.program) for c in cases), encoding="utf-8")


def pointers(program: Program) -> frozenset[str]:
    """The reported names of the parameters that address memory."""
    kernel = program.kernel
    names = [n for name, kind in zip(kernel.parameters, kernel.kinds, strict=True) if kind != "K"
             for n in ((f"{name}.0", f"{name}.1") if kind == "x" else (name,))]  # fmt: skip
    return frozenset(names) | {"cond"}


def analyzed(path: Path, cases: Sequence[Case], *, with_spec: bool) -> dict[str, Verdict]:
    """The verdict on each kernel of a file, by the ordinary run of the tool."""
    spec = None
    if with_spec:
        spec = path.with_suffix(".yaml")
        kernels = {c.name: {"args": _arguments(c.program)} for c in cases}
        spec.write_text(yaml.safe_dump({"version": 1, "kernels": kernels}, sort_keys=False), encoding="utf-8")
    report = run(Request((path.name,), path.parent, spec=spec, use_spec=with_spec))
    found = {k.name: _verdict(k) for k in report.kernels}
    missing = "no report of this kernel: " + "; ".join(f.message for f in report.findings[:2])
    return {c.name: found.get(c.name, Verdict(failure=missing)) for c in cases}


def _arguments(program: Program) -> Mapping[str, object]:
    kernel = program.kernel
    given = {name: TYPES[kind] for name, kind in zip(kernel.parameters, kernel.kinds, strict=True)}
    return {**given, **{name: RUNTIME_TYPES[name] for name in RUNTIME}}


def _verdict(kernel: KernelReport) -> Verdict:
    if kernel.failure is not None:
        return Verdict(failure=f"{kernel.failure.stage.value}: {kernel.failure.message}")
    through = frozenset(w.through for w in kernel.indirect_writes)
    return Verdict(frozenset(kernel.mutated), frozenset(kernel.unknown), through)


def observed(path: Path, cases: Sequence[Case], runs: int, seed: int) -> dict[str, Observation]:
    """What running each kernel wrote: `runs` launches, or one per choice of constexprs, in one process."""
    plan = path.with_suffix(".json")
    jobs = [
        {"name": c.name, "seed": seed + i, "runs": runs,
         "parameters": list(zip(c.program.kernel.parameters, c.program.kernel.kinds, strict=True))}
        for i, c in enumerate(cases)
    ]  # fmt: skip
    plan.write_text(json.dumps(jobs), encoding="utf-8")
    command = [sys.executable, "-m", "fuzz.observe", str(path), str(plan)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,  # noqa: S603  # ourselves
                             timeout=60 + SECONDS_PER_KERNEL * len(cases))
    found: dict[str, Observation] = {}
    for line in process.stdout.splitlines():
        if line.startswith("{"):
            result = json.loads(line)
            found[result["kernel"]] = Observation(frozenset(result.get("written", ())), result.get("error", ""))
    last = process.stderr.strip().splitlines()[-1:] or ["no output"]
    return {c.name: found.get(c.name, Observation(error=f"the process ended: {last[0]}")) for c in cases}
