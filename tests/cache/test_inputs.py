"""What was read holds still exactly when it would read the same again."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from triton_mutlint.packing import pack, unpack
from triton_mutlint.process import inputs, stamps
from triton_mutlint.process.inputs import (
    Inputs,
    apart,
    note_file,
    note_name,
    read,
    recording,
    spoil,
    take_in,
)
from triton_mutlint.process.stamps import Stamp, found_at, still


def age(path: Path) -> None:
    """Wait until a change of `path` would show in its times."""
    while time.time_ns() - path.stat().st_ctime_ns < 2 * stamps._SETTLED:
        time.sleep(0.02)


def test_nothing_is_noted_unasked(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert read(tmp_path / "a") == b"x"
    note_name(tmp_path)
    with recording() as found:
        pass
    assert (found.files, found.looks, found.variables) == ({}, {}, {})


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    age(path)
    with recording() as found:
        read(path)
    stamp = found.files[str(path)]
    assert stamp.signature
    monkeypatch.setattr(stamps, "file_stamp", lambda path: pytest.fail("it was read"))
    assert still(str(path), stamp) == stamp


def test_a_change_shows_whatever_is_done_to_the_times(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    age(path)
    with recording() as found:
        read(path)
    stamp, before = found.files[str(path)], path.stat()
    path.write_bytes(b"new")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert still(str(path), stamp) is None
    path.write_bytes(b"old")
    again = still(str(path), stamp)
    assert again is not None
    assert again.digest == stamp.digest


def test_a_file_that_has_just_changed_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with recording() as found:
        read(path)
    assert found.files[str(path)].signature == ()
    path.write_bytes(b"new")
    assert still(str(path), found.files[str(path)]) is None


def test_times_in_the_future_tell_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.utime(path, (4e9, 4e9))
    with recording() as found:
        read(path)
    assert found.files[str(path)].signature == ()


def test_a_file_that_is_not_there_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with recording() as found:
        note_file(path)
        with pytest.raises(FileNotFoundError):
            read(path)
    assert still(str(path), found.files[str(path)]) is not None
    path.write_bytes(b"")
    assert still(str(path), found.files[str(path)]) is None


def test_a_folder_is_told_by_the_sources_and_folders_in_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    with recording() as found:
        note_name(tmp_path)
        note_name(tmp_path / "missing")

    def holds() -> bool:
        return all(found_at(look) == there for look, there in found.looks.items())

    for harmless in ("notes.txt", ".hidden.txt", "a.pyc"):
        (tmp_path / harmless).write_text("")
        assert holds(), harmless
    (tmp_path / "__pycache__").mkdir()
    assert holds()
    (tmp_path / "b.py").write_text("")
    assert not holds()
    (tmp_path / "b.py").unlink()
    assert holds()
    for made in ("package", "missing"):
        (tmp_path / made).mkdir()
        assert not holds(), made
        (tmp_path / made).rmdir()
    (tmp_path / "a.py").unlink()
    assert not holds()
    (tmp_path / "a.py").symlink_to("elsewhere.py")
    assert not holds()


def test_one_path_that_held_two_things_spoils_all(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with recording() as found:
        read(path)
        assert not found.torn
        path.write_bytes(b"new")
        read(path)
    assert found.torn


def test_variables_are_noted_as_they_were_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUTLINT_A", "1")
    monkeypatch.delenv("MUTLINT_B", raising=False)
    kind = type(os.environ)
    with recording() as found:
        os.environ["MUTLINT_B"] = "made by the run"
        assert (os.environ["MUTLINT_A"], os.getenv("MUTLINT_B")) == ("1", "made by the run")
        assert "MUTLINT_C" not in os.environ
        del os.environ["MUTLINT_B"]
    assert type(os.environ) is kind
    assert {n for n in found.variables if n.startswith("MUTLINT")} == {"MUTLINT_A", "MUTLINT_B", "MUTLINT_C"}
    assert all(inputs.variable_digest(name) == digest for name, digest in found.variables.items())
    monkeypatch.setenv("MUTLINT_A", "2")
    assert inputs.variable_digest("MUTLINT_A") != found.variables["MUTLINT_A"]
    monkeypatch.setenv("MUTLINT_C", "")
    assert inputs.variable_digest("MUTLINT_C") != found.variables["MUTLINT_C"]
    assert "made by the run" not in repr(found)  # values are secrets for all that is known


def test_looking_through_all_variables_depends_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with recording() as found:
        assert dict(os.environ)
    digest = found.variables[""]
    assert inputs.variable_digest("") == digest
    monkeypatch.setenv("MUTLINT_NEW", "1")
    assert inputs.variable_digest("") != digest


def test_what_another_process_read_is_taken_in() -> None:
    with recording() as outer:
        outer.files["/a"] = Stamp("1")
        for name in ("/b", "/c"):
            with apart() as inner:
                assert inner is not None
                inner.files[name] = Stamp("2")
                spoil()
            told = unpack(pack(replace(inner, environment={})), Inputs)
            assert (set(told.files), told.spoiled, told.environment) == ({name}, 1, {})
            take_in(told)
        take_in(Inputs(files={"/a": Stamp("other")}))
    assert (set(outer.files), outer.spoiled, outer.torn) == ({"/a", "/b", "/c"}, 2, True)


def test_in_a_folder_that_changed_during_the_run_what_was_looked_for_decides(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    with recording() as outer:
        note_name(tmp_path, "b")
        with apart() as inner:
            assert inner is not None
            (tmp_path / "made_meanwhile.py").write_text("")
            note_name(tmp_path, "a")
        take_in(inner)
    assert not outer.torn
    assert outer.now() is not None
    (tmp_path / "b.py").write_text("")
    assert outer.now() is None
