"""Every invalid spec in `data/invalid` against the message beside it.

`python tests/signature/test_spec_invalid.py` writes the messages anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.spec.read import load_spec
from triton_mutlint.types import UsageError

INVALID = Path(__file__).parent / "data" / "invalid"
FILES = sorted(INVALID.glob("*.yaml"))


def message(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        load_spec(path, path.name)
    assert isinstance(caught.value, UsageError)
    assert all(problem.location.file == path.name for problem in caught.value.problems)
    return f"{caught.value}\n"


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_message_is_the_golden_one(path: Path) -> None:
    assert message(path) == path.with_suffix(".txt").read_text(encoding="utf-8")


def test_each_golden_message_has_its_spec() -> None:
    assert {path.stem for path in INVALID.glob("*.txt")} == {path.stem for path in FILES}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"gone\.yaml:1:1: cannot read: No such file or directory"):
        load_spec(tmp_path / "gone.yaml")
    with pytest.raises(SpecError, match="cannot read: Is a directory"):
        load_spec(tmp_path)


if __name__ == "__main__":
    for file in FILES:
        file.with_suffix(".txt").write_text(message(file), encoding="utf-8")
