"""Nothing is kept of what is due to chance, to time, or to what cannot be noted; what is read is noted, however."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import recording, spoil_if_short
from triton_mutlint.run import run as engine
from triton_mutlint.types import Report

pytest.importorskip("triton")
pytestmark = pytest.mark.apart

KERNEL = """import triton
import triton.language as tl
{imports}

N = tl.constexpr({value})


@triton.jit
def kernel(x, y):
    if N % 2 == 0:
        tl.store(x, N)
    else:
        tl.store(y, N)
"""
CHANCE = {
    "random": ("import random", "random.randrange(100)"),
    "random by another name": ("from random import choice as pick", "pick([1, 2])"),
    "secrets": ("import secrets", "secrets.randbelow(100)"),
    "strftime": ("import time", "int(time.strftime('%S'))"),
    "localtime by another name": ("from time import localtime as now", "now().tm_sec"),
    "getrandom": ("import os", "os.getrandom(1)[0]"),
    "times": ("import os", "int(os.times().elapsed)"),
    "id": ("", "id(object())"),
    "hash": ("", "hash('text')"),
    "uuid": ("from uuid import uuid4 as make", "make().int % 100"),
    "datetime": ("import datetime as dates", "dates.datetime.today().second"),
    "what is installed": ("from importlib import metadata", "len(metadata.version('triton'))"),
    "posix": ("import posix", "posix.getrandom(1)[0]"),
    "builtins": ("import builtins", "builtins.id(object())"),
}
READS = {
    "configparser": ("import configparser", "_p.getint('a', 'n')", "_p = configparser.ConfigParser()\n_p.read(DATA)"),
    "codecs": ("import codecs", "int(codecs.open(DATA).read().split()[-1])", ""),
    "gzip": ("import gzip", "int(gzip.open(DATA + '.gz').read().split()[-1])", ""),
    "io.FileIO": ("import io", "int(io.FileIO(DATA).read().split()[-1])", ""),
    "os.open": ("import os", "int(os.read(os.open(DATA, 0), 99).split()[-1])", ""),
    "fileinput": ("import fileinput", "int(list(fileinput.input(DATA))[-1].split()[-1])", ""),
    "linecache": ("import linecache", "int(linecache.getlines(DATA)[-1].split()[-1])", ""),
    "a link": ("import os", "int(os.readlink(DATA + '.link')[-1])", ""),
    "environb": ("import os", "int(os.environb.get(b'MUTLINT_N', b'1'))", ""),
    "getenvb": ("import os", "int(os.getenvb(b'MUTLINT_N', b'1'))", ""),
}


def _report(folder: Path, cache: Path | None) -> Report:
    return engine.run(Request(("kernels.py",), folder, targets=("cuda:90",), cache_dir=cache))


@pytest.mark.parametrize("form", CHANCE)
def test_what_is_due_to_chance_is_not_kept(tmp_path: Path, form: str) -> None:
    folder, cache = tmp_path / "project", tmp_path / "cache"
    folder.mkdir()
    imports, value = CHANCE[form]
    (folder / "kernels.py").write_text(KERNEL.format(imports=imports, value=value))
    with recording() as inputs:
        (kernel,) = _report(folder, cache).kernels
    assert kernel.failure is None
    assert inputs.spoiled
    assert not list(cache.glob("files/*"))


@pytest.mark.parametrize("form", READS)
def test_what_is_read_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    import gzip

    folder, cache = tmp_path / "project", tmp_path / "cache"
    folder.mkdir()
    data = tmp_path / "data"

    def write(number: int) -> None:
        data.write_text(f"[a]\nn = {number}\n")
        Path(f"{data}.gz").write_bytes(gzip.compress(b"n = %d" % number))
        Path(f"{data}.link").unlink(missing_ok=True)
        Path(f"{data}.link").symlink_to(f"to{number}")
        monkeypatch.setenv("MUTLINT_N", str(number))

    imports, value, before = READS[form]
    start = f"{imports}\n\nDATA = {str(data)!r}\n{before}"
    (folder / "kernels.py").write_text(KERNEL.format(imports=start, value=value))
    for number, written in ((1, ("y",)), (2, ("x",)), (1, ("y",))):
        write(number)
        report = _report(folder, cache)
        assert [k.mutated for k in report.kernels] == [written]
        assert list(cache.glob("files/*"))


@pytest.mark.parametrize("limit", ["RLIMIT_NOFILE, 9", "RLIMIT_DATA, 1 << 28"])
def test_a_verdict_under_a_limit_is_not_given_without_it(tmp_path: Path, limit: str) -> None:
    """Linted code may catch what it runs into itself."""
    pytest.importorskip("resource")
    value = "_value()"
    imports = ("import os\n\n\ndef _value():\n    try:\n        held = [bytearray(1 << 28)]\n"
               "        for _ in range(40):\n            held.append(open(__file__))\n        return len(held) + 1\n"
               "    except (OSError, MemoryError):\n        return 1\n")
    (tmp_path / "kernels.py").write_text(KERNEL.format(imports=imports, value=value))
    asked = [sys.executable, "-m", "triton_mutlint", "kernels.py", "--cache-dir", str(tmp_path / "cache"), "--format",
             "json", "--target", "cuda:90"]
    name, most = limit.split(", ")
    shell = (f"import os, resource as r; r.setrlimit(r.{name}, ({most}, r.getrlimit(r.{name})[1]));"
             f"os.execv({asked[0]!r}, {asked!r})")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    limited, free, cold = (
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        for command in ([sys.executable, "-c", shell], asked, [*asked, "--no-cache"]))
    assert b"Traceback" not in limited.stderr
    assert free.stdout == cold.stdout


def test_what_failed_for_want_of_something_is_tried_again() -> None:
    with recording() as inputs:
        spoil_if_short(OSError(24, "too many open files"))
        spoil_if_short(MemoryError())
        spoil_if_short(FileNotFoundError(2, "no such file"))
    assert inputs.spoiled == 2
