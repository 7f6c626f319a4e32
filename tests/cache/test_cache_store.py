"""Entries are whole or absent, and what the disk does is never more than a slower run."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from triton_mutlint.cache.store import Store, default_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def entry(store: Store, name: str = "a") -> Path:
    return store.folder / "files" / name


def test_what_is_kept_is_given_back(store: Store) -> None:
    assert store.get("files", "a") is None
    store.put("files", "a", b"one")
    store.put("files", "b", b"")
    store.put("files", "a", b"two")
    assert (store.get("files", "a"), store.get("files", "b"), store.get("runs", "a")) == (b"two", b"", None)
    assert {path.name for path in store.entries()} == {"a", "b"}
    assert not store.problem


@pytest.mark.parametrize("damage", [
    lambda data: data[:-1],
    lambda data: data + b"x",
    lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    lambda data: b"",
    lambda data: b"\0" * len(data),
    lambda data: b"somebody else's file",
])
def test_a_damaged_entry_is_not_there(store: Store, damage: object) -> None:
    store.put("files", "a", b"content")
    assert callable(damage)
    entry(store).write_bytes(damage(entry(store).read_bytes()))
    assert store.get("files", "a") is None
    store.put("files", "a", b"content")
    assert store.get("files", "a") == b"content"


def test_an_entry_in_place_of_another_is_not_there(store: Store) -> None:
    store.put("files", "a", b"content")
    store.put("files", "b", b"other")
    entry(store, "b").write_bytes(entry(store).read_bytes())
    assert store.get("files", "b") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="takes pipes")
def test_a_pipe_in_place_of_an_entry_is_not_waited_for(store: Store) -> None:
    store.put("files", "a", b"content")
    entry(store).unlink()
    os.mkfifo(entry(store))
    assert store.get("files", "a") is None


def test_a_folder_in_place_of_an_entry_is_a_problem_and_no_error(store: Store) -> None:
    entry(store).mkdir(parents=True)
    assert store.get("files", "a") is None
    store.put("files", "a", b"content")
    assert store.problem
    store.trim()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="takes users")
def test_a_file_in_place_of_the_cache_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    store = Store(tmp_path / "cache")
    assert store.get("files", "a") is None
    store.put("files", "a", b"content")
    assert store.problem in (os.strerror(errno.ENOTDIR), os.strerror(errno.EEXIST))
    assert store.entries() == {}


def test_a_full_disk_leaves_the_old_entry(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("files", "a", b"old")

    def full(source: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    store.put("files", "a", b"new")
    monkeypatch.undo()
    assert store.problem == os.strerror(errno.ENOSPC)
    assert store.get("files", "a") == b"old"
    assert [path.name for path in entry(store).parent.iterdir()] == ["a"]


def test_a_folder_that_cannot_be_searched_holds_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("files", "a", b"kept")
    stat = os.stat

    def refused(path: object, **options: object) -> object:
        if str(path).startswith(str(store.folder)):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", refused)
    assert (store.get("files", "a"), store.entries(), store.is_own()) == (None, {}, False)
    store.put("files", "b", b"new")
    store.trim()
    assert store.problem == "Permission denied"


def test_the_least_used_goes_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache", limit=5000)
    for i in range(4):
        store.put("files", str(i), bytes(1000))
        os.utime(entry(store, str(i)), (1000 + i, 1000 + i))
    store.trim()
    assert len(store.entries()) == 4
    assert store.get("files", "0") is not None  # used now
    store.put("runs", "new", bytes(2000))
    store.trim()
    assert {path.name for path in store.entries()} == {"0", "3", "new"}


def test_what_a_killed_run_left_goes_as_the_least_used(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache", limit=5000)
    store.put("files", "a", bytes(1000))
    left = entry(store, ".new-a-1-2")
    left.write_bytes(bytes(3000))
    os.utime(left, (1000, 1000))
    store.trim()
    assert left.exists()
    store.put("files", "b", bytes(3000))
    store.trim()
    assert {path.name for path in store.entries()} == {"a", "b"}


def write_for_ever(folder: Path) -> None:
    store, number = Store(folder), 0
    while True:
        store.put("files", "a", bytes([number % 256]) * (1 << 20))
        number += 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="takes fork")
def test_two_that_write_and_are_killed_leave_a_whole_entry(store: Store) -> None:
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        writers = [context.Process(target=write_for_ever, args=(store.folder,)) for _ in range(2)]
        for writer in writers:
            writer.start()
        deadline, seen = time.monotonic() + 20, 0
        while seen < 20 and time.monotonic() < deadline:
            data = store.get("files", "a")
            if data is not None:
                assert data == data[:1] * (1 << 20)
                seen += 1
        for writer in writers:
            assert writer.pid is not None
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
        assert seen == 20
        data = store.get("files", "a")
        assert data is not None
        assert data == data[:1] * (1 << 20)


def test_clearing_removes_entries_and_nothing_else(store: Store) -> None:
    assert store.clear() == 0
    store.put("files", "a", b"content")
    store.put("runs", "b", b"content")
    (store.folder / "mine.txt").write_text("kept")
    assert store.clear() == 2
    assert [path.name for path in store.folder.iterdir()] == ["mine.txt"]
    (store.folder / "mine.txt").unlink()
    store.put("files", "a", b"content")
    assert store.clear() == 1
    assert not store.folder.exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "thesis.tex").write_text("")
    store = Store(tmp_path)
    assert store.entries() == {}
    assert store.clear() == 0
    assert (tmp_path / "files" / "thesis.tex").exists()


def test_the_usual_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "", "", "", "")))
    assert default_folder() == tmp_path / ".cache" / "triton-mutlint"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert default_folder() == tmp_path / "elsewhere" / "triton-mutlint"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says to ignore it
    assert default_folder() == tmp_path / ".cache" / "triton-mutlint"
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Darwin", "", "", "", "")))
    assert default_folder() == tmp_path / "Library" / "Caches" / "triton-mutlint"
