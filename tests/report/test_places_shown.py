"""How a place is told: with the column where one is meant."""

import pytest

from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.report.terminal.style import stands
from triton_mutlint.types import Location


@pytest.mark.parametrize(("file", "line", "column", "shown"), [
    ("a.py", 1, 1, "a.py:1:1"),
    ("a.py", 2, 5, "a.py:2:5"),
    ("a.py", 2, 1, "a.py:2"),  # of the line no column is known
    ("a.py", 3, 1, "a.py:3:1"),  # an empty line has no indentation
    ("absent.py", 1, 1, "absent.py"),
    ("absent.py", 7, 1, "absent.py:7:1"),
])  # fmt: skip
def test_a_place_has_a_column_where_one_is_meant(file: str, line: int, column: int, shown: str) -> None:
    options = RenderOptions(sources=SourceLines({"a.py": "def f():\n    g()\n\n"}))
    assert stands(Location(file, line, column), options) == shown
