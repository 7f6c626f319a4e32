"""Files that try to do harm (fixtures/hostile): none succeeds, and no other file's verdict changes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.places import FIXTURES
from triton_mutlint.process.confined import unavailable

BOOK = FIXTURES / "hostile"
VICTIM = '''import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
'''
VICTIMS = ("a_victim.py", "victim.py", "z_victim.py")
OP = VICTIM.replace("import triton\n", "import torch\nimport triton\n", 1) + '''

@torch.library.custom_op("victim::copy", mutates_args=())
def op(x: torch.Tensor, y: torch.Tensor) -> None:
    copy[(1,)](x, y, 4, BLOCK=4)
'''

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(unavailable()), reason=unavailable())]


@contextlib.contextmanager
def _listening() -> Iterator[tuple[int, list[str]]]:
    """A port of this machine, and what reaches it."""
    reached: list[str] = []
    servers = [socket.socket(), socket.socket(type=socket.SOCK_DGRAM)]
    servers[0].bind(("127.0.0.1", 0))
    port = servers[0].getsockname()[1]
    servers[1].bind(("127.0.0.1", port))
    servers[0].listen()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                reached.append(str(servers[0].accept()))

    def receive() -> None:
        with contextlib.suppress(OSError):
            while True:
                reached.append(str(servers[1].recvfrom(64)))

    for waits in (accept, receive):
        threading.Thread(target=waits, daemon=True).start()
    try:
        yield port, reached
    finally:
        for server in servers:
            server.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The hostile files, with three that they must not harm: before, among and after them."""
    made = tmp_path / "files"
    shutil.copytree(BOOK, made)
    (tmp_path / "marks").mkdir()
    for name in VICTIMS:
        (made / name).write_text(VICTIM)
    (made / "m_victim_op.py").write_text(OP)
    return made


def test_no_payload_succeeds_nor_does_one_from_the_cache(folder: Path) -> None:
    for path in _endless(folder):
        path.unlink()
    assert len(list(folder.iterdir())) > 100
    _lint(folder, jobs=2)
    _lint(folder, jobs=1)


def test_what_does_not_end_is_ended(folder: Path) -> None:
    """Most of them at once: they share the processors while their time runs."""
    kept = {*_endless(folder), *(folder / name for name in (*VICTIMS, "m_victim_op.py"))}
    for path in {*folder.iterdir()} - kept:
        path.unlink()
    _lint(folder, jobs=8)


def _endless(folder: Path) -> list[Path]:
    """Those that are ended when their time is up."""
    return [*folder.glob("hang_*"), *folder.glob("fill_*"), folder / "answer_endless.py"]


@pytest.mark.long
@pytest.mark.parametrize("command", [["list"], ["init", "--stdout"]])
def test_no_payload_succeeds_where_nothing_is_judged(folder: Path, command: list[str]) -> None:
    for path in [*_endless(folder), *folder.glob("op_*"), *folder.glob("write_*")]:
        path.unlink()
    run = _run(folder, 2, command)
    for name in VICTIMS:
        assert f"{name}:6 copy(" in run.stdout or f"{name}::copy:" in run.stdout


def _lint(folder: Path, jobs: int) -> None:
    """Hold a report on the folder against what it must not come to."""
    run = _run(folder, jobs, ["check", "--format", "json", "--cache-dir", str(folder.parent / "cache")])
    assert run.returncode == 1, run.stderr
    report = json.loads(run.stdout)
    _victims_hold(report)
    _all_accounted_for(report, {path.name for path in folder.iterdir()} - set(VICTIMS))


def _run(folder: Path, jobs: int, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Hold a run on the folder against what it must not do."""
    before = {path.name: (path.read_bytes(), path.stat()) for path in folder.iterdir()}
    with _listening() as (port, reached):
        environment = {**os.environ, "HOSTILE_MARKS": str(folder.parent / "marks"), "HOSTILE_PORT": str(port),
                       "HOSTILE_FOLDER": str(folder)}
        config = folder.parent / "triton-mutlint.toml"
        config.write_text(f"jobs = {jobs}\ntargets = ['cuda:90']\n")
        targets = [] if command[0] == "list" else ["--target", "cuda:90"]
        run = subprocess.run(
            [sys.executable, "-m", "triton_mutlint", *command, "--confine", "require", "--timeout", "2", *targets,
             "--config", str(config), str(folder)],
            env=environment, capture_output=True, text=True, timeout=900, stdin=subprocess.PIPE, check=False)
    assert "Traceback" not in run.stderr
    assert not [path.name for path in (folder.parent / "marks").iterdir()]
    assert not reached
    after = {path.name: (path.read_bytes(), path.stat()) for path in folder.iterdir()}
    assert after.keys() == before.keys()
    assert [name for name in after if not _same(before[name], after[name])] == []
    return run


def _same(before: tuple[bytes, os.stat_result], after: tuple[bytes, os.stat_result]) -> bool:
    kept = ("st_mode", "st_uid", "st_mtime_ns", "st_nlink", "st_size")
    return before[0] == after[0] and all(getattr(before[1], name) == getattr(after[1], name) for name in kept)


def _victims_hold(report: dict[str, list[dict[str, object]]]) -> None:
    for name in VICTIMS:
        (kernel,) = [k for k in report["kernels"] if str(k["file"]).endswith(f"/{name}")]
        assert (kernel["status"], kernel["mutated"]) == ("analyzed", ["y_ptr"]), name
    (found,) = [f for f in report["findings"] if str(f["file"]).endswith("/m_victim_op.py")]
    assert (found["rule"], found["parameter"]) == ("TML103", "y")


def _all_accounted_for(report: dict[str, list[dict[str, object]]], names: set[str]) -> None:
    places = [place for kind in ("kernels", "findings", "ops") for place in report[kind]]
    told = {str(place.get("file")).rpartition("/")[2] for place in places}
    assert names <= told
