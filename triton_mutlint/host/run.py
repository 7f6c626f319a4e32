"""The torch ops of a run: found in its files, then analysed."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from triton_mutlint.host.analysis import analyze_op, unfinished
from triton_mutlint.host.core import Kernels, World
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules import HostModules
from triton_mutlint.host.registrar import Registrar
from triton_mutlint.host.registrations import joined, registrations
from triton_mutlint.model import OpReport, SourceFile
from triton_mutlint.watchdog import TooLongError, watched

OP_SECONDS = 60.0  # for one op; of 600 in published packages the longest takes 25


def analyze_ops(sources: Sequence[SourceFile], cwd: Path, known: Mapping[Path, tuple[str, str, ast.Module | None]],
                registrars: Mapping[str, Registrar], kernels: Kernels, seconds: float,
                ) -> tuple[tuple[OpReport, ...], tuple[str, ...]]:
    """A report for every op that `sources` register, by file and line, and notes on what took too long.

    `known` gives the files that were read already; `kernels` is asked for what each launched kernel
    writes; `seconds` may be spent on one file's registrations, and on one op.
    """
    modules = HostModules(cwd, known)
    found: list[OpRegistration] = []
    notes: list[str] = []
    for source in sources:
        module = modules.module(source.path)
        if module is None:
            continue
        try:
            with watched(seconds):
                found.extend(registrations(module, modules, registrars))
        except TooLongError as error:
            notes.append(f"the torch ops of {source.display} are left out: reading what it registers was {error}")
    ops = joined(found)
    by_name: dict[str, list[OpRegistration]] = {}
    for op in ops:
        by_name.setdefault(op.name, []).append(op)
    for module in dict.fromkeys(op.module for op in ops):
        modules.read_imports(module)
    world = World(modules, kernels, by_name)
    reports = [_analyzed(op, world, seconds) for op in ops]
    return tuple(sorted(reports, key=lambda r: (r.location, r.name))), tuple(notes)


def _analyzed(op: OpRegistration, world: World, seconds: float) -> OpReport:
    try:
        with watched(min(seconds, OP_SECONDS)):
            return analyze_op(op, world)
    except TooLongError as error:
        return unfinished(op, f"following its code was {error}")
