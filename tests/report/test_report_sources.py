from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.report.options import SourceLines
from triton_mutlint.types import Location


def test_lines_are_counted_as_python_counts_them() -> None:
    sources = SourceLines({"k.py": "a\x0cb\r\nc\rd\u2028e\nf"})
    assert [sources.line("k.py", n) for n in range(6)] == [None, "a\x0cb", "c", "d\u2028e", "f", None]


def test_files_are_read_relative_to_the_root_and_once(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("one\n")
    sources = SourceLines(root=tmp_path)
    assert sources.line("k.py", 1) == "one"
    (tmp_path / "k.py").unlink()
    assert sources.line("k.py", 1) == "one"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"# -*- coding: latin-1 -*-\n\xe4", "ä"),
        (b"\xef\xbb\xbf#\n\xc3\xa4", "ä"),
        (b"#\n\xff\xfe", None),
        (b"# coding: no-such\nx", None),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, line: str | None) -> None:
    (tmp_path / "k.py").write_bytes(data)
    assert SourceLines(root=tmp_path).line("k.py", 2) == line


@pytest.mark.parametrize("file", ["absent.py", ".", "a\0b", "<unknown>", ""])
def test_what_cannot_be_read_has_no_lines(tmp_path: Path, file: str) -> None:
    assert SourceLines(root=tmp_path).line(file, 1) is None


@pytest.mark.parametrize(("column", "character"), [(1, 0), (2, 1), (4, 2), (5, 3), (99, 4)])
def test_columns_are_bytes(column: int, character: int) -> None:
    assert SourceLines({"k.py": "aäbc"}).character(Location("k.py", 1, column)) == character
