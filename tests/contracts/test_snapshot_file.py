from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triton_mutlint.contracts.portable import portable
from triton_mutlint.contracts.snapshot import (
    MAGIC,
    VERSION,
    Contract,
    Key,
    Snapshot,
    contract_of,
    dump,
    keyed,
    parse,
)
from triton_mutlint.rules import RULES
from triton_mutlint.rules.rule import RunSubject
from triton_mutlint.types import (
    Declaration,
    Failure,
    IndirectWrite,
    KernelReport,
    Location,
    Mutation,
    OpArgument,
    OpMutation,
    OpReport,
    ParameterKind,
    ParameterReport,
    Stage,
    Status,
    UsageError,
)

HEAD = f"{MAGIC}{VERSION}\n"
names = st.from_regex(r"[a-z_]\w{0,8}(\.[a-z0-9]{1,3})?", fullmatch=True)
conditions = st.from_regex(r"[A-Z]{1,4}=[\w '\"#:]{1,10}\w", fullmatch=True).map(lambda text: " ".join(text.split()))
verdicts = st.one_of(
    st.tuples(st.sampled_from(["written", "unknown"]), st.just("")),
    st.tuples(st.just("conditional"), st.just("") | conditions),
)
contracts = st.builds(
    lambda writes, indirect: Contract(MappingProxyType(writes), indirect),
    st.dictionaries(names, verdicts, max_size=4),
    st.frozensets(st.tuples(names, st.sampled_from(["loaded", "integer"])), max_size=2),
) | st.just(Contract(analyzed=False))
files = st.sampled_from(["a.py", "with space/b c.py", "../up.py", "odd#1::x.py", "kernel.py", "ünï.py"])
keys = st.builds(Key, files, st.from_regex(r"[a-z]\w{0,8}(\.[a-z]\w{0,4})?", fullmatch=True), st.integers(1, 3))


def report(name: str, line: int, *parameters: ParameterReport, file: str = "a.py") -> KernelReport:
    return KernelReport(name, Location(file, line), Status.ANALYZED, parameters=parameters)


def parameter(name: str, mutation: Mutation, *when: str) -> ParameterReport:
    return ParameterReport(name, 0, ParameterKind.POINTER, "*fp32", False, mutation, when)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])  # machines are busy
@given(st.dictionaries(keys, contracts, max_size=3))
def test_what_is_written_is_read_back(found: dict[Key, Contract]) -> None:
    text = dump(found)
    assert parse(text, "s") == found
    assert dump(dict(reversed(found.items()))) == text


def test_the_text_is_for_people() -> None:
    made = report(
        "k", 3, parameter("out", Mutation.WRITTEN), parameter("x", Mutation.CONDITIONAL, "A=True", "MODE=2"),
        parameter("ptr", Mutation.UNWRITTEN), parameter("state", Mutation.UNKNOWN),
    )
    indirect = (IndirectWrite("table", "loaded", "tt.store", Location("a.py", 9)),) * 2
    made = KernelReport(made.name, made.location, made.status, parameters=made.parameters, indirect_writes=indirect)
    body = dump({Key("a.py", "k"): contract_of(made), Key("a.py", "idle"): contract_of(report("idle", 1))})
    assert body.split("\n\n", 1)[1] == (
        "kernel a.py::idle\n  writes nothing\n\n"
        "kernel a.py::k\n  written out\n  unknown state\n  conditional x when A=True or MODE=2\n"
        "  indirect table loaded\n"
    )


def test_no_verdict_is_not_a_contract_of_nothing() -> None:
    failed = KernelReport("k", Location("a.py", 1), Status.FAILED, failure=Failure(Stage.LOWER, "no"))
    assert not contract_of(failed).analyzed
    assert "  not analysed\n" in dump({Key("a.py", "k"): contract_of(failed)})


def test_kernels_of_one_name_are_counted(tmp_path: Path) -> None:
    found = keyed([report("k", 9), report("k", 2), report("k", 5, file="b.py")], tmp_path, tmp_path)
    assert [(str(key), r.location.line) for key, r in found.items()] == [
        ("a.py::k", 2), ("a.py::k#2", 9), ("b.py::k", 5)]


def test_paths_are_relative_to_the_snapshot(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    assert portable("a b.py", tmp_path, inner) == "../a b.py"
    assert portable(str(inner / "k.py"), tmp_path, inner) == "k.py"
    assert portable("new\nline.py", tmp_path, tmp_path) == "new\\nline.py"
    assert portable("bad\udcff.py", tmp_path, tmp_path) == "bad\\udcff.py"


@pytest.mark.parametrize(("text", "message"), [
    ("", "s:1: this is no snapshot"),
    ("kernel a.py::k\n", "s:1: this is no snapshot"),
    (f"{MAGIC}2\n", "s:1: unsupported version '2'"),
    (f"{HEAD}<<<<<<< HEAD\n",
     "s:2: expected `kernel FILE::NAME` or `op FILE::NAME`, not '<<<<<<< HEAD' (a conflict marker?)"),
    (f"{HEAD}kernel a.py\n", "s:2: expected"),
    (f"{HEAD}  written x\n", "s:2: a line that belongs to no kernel"),
    (f"{HEAD}kernel a.py::k\n  wrote x\n", "s:3: cannot read 'wrote x'"),
    (f"{HEAD}kernel a.py::k\n\nkernel a.py::k\n", "s:4: `a.py::k` is listed twice"),
])
def test_what_is_wrong_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text, "s")
    assert str(error.value).startswith(message)
    damaged = "delete the file and write it anew: `triton-mutlint snapshot PATH...`"
    assert (damaged in str(error.value)) != ("is no snapshot" in message), "what was never one is not to be deleted"


def test_ops_stand_beside_kernels() -> None:
    place = Location("ops.py", 3)
    op = OpReport(
        "lib::op", "custom_op", place, Declaration((), place),
        (OpArgument("x", 0, OpMutation.MAYBE), OpArgument("out", 1, OpMutation.WRITTEN),
         OpArgument("y", 2, OpMutation.UNWRITTEN), OpArgument("z", 3, OpMutation.UNKNOWN)),
    )  # fmt: skip
    computed = replace(op, name="lib::{name}")
    contracts = {key: contract_of(found) for key, found in keyed([op, computed, op], Path(), Path()).items()}
    text = dump(contracts)
    assert "op ops.py::lib::op\n  written out\n  maybe x\n  unknown z\n" in text
    assert [str(key) for key in contracts] == ["ops.py::lib::op", "ops.py::lib::op#2"]
    assert parse(text, "s") == contracts


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("written out\n  maybe x", []),
        ("written out", ["`lib::op` may now write `x`; the snapshot says: not written"]),
        ("written out\n  written x", ["`lib::op` may now write `x`; the snapshot says: written"]),
        ("written out\n  written y\n  maybe x", ["`lib::op` no longer writes `y`; the snapshot says: written"]),
    ],
)
def test_an_op_is_held_against_its_entry(before: str, said: list[str]) -> None:
    place = Location("ops.py", 3)
    op = OpReport("lib::op", "custom_op", place, Declaration((), place),
                  (OpArgument("x", 0, OpMutation.MAYBE), OpArgument("out", 1, OpMutation.WRITTEN)))
    text = f"{MAGIC}{VERSION}\nop ops.py::lib::op\n  {before}\n"
    run = RunSubject(ops=(op,), snapshot=Snapshot("s", Path(), parse(text, "s")))
    assert [f.message for f in RULES["TML107"].check_run(run)] == said
