"""Verdicts on the kernels that host code launches: those of the run, and others analysed when first met."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from triton_mutlint.host.modules import HostModule
from triton_mutlint.model import KernelReport, SourceFile

Analyze = Callable[[SourceFile], Iterable[KernelReport]]


@dataclass
class OpKernels:
    """Kernels by where they stand. `analyze` gives the verdicts on the kernels that a source file names."""

    reports: Iterable[KernelReport]
    analyze: Analyze
    _known: dict[tuple[str, int], KernelReport | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = {(r.location.file, r.location.line): r for r in self.reports}

    def verdict(self, module: HostModule, node: ast.FunctionDef) -> KernelReport | str:
        """What a jit function writes, or why that is not known."""
        key = (module.display, node.lineno)
        if key not in self._known:
            self._known[key] = self._met(module, node)
        return self._known[key]

    def _met(self, module: HostModule, node: ast.FunctionDef) -> KernelReport | str:
        source = SourceFile(module.path, module.display, module.text, frozenset([node.name]))
        found = list(self.analyze(source))
        for report in found:
            if report.location.line == node.lineno:
                return report
        if len(found) == 1 and found[0].failure is not None:
            return found[0].failure.message.splitlines()[0]
        return "it could not be loaded"
