"""What the tool adds to Triton's own lowering, over the fixtures.

    python -m benchmarks.overhead [--repeat 5] [BOOK ...]

Prints the CPU time of everything but `ASTSource.make_ir` as a share of the time in `make_ir`, and each
stage's part of it: best of several runs in one process after one run that warms imports up. CPU time,
because the ratio of wall times on a machine that does other work as well says little.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import yaml

from benchmarks.clock import LOWERING, share, stage_seconds
from tests.casebook import BOOKS, FIXTURES, raw, spec_of
from triton_mutlint import engine
from triton_mutlint.request import Request


def measure(book: str, folder: Path) -> Counter[str]:
    """CPU seconds by stage of one run over a book."""
    spec = folder / f"{book}.yaml"
    spec.write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    files = tuple(sorted({c["file"] for c in raw(book)}))
    request = Request(files, FIXTURES / book, spec=spec, targets=("cuda:90",))
    with stage_seconds() as seconds:
        engine.run(request)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="*", default=[b for b in BOOKS if not b.endswith("amd")], metavar="BOOK")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for book in options.books:
            measure(book, Path(name))
            best = min((measure(book, Path(name)) for _ in range(options.repeat)), key=share)
            lowering = best.pop(LOWERING)
            print(f"{book}: make_ir {lowering * 1e3:.0f} ms; all the rest takes {best.total() / lowering:.0%} of that")
            for stage, seconds in best.most_common():
                print(f"  {stage:20} {seconds / lowering:6.1%}")


if __name__ == "__main__":
    main()
