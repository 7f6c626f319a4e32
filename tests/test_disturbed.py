"""Broken input, kills, a full disk and other runs: no traceback, no hang, no stale answer, every file accounted for."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.config.file import load
from triton_mutlint.config.request import Request
from triton_mutlint.run import run as engine
from triton_mutlint.source.python_text import has_kernels
from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.types import Report, UsageError

pytest.importorskip("triton")
pytestmark = [pytest.mark.apart, pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="takes fork")]

FIXTURES = Path(__file__).parents[1] / "fixtures"
KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel(x, y):
    tl.store({stored}, tl.load({loaded}))
"""
TEXTS = {("x",): KERNEL.format(stored="x", loaded="y"), ("y",): KERNEL.format(stored="y", loaded="x")}
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ODD = ("(", ")", "0", "None", "\0", "'", "10 ** 9", "\n", "    ", "*", "lambda: ", "x", "@", "é", "\ud800", "\r", ":")
SPEC = """version: 1
defaults:
  types: {"*_ptr": "*fp16"}
kernels:
  kernel:
    args: {x: "*fp32", y: ["*fp32", "*i32"]}
    mutates: [x]
    allow: [TML201]
globals:
  LIMIT: 32
  OTHER: {ref: kernel}
"""
CONFIG = """select = ["TML1"]
spec = "triton-mutlint.yaml"
cache-dir = "cache"
max-variants = 8
targets = ["cuda:90"]
[severity]
TML101 = "warning"
[per-file-ignores]
"a/*.py" = ["TML102"]
"""


def _mutant(text: str, chance: random.Random) -> str:
    """The text with a few of its tokens gone, doubled, exchanged, or something odd in their place."""
    tokens = _TOKEN.findall(text)
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        kind = chance.randrange(5)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at] *= chance.choice((2, 2, 2, 400))
        elif kind == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = chance.choice(_ODD)
        else:
            del tokens[at : at + chance.randint(1, 30)]
            tokens.append("\n")
    return "".join(tokens)


def _report(folder: Path, cache: Path | None = None, *arguments: str, timeout: float = 10.0) -> Report:
    return engine.run(Request(arguments or (".",), folder, targets=("cuda:90",), cache_dir=cache, jobs=2, helpers=True,
                              timeout=timeout))


def test_every_mutant_of_a_file_is_accounted_for(tmp_path: Path) -> None:
    chance = random.Random(1)
    rooms = ("quickstart", "guessed", "tutorials", "ops", "rules")
    found = [path for room in rooms for path in sorted((FIXTURES / room).rglob("*.py"))]
    originals = [text for text in (path.read_text() for path in found) if len(text) < 5000 and has_kernels(text)]
    assert len(originals) > 20
    texts = {}
    for number in range(120):
        texts[f"m{number}.py"] = text = _mutant(chance.choice(originals), chance)
        (tmp_path / f"m{number}.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    report = _report(tmp_path)
    told = {k.location.file for k in report.kernels} | {f.location.file for f in report.findings} | {
        o.location.file for o in report.ops}
    notes = "\n".join(report.notes)
    missing = [name for name, text in texts.items()
               if name not in told and name not in notes and has_kernels(text.replace("\0", ""))]
    assert missing == []


def test_a_broken_spec_or_configuration_is_a_usage_error(tmp_path: Path) -> None:
    chance, refused = random.Random(2), 0
    (tmp_path / "k.py").write_text(TEXTS["x",])
    for number in range(100):
        is_spec = number % 2 == 0
        name, text = ("triton-mutlint.yaml", SPEC) if is_spec else ("triton-mutlint.toml", CONFIG)
        (tmp_path / name).write_bytes(_mutant(text, chance).encode("utf-8", "surrogatepass"))
        try:
            if is_spec:
                kernels = _report(tmp_path, None, "k.py").kernels
                assert [k.name for k in kernels] == ["kernel"]
            else:
                load(tmp_path)
        except (SpecError, UsageError) as error:
            refused += name in str(error)
        (tmp_path / name).unlink()
    assert refused > 30


@pytest.mark.parametrize(("text", "said"), [
    ("a = " + "[" * 3000 + "]" * 3000, "nested"),
    ('spec = "a\\u0000b"', "null character"),
    ("spec = 'x'\n" * 2, "not valid TOML"),
])
def test_a_configuration_that_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "triton-mutlint.toml").write_text(text)
    with pytest.raises(UsageError, match=said):
        load(tmp_path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="takes a file without an end")
def test_a_file_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(TEXTS["x",])
    with pytest.raises(UsageError, match="/dev/zero"):
        engine.run(Request(("k.py",), tmp_path, spec=Path("/dev/zero")))


def _forked(work: Callable[[], object]) -> int:
    """A process that does the work; it prints nothing."""
    pid = os.fork()
    if not pid:
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            work()
        finally:
            os._exit(0)
    return pid


def _writes(folder: Path, cache: Path) -> tuple[str, ...]:
    (kernel,) = _report(folder, cache, "k.py").kernels
    assert kernel.failure is None
    return kernel.mutated


def test_a_killed_run_leaves_nothing_that_another_trips_over(tmp_path: Path) -> None:
    chance, folder, cache = random.Random(3), tmp_path / "project", tmp_path / "cache"
    folder.mkdir()
    for _ in range(50):
        written = chance.choice(list(TEXTS))
        (folder / "k.py").write_text(TEXTS[written])
        pid = _forked(lambda: _report(folder, cache, "k.py"))
        time.sleep(chance.random() * 0.4)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        assert _writes(folder, cache) == written
    assert {p.name for p in folder.iterdir()} == {"k.py"}
    assert [p.name for p in (cache / "files").iterdir() if p.name.startswith(".")] == []


def test_runs_at_once_give_what_each_gives_alone(tmp_path: Path) -> None:
    chance, folder, cache = random.Random(4), tmp_path / "project", tmp_path / "cache"
    folder.mkdir()
    for _ in range(8):
        written = chance.choice(list(TEXTS))
        (folder / "k.py").write_text(TEXTS[written])
        pids = [_forked(lambda: _report(folder, cache, "k.py")) for _ in range(2)]
        assert _writes(folder, cache) == written
        for pid in pids:
            assert os.waitpid(pid, 0)[1] == 0
        assert _writes(folder, cache) == written


@pytest.mark.skipif(sys.platform == "win32", reason="takes limits of a process")
def test_a_cache_that_cannot_be_written_is_a_slower_run(tmp_path: Path) -> None:
    import resource

    (tmp_path / "k.py").write_text(TEXTS["x",])
    (tmp_path / "no folder").write_text("")
    for cache in (tmp_path / "no folder", tmp_path / "no folder" / "below", Path("/proc/cache")):
        assert _writes(tmp_path, cache) == ("x",)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # as if the disk were full
    try:
        assert _writes(tmp_path, tmp_path / "full") == ("x",)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((tmp_path / "full").glob("files/*")) == []
    (tmp_path / "k.py").write_text(TEXTS["y",])
    assert _writes(tmp_path, tmp_path / "full") == ("y",)
