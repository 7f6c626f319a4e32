"""Whole runs of the command over folders: cold with one process and with two, warm, and after one edit.

    python -m benchmarks.whole_runs FOLDER ... [--exclude GLOB]

The folders are copied first, and one file of the copy is edited. Wall and CPU seconds of the command and the
processes it starts, and the largest of them in MiB. Every output must be the same.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Taken:
    """What one command took, and what it printed."""

    wall: float
    cpu: float
    output: bytes


def run(folder: Path, *options: str) -> Taken:
    """One run of the command in `folder`."""
    # Without these, every start would compile the tool anew, or nothing would be kept.
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "TRITON_MUTLINT_NO_CACHE")}
    command = [sys.executable, "-m", "triton_mutlint", "--no-spec", "--exit-zero", "--target", "cuda:90", *options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return Taken(end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout)


def measure(folders: Sequence[Path], exclude: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "packages"
        for folder in folders:
            shutil.copytree(folder, root / folder.name)
        lines = ", ".join(f'"{glob}"' for glob in exclude)
        (root / "triton-mutlint.toml").write_text(f"exclude = [{lines}]\n", encoding="utf-8")
        caches = iter(Path(scratch) / f"cache{i}" for i in range(9))
        first = next(caches)
        found = {"cold, one process": run(root, ".", "--jobs", "1", "--cache-dir", str(first))}
        found["cold, two processes"] = run(root, ".", "--jobs", "2", "--cache-dir", str(next(caches)))
        found["warm"] = min((run(root, ".", "--cache-dir", str(first)) for _ in range(5)), key=lambda t: t.wall)
        edited = max(root.rglob("*.py"), key=lambda path: path.read_bytes().count(b"@triton.jit"))
        edited.write_text(f"{edited.read_text(encoding='utf-8')}\n# edited\n", encoding="utf-8")
        found["after an edit of one file"] = run(root, ".", "--jobs", "1", "--cache-dir", str(first))
        assert len({taken.output for taken in found.values()}) == 1, "the output is another one"
        one = str(edited.relative_to(root))
        run(root, one, "--cache-dir", str(first))
        found["warm, one file"] = min((run(root, one, "--cache-dir", str(first)) for _ in range(5)),
                                      key=lambda t: t.wall)
        for name, taken in found.items():
            print(f"{name}: {taken.wall:.2f} s, CPU {taken.cpu:.2f} s")
        cold, two, warm = (found[n] for n in ("cold, one process", "cold, two processes", "warm"))
        print(f"two processes: {cold.wall / two.wall:.2f} times as fast; warm: {cold.wall / warm.wall:.0f} times")
        print(f"largest process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
        print(cold.output.decode().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--exclude", action="append", default=[])
    options = parser.parse_args()
    measure([folder.resolve() for folder in options.folders], options.exclude)


if __name__ == "__main__":
    main()
