"""What other code may set before a launch decides no verdict silently."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport

FILE = """\
import triton
import triton.language as tl

SAVE = tl.constexpr(False)
CALLS = 0


def enable():
    global SAVE
    SAVE = tl.constexpr(True)


def count():
    global CALLS
    CALLS += 1


@triton.jit
def first(a, b):
    tl.store(a, 1)


@triton.jit
def second(a, b):
    tl.store(b, 1)


CHOSEN = first


def choose(other):
    global CHOSEN
    CHOSEN = second if other else first


@triton.jit
def saves(out, lse):
    tl.store(out, 1.0)
    if SAVE:
        tl.store(lse, 2.0)


@triton.jit
def by_helper(a, b):
    CHOSEN(a, b)


@triton.jit
def plain(out, x):
    tl.store(out, tl.load(x))
"""
ARGS = "kernels:\n  saves:\n    args: {out: '*fp32', lse: '*fp32'}\n"


def report(folder: Path, name: str, spec: str = "") -> KernelReport:
    (folder / "k.py").write_text(FILE, encoding="utf-8")
    (folder / "spec.yaml").write_text("version: 1\n" + spec, encoding="utf-8")
    (found,) = run(Request((f"k.py::{name}",), folder, spec=folder / "spec.yaml" if spec else None,
                           use_spec=bool(spec), targets=("cuda:90",))).kernels
    return found


@pytest.mark.parametrize(("name", "spec", "written", "unknown"), [
    ("saves", "", ("out",), ("lse",)),
    ("saves", ARGS, ("out",), ("lse",)),
    ("saves", ARGS + "globals: {SAVE: false}\n", ("out",), ()),
    ("by_helper", "", ("a",), ("b",)),
    ("plain", "", ("out",), ()),
])
def test_what_another_launch_may_find_is_not_known(
    tmp_path: Path, name: str, spec: str, written: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    found = report(tmp_path, name, spec)
    assert (found.mutated, found.unknown) == (written, unknown)


def test_the_reason_names_the_constant(tmp_path: Path) -> None:
    (op,) = report(tmp_path, "saves").unanalyzable_ops
    assert op.reason == "whether it is reached may depend on `SAVE`, which may be set before a launch"
    assert op.location is not None
    assert op.location.line == FILE.splitlines().index("        tl.store(lse, 2.0)") + 1


HEAD = "import triton\nimport triton.language as tl\nimport settings\n"
STORING = """
@triton.jit
def k(out, extra{}):
    if {}:
        tl.store(extra, 1)
    tl.store(out, 2)
"""
BY_ATTRIBUTE = STORING.format("", "settings.SAVE")
COMPUTED = "SAVE = tl.constexpr('save' in settings.MODES)\n" + STORING.format("", "SAVE")
BY_FUNCTION = """
MODES = {'save': 0}
def enable():
    MODES['save'] = 1
@triton.constexpr_function
def saves():
    return MODES['save']
""" + STORING.format("", "saves()")
BY_HEURISTIC = """
MODES = {'save': 0}
def enable():
    MODES.update(save=1)
@triton.heuristics({'SAVE': lambda args: MODES['save']})
""" + STORING.format(", SAVE: tl.constexpr", "SAVE").lstrip()
BY_CONFIG = """
CONFIGS = [triton.Config({'SAVE': 0})]
def more():
    CONFIGS.append(triton.Config({'SAVE': 1}))
@triton.autotune(CONFIGS, key=[])
""" + STORING.format(", SAVE: tl.constexpr", "SAVE").lstrip()
MADE = "def make(save=False):\n    kept = tl.constexpr(save)\n" + textwrap.indent(
    STORING.format("", "kept") + "return k\n", "    ")


@pytest.mark.parametrize(("kernel", "other", "unknown"), [
    (BY_ATTRIBUTE, "", ()),
    (BY_ATTRIBUTE, "import settings\n\n\ndef enable():\n    settings.SAVE = True\n", ("extra",)),
    (BY_ATTRIBUTE, "from elsewhere import settings\nsettings.SAVE = True\n", ("extra",)),
    (BY_ATTRIBUTE, "import settings\nsetattr(settings, 'SAVE', 1)\n", ("extra",)),
    (BY_ATTRIBUTE, "import settings\nprint(settings.SAVE == 1)\n", ()),
    (COMPUTED, "from settings import MODES\nMODES.append('save')\n", ("extra",)),
    (COMPUTED, "from settings import MODES\nprint(MODES.count('save'))\n", ()),
    (BY_FUNCTION, "", ("extra",)),
    (BY_HEURISTIC, "", ("extra",)),
    (BY_CONFIG, "", ("extra",)),
    (MADE, "", ("extra",)),
    (MADE + "\n\nnamed = make(False)\n", "", ()),
])
def test_other_code_may_set_it(tmp_path: Path, kernel: str, other: str, unknown: tuple[str, ...]) -> None:
    (tmp_path / "settings.py").write_text("SAVE = False\nMODES = ['load']\n", encoding="utf-8")
    (tmp_path / "other.py").write_text(other, encoding="utf-8")
    (tmp_path / "k.py").write_text(HEAD + kernel, encoding="utf-8")
    (found,) = run(Request(("k.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (found.failure, found.mutated, found.unknown) == (None, ("out",), unknown)


def test_what_the_file_itself_sets_is_known(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("SAVE = False\n", encoding="utf-8")
    (tmp_path / "k.py").write_text(HEAD + "settings.SAVE = True\n\n\n" + BY_ATTRIBUTE, encoding="utf-8")
    (found,) = run(Request(("k.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (found.mutated, found.unknown) == (("out", "extra"), ())


@pytest.mark.parametrize(("made", "is_unknown"), [
    ("import random\nR = tl.constexpr(random.random() > 2)", True),
    ("from random import random as toss\nCOIN = toss()\nR = tl.constexpr(COIN > 2)", True),
    ("import time\nif time.time() < 0:\n    R = tl.constexpr(True)\nelse:\n    R = tl.constexpr(False)", True),
    ("def pick():\n    import os\n    return os.getpid() < 0\n\n\nR = tl.constexpr(pick())", True),
    ("from datetime import datetime\nR = tl.constexpr(datetime.now().year < 2000)", True),
    ("from settings import DRAWN\nR = tl.constexpr(DRAWN)", True),
    ("import settings\nR = tl.constexpr(settings.DRAWN)", True),
    ("R = tl.constexpr(hash('a') == 0)", True),
    ("import random\nR = tl.constexpr(False)\nOTHER = random.random()", False),
    ("from datetime import datetime\nR = tl.constexpr(datetime(2020, 1, 1).year < 2000)", False),
    ("def hash(text):\n    return 1\n\n\nR = tl.constexpr(hash('a') == 0)", False),
])
def test_what_differs_from_run_to_run_is_not_known(tmp_path: Path, made: str, is_unknown: bool) -> None:
    (tmp_path / "settings.py").write_text("import uuid\nDRAWN = uuid.uuid4().int < 0\n", encoding="utf-8")
    text = f"import triton\nimport triton.language as tl\n{made}\n{STORING.format('', 'R')}"
    (tmp_path / "k.py").write_text(text, encoding="utf-8")
    (found,) = run(Request(("k.py",), tmp_path, use_spec=False, targets=("cuda:90",))).kernels
    assert (found.failure, found.mutated, found.unknown) == (None, ("out",), ("extra",) if is_unknown else ())
