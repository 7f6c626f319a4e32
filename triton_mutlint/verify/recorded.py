"""Launches that `record` wrote into a spec, as runs: exactly what the program passed, as far as it was noted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from triton_mutlint.spec.as_yaml import argument_spec, plain_text
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.types import Kernel, KernelReport, Mutation, Status
from triton_mutlint.verify.wire import VariantCase

Analyze = Callable[[KernelSpec], KernelReport]  # of the kernel, with the arguments that an entry gives
_PROGRAMS = 64  # of a recorded grid that are run: the interpreter takes them one by one
_ELEMENTS = 1 << 22  # of a recorded tensor that are made


def recorded_cases(kernel: Kernel, variants: Sequence[VariantCase], launches: Sequence[Mapping[str, Any]],
                   analyze: Analyze) -> list[tuple[VariantCase, tuple[int, ...]]]:
    """A case and its grid (empty: not noted) for each launch whose arguments are complete.

    What is predicted of one is what its variant's analysis says; where it is not among `variants` it is
    analysed by itself, and left out if that fails.
    """
    cases = []
    for launch in launches:
        args = {**_defaults(variants), **{n: str(plain_text(value)) for n, value in launch.get("args", {}).items()}}
        if not set(kernel.parameter_names) <= args.keys():
            continue
        same = next((v for v in variants if dict(v.args) == args), None)
        predicted = (same.written, same.through) if same else _predicted(args, kernel, analyze)
        if predicted is None:
            continue
        shapes = {n: _limited(tuple(s) if isinstance(s, list) else (s,)) for n, s in launch.get("shapes", {}).items()}
        case = VariantCase(args, *predicted, label="recorded", shapes=shapes, values=launch.get("values", {}))
        cases.append((case, _grid(tuple(launch.get("grid", ())))))
    return cases


def _predicted(args: Mapping[str, str], kernel: Kernel,
               analyze: Analyze) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    specs = [spec for name, text in args.items() if (spec := argument_spec(name, text)) is not None]
    report = analyze(KernelSpec(kernel.name, args=tuple(specs)))
    if report.status is not Status.ANALYZED:
        return None
    may = tuple(sorted(p.name for p in report.parameters if p.mutation is not Mutation.UNWRITTEN))
    return may, tuple(sorted({write.through for write in report.indirect_writes}))


def _defaults(variants: Sequence[VariantCase]) -> Mapping[str, str]:
    return variants[0].args if variants else {}


def _limited(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A flat tensor's size, cut; a descriptor's shape as it is."""
    return (min(shape[0], _ELEMENTS),) if len(shape) == 1 else shape


def _grid(grid: tuple[int, ...]) -> tuple[int, ...]:
    cut = list(grid)
    while prod(cut) > _PROGRAMS:
        largest = cut.index(max(cut))
        cut[largest] = max(1, cut[largest] // 2)
    return tuple(cut)

