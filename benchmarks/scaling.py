"""How cost grows with the size of a kernel, the files and the variants, and what a module of 200,000 lines takes.

    python -m benchmarks.scaling [--module LINES] [--json]

All times are CPU time in one process. Without options: generated kernels of 10 to 10,000 ops through
the whole tool, then files of one kernel each, one kernel with many variants, and the module. With --module: that
module alone, parsed and analysed as text.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.generated import kernel_source, module_text, variants_source
from triton_mutlint.analysis import analyze_module
from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import ArgOwner, ArgRole

OWNERS = (ArgOwner("a", ArgRole.ADDRESS), ArgOwner("b", ArgRole.ADDRESS), ArgOwner("n", ArgRole.SCALAR))
SIZES = (10, 100, 1_000, 10_000)
FILES = (1, 10, 100, 1_000)
VARIANTS = (1, 8, 64)  # of flags that decide what is written
STAGES = ("parsing", "analysis", "printing, capturing")


def measure_module(lines: int) -> dict[str, float]:
    """Lines, CPU seconds of parsing and analysis, and the process's peak memory in MiB."""
    text = module_text(lines)
    start = time.process_time()
    module = parse(text)
    parsed = time.process_time()
    may_simplify(module)
    analyze_module(module, OWNERS, "cuda", SourcePlaces(Path.cwd()))
    end = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"lines": text.count("\n") + 1, "seconds": round(end - start, 2),
            "parsing": round(parsed - start, 2), "peak_mib": round(peak)}


def print_kernels(folder: Path) -> None:
    """A row per size: Triton's time, and what parsing and analysing add."""
    from benchmarks.clock import BARE, share, stage_seconds
    from tests.helpers.in_process import run_here
    from triton_mutlint.config.request import Request

    for size in SIZES:
        file = folder / f"kernel_{size}.py"
        file.write_text(kernel_source(size), encoding="utf-8")
        runs = []
        for _ in range(4):
            with stage_seconds() as seconds:
                report = run_here(Request((str(file),), folder, targets=("cuda:90",), use_spec=False))
            assert report.kernels[0].mutated == ("out_ptr",)
            runs.append(seconds)
        best = min(runs[1:], key=lambda s: s.total())
        ours = sum(best[stage] for stage in STAGES)
        print(f"{size:6} ops: make_ir {best[BARE] * 1e3:8.1f} ms; parsing, analysis and printing "
              f"{ours * 1e3:7.1f} ms ({ours / best[BARE]:.0%}); all but lowering {share(best):.0%}")


def print_files(folder: Path) -> None:
    """A row per number of files, each with one kernel of 100 ops."""
    for count in FILES:
        files = folder / f"files_{count}"
        files.mkdir()
        for i in range(count):
            (files / f"kernel_{i}.py").write_text(kernel_source(100), encoding="utf-8")
        taken = _seconds(files)
        print(f"{count:6} files: {taken:6.2f} s, {taken / count * 1e3:5.1f} ms a file")


def print_variants(folder: Path) -> None:
    """A row per number of variants: of flags that each decide about one parameter, and of block sizes."""
    for count in VARIANTS:
        for kind in ("flags", "sizes"):
            files = folder / f"{kind}_{count}"
            files.mkdir()
            source, spec = variants_source(count, kind)
            (files / "kernel.py").write_text(source, encoding="utf-8")
            (files / "triton-mutlint.yaml").write_text(spec, encoding="utf-8")
            print(f"{count:6} variants, {kind}: {_seconds(files, use_spec=True) * 1e3:6.1f} ms")


def _seconds(folder: Path, **options: bool) -> float:
    """CPU seconds of a run over a folder, after one that warms imports up."""
    from tests.helpers.in_process import run_here
    from triton_mutlint.config.request import Request

    request = Request((".",), folder, targets=("cuda:90",), **{"use_spec": False, **options})  # type: ignore[arg-type]
    taken = []
    for _ in range(3):
        start = time.process_time()
        report = run_here(request)
        taken.append(time.process_time() - start)
    assert all(k.failure is None for k in report.kernels)
    return min(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", type=int, metavar="LINES")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.module is None:
        with tempfile.TemporaryDirectory() as name:
            print_kernels(Path(name))
            print_files(Path(name))
            print_variants(Path(name))
    found = measure_module(options.module or 200_000)
    text = "a module of {lines} lines: {seconds} s ({parsing} s of it parsing), peak memory {peak_mib} MiB"
    print(json.dumps(found) if options.json else text.format(**found))


if __name__ == "__main__":
    main()
