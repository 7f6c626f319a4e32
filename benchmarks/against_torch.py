"""The verdict on a kernel against PyTorch's own pass, on the same kernels and arguments, in one process.

    python -m benchmarks.against_torch [--repeat 3] [BOOK ...]
    python -m benchmarks.against_torch --packages FOLDER [--every 5]   # without a spec: all variants of a kernel
    python -m benchmarks.against_torch --table [BOOK ...]   # what both say, in place of the time that both take

Needs torch. Both begin with a loaded kernel and its arguments; Triton lowers it in both. CPU seconds, the least of
several runs, after one that warms imports up. The pass is asked as `check --compare torch` asks it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from tests.helpers.casebook import cases, raw, spec_of
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.kernel_source.footprint import footprints
from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.lowering.torch_pass import arguments_for, driver, identify
from triton_mutlint.lowering.triton_api import column_base
from triton_mutlint.run.kernel import Tools, analyze_kernel
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.run.plan import load_file, plan_kernel
from triton_mutlint.run.run import run, seldom_collected
from triton_mutlint.signature.evidence import gather
from triton_mutlint.signature.variants import with_choices
from triton_mutlint.source.discover import discover
from triton_mutlint.spec.read import load_spec
from triton_mutlint.types import Kernel, Plan, StageError, Variant, parse_target

TARGET = "cuda:90"


def kernels(book: str, scratch: Path) -> Iterator[tuple[Kernel, Plan]]:
    """The kernels of a book with one variant each."""
    path = scratch / "spec.yaml"
    path.write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    spec, root = load_spec(path), FIXTURES / book
    request = Request((), root, targets=(TARGET,))
    sources, _ = discover(tuple(sorted({c["file"] for c in raw(book)})), root)
    for source in sources:
        result = load_file(source, spec, request)
        for kernel in result.kernels:
            entry = spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line)
            if entry is not None:
                plan = plan_kernel(kernel, entry, spec, result, 1)
                yield kernel, plan


def published(folder: Path, every: int) -> Iterator[tuple[Kernel, Plan]]:
    """Each so many-th kernel under a folder, with those of its inferred variants that Triton lowers."""
    request = Request((".",), folder, use_spec=False, targets=(TARGET,))
    sources, _ = discover((".",), folder)
    places, lowerer = SourcePlaces(folder, {}, column_base()), Lowerer()
    number = 0
    for source in sources:
        result = load_file(source, None, request)
        for kernel in result.kernels:
            number += 1
            if number % every:
                continue
            lowered: list[Variant] = []
            tools = Tools(lowerer, places, observe=lambda _, v, *__, into=lowered: into.append(v))
            with contextlib.suppress(StageError):
                plan = plan_kernel(kernel, None, None, result, request.max_variants)
                analyze_kernel(kernel, replace(plan, footprints=()), (parse_target(TARGET),), tools)
            if lowered:
                yield kernel, Plan(with_choices(lowered), len(lowered), plan.origin)


@dataclass(frozen=True)
class Taken:
    """CPU seconds of one call, and those of them that Triton's lowering took."""

    whole: float
    lowering: float


def seconds(work: Callable[[], object], repeat: int) -> Taken:
    """What the fastest of several calls took."""
    from triton.compiler import ASTSource

    real, lowering, taken = ASTSource.make_ir, [0.0], []

    @wraps(real)  # torch's pass counts its parameters
    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return real(*args, **kwargs)
        finally:
            lowering[0] += time.process_time() - start

    with patch.object(ASTSource, "make_ir", timed):
        for _ in range(repeat):
            lowering[0], start = 0.0, time.process_time()
            work()
            taken.append(Taken(time.process_time() - start, lowering[0]))
    return min(taken, key=lambda t: t.whole)


def compare(kernels: Iterable[tuple[Kernel, Plan]], folder: Path,
            repeat: int) -> list[tuple[Taken, Taken]]:
    """(ours, torch's) for each kernel that PyTorch's pass does not give up on, with all its variants."""
    from torch._higher_order_ops import triton_kernel_wrap as wrap

    tools = Tools(Lowerer(), SourcePlaces(folder, {}, column_base()))
    found = []
    failures: list[str] = []
    warned = patch.object(wrap.log, "warning", lambda *a, **k: failures.append(a[0]))
    with seldom_collected(), driver(parse_target(TARGET)), warned:
        loaded = list(kernels)
        for kernel, plan in loaded:
            given = [arguments_for(variant) for variant in plan.variants]
            if None in given:
                continue

            def ours(kernel: Kernel = kernel, plan: Plan = plan) -> object:
                anew = replace(kernel)  # the evidence on it is kept for as long as it is
                alike = replace(plan, footprints=footprints(anew, gather(anew, {}).walk, plan.variants))
                return analyze_kernel(anew, alike, (parse_target(TARGET),), tools)

            def theirs(kernel: Kernel = kernel, given: Sequence[Any] = given) -> object:
                return [identify(kernel.jit, *arguments) for arguments in given]

            with contextlib.redirect_stdout(io.StringIO()):  # and what kernels print as they are lowered
                ours()
                failures.clear()
                theirs()
                if not failures:
                    found.append((seconds(ours, repeat), seconds(theirs, repeat)))
                    assert not failures, "it analyses a kernel every time or never"
    return found


def show(name: str, found: Sequence[tuple[Taken, Taken]]) -> None:
    ours, theirs = [[pair[i] for pair in found] for i in (0, 1)]
    wholes = sorted(t.whole / o.whole for o, t in found)
    rests = [t.whole - t.lowering for t in theirs], [o.whole - o.lowering for o in ours]
    print(f"{name}: {len(found)} kernels, torch's pass over ours: "
          f"{sum(t.whole for t in theirs) / sum(o.whole for o in ours):.1f} in all, "
          f"{wholes[0]:.1f} to {wholes[-1]:.1f} per kernel, median {statistics.median(wholes):.1f}; "
          f"without the lowering that both do {sum(rests[0]) / sum(rests[1]):.1f} in all, "
          f"median {statistics.median(t / o for t, o in zip(*rests, strict=True)):.1f}")


def table(book: str, scratch: Path) -> str:
    """A row: kernels compared, those with a missed write, those with too much, and those given up on, by cause."""
    (path := scratch / "spec.yaml").write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    truth = {(case.file, case.kernel): case for case in cases(book)}
    files = tuple(sorted({case.file for case in cases(book)}))
    report = run(Request(files, FIXTURES / book, spec=path, targets=(TARGET,), torch=version("torch")))
    known = [(k, k.torch, truth[k.location.file, k.name]) for k in report.kernels if k.torch and k.torch.variants
             and (k.location.file, k.name) in truth]
    wrong = [k.name for k, torch, case in known if {*torch.missed} - case.truth or {*torch.pessimistic} & case.truth]
    assert not wrong, f"the verdict on {wrong} is not what is known"
    causes = Counter(torch.gave_up for _, torch, _ in known if torch.gave_up)
    gave_up = "<br>".join(f"{count} × {cause}" for cause, count in causes.most_common())
    missed, more = (sum(bool(names) for names in found) for found in
                    ([t.missed for _, t, _ in known], [t.pessimistic for _, t, _ in known]))
    return f"| `fixtures/{book}` | {len(known)} | {missed} | {more} | {causes.total()} | {gave_up} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", default=["tutorials", "hard", "cases"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--packages", type=Path, metavar="FOLDER")
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if find_spec("torch") is None:
        parser.error("the comparison runs torch's own pass, and torch is not installed: pip install torch")
    logging.disable(logging.WARNING)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what Triton prints of kernels that torch's pass gives up on
    if options.packages:
        folder = options.packages.absolute()
        show(folder.name, compare(published(folder, options.every), folder, options.repeat))
        return
    with tempfile.TemporaryDirectory() as scratch:
        for book in options.books:
            if options.table:
                print(table(book, Path(scratch)), flush=True)
                continue
            show(book, compare(kernels(book, Path(scratch)), FIXTURES / book, options.repeat))


if __name__ == "__main__":
    main()
