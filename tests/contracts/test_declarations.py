"""Which function a `mutates` comment belongs to, and what it declares."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from triton_mutlint.contracts.declarations import Declaration, covers, from_spec, read_declarations
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import Location, SourceFile


def read(text: str) -> dict[str, tuple[str, ...]]:
    """Declared names by the first line of the function they belong to."""
    body = textwrap.dedent(text).lstrip("\n")
    found = read_declarations(SourceFile(Path("/f.py"), "f.py", body))
    lines = body.split("\n")
    result = {lines[line - 1].split("(")[0].split()[-1]: d.mutates for line, d in found.by_line.items()}
    return result | ({"problems": tuple(p.message for p in found.problems)} if found.problems else {})


@pytest.mark.parametrize("text", [
    "# triton-mutlint: mutates=a\n@triton.jit\ndef k(a):\n    pass\n",
    "# triton-mutlint: mutates=a\n# more\n@triton.autotune(\n    [],\n)\n@triton.jit\ndef k(a):\n    pass\n",
    "@triton.autotune([])\n# triton-mutlint: mutates=a\n@triton.jit\ndef k(a):\n    pass\n",
    "@triton.jit\n# triton-mutlint: mutates=a\ndef k(a):\n    pass\n",
    "@triton.jit\ndef k(a):  # triton-mutlint: mutates=a\n    pass\n",
    "@triton.jit\ndef k(\n    a,\n    b,\n):  # triton-mutlint: mutates=a\n    pass\n",
    "@triton.jit\ndef k(\n    a,  # triton-mutlint: mutates=a\n    b,\n):\n    pass\n",
    "@triton.jit\ndef k(a):\n    # triton-mutlint: mutates=a\n    pass\n",
    '@triton.jit\ndef k(a):\n    """What it does."""\n\n    # triton-mutlint: mutates=a\n    pass\n',
    '@triton.jit\ndef k(a):\n    # triton-mutlint: mutates=a\n    """What it does."""\n    pass\n',
    "@triton.jit\ndef k(a): pass  # triton-mutlint: mutates=a\n",
])
def test_places(text: str) -> None:
    assert read(text) == {"k": ("a",)}


def test_an_empty_list_declares_that_nothing_is_written() -> None:
    assert read("@triton.jit\ndef k(a):  # triton-mutlint: mutates=\n    pass\n") == {"k": ()}


def test_several_comments_add_up() -> None:
    text = "# triton-mutlint: mutates=a\n@triton.jit\ndef k(a, b):  # triton-mutlint: mutates=b,a\n    pass\n"
    assert read(text) == {"k": ("a", "b")}


def test_each_kernel_gets_its_own() -> None:
    text = """
    # triton-mutlint: mutates=a
    @triton.jit
    def first(a, b):
        pass
    # triton-mutlint: mutates=b
    @triton.jit
    def second(a, b):
        pass
    def factory():
        # triton-mutlint: mutates=c
        @triton.jit
        def third(c):
            pass
    """
    assert read(text) == {"first": ("a",), "second": ("b",), "third": ("c",)}


@pytest.mark.parametrize("text", [
    "# triton-mutlint: mutates=a\n\n@triton.jit\ndef k(a):\n    pass\n",
    "@triton.jit\ndef k(a):\n    x = 1\n    # triton-mutlint: mutates=a\n    y = 2\n",
    "x = 1  # triton-mutlint: mutates=a\n@triton.jit\ndef k(a):\n    pass\n",
])
def test_elsewhere_it_belongs_to_nothing(text: str) -> None:
    assert read(text) == {"problems": ("the declaration belongs to no function",)}


def test_tuples_and_elements() -> None:
    declared = Declaration(("ptrs", "state.x"), Location("f.py", 1), "comment")
    assert [n for n in ("ptrs", "ptrs.0", "ptrs.1.2", "state", "state.x", "ptrs2") if declared.names(n)] == [
        "ptrs", "ptrs.0", "ptrs.1.2", "state.x"]
    assert covers("ptrs.1", "ptrs.1.0")
    assert not covers("ptrs.1", "ptrs.10")


def test_a_spec_gives_each_name_its_line() -> None:
    text = "version: 1\nkernels:\n  k:\n    mutates:\n      - a\n      - b\n  free: {}\n  none:\n    mutates: []\n"
    entries = {e.pattern: e for e in parse_spec(text, "s.yaml").kernels}
    declared = from_spec(entries["k"])
    assert declared is not None
    assert declared.mutates == ("a", "b")
    assert [declared.place_of(n).line for n in "ab"] == [5, 6]
    assert from_spec(entries["free"]) is None
    empty = from_spec(entries["none"])
    assert empty is not None
    assert empty.mutates == ()
