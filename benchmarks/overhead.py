"""What the tool adds to Triton's own lowering, over the fixtures.

    python -m benchmarks.overhead [--repeat 5]

Prints the time of everything but `ASTSource.make_ir` as a share of the time in `make_ir`, best of
several runs in one process after one run that warms imports up.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.casebook import BOOKS, FIXTURES, raw, spec_of
from triton_mutlint.engine import run
from triton_mutlint.lowering import triton_api
from triton_mutlint.request import Request


@contextmanager
def timed_lowering() -> Iterator[list[float]]:
    """Collects the seconds of every `make_ir`."""
    original = triton_api.Backend.make_ir
    seconds: list[float] = []

    def make_ir(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            seconds.append(time.perf_counter() - start)

    triton_api.Backend.make_ir = make_ir  # type: ignore[method-assign]
    try:
        yield seconds
    finally:
        triton_api.Backend.make_ir = original  # type: ignore[method-assign]


def measure(book: str, folder: Path) -> tuple[float, float, int]:
    """(seconds in make_ir, seconds in all, lowerings) of one run over a book."""
    spec = folder / f"{book}.yaml"
    spec.write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    files = tuple(sorted({c["file"] for c in raw(book)}))
    request = Request(files, FIXTURES / book, spec=spec, targets=("cuda:90",))
    with timed_lowering() as seconds:
        start = time.perf_counter()
        run(request)
        total = time.perf_counter() - start
    return sum(seconds), total, len(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        for book in (b for b in BOOKS if not b.endswith("amd")):
            measure(book, Path(name))
            best = min((measure(book, Path(name)) for _ in range(repeat)), key=lambda m: (m[1] - m[0]) / m[0])
            lowering, total, count = best
            share = (total - lowering) / lowering
            print(f"{book}: {count} lowerings; all the rest takes {share:.0%} of make_ir's time")


if __name__ == "__main__":
    main()
