"""The memory-effect table against the op definitions and the compiled library of the installed Triton."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from triton_mutlint.ttir.ops import Flow, Kind, OpInfo, lookup, rows

pytestmark = pytest.mark.both

# The definitions model these as writes, so that the compiler keeps them in loops; they only read.
READS_ONLY = {"atomic_load", "atomic_poll"}
OPERAND = re.compile(r"(?:Arg<\s*)?(Variadic<|Optional<)?.*:\$(\w+)", re.DOTALL)
VALUE_TYPE = re.compile(r"^(Arg<|Variadic<|Optional<|TT_|AnyTypeOf|RankedTensorOf|I1\b|I32\b|I64\b|AnyType\b)")


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


def definitions() -> list[Definition]:
    path = triton_root() / "include/triton/Dialect/Triton/IR/TritonOps.td"
    if not path.exists():
        pytest.skip("this wheel ships no TritonOps.td")
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"\[\{.*?\}\]", '""', text, flags=re.DOTALL)  # descriptions and code
    found = []
    for match in re.finditer(r'\ndef \w+\s*:\s*TT_Op<"([\w.]+)"(.*?)(?=\ndef |\nclass |\Z)', text, re.DOTALL):
        body = match[2]
        inputs = re.search(r"let arguments = \(\s*ins\b(.*?)\);", body, re.DOTALL)
        parts = split_commas(inputs[1]) if inputs else []
        operands = tuple(
            (part, name)
            for part, name in ((p, p.rpartition(":$")[2]) for p in parts)
            if VALUE_TYPE.match(part) and "Attr" not in re.split(r"[:,<]", part)[0]
        )
        found.append(Definition(match[1], body.partition("{")[0], operands))
    return found


def test_the_definitions_are_read() -> None:
    by_name = {d.name: d for d in definitions()}
    assert len(by_name) > 40
    assert [name for _, name in by_name["store"].operands] == ["ptr", "value", "mask"]
    assert [name for _, name in by_name["descriptor_store"].operands] == ["desc", "src", "indices"]
    assert by_name["addptr"].pure
    assert not by_name["store"].pure


def test_every_op_has_a_row() -> None:
    missing = [d.name for d in definitions() if lookup(f"tt.{d.name}") is None]
    assert not missing


def test_written_operands_are_in_the_table() -> None:
    checked = 0
    for definition in definitions():
        row = lookup(f"tt.{definition.name}")
        assert row is not None
        for index, (constraint, name) in enumerate(definition.operands):
            if "MemWrite<GlobalMemory>" not in constraint or definition.name in READS_ONLY:
                continue
            assert index in row.writes + row.atomics, (definition.name, name)
            checked += 1
    assert checked >= 5


def test_read_operands_are_in_the_table() -> None:
    checked = 0
    for definition in definitions():
        row = lookup(f"tt.{definition.name}")
        assert row is not None
        for index, (constraint, name) in enumerate(definition.operands):
            if "MemRead<GlobalMemory>" in constraint:
                assert index in row.reads + row.writes + row.atomics, (definition.name, name)
                checked += 1
    assert checked >= 5


def test_the_table_adds_no_effect_to_a_pure_op() -> None:
    pure = [d.name for d in definitions() if d.pure]
    assert len(pure) > 25
    for name in pure:
        row = lookup(f"tt.{name}")
        assert row is not None
        assert not row.touches_memory, name


def test_an_op_that_is_not_pure_is_not_taken_as_pure() -> None:
    """Whatever the definitions do not call pure must have an effect, or a kind that says why not."""
    allowed = {Kind.HARMLESS, Kind.FUNCTION, Kind.CALL, Kind.MAP, Kind.INLINE_ASM, Kind.EXTERN}
    for definition in definitions():
        row = lookup(f"tt.{definition.name}")
        assert row is not None
        if not definition.pure and row.kind not in allowed:
            assert row.touches_memory, definition.name


def test_whole_op_effects_are_harmless_only() -> None:
    """Ops that write `GlobalMemory` without naming an operand: known one by one."""
    found = {d.name for d in definitions() if "MemoryEffects<" in d.traits and "MemWrite<Global" in d.traits}
    assert found <= {"print", "assert", "grid_dependency_wait", "grid_dependency_launch_dependents"}


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


def test_unknown_ops_have_no_row() -> None:
    assert lookup("tt.no_such_op") is None
    assert lookup("") is None
    assert lookup("llvm.store") is None


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        ("tt.addptr", Flow.POINTER_BASE), ("arith.cmpi", Flow.NONE), ("arith.select", Flow.SELECT),
        ("tt.gather", Flow.FIRST), ("tt.make_tensor_descriptor", Flow.FIRST), ("tt.advance", Flow.FIRST),
        ("tt.load", Flow.LOADED), ("tt.splat", Flow.ALL), ("tt.int_to_ptr", Flow.ALL),
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
        assert not (row.touches_memory and row.kind in (Kind.PURE, Kind.HARMLESS, Kind.COMPARE)), row.name
        assert not set(row.writes) & set(row.atomics)
