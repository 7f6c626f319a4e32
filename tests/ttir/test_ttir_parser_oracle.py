"""The parser against MLIR itself: Triton's bindings walk the same modules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.ttir_lowering import ENTRIES, Lowering, lowering
from triton_mutlint.ttir.ir import Function, Module, Op, walk
from triton_mutlint.ttir.parser import parse

pytestmark = [pytest.mark.both, pytest.mark.usefixtures("kernels_importable")]


def bindings_walk(module: Any) -> list[Any]:
    ops: list[Any] = []
    module.walk(ops.append)
    return [op for op in ops if op.get_name() != "builtin.module"]


def parsed_walk(module: Module) -> list[tuple[Function, Op | None]]:
    """Every op with its function; None stands for the function itself, which MLIR walks last."""
    found: list[tuple[Function, Op | None]] = []
    for function in module.functions.values():
        found += [(function, op) for op in walk(function.body)]
        found.append((function, None))
    return found


def assert_same(module: Any, text: str) -> None:
    """Same ops in the same order, same values in the same places, same result types."""
    expected, found = bindings_walk(module), parsed_walk(parse(text))
    assert [op.get_name() for op in expected] == [op.name if op else "tt.func" for _, op in found]
    numbers: dict[int, tuple[str, int]] = {}
    for theirs, (function, ours) in zip(expected, found, strict=True):
        if ours is None:
            continue
        assert theirs.get_num_results() == len(ours.results), ours
        assert theirs.get_num_operands() == len(ours.operands), ours
        assert theirs.get_num_regions() >= len(ours.regions), ours
        pairs = [(theirs.get_operand(i), v) for i, v in enumerate(ours.operands)]
        pairs += [(theirs.get_result(i), v) for i, v in enumerate(ours.results)]
        for value, number in pairs:
            # MLIR's value and ours must correspond one to one over the whole module.
            assert numbers.setdefault(value.id(), (function.name, number)) == (function.name, number), ours
            assert str(value.get_type()) == function.types[number], ours
    assert len(set(numbers.values())) == len(numbers)


def assert_same_everywhere(lower: Lowering, module: Any) -> None:
    assert_same(module, str(module))
    assert_same(module, module.str_nodebug())
    lower.optimize(module)
    assert_same(module, str(module))


@pytest.mark.parametrize("target", ["cuda", "hip"])
@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_agrees_with_the_bindings(name: str, target: str) -> None:
    lower = lowering(target)
    assert_same_everywhere(lower, lower.case(ENTRIES[name]))


@pytest.mark.filterwarnings("ignore:tl.(make_block_ptr|advance):DeprecationWarning")
@pytest.mark.parametrize("name", ["many_ops", "block_pointers"])
def test_agrees_on_most_ops_of_the_language(name: str) -> None:
    from tests.helpers import ttir_ops_kernels

    lower = lowering("cuda")
    signature = {"x": "*fp32", "y": "*fp32", "z": "*i32", "n": "i32", "BLOCK": "constexpr"}
    kernel = getattr(ttir_ops_kernels, name)
    signature = {arg: signature[arg] for arg in kernel.arg_names}
    constants = {(i,): 128 for i, arg in enumerate(kernel.arg_names) if arg == "BLOCK"}
    assert_same_everywhere(lower, lower.module(kernel, signature, constants, required=name == "many_ops"))
