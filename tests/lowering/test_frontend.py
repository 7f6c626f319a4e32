"""What Triton's frontend makes with guessed loops is what it makes by itself, errors included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import casebook
from triton_mutlint import engine
from triton_mutlint.lowering import frontend
from triton_mutlint.model import Report
from triton_mutlint.request import Request

LOOPS = casebook.FIXTURES / "lowering"
ARGS = {"x": "*fp32", "y": "*fp32", "n": "i32"}


class Compared:
    """Stands for `frontend.guessed`: lowers each kernel both ways and notes how that went."""

    def __init__(self, guessed: Callable[..., Any]) -> None:
        self._guessed = guessed
        self.same = self.raised = self.given_up = 0
        self.different: list[str] = []

    def __call__(self, make: Callable[[], Any]) -> Any:
        plain, expected = _tried(make)
        guessed, error = _tried(lambda: self._guessed(make))
        if expected is not None:
            self.raised += 1
            if guessed is not None or (error is not None and _told(error) != _told(expected)):
                self.different.append(f"{_told(expected)} and {error and _told(error)}")
            raise expected
        if guessed is None:
            self.given_up += 1
            if error is not None:
                self.different.append(f"raised only where guessed: {error!r}")
        elif _code(guessed) != _code(plain):
            self.different.append(f"{_code(plain)}\n{_code(guessed)}")
        else:
            self.same += 1
        return plain


def _tried(make: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return make(), None
    except Exception as error:
        return None, error


def _told(error: BaseException | None) -> list[tuple[str, str]]:
    chain = []
    while error is not None:
        chain.append((type(error).__name__, str(error)))
        error = error.__cause__
    return chain


def _code(module: Any) -> str:
    """The text without locations: walking a body twice also names values outside of the loop."""
    return str(module.str_nodebug())


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compared]:
    both = Compared(frontend.guessed)
    monkeypatch.setattr(frontend, "guessed", both)
    yield both
    assert not both.different, "\n".join(both.different)


def _run(names: tuple[str, ...], spec: Path, cwd: Path) -> Report:
    return engine.run(Request(names, cwd, spec=spec, targets=("cuda:90",)))


def _spec(path: Path, args: dict[str, Any]) -> Path:
    path.write_text("version: 1\nkernels:\n  'loops.py::*':\n    args: {" + ", ".join(
        f"{k}: {str(v).lower() if isinstance(v, list) else repr(v)}" for k, v in args.items()) + "}\n")
    return path


def test_hostile_loops_become_what_triton_makes_of_them(compared: Compared, tmp_path: Path) -> None:
    report = _run(("loops.py",), _spec(tmp_path / "s.yaml", ARGS | {"FLAG": [True, False]}), LOOPS)
    failed = {k.name for k in report.kernels if k.failure}
    assert failed == {"mixed_types", "wrong_inside"}
    assert compared.same >= len(report.kernels) - len(failed)  # of which one has two variants
    assert compared.given_up == 0
    assert compared.raised >= 2


@pytest.mark.parametrize("book", casebook.BOOKS)
def test_the_fixtures_become_what_triton_makes_of_them(compared: Compared, book: str, tmp_path: Path) -> None:
    import yaml

    spec = tmp_path / "spec.yaml"
    spec.write_text(yaml.safe_dump(casebook.spec_of(book)), encoding="utf-8")
    files = tuple(sorted({c["file"] for c in casebook.raw(book)}))
    target = "hip:gfx942" if book == "hard/amd" else "cuda:90"
    engine.run(Request(files, casebook.FIXTURES / book, spec=spec, targets=(target,)))
    assert compared.same > 0
    assert compared.given_up == 0


def test_a_wrong_guess_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loops: list[Any] = []
    plain = frontend._walk_twice

    def noted(loop: Any) -> None:
        loops.append(loop)
        plain(loop)

    monkeypatch.setattr(frontend, "_walk_twice", noted)
    frontend._trees.clear()
    spec = _spec(tmp_path / "s.yaml", ARGS | {"FLAG": [False, True]})
    for _ in range(2):
        _run(("loops.py::untaken", "loops.py::same_twice", "loops.py::unchanged", "loops.py::nested"), spec, LOOPS)
    assert len(loops) == len(set(map(id, loops))) == 3


def test_a_loop_is_walked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Counted by the calls in its body, in a kernel of three loops within each other."""
    from triton.compiler.code_generator import CodeGenerator

    calls: list[Any] = []
    plain = CodeGenerator.visit_Call

    def noted(self: Any, node: Any) -> Any:
        calls.append(node)
        return plain(self, node)

    monkeypatch.setattr(CodeGenerator, "visit_Call", noted)
    report = _run(("loops.py::nested",), _spec(tmp_path / "s.yaml", ARGS), LOOPS)
    assert not report.kernels[0].failure
    assert sum(c.func.attr == "store" and c.args[1].id == "k" for c in calls if hasattr(c.func, "attr")) == 1


def test_triton_is_left_as_it_was(tmp_path: Path) -> None:
    from triton.compiler import code_generator
    from triton.runtime.jit import JITCallable

    before = code_generator.CodeGenerator, JITCallable.parse
    _run(("loops.py",), _spec(tmp_path / "s.yaml", ARGS | {"FLAG": True}), LOOPS)
    assert (code_generator.CodeGenerator, JITCallable.parse) == before


def test_another_code_generator_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from triton.compiler import code_generator

    class Other:
        """A generator of which nothing is known."""

    frontend._guessing_generator.cache_clear()
    monkeypatch.setattr(code_generator, "CodeGenerator", Other)
    try:
        assert frontend.guessed(lambda: pytest.fail("nothing can be guessed")) is None
    finally:
        frontend._guessing_generator.cache_clear()
