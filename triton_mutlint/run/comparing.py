"""A verdict beside what torch's own pass says of the same kernel and arguments (`--compare torch`)."""

from __future__ import annotations

from dataclasses import replace

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.lowering.torch_pass import TorchAnswer, ask
from triton_mutlint.types import Kernel, KernelReport, Target, TorchReport, Variant


class Comparison:
    """Asks torch's pass about those variants of one kernel that no siblings tell of: torch would lower each anew."""

    def __init__(self) -> None:
        self._answers: list[tuple[TorchAnswer, set[str]]] = []  # each with what the variant writes

    def observe(self, kernel: Kernel, variant: Variant, effects: VariantEffects, target: Target) -> None:
        seen = ask(kernel, variant, target)
        if seen is not None:
            self._answers.append((seen, effects.written))

    def added(self, report: KernelReport) -> KernelReport:
        """The report of the kernel, with what was compared."""
        if report.failure is not None:
            return report
        missed = {name for seen, written in self._answers for name in written - seen.written}
        taken = {name for seen, _ in self._answers for name in seen.written}
        names = [parameter.name for parameter in report.parameters]
        fuses = [seen.fuses_epilogue for seen, _ in self._answers]
        return replace(report, torch=TorchReport(
            len(self._answers), tuple(n for n in names if n in missed),
            tuple(n for n in names if n in taken and n not in (*report.mutated, *report.unknown)),
            next((seen.gave_up for seen, _ in self._answers if seen.gave_up), ""),
            None if None in fuses or not fuses else all(fuses)))
