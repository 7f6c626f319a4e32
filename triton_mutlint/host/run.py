"""The torch ops of a run: found in its files, then analysed."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from triton_mutlint.host.analysis import analyze_op
from triton_mutlint.host.core import Kernels, World
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules import HostModules
from triton_mutlint.host.registrar import Registrar
from triton_mutlint.host.registrations import joined, registrations
from triton_mutlint.model import OpReport, SourceFile


def analyze_ops(sources: Sequence[SourceFile], cwd: Path, known: Mapping[Path, tuple[str, str, ast.Module | None]],
                registrars: Mapping[str, Registrar], kernels: Kernels) -> tuple[OpReport, ...]:
    """A report for every op that `sources` register, by file and line.

    `known` gives the files that were read already; `kernels` is asked for what each launched kernel
    writes.
    """
    modules = HostModules(cwd, known)
    found: list[OpRegistration] = []
    for source in sources:
        module = modules.module(source.path)
        if module is not None:
            found.extend(registrations(module, modules, registrars))
    ops = joined(found)
    by_name: dict[str, list[OpRegistration]] = {}
    for op in ops:
        by_name.setdefault(op.name, []).append(op)
    world = World(modules, kernels, by_name)
    return tuple(sorted((analyze_op(op, world) for op in ops), key=lambda r: (r.location, r.name)))
