"""A verdict beside what torch's own pass says of the same kernel and arguments (`--compare torch`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.lowering.torch_pass import TorchAnswer, ask
from triton_mutlint.run.kernel import Observe
from triton_mutlint.types import Kernel, KernelReport, Target, TorchReport, Variant


def compared(analyze: Callable[[Observe], KernelReport]) -> KernelReport:
    """What `analyze` gives, with what was compared: it tells of the variants that no siblings tell of."""
    answers: list[tuple[TorchAnswer, set[str]]] = []  # each with what the variant writes

    def observe(kernel: Kernel, variant: Variant, effects: VariantEffects, target: Target) -> None:
        if (seen := ask(kernel, variant, target)) is not None:  # torch lowers each anew
            answers.append((seen, effects.written))

    report = analyze(observe)
    if report.failure is not None:
        return report
    missed = {name for seen, written in answers for name in written - seen.written}
    taken = {name for seen, _ in answers for name in seen.written}
    names = [parameter.name for parameter in report.parameters]
    fuses = [seen.fuses_epilogue for seen, _ in answers]
    return replace(report, torch=TorchReport(
        len(answers), tuple(n for n in names if n in missed),
        tuple(n for n in names if n in taken and n not in (*report.mutated, *report.unknown)),
        next((seen.gave_up for seen, _ in answers if seen.gave_up), ""),
        None if None in fuses or not fuses else all(fuses)))
