"""What is written: the same bytes but for the edit, whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from triton_mutlint.basics import unified
from triton_mutlint.fixes.document import CannotFixError, Document, read_document, write_document
from triton_mutlint.types import UsageError

CONTENTS = {
    "plain": b"a = 1\nb = 2\n",
    "no end": b"a = 1",
    "empty": b"",
    "crlf": b"a = 1\r\nb = 2\r\n",
    "old mac": b"a = 1\rb = 2\r",
    "bom": b"\xef\xbb\xbfa = 1  \n\t\n",
    "bom and cookie": b"\xef\xbb\xbf# coding: utf-8\na = 1\n",
    "latin-1": b"# -*- coding: latin-1 -*-\nx = '\xe9'  \n",
    "cp1252": b"# vim: set fileencoding=cp1252 :\r\nx = '\x80'\r\n",
    "form feed": b"a = 1\x0c\nb = '\xe2\x80\xa8'\n",
}


@pytest.mark.parametrize("data", CONTENTS.values(), ids=CONTENTS)
def test_bytes_come_out_as_they_went_in(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(data)
    document = read_document(path, "k.py", python=True)
    assert document.encoded() == data
    write_document(document.with_text(document.text + "# new"))
    assert path.read_bytes() == data + b"# new"


def test_places_count_bytes_as_python_does_or_characters(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"\xef\xbb\xbf\xc3\xa9\r\n\xc3\xa9x\r\ny\x0cz\r\n")
    document = read_document(path, "k.py", python=True)
    assert document.text == "é\néx\ny\x0cz\n"
    for line, column, offset, character in ((1, 1, 0, 1), (2, 3, 3, 2), (3, 3, 7, 3)):
        assert document.offset(line, column) == offset
        assert document.position(offset) == (line, character)
    with pytest.raises(CannotFixError):
        document.offset(9, 1)


def test_what_the_encoding_cannot_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(CONTENTS["latin-1"])
    document = read_document(path, "k.py", python=True)
    with pytest.raises(CannotFixError, match="iso-8859-1"):
        document.with_text("\u20ac").encoded()


@pytest.mark.parametrize(("data", "python"), [
    (b"# coding: nothing\n", True), (b"\xff\n", True), (b"\xff\n", False), (b"# coding: utf-7\nx = '+AGE-'\n", True),
    (b"a = 1\r\nb = 2\n", True), (b"a = 1\rb = 2\n", False),
])
def test_bytes_that_would_change_are_refused(data: bytes, python: bool, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(data)
    with pytest.raises(CannotFixError):
        read_document(path, "k.py", python=python)
    with pytest.raises(CannotFixError, match="read again"):
        read_document(tmp_path / "gone.py", "gone.py", python=python)


@pytest.fixture
def document(tmp_path: Path) -> Document:
    (tmp_path / "k.py").write_bytes(b"old\n")
    return read_document(tmp_path / "k.py", "k.py", python=True).with_text("new\n")


def test_permissions_stay_and_links_go_on_naming_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    target = folder / "k.py"
    target.write_bytes(b"old\n")
    target.chmod(0o754)
    link = tmp_path / "link.py"
    link.symlink_to("real/k.py")
    write_document(read_document(link, "link.py", python=True).with_text("new\n"))
    assert link.is_symlink()
    assert target.read_bytes() == b"new\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o754
    assert [p.name for p in folder.iterdir()] == ["k.py"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="takes attributes of files")
def test_attributes_stay(document: Document, tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    try:
        os.setxattr(path, "user.mutlint", b"kept")
    except OSError:
        pytest.skip("the file system has none")
    write_document(document)
    assert path.read_bytes() != b"old\n"
    assert os.getxattr(path, "user.mutlint") == b"kept"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.py"
    inside.mkdir()
    outside.write_bytes(b"old\n")
    (inside / "k.py").symlink_to(outside)
    changed = read_document(inside / "k.py", "k.py", python=True).with_text("new\n")
    with pytest.raises(UsageError, match=r"by a link"):
        write_document(changed, inside)
    assert outside.read_bytes() == b"old\n"
    write_document(changed, tmp_path)
    assert outside.read_bytes() == b"new\n"


def test_a_file_that_changed_meanwhile_is_left_alone(document: Document, tmp_path: Path) -> None:
    (tmp_path / "k.py").write_bytes(b"theirs\n")
    with pytest.raises(UsageError, match="changed while"):
        write_document(document)
    assert (tmp_path / "k.py").read_bytes() == b"theirs\n"


@pytest.mark.parametrize("failing", ["fsync", "chmod"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    document: Document, failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(UsageError, match=r"cannot write k\.py: No space left"):
        write_document(document)
    assert [p.name for p in tmp_path.iterdir()] == ["k.py"]
    assert (tmp_path / "k.py").read_bytes() == b"old\n"


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_document(document)
    assert [p.name for p in tmp_path.iterdir()] == ["k.py"]
    assert (tmp_path / "k.py").read_bytes() == b"old\n"


def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"old\n")
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from triton_mutlint.fixes.document import read_document\n"
        "from triton_mutlint.fixes.document import write_document\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "path = Path(sys.argv[1])\n"
        "write_document(read_document(path, 'k.py', python=True).with_text('new'))\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old\n"


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(b"a\r\nb\r\nc")
    old = read_document(path, "k.py", python=False)
    text = unified("a\r\nb\r\nc", old.written("a\nB\nc\nd"), "k.py", "k.py")
    assert text.startswith("--- k.py\n+++ k.py\n@@")
    assert text.count("\\ No newline at end of file\n") == 2
    done = subprocess.run(["git", "apply", "-p0", "-"], input=text.encode(), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == b"a\r\nB\r\nc\r\nd"
