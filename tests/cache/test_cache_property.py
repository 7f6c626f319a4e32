"""Whatever is edited in whatever order, a run with a cache reports what one without it does."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import recording
from triton_mutlint.run import run as engine

pytestmark = pytest.mark.apart

STORES = ("tl.store(x + i, v)", "tl.store(y + i, v)", "pass", "put(x, v)", "put(y + WIDTH, v)", "other(x, y)",
          "tl.atomic_add(y, 1)", "if FLAG:\n        tl.store(x, v)")
HELPERS = ("tl.store(p, v)", "tl.load(p)", "tl.atomic_max(p, 1)", "deep(p)")
HEAD = """import os
import triton
import triton.language as tl
from package.helper import put, WIDTH
try:
    from package.extra import FLAG
except ImportError:
    FLAG: tl.constexpr = tl.constexpr({flag})
LIMIT = tl.constexpr(int(os.environ.get("MUTLINT_LIMIT", "4")))


"""
KERNEL = """@triton.jit
def {name}(x, y, n: tl.constexpr):
    i = tl.arange(0, 4) + LIMIT
    v = tl.load(x + i) + n
    {store}


"""
HELPER = """import triton
import triton.language as tl
from package.deeper import deep

WIDTH = tl.constexpr({width})


@triton.jit
def put(p, v):
    {helper}
"""
DEEPER = """import triton
import triton.language as tl


@triton.jit
def deep(p):
    {deeper}
"""


class World:
    """A project that changes at random."""

    def __init__(self, root: Path, chance: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.chance, self.patch = root, chance, monkeypatch
        self.kernels = {"one": STORES[0], "two": STORES[3], "other": STORES[1]}
        self.order = list(self.kernels)
        self.parts = {"flag": "True", "width": "1", "helper": HELPERS[0], "deeper": "tl.store(p, 1)", "blank": ""}
        self.options: dict[str, Any] = {}
        self.write("pyproject.toml", "")
        self.write("package/__init__.py", "")
        self.save()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat() if path.exists() else None
        path.write_text(text)
        if before is not None and self.chance.random() < 0.5:  # a clock that stands still, or goes back
            back = self.chance.choice((0, 10**9))
            os.utime(path, ns=(before.st_atime_ns - back, before.st_mtime_ns - back))

    def save(self) -> None:
        bodies = "".join(KERNEL.format(name=name, store=self.kernels[name]) for name in self.order)
        self.write("kernels.py", self.parts["blank"] + HEAD.format(flag=self.parts["flag"]) + bodies)
        self.write("second.py", HEAD.format(flag="False") + KERNEL.format(name="alone", store="put(y, v)"))
        self.write("package/helper.py", HELPER.format(**self.parts))
        self.write("package/deeper.py", DEEPER.format(**self.parts))

    def change(self) -> None:
        """One edit, of a kind at random."""
        kinds: list[Callable[[], object]] = [
            lambda: self.kernels.update({self.chance.choice(self.order): self.chance.choice(STORES)}),
            lambda: self.kernels.update({self.chance.choice(self.order): self.chance.choice(STORES)}),
            lambda: self.chance.shuffle(self.order),
            lambda: self.parts.update(helper=self.chance.choice(HELPERS)),
            lambda: self.parts.update(deeper=self.chance.choice(("tl.store(p, 1)", "tl.load(p)"))),
            lambda: self.parts.update(flag=self.chance.choice(("True", "False"))),
            lambda: self.parts.update(width=self.chance.choice("124")),
            lambda: self.parts.update(blank=self.chance.choice(("", "\n", "# a comment\n\n"))),
            self.spec, self.extra, self.variable, self.option,
        ]
        self.chance.choice(kinds)()
        self.save()

    def spec(self) -> None:
        path = self.root / "triton-mutlint.yaml"
        if path.exists() and self.chance.random() < 0.3:
            path.unlink()
            return
        entries = "".join(f"  {name}: {{args: {{x: '*{self.chance.choice(('fp32', 'i32'))}', y: '*i32', "
                          f"n: {self.chance.choice(('1', '[1, 2]'))}}}}}\n"
                          for name in self.order if self.chance.random() < 0.7)
        self.write("triton-mutlint.yaml", f"version: 1\nkernels:\n{entries}" if entries else "version: 1\n")

    def extra(self) -> None:
        path = self.root / "package" / "extra.py"
        if path.exists():
            path.unlink()
        else:
            self.write("package/extra.py", "import triton.language as tl\nFLAG = tl.constexpr(False)\n")

    def variable(self) -> None:
        if self.chance.random() < 0.4:
            self.patch.delenv("MUTLINT_LIMIT", raising=False)
        else:
            self.patch.setenv("MUTLINT_LIMIT", self.chance.choice("48"))

    def option(self) -> None:
        self.options = self.chance.choice((
            {}, {"targets": ("hip:gfx942",)}, {"max_variants": 1}, {"arguments": ("kernels.py",)},
            {"arguments": ("kernels.py::one", "second.py")}, {"use_spec": False}, {"jobs": 2}))

    def report(self, **given: Any) -> Any:
        asked = {"arguments": (".",), "cwd": self.root, "targets": ("cuda:90",), **self.options, **given}
        return engine.run(Request(**asked))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.fuzz) for seed in range(1, 12))])
def test_a_warm_report_is_a_cold_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    world = World(tmp_path / "project", random.Random(seed), monkeypatch)
    for step in range(8):
        warm = world.report(cache_dir=tmp_path / "cache")
        assert warm == world.report(), f"after {step} edits"
        world.change()


def test_everything_that_is_opened_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held against what Python itself tells of files that are opened and folders that are listed."""
    world = World(tmp_path / "project", random.Random(0), monkeypatch)
    world.spec()
    world.extra()
    world.write("triton-mutlint.snapshot", "")
    opened: set[str] = set()
    active = True

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if active and event in ("open", "os.scandir", "os.listdir") and isinstance(arguments[0], (str, os.PathLike)):
            opened.add(os.path.abspath(arguments[0]))  # noqa: PTH100

    sys.addaudithook(hook)
    with recording() as found:
        world.report()
    active = False
    own = {path for path in opened if path.startswith(str(world.root)) and "__pycache__" not in path}
    assert len(own) > 6
    assert own <= found.files.keys() | {folder for folder, _ in found.looks}
