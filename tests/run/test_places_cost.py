"""Settling places costs the same however long the file is."""

from __future__ import annotations

import time
from pathlib import Path

from triton_mutlint.run.places import SourcePlaces
from triton_mutlint.types import SourceFile

STORE = "    tl.store(out + {0}, tl.load(x + {0}))\n"
FILE = "/long.py"


def seconds(lines: int) -> float:
    text = "def k(x, out):\n" + "".join(STORE.format(i) for i in range(lines))
    sources = {FILE: SourceFile(Path(FILE), FILE, text)}
    places = SourcePlaces(Path("/"), sources, column_base=0)
    assert places.location((FILE, 2, 17), "tt.store").column == 5  # parses the file
    start = time.process_time()
    for line in range(2, lines + 2):
        found = places.location((FILE, line, 17), "tt.store")
        assert (found.line, found.column) == (line, 5)
    return time.process_time() - start


def test_four_times_the_lines_take_about_four_times_the_time() -> None:
    small = min(seconds(1_000) for _ in range(3))
    assert min(seconds(4_000) for _ in range(2)) < 10 * small
