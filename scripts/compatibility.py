"""Counts what becomes of the known-answer kernels with the Triton that runs this: a row of docs/compatibility.md.

`.matrix/3.4.0/bin/python -m scripts.compatibility`, after `make matrix-3.4.0`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.helpers.casebook import BOOKS, Case, cases, report_of
from triton_mutlint.lowering import triton_api
from triton_mutlint.types import KernelReport, Status


def outcome(case: Case, kernel: KernelReport) -> str:
    """What the report on a kernel is worth, by its truth."""
    if kernel.status is not Status.ANALYZED:
        return "not lowered"
    told = {*kernel.mutated, *kernel.unknown}
    if not case.truth <= told:
        return "missed"
    return "exact" if told <= case.truth | case.unknown else "over"


def counted(folder: Path, *, with_spec: bool) -> Counter[str]:
    return Counter(outcome(case, case.report(report_of(book, folder, with_spec=with_spec)))
                   for book in BOOKS for case in cases(book))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        given, guessed = (counted(Path(folder), with_spec=with_spec) for with_spec in (True, False))
    cells = (triton_api.triton_version(), given.total() - given["not lowered"], given["not lowered"], given["exact"],
             given["over"], given["missed"], guessed["exact"], guessed["over"], guessed["missed"])
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")


if __name__ == "__main__":
    main()
