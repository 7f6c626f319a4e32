"""The memory-effect table against the op definitions and the compiled library of the installed Triton."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from triton_mutlint.ttir.ops import Flow, OpInfo, lookup, rows
from triton_mutlint.ttir.syntax import REORDERED

pytestmark = pytest.mark.both

# The definitions model these as writes, so that the compiler keeps them in loops; they only read.
READS_ONLY = {"tt.atomic_load", "tt.atomic_poll"}
DIALECTS = {
    "tt": ("Triton/IR/TritonOps.td", "TT_Op"), "ttg": ("TritonGPU/IR/TritonGPUOps.td", "TTG_Op"),
    "ttng": ("TritonNvidiaGPU/IR/TritonNvidiaGPUOps.td", "TTNG_Op"), "gluon": ("Gluon/IR/GluonOps.td", "Gluon_Op"),
}  # fmt: skip
NOT_HANDLED = {"ttg.inline_asm", "ttg.mask", "ttg.mask.return", "ttg.warp_specialize.partitions"}
# Effects that name no operand, and the operands that the op really changes.
WHOLE_OPS: dict[str, tuple[int, ...]] = {
    "tt.print": (), "tt.assert": (), "tt.grid_dependency_wait": (), "tt.grid_dependency_launch_dependents": (),
    "ttng.tensormap_create": (0,), "ttng.tensormap_fenceproxy_acquire": (),
}  # fmt: skip
# From one such memory to the other, or numbers that are made there.
WITHIN = {"ttng.tmem_copy", "ttng.init_barrier", "ttng.inval_barrier", "ttng.clc_try_cancel"}
OPERAND = re.compile(r"(?:Arg<\s*)?(Variadic<|Optional<)?.*:\$(\w+)", re.DOTALL)
VALUE_TYPE = re.compile(r"^(Arg<|Variadic<|Optional<|TTG?_|Any|RankedTensorOf|TensorOf|I(1|8|16|32|64|128)\b)")


def triton_root() -> Path:
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        pytest.skip("no Triton installed")
    return Path(spec.origin).parent


@dataclass(frozen=True)
class Definition:
    name: str
    traits: str
    operands: tuple[tuple[str, str], ...]  # (constraint, name) of values, in order

    @property
    def pure(self) -> bool:
        return bool(re.search(r"\b(Pure|NoMemoryEffect)\b", self.traits))


def split_commas(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += char in "<([{"
        depth -= char in ">)]}"
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def definitions(dialects: Iterable[str] = ("tt",)) -> list[Definition]:
    """The ops of some dialects, their operands in the order in which the parser has them."""
    return [definition for dialect in dialects for definition in _definitions(dialect)]


@cache
def _definitions(dialect: str) -> list[Definition]:
    path, cls = DIALECTS[dialect]
    file = triton_root() / "include/triton/Dialect" / path
    if not file.exists():
        pytest.skip(f"this wheel ships no {file.name}")
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
    found = []
    for match in re.finditer(rf'\ndef \w+\s*:\s*{cls}<\s*"([\w.]+)"(.*?)(?=\ndef |\nclass |\Z)', text, re.DOTALL):
        written = re.search(r'let assemblyFormat\s*=\s*(?:\[\{|")(.*?)(?:\}\]|")\s*;', match[2], re.DOTALL)
        body = re.sub(r"\[\{.*?\}\]", '""', match[2], flags=re.DOTALL)  # descriptions and code
        inputs = re.search(r"let arguments = \(\s*ins\b(.*?)\)\s*;", body, re.DOTALL)
        parts = split_commas(inputs[1]) if inputs else []
        operands = [
            (part, name)
            for part, name in ((p, p.rpartition(":$")[2]) for p in parts)
            if VALUE_TYPE.match(part) and "Attr" not in re.split(r"[:,<]", part)[0]
        ]
        if written and f"{dialect}.{match[1]}" not in REORDERED:
            order = [*re.findall(r"\$(\w+)", written[1]), *(name for _, name in operands)]
            operands.sort(key=lambda operand: order.index(operand[1]))
        found.append(Definition(f"{dialect}.{match[1]}", body.partition("{")[0], tuple(operands)))
    return found


def test_the_definitions_are_read() -> None:
    by_name = {d.name.removeprefix("tt."): d for d in definitions()}
    assert len(by_name) > 40
    assert [name for _, name in by_name["store"].operands] == ["ptr", "value", "mask"]
    assert [name for _, name in by_name["descriptor_store"].operands] == ["desc", "src", "indices"]
    assert by_name["addptr"].pure
    assert not by_name["store"].pure


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_op_has_a_row_or_is_named_as_not_handled(dialect: str) -> None:
    names = {d.name for d in definitions([dialect])}
    assert names
    assert {name for name in names if lookup(name) is None} == {n for n in NOT_HANDLED if n.startswith(f"{dialect}.")}


@pytest.mark.parametrize("dialect", ["tt", "ttg", "ttng"])
def test_the_operands_that_global_memory_is_read_and_written_through_are_those_of_the_table(dialect: str) -> None:
    effects = 0
    for definition in definitions([dialect]):
        row = lookup(definition.name)
        if row is None or definition.name in WHOLE_OPS:
            continue
        written = {i for i, (c, _) in enumerate(definition.operands) if "MemWrite<GlobalMemory>" in c}
        read = {i for i, (c, _) in enumerate(definition.operands) if "MemRead<GlobalMemory>" in c}
        if definition.name not in READS_ONLY:
            assert set(row.changes) == written, definition.name
        assert set(row.fetches) | written >= read, definition.name
        effects += len(written | read)
    assert effects >= {"tt": 10, "ttg": 1, "ttng": 5}[dialect]


def test_ops_with_an_effect_on_all_of_global_memory_are_known_one_by_one() -> None:
    found = {d.name for d in definitions(DIALECTS) if re.search(r"MemoryEffects<\[.*MemWrite<Global", d.traits)}
    assert found == WHOLE_OPS.keys()
    for name, changes in WHOLE_OPS.items():
        row = lookup(name)
        assert row is not None
        assert row.changes == changes


def test_what_is_put_into_shared_and_tensor_memory_is_kept() -> None:
    """Barriers hold no addresses. What is put there otherwise may be read by each op that reads from there."""
    checked = 0
    for definition in definitions(["ttg", "ttng"]):
        row = lookup(definition.name)
        if row is None or definition.name in WITHIN:
            continue
        effects = " ".join(constraint for constraint, _ in definition.operands)
        if re.search(r"(Generic|Async)Shared(Read)?Write|MemWrite<TensorMemory>", effects):
            assert row.parks or row.flow is Flow.PARKED, definition.name
            checked += 1
        if re.search(r"(Generic|Async)SharedRead|MemRead<TensorMemory>", effects):
            assert row.takes, definition.name
            checked += 1
    assert checked >= 15


def test_the_table_adds_no_effect_to_a_pure_op() -> None:
    pure = [d.name for d in definitions() if d.pure]
    assert len(pure) > 25
    for name in pure:
        row = lookup(name)
        assert row is not None
        assert not row.touches_memory, name


def test_an_op_that_is_not_pure_is_not_taken_as_pure() -> None:
    """Whatever the definitions do not call pure must have an effect, or a flow that says why not."""
    for definition in definitions():
        row = lookup(definition.name)
        assert row is not None
        if not definition.pure and row.flow not in (Flow.NONE, Flow.SPECIAL):
            assert row.touches_memory, definition.name


def test_every_op_name_in_the_library_has_a_row() -> None:
    """Runs where no definitions are shipped: op names stand in the compiled library as strings."""
    library = triton_root() / "_C" / "libtriton.so"
    if not library.exists():
        pytest.skip("the library has another name here")
    names = {
        m[1].decode()
        for m in re.finditer(rb"\x00(tt\.[a-z_]+(?:\.return)?)(?=\x00)", library.read_bytes())
    }
    # What else Triton names with this prefix: types, and attributes of functions, loops and values.
    other = {
        "tt.ptr", "tt.tensordesc", "tt.cache_policy", "tt.constancy", "tt.contiguity", "tt.divisibility",
        "tt.flatten", "tt.latency", "tt.self_latency", "tt.nv_tma_desc", "tt.pointee_type", "tt.pointer_range",
        "tt.num_stages", "tt.loop_schedule", "tt.scheduled_max_stage", "tt.warp_specialize",
        "tt.disallow_acc_multi_buffer", "tt.loop_unroll_factor", "tt.desired_encoding",
        "tt.descriptor_gase",  # the halves of two names that the C++ compiler compares in pieces
    }  # fmt: skip
    assert {"tt.load", "tt.store", "tt.addptr"} <= names
    assert sorted(name for name in names - other if lookup(name) is None) == []


def test_every_op_name_of_amds_dialect_in_the_library_has_a_row() -> None:
    """Its definitions are not shipped."""
    names = {m[1].decode() for m in re.finditer(rb"\x00(amdg\.[a-z_0-9]+)(?=\x00)",
                                                (triton_root() / "_C" / "libtriton.so").read_bytes())}
    other = {"amdg.bypass_lds_load", "amdg.cd_regclass", "amdg.decomposed_dot_scaled_source",  # attributes
             "amdg.in_thread_tcast_fp4"}  # the halves of two names  # fmt: skip
    assert "amdg.buffer_store" in names
    assert sorted(name for name in names - other if lookup(name) is None) == []


def test_unknown_ops_have_no_row() -> None:
    assert lookup("tt.no_such_op") is None
    assert lookup("") is None
    assert lookup("llvm.store") is None


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("tt.addptr", Flow.POINTER_BASE), ("arith.cmpi", Flow.NONE), ("arith.select", Flow.SELECT),
        ("tt.gather", Flow.FIRST), ("tt.make_tensor_descriptor", Flow.FIRST), ("tt.advance", Flow.FIRST),
        ("tt.load", Flow.MASKED), ("tt.splat", Flow.ALL), ("tt.int_to_ptr", Flow.ALL),
    ],
)  # fmt: skip
def test_flow(name: str, flow: Flow) -> None:
    row = lookup(name)
    assert row is not None
    assert row.flow is flow


def test_rows_are_consistent() -> None:
    for row in rows():
        assert isinstance(row, OpInfo)
        assert lookup(row.name) is row
        assert not set(row.writes) & set(row.atomics)
