"""The verdicts on a file are kept while all that they depend on is as it was, and no longer."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run import run as engine
from triton_mutlint.types import Report

pytestmark = pytest.mark.apart

HEAD = "import triton\nimport triton.language as tl\nfrom helper import put\n\nSIZE = tl.constexpr(4)\n\n"
HELPER = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef put(x, value):\n    tl.store(x, value)\n"
FIRST = "@triton.jit\ndef first(x, n: tl.constexpr):\n    put(x + n, 1)\n\n"
SECOND = "@triton.jit\ndef second(x, y):\n    v = tl.load(x)\n    local(y, v)\n\n"
LOCAL = "@triton.jit\ndef local(p, v):\n    tl.store(p + SIZE, v)\n\n"
SPEC = ("version: 1\nkernels:\n  first: {args: {x: '*fp32', n: 3}}\n"
        "  second: {args: {x: '*fp32', y: '*fp32'}}\n")


class Project:
    """A file with two kernels, its helpers and spec; `analysed` are the kernels that a run did not know."""

    def __init__(self, root: Path) -> None:
        self.root, self.analysed = root, list[str]()
        self.write("helper.py", HELPER)
        self.write("kernels.py", HEAD + LOCAL + FIRST + SECOND)
        self.write("triton-mutlint.yaml", SPEC)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def run(self, **changes: object) -> list[str]:
        """Lint with the cache; what was analysed. The report is that of a run without one."""
        self.analysed.clear()
        warm = self.report(cache_dir=self.root / ".cache", **changes)
        analysed = list(self.analysed)
        assert warm == self.report(**changes)
        return analysed

    def report(self, **changes: object) -> Report:
        given = {"arguments": ("kernels.py",), "cwd": self.root, "targets": ("cuda:90",), **changes}
        return engine.run(Request(**given), self._at)  # type: ignore[arg-type]

    def _at(self, done: int, total: int, label: str) -> None:
        self.analysed.append(label.rpartition(": ")[2])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.report(cache_dir=tmp_path / ".cache")
    assert made.analysed == ["first", "second"]
    return made


def test_what_did_not_change_is_not_analysed(project: Project) -> None:
    assert project.run() == []


def test_editing_a_file_analyses_that_file(project: Project) -> None:
    project.write("others.py", HEAD + FIRST.replace("first", "third"))
    both = {"arguments": ("kernels.py", "others.py")}
    assert project.run(**both) == ["third"]
    project.write("kernels.py", HEAD + LOCAL + FIRST.replace("1)", "2)") + SECOND)
    assert project.run(**both) == ["first", "second"]
    project.write("kernels.py", HEAD + LOCAL + FIRST + SECOND)
    assert project.run(**both) == ["first", "second"]  # only the last state of a file is kept
    assert project.run(**both) == []


@pytest.mark.parametrize(("name", "text"), [
    pytest.param("helper.py", HELPER.replace("x, value", "x, v").replace(", value)", ", v)"), id="a helper elsewhere"),
    pytest.param("kernels.py", HEAD + LOCAL.replace("p + SIZE", "p - SIZE") + FIRST + SECOND, id="its own helper"),
    pytest.param("kernels.py", HEAD.replace("(4)", "(5)") + LOCAL + FIRST + SECOND, id="a constant"),
    pytest.param("triton-mutlint.yaml", SPEC.replace("n: 3", "n: 4"), id="an entry of the spec"),
    pytest.param("triton-mutlint.yaml", SPEC + "globals: {SIZE: 8}\n", id="a value of the spec"),
    pytest.param("kernels.py", HEAD + LOCAL + FIRST + SECOND + "THIRD = 3\n", id="other code"),
])
def test_what_changes_is_analysed(project: Project, name: str, text: str) -> None:
    project.write(name, text)
    assert project.run() == ["first", "second"]
    assert project.run() == []


@pytest.mark.parametrize(("changes", "analysed"), [
    ({"targets": ("hip:gfx942",)}, 2), ({"max_variants": 1}, 2), ({"opaque_asm": True}, 2), ({"jobs": 2}, 0),
    ({"timeout": 7.0}, 0), ({"arguments": (".",)}, 0), ({"arguments": ("kernels.py::first",)}, 1),
    ({"use_spec": False}, 2),
])
def test_options_that_may_change_the_verdict_do_not_share(project: Project, changes: dict[str, object],
                                                          analysed: int) -> None:
    assert len(project.run(**changes)) >= analysed
    assert project.run(**changes) == []
    project.run()


def test_an_import_that_finds_something_else_counts(project: Project) -> None:
    project.write("helper/__init__.py", HELPER)  # `helper.py` beside it still comes first
    project.run()
    (project.root / "helper.py").unlink()
    assert project.run() == ["first", "second"]
    project.write("pyproject.toml", "")
    project.write("src/helper.py", HELPER.replace("tl.store(x, value)", "tl.load(x)"))
    assert project.run()


def test_a_module_that_appears_counts(project: Project) -> None:
    project.write("kernels.py", HEAD + "try:\n    from absent import SIZE\nexcept ImportError:\n    pass\n"
                  + LOCAL + FIRST + SECOND)
    project.run()
    assert project.run() == []
    project.write("absent.py", "import triton.language as tl\nSIZE = tl.constexpr(16)\n")
    assert project.run() == ["first", "second"]


def test_variables_and_files_that_constants_are_made_from_count(project: Project,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    size = ("import os, json\nwith open(os.path.dirname(__file__) + '/size.json') as file:\n"
            "    SIZE = tl.constexpr(json.load(file))\n"
            "if os.environ.get('MUTLINT_WIDE'):\n    SIZE = tl.constexpr(2)")
    head = HEAD.replace("SIZE = tl.constexpr(4)", size)
    project.write("size.json", "4")
    project.write("kernels.py", head + LOCAL + FIRST + SECOND)
    project.run()
    assert project.run() == []
    project.write("size.json", "5")
    assert project.run() == ["first", "second"]
    monkeypatch.setenv("MUTLINT_WIDE", "1")
    assert project.run() == ["first", "second"]
    monkeypatch.setenv("MUTLINT_OTHER", "1")
    assert project.run() == []


@pytest.mark.parametrize(("constant", "change"), [
    ("os.path.exists(HERE + '/flag')", "flag"), ("(pathlib.Path(HERE) / 'flag').exists()", "flag"),
    ("pathlib.Path(HERE, 'deep', 'flag').is_file()", "deep/flag"), ("'flag' in os.listdir(HERE)", "flag"),
    ("bool(glob.glob(HERE + '/fl*'))", "flag"), ("any(e.name == 'flag' for e in os.scandir(HERE))", "flag"),
    ("os.access(HERE + '/flag', os.R_OK)", "flag"), ("pathlib.Path(HERE, 'data.txt').read_text() == 'x'", "data.txt"),
    ("os.read(os.open(HERE + '/data.txt', 0), 9) == b'x'", "data.txt"),
    ("os.path.getsize(HERE + '/data.txt') == 1", "data.txt"),
    ("os.path.islink(HERE + '/flag')", ">flag"), ("importlib.util.find_spec('absent') is not None", "absent.py"),
])
def test_what_constants_learn_from_the_disk_counts(project: Project, constant: str, change: str) -> None:
    head = HEAD.replace("SIZE = tl.constexpr(4)", "import glob, importlib.util, os, pathlib\n"
                        "HERE = os.path.dirname(__file__)\n"
                        f"SIZE = tl.constexpr(8 if {constant} else 4)")
    project.write("data.txt", "xx")
    project.write("kernels.py", head + LOCAL + FIRST + SECOND)
    project.run()
    if change.startswith(">"):
        (project.root / change[1:]).symlink_to("data.txt")
    else:
        project.write(change, "x")
    assert project.run() == ["first", "second"]
    project.run()


ASKED = [
    "import os\nSIZE = tl.constexpr(4 + os.getloadavg()[0] * 0)\n",
    "import os\nSIZE = tl.constexpr(4 + os.getpid() * 0)\n",
    "import time\ndef now():\n    return time.monotonic()\nSIZE = tl.constexpr(4 if now() else 8)\n",
    "from os import times as now\nSIZE = tl.constexpr(4 if now() else 8)\n",
    "import os\nSIZE = tl.constexpr(4)\n@triton.heuristics({'n': lambda args: 3 + 0 * os.cpu_count()})\n",
]


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_due_to_the_process_or_the_clock_is_not_kept(project: Project, asked: str) -> None:
    project.write("kernels.py", HEAD.replace("SIZE = tl.constexpr(4)\n\n", asked) + FIRST + SECOND + LOCAL)
    project.write("triton-mutlint.yaml", SPEC.replace(", n: 3", ""))
    for _ in range(2):
        assert project.run() == ["first", "second"]


def test_a_module_that_asked_counts_for_all_who_use_it(project: Project) -> None:
    project.write("shared.py", "import os\nimport triton.language as tl\nSIZE = tl.constexpr(4 + os.cpu_count() * 0)\n")
    text = HEAD.replace("SIZE = tl.constexpr(4)", "from shared import SIZE") + LOCAL + FIRST + SECOND
    project.write("kernels.py", text)
    project.write("other.py", text)
    both = {"arguments": ("kernels.py", "other.py")}
    assert project.run(**both) == ["first", "second"] * 2
    assert project.run(**both) == ["first", "second"] * 2


def test_code_that_could_ask_and_is_not_called_keeps_all(project: Project) -> None:
    unused = ("import os, time\nclass Writer:\n    size = 4\n"
              "    def name(self):\n        return os.getpid(), time.time()\n")
    project.write("kernels.py", HEAD.replace("SIZE = tl.constexpr(4)", unused + "SIZE = tl.constexpr(Writer().size)")
                  + LOCAL + FIRST + SECOND)
    assert project.run() == ["first", "second"]
    assert project.run() == []


def test_an_import_path_that_changes_counts(project: Project, tmp_path_factory: pytest.TempPathFactory,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_mutlint.cache.runs import identity

    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "absent.py").write_text("SIZE = 16\n")
    before = identity.__wrapped__()
    monkeypatch.syspath_prepend(elsewhere)
    assert identity.__wrapped__() != before


def test_what_ran_out_of_time_is_tried_again(project: Project) -> None:
    endless = "@triton.jit\ndef third(x):\n    for i in tl.static_range(1000000):\n        tl.store(x + i, 1)\n"
    project.write("kernels.py", HEAD + LOCAL + FIRST + SECOND + endless)
    for _ in range(2):
        project.analysed.clear()
        report = project.report(cache_dir=project.root / ".cache", timeout=0.5)
        assert project.analysed == ["first", "second", "third"]
        assert report.kernels[-1].failure is not None


def test_a_changed_file_in_the_cache_is_a_slower_run(project: Project) -> None:
    for entry in (project.root / ".cache" / "files").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    assert project.run() == ["first", "second"]
    assert project.run() == []


def test_what_another_version_kept_is_not_used(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_mutlint.cache import files

    monkeypatch.setattr(files, "identity", lambda: "another version of the tool, Triton or Python")
    assert project.run() == ["first", "second"]
    monkeypatch.undo()


def test_nothing_but_records_is_made_from_a_file(project: Project) -> None:
    from triton_mutlint.cache.store import Store

    store = Store(project.root / ".cache")
    for path in store.entries():
        for content in (pickle.dumps(path), b"", b"[]", b"[[],0]", b'[[["Kernel"]],0]',
                        b'[[["Path","/"]],0]', b"[" * 9999):
            store.put("files", path.name, content)
            assert project.run() == ["first", "second"]
