"""The truth in fixtures/ops/ops.yaml against what the ops do on the CPU, under Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.places import OPS, read_book

BOOK: dict[str, dict[str, Any]] = read_book(OPS / "ops.yaml")
RUN = [key for key, op in BOOK.items() if op["run"] is not False]

pytestmark = [pytest.mark.slow, pytest.mark.torch]


# All in one process, as importing torch and triton takes most of its time.
SEEN = """
import contextlib, io, json, runpy, sys
with contextlib.redirect_stdout(io.StringIO()) as printed:
    runpy.run_path(sys.argv[1], run_name="__main__")
sys.path.insert(0, sys.argv[2])
import torch, long_op
given = [torch.arange(4.0) for _ in range(4)]
long_op.long_function(*given)
changed = [not torch.equal(t, torch.arange(4.0)) for t in given]
print(json.dumps({"ops": json.loads(printed.getvalue()), "long": changed}))
"""


@lru_cache
def _seen() -> dict[str, Any]:
    """What runs show, in a process of its own: the interpreter is chosen before triton is imported."""
    with tempfile.TemporaryDirectory() as folder:
        made = _python(str(OPS / "make_long.py"), "3000")
        assert len(made.stdout.splitlines()) >= 3000
        Path(folder, "long_op.py").write_text(made.stdout, encoding="utf-8")
        done = _python("-c", SEEN, str(OPS / "observe.py"), folder)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def observed() -> dict[str, Any]:
    """What `observe.py` saw."""
    found: dict[str, Any] = _seen()["ops"]
    return found


def _python(*args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, env=environment,
                          timeout=240, check=False)


def _calls(key: str) -> Iterator[dict[str, Any]]:
    """Each run's two calls: of the Python function, and of the op as torch registered it."""
    for run in observed()[key]["runs"]:
        yield from (call for call in (run["function"], run["op"]) if call is not None)


def test_enough_ops_run() -> None:
    assert observed().keys() == set(RUN)
    assert len(RUN) >= 350
    assert sum(any(run["op"] for run in seen["runs"]) for seen in observed().values()) >= 340
    assert sum(any(run["function"] for run in seen["runs"]) for seen in observed().values()) >= 350


@pytest.mark.parametrize("key", RUN)
def test_ops_change_what_the_truth_says(key: str) -> None:
    op, calls = BOOK[key], list(_calls(key))
    assert calls
    changed = [set(call["changed"]) for call in calls]
    assert set().union(*changed) <= {*op["written"], *op["maybe"], *op["unknown"]}
    for argument in op["written"]:
        assert any(argument in c for c in changed), f"no run writes {argument}"
    for argument in op["maybe"]:
        assert any(argument in c for c in changed), f"no run writes {argument}"
        assert "one_way" in op or not all(argument in c for c in changed), f"every run writes {argument}"


def test_function_and_registered_op_change_the_same() -> None:
    pairs = [(key, run["function"], run["op"]) for key in RUN for run in observed()[key]["runs"]]
    both = [(key, function["changed"], op["changed"]) for key, function, op in pairs if function and op]
    assert len(both) >= 350
    assert [key for key, function, op in both if function != op] == []


def test_ops_return_what_the_truth_says() -> None:
    wrong = []
    for key in RUN:
        for run in observed()[key]["runs"]:
            for how, call in run.items():
                refused = how == "op" and BOOK[key].get("op_raises", False)  # torch forbids to return an argument
                failed = call is not None and call["error"] is not None
                gave = [] if call is None or refused else call["returned"]
                expected = [] if call is None or refused else BOOK[key].get("returns", [])
                if failed != refused or gave != expected:
                    wrong.append((key, how, call))
    assert wrong == []


def test_torch_reads_the_declarations_alike() -> None:
    wrong = []
    for key in RUN:
        declared, seen = BOOK[key]["declared"], observed()[key]
        expected = ["x", "out"] if declared == "unknown" else declared
        if seen["schema"] is not None and expected is not None and set(seen["schema"]) != set(expected):
            wrong.append((key, seen["schema"]))
    assert wrong == []
    refused = {key for key in RUN if observed()[key]["refused"]}
    assert refused == {key for key in RUN if BOOK[key].get("refused")}


def test_the_long_function_writes_what_its_maker_says() -> None:
    assert _seen()["long"] == [False, True, False, True]
