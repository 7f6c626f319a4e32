"""Names under `globals` of a spec that no file mentions."""

from __future__ import annotations

from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.spec.stale import stale_globals
from triton_mutlint.types import FileResult, SourceFile

KERNEL = """\
import triton
import triton.language as tl
from settings import LANES, ROWS


@triton.jit
def fill(out_ptr):
    i = tl.arange(0, LANES)
    tl.store(out_ptr + i, 0.0)
"""


def stale(folder: Path, names: list[str], *linted: str, loaded: tuple[Path, ...] = (), text: str = KERNEL) -> list[str]:
    given = "".join(f"  {name}: 1\n" for name in names)
    spec = parse_spec(f"version: 1\nglobals:\n{given}", "s.yaml")
    files = [FileResult(SourceFile(folder / name, name, text), sources=loaded) for name in linted or ("k.py",)]
    return [f"{place.line} {message}" for message, place in stale_globals(spec, files, folder)]


def test_a_name_that_no_file_mentions_is_stale(tmp_path: Path) -> None:
    assert stale(tmp_path, ["settings.LANES", "LANES", "triton.jit", "ROWZ", "nosuch.mod.X", "settings.LANE"]) == [
        "6 globals.ROWZ: no file asks for `ROWZ`; did you mean `ROWS`?",
        "7 globals.nosuch.mod.X: no file asks for `nosuch.mod.X`",
        "8 globals.settings.LANE: no file asks for `settings.LANE`; did you mean `settings.LANES`?",
    ]


def test_another_file_of_the_project_may_ask(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "other.py").write_text("from settings import WIDTH\n")
    assert stale(tmp_path, ["settings.WIDTH"]) == []
    assert len(stale(tmp_path, ["settings.WIDT"])) == 1


def test_a_loaded_file_outside_of_the_project_may_ask(tmp_path: Path) -> None:
    project, library = tmp_path / "project", tmp_path / "library.py"
    project.mkdir()
    library.write_text("from settings import WIDTH\n")
    assert stale(project, ["settings.WIDTH"], loaded=(library,)) == []
    assert len(stale(project, ["settings.WIDTH"])) == 1


def test_nothing_is_said_where_linted_files_are_outside_of_the_project(tmp_path: Path) -> None:
    assert stale(tmp_path / "project", ["ROWZ"], str(tmp_path / "k.py")) == []
    assert len(stale(tmp_path / "project" / "..", ["ROWZ"], str(tmp_path / "k.py"))) == 1


def test_the_text_that_is_linted_counts_not_the_file(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text("ROWZ = 1\n")
    assert len(stale(tmp_path, ["ROWZ"])) == 1


def test_a_run_says_so_and_a_used_name_is_not_stale(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL)
    (tmp_path / "triton-mutlint.yaml").write_text("version: 1\nglobals:\n  settings.LANES: 4\n  ROWZ: 4\n")
    found = [f for f in run(Request(("k.py",), tmp_path)).findings if f.rule == "TML904"]
    assert [(f.location.file, f.location.line) for f in found] == [("triton-mutlint.yaml", 4)]
