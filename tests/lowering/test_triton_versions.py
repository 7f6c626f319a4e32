"""Which versions of Triton are taken, what they are told of, and that they are left as they were."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.helpers.in_process import run_here
from triton_mutlint.basics import UsageError
from triton_mutlint.config.request import Request
from triton_mutlint.lowering import triton_api
from triton_mutlint.run.plan import unexpected
from triton_mutlint.source.slicing.sandbox import surrounded
from triton_mutlint.types import Location, Report, Stage, parse_target

pytestmark = pytest.mark.both

SAID = "is newer than those tested (3.3 to 3.9)"


def lint(folder: Path, statement: str) -> Report:
    (folder / "kernels.py").write_text("import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x):\n"
                                       f"    {statement}\n", encoding="utf-8")
    return run_here(Request(("kernels.py",), folder, use_spec=False, targets=("cuda:90",)))


def test_a_newer_triton_runs_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(SAID in note for note in lint(tmp_path, "tl.store(x, 1)").notes)
    monkeypatch.setattr(triton_api, "SUPPORTED", ((3, 3), triton_api.version()))
    report = lint(tmp_path, "tl.store(x, 1)")
    assert [note for note in report.notes if "is newer than those tested" in note] == [triton_api.newer_than_tested()]
    assert report.kernels[0].mutated == ("x",)


def test_a_newer_triton_is_a_possible_cause_of_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_api, "SUPPORTED", ((3, 3), triton_api.version()))
    failure = lint(tmp_path, "tl.static_assert(False)").kernels[0].failure
    assert failure is not None
    assert "is newer than those tested" in failure.hint
    assert "is newer than those tested" in unexpected(Stage.LOAD, ValueError("x"), Location("f.py", 1)).hint


def test_the_remark_names_the_versions_that_were_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_api, "version", lambda: (3, 10))
    assert triton_api.newer_than_tested().endswith(SAID)


@pytest.mark.parametrize("name", ["cuda:900", "cuda:30", "cuda:sm_200"])
def test_a_capability_that_no_gpu_has_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"no GPU has compute capability .*cuda:50 to cuda:121"):
        parse_target(name)


def test_triton_is_left_as_it_was(tmp_path: Path) -> None:
    jit = importlib.import_module("triton.runtime.jit")
    config = importlib.import_module("triton.runtime.driver").driver
    owner = next(cls for cls in jit.JITFunction.__mro__ if "parse" in vars(cls))
    before = owner.parse, jit.inspect, dict(vars(config))
    lint(tmp_path, "tl.store(x, 1)")
    assert (owner.parse, jit.inspect, dict(vars(config))) == before


def test_a_driver_stands_in_only_within(monkeypatch: pytest.MonkeyPatch) -> None:
    config = importlib.import_module("triton.runtime.driver").driver
    driver = SimpleNamespace(get_current_target=lambda: "a target")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with surrounded(driver, inspect):
        import triton

        assert config.active is driver
        assert type(triton.jit(_kernel)).__name__ == "JITFunction"
    assert config.active is not driver if vars(config).get("active") else vars(config)["_active"] is not driver


def _kernel() -> None:
    """Has a source to be read."""


def test_functions_with_the_same_text_are_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jit = importlib.import_module("triton.runtime.jit")
    owner = next(cls for cls in jit.JITFunction.__mro__ if "parse" in vars(cls))
    parsed: list[str] = []
    plain = owner.parse

    def noted(function: object) -> object:
        parsed.append(function.src)  # type: ignore[attr-defined]
        return plain(function)

    monkeypatch.setattr(owner, "parse", noted)
    for _ in range(2):
        lint(tmp_path, "tl.store(x, 8675309)")  # which no other test lints
    assert len(parsed) == 1
