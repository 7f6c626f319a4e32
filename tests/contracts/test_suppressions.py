"""Which lines an `ignore` comment covers, and codes that do not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.contracts.comments import Suppressions, read_suppressions
from triton_mutlint.types import SourceFile

KNOWN = {"TML201": "unanalyzable-op", "TML202": "indirect-write", "TML301": "autotune-unrestored"}


def read(text: str) -> Suppressions:
    return read_suppressions(SourceFile(Path("/f.py"), "f.py", text), KNOWN)


def lines(text: str) -> list[int]:
    (item,) = read(text).items
    return [n for n in range(1, text.count("\n") + 2) if item.covers("TML201", n)]


MARK = "# triton-mutlint: ignore[TML201] why"


@pytest.mark.parametrize(("text", "covered"), [
    (f"x = 1\ny = 2  {MARK}\nz = 3\n", [2]),
    (f"x = 1\n{MARK}\ny = 2\nz = 3\n", [2, 3]),
    (f"{MARK}\n# more\n# words\ny = 2\nz = 3\n", [1, 2, 3, 4]),
    (f"{MARK}\n\ny = 2\n", [1]),
    (f"x = f(  {MARK}\n    1,\n    2,\n)\ny = 1\n", [1, 2, 3, 4]),
    (f"x = f(\n    1,\n    2,\n)  {MARK}\ny = 1\n", [1, 2, 3, 4]),
    (f"x = f(\n    1,  {MARK}\n    2,\n)\n", [2]),
    (f"{MARK}\nx = f(\n    1,\n)\ny = 1\n", [1, 2, 3, 4]),
    (f"if a:  {MARK}\n    x = 1\n    y = 1\n", [1]),
    (f"while (a and\n       b):  {MARK}\n    x = 1\n", [1, 2]),
    (f"match a:  {MARK}\n    case 1:\n        x = 1\n", [1]),
    (f"{MARK}\n@triton.jit\ndef k(\n    a,\n    b,\n):\n    x = 1\n", [1, 2, 3, 4, 5, 6]),
    (f"@triton.jit  {MARK}\ndef k(a):\n    x = 1\n", [1, 2]),
    (f"@triton.jit\ndef k(\n    a,\n):  {MARK}\n    x = 1\n", [1, 2, 3, 4]),
    (f"@triton.jit\ndef k(\n    a,  {MARK}\n    b,\n    c,\n):\n    x = 1\n", [3]),
])
def test_lines(text: str, covered: list[int]) -> None:
    assert lines(text) == covered


def test_codes() -> None:
    (item,) = read("x = 1  # triton-mutlint: ignore[TML201,TML202]\n").items
    assert [c for c in KNOWN if item.covers(c, 1)] == ["TML201", "TML202"]
    (item,) = read("x = 1  # triton-mutlint: ignore\n").items
    assert all(item.covers(c, 1) for c in KNOWN)


@pytest.mark.parametrize(("code", "hint"), [
    ("TLM201", "did you mean `TML201`?"), ("tml301", "did you mean `TML301`?"),
    ("indirect-write", "did you mean `TML202`?"), ("E501", "lists the codes"),
])
def test_unknown_codes_suppress_nothing(code: str, hint: str) -> None:
    found = read(f"x = 1  # triton-mutlint: ignore[{code}]\n")
    assert found.items == ()
    (problem,) = found.problems
    assert code in problem.message
    assert hint in problem.help


def test_known_codes_beside_unknown_ones_still_count() -> None:
    found = read("x = 1  # triton-mutlint: ignore[TML201,TML999]\n")
    assert [i.codes for i in found.items] == [("TML201",)]
    assert len(found.problems) == 1
