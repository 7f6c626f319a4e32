"""From the verdicts on kernels to runs: which variants, with which values, on which grids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from triton_mutlint.analysis import VariantEffects
from triton_mutlint.lowering.lower import flat_args
from triton_mutlint.run.plan import Specs
from triton_mutlint.spec.as_yaml import argument_spec, argument_text, plain_text
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.types import (
    EMPTY,
    ArgType,
    FileResult,
    Kernel,
    KernelReport,
    Mutation,
    PointerType,
    ScalarType,
    Status,
    Variant,
)
from triton_mutlint.verify.model import Subject
from triton_mutlint.verify.wire import FILLS, Job, RunCase, Settings, VariantCase

MAX_VARIANTS = 12  # that are run of one kernel
ENOUGH = 16  # runs of one variant
GRIDS = ((1,), (4,), (2, 2, 2))
SIZES = ("medium", "small", "large", "one")
_CASTS = re.compile(r"pointer_type|int_to_ptr|to\(tl\.pointer|asm")
_ADDRESS = re.compile(r"ptr|addr|pointer", re.IGNORECASE)
_PROGRAMS = 64  # of a recorded grid that are run: the interpreter takes them one by one
_ELEMENTS = 1 << 22  # of a recorded tensor that are made
Seen = Sequence[tuple[Variant, VariantEffects]]
Analyze = Callable[[KernelSpec], KernelReport]  # of the kernel, with the arguments that an entry gives


@dataclass(frozen=True)
class Cases:
    """The variants of one kernel that are run; `refused` says why there are none.

    `addresses` are the integers and tables that hold addresses.
    """

    variants: tuple[VariantCase, ...] = ()
    addresses: tuple[str, ...] = ()
    refused: str = ""


def cases_of(file: FileResult, kernel: Kernel, report: KernelReport, seen: Seen, specs: Specs,
             analyze: Analyze) -> Cases:
    """What to run of one analysed kernel; `seen` are its variants as they were lowered, `analyze` does it again."""
    if report.status is not Status.ANALYZED:
        return Cases()
    given = _given(kernel, specs)
    variants: list[VariantCase] = []
    each = list({tuple((n, str(a)) for n, a in v.args.items()): (v, e) for v, e in reversed(seen)}.values())[::-1]
    most = min(len(each), MAX_VARIANTS)  # evenly from all of them: neighbours are alike
    grid = given.get("grid") or GRIDS
    grids = tuple(map(tuple, grid if isinstance(grid[0], (list, tuple)) else [grid]))
    for variant, effects in (each[i * len(each) // most] for i in range(most)):
        texts = _texts(kernel, variant)
        if isinstance(texts, str):
            return Cases(refused=texts)
        through = tuple(sorted({write.through for write in effects.indirect_writes}))
        written = tuple(sorted(effects.written | effects.unknown))
        variants.append(VariantCase(texts, written, through, grids, variant.options))
    return Cases((*variants, *_recorded(kernel, variants, given.get("launches", ()), analyze)),
                 _addresses(file, report, [v for v, _ in seen]))


def subject_of(file: FileResult, kernel: Kernel, report: KernelReport, cases: Cases, settings: Settings,
               specs: Specs) -> Subject[KernelReport, Job]:
    """How to run one kernel, of which `cases` is what its analysis tells."""
    spec, given = specs.of(kernel.source), _given(kernel, specs)
    refused = f"the spec skips it: {given['skip']}" if given.get("skip") else cases.refused
    if report.status is not Status.ANALYZED or refused:
        return Subject(report, refused=refused)
    variants = tuple(case if case.launch is None else
                     replace(case, values=given["launches"][case.launch].get("values", EMPTY))
                     for case in cases.variants)
    count = sum(case.launch is not None for case in variants)
    return Subject(report, Job(
        name=kernel.name, path=str(kernel.path), display=kernel.source.display, text=kernel.source.text,
        line=kernel.location.line, variants=variants,
        runs=tuple(_runs(variants, min(settings.runs + count, ENOUGH * len(variants)))),
        shapes={n: _shape(s) for n, s in given.get("shapes", EMPTY).items()}, values=given.get("values", EMPTY),
        addresses=cases.addresses, globals=spec.globals if spec else EMPTY, settings=settings), sources=file.sources)


def _given(kernel: Kernel, specs: Specs) -> Mapping[str, Any]:
    """What the spec says of runs."""
    entry = specs.entry(kernel)
    return (entry.verify if entry is not None else None) or EMPTY


def _shape(given: Any) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, list) else (int(given),)


def _texts(kernel: Kernel, variant: Variant) -> dict[str, str] | str:
    """Every argument as a spec says it, or which one a spec has no words for."""
    parameters = {p.name: p for p in kernel.parameters}
    texts: dict[str, str] = {}
    for name, arg in variant.args.items():
        text = argument_text(kernel, parameters[name], (arg,))
        if text is None:
            return f"{name}={arg} cannot be given to another process: a spec has no name for it"
        texts[name] = text
    return texts


def _recorded(kernel: Kernel, variants: Sequence[VariantCase], launches: Sequence[Mapping[str, Any]],
              analyze: Analyze) -> Iterator[VariantCase]:
    """A case for each launch that `record` wrote into the spec, where it is complete.

    What is predicted of one is what its variant's analysis says; where it is not among `variants` it is
    analysed by itself, and left out if that fails.
    """
    for number, launch in enumerate(launches):
        args = {**(variants[0].args if variants else {}),
                **{n: str(plain_text(value)) for n, value in launch.get("args", {}).items()}}
        if not set(kernel.parameter_names) <= args.keys():
            continue
        same = next((v for v in variants if v.args == args), None)
        predicted = (same.written, same.through) if same else _predicted(args, kernel, analyze)
        if predicted is not None:
            shapes = {n: _shape(s) for n, s in launch.get("shapes", {}).items()}
            shapes = {n: (min(s[0], _ELEMENTS),) if len(s) == 1 else s for n, s in shapes.items()}  # not of descriptors
            grids = (_cut(launch["grid"]),) if "grid" in launch else GRIDS
            yield VariantCase(args, *predicted, grids, launch=number, shapes=shapes)


def _predicted(args: Mapping[str, str], kernel: Kernel,
               analyze: Analyze) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    specs = [spec for name, text in args.items() if (spec := argument_spec(name, text)) is not None]
    report = analyze(KernelSpec(kernel.name, args=tuple(specs)))
    if report.status is not Status.ANALYZED:
        return None
    may = tuple(sorted(p.name for p in report.parameters if p.mutation is not Mutation.UNWRITTEN))
    return may, tuple(sorted({write.through for write in report.indirect_writes}))


def _cut(grid: Sequence[int]) -> tuple[int, ...]:
    cut = list(grid)
    while prod(cut) > _PROGRAMS:
        largest = cut.index(max(cut))
        cut[largest] = max(1, cut[largest] // 2)
    return tuple(cut)


def _runs(variants: Sequence[VariantCase], most: int) -> Iterator[RunCase]:
    """Every variant with one kind of values, then with the next, until there are `most`."""
    for count in range(most):
        turn, variant = divmod(count, len(variants))
        step, grids = turn + variant, variants[variant].grids  # or variants would each see one grid and one size only
        yield RunCase(variant, grids[step % len(grids)], FILLS[turn % len(FILLS)], turn, SIZES[step % len(SIZES)])


def _addresses(file: FileResult, report: KernelReport, variants: Sequence[Variant]) -> tuple[str, ...]:
    """Integers and tables of integers that hold addresses, as far as can be told."""
    leaves: dict[str, ArgType] = {}
    for variant in variants:
        leaves.update(flat_args(variant.args))
    named = {write.through for write in report.indirect_writes}
    casts = any(_CASTS.search(path.read_text("utf-8", "replace")) for path in file.sources if path.is_file())
    found = set()
    for name, kind in leaves.items():
        if isinstance(kind, PointerType) and kind.element in ("i64", "u64") and (casts or name in named):
            found.add(name)
        is_long = isinstance(kind, ScalarType) and kind.name in ("i64", "u64")
        if is_long and (name in named or (casts and _ADDRESS.search(name))):
            found.add(name)
    return tuple(sorted(found))
