"""A fixed corpus of random kernels, run in the interpreter (numpy alone, no torch) and analysed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.batch import MISSED, OVER, Fault, Tally, cases, reduced, run_batch
from fuzz.emit import module
from fuzz.program import Assign, Do, Function, If, Loop, Node, Program, Return
from fuzz.truth import truth_of
from triton_mutlint.analysis import transfer

MOST_OVER = 0.02  # of the parameters that cannot be written


def problems(tally: Tally, *allowed: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(f.kind, f.seed, f.parameters, f.message) for f in tally.faults if f.kind not in (OVER, *allowed)]


def test_no_write_is_missed_and_few_are_invented(tmp_path: Path) -> None:
    tally = run_batch("corpus:0", 30, tmp_path, with_spec=True, runs=1)
    assert problems(tally) == []
    assert tally.counts["analyzed"] == tally.counts["ran"] == tally.kernels >= 27
    assert tally.counts["observed"] > 0.7 * tally.counts["writable"]
    assert tally.over_rate <= MOST_OVER


def test_no_write_is_missed_with_inferred_arguments(tmp_path: Path) -> None:
    tally = run_batch("corpus:1", 25, tmp_path, with_spec=False, runs=0)
    assert [f for f in tally.faults if f.kind == MISSED] == []
    assert tally.counts["analyzed"] >= 15  # of some, the types cannot be told from the body


def test_a_planted_fault_is_found_and_shrunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(transfer.PURE, "arith.select", transfer.number)
    tally = run_batch("corpus:3", 25, tmp_path, with_spec=True, runs=0)
    found: Fault = next(f for f in tally.faults if f.kind == MISSED)

    smallest = reduced(found, tmp_path / "smaller.py", attempts=120)
    text = module([("kernel", smallest)])
    assert "tl.where(" in text
    assert len(text) < len(module([("kernel", found.case.program)]))


def test_a_seed_names_the_same_kernels() -> None:
    first, again, other = ([module([("k", c.program)]) for _, c in cases(s, 5)] for s in ("s:1", "s:1", "s:2"))
    assert first == again
    assert first != other


def var(name: str) -> Node:
    return Node("var", (name,))


def store(pointer: Node) -> Do:
    return Do(Node("store", (pointer, Node("k", (4,)))))


FLAG = Node("c.flag", (Node("n.constant", (Node("o", (1,)),)),))
SWAP = Assign(("p0_", "p1_"), (var("p1_"), var("p0_")))
START = (Assign(("p0_",), (var("a0"),)), Assign(("p1_",), (var("a1"),)))


@pytest.mark.parametrize(("body", "written"), [
    ((store(var("p0_")),), {"a0"}),
    ((Loop("static", "l0", 2, (SWAP,)), store(var("p0_"))), {"a0"}),
    ((Loop("static", "l0", 3, (SWAP,)), store(var("p0_"))), {"a1"}),
    ((Loop("range", "l0", 3, (SWAP,)), store(var("p0_"))), {"a0", "a1"}),
    ((If(FLAG, (SWAP,)), store(var("p0_"))), {"a0", "a1"}),
    ((If(FLAG, (SWAP, Return())), store(var("p0_"))), {"a0"}),
    ((If(Node("never"), (SWAP,)), store(var("p0_"))), {"a0"}),
    ((Assign(("p0_",), (Node("p.where", (FLAG, var("p1_"), var("a2"))),)), store(var("p0_"))), {"a1", "a2"}),
    ((Do(Node("put", (Node("s", (0,)), Node("i.from", (var("p1_"),))))),
      store(Node("p.cast", (Node("i.slot", (Node("s", (0,)),)),)))), {"scr", "a1"}),
    ((Assign(("p0_", "p1_"), (Node("call", ("h0", var("p0_"), var("p1_"))),)), store(var("p0_"))), {"a1"}),
])  # fmt: skip
def test_the_truth_follows_paths_and_not_variables_one_by_one(body: tuple[Do, ...], written: set[str]) -> None:
    helper = Function("h0", ("q0", "q1"), "pp", (Return((var("q1"), var("q0"))),), "pp")
    kernel = Function("kernel", ("a0", "a1", "a2", "scr"), "pppS", START + body)
    assert truth_of(Program(kernel, (helper,))).written == written
