"""What ops are called with: schemas, the calls that are tried, and the tensors that texts stand for."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

import pytest

torch = pytest.importorskip("torch")
from triton_mutlint.verify.ops.arguments import OpParameter, cases, made, parameters  # noqa: E402
from triton_mutlint.verify.running.memory import RunMemory  # noqa: E402
from triton_mutlint.verify.wire import Case, OpJob, Words  # noqa: E402

pytestmark = pytest.mark.torch
X = OpParameter("x", "Tensor", False, False, None)
BIAS = OpParameter("bias", "Tensor", True, False, None)
FLAG = OpParameter("flag", "bool", False, False, "False")
STEPS = OpParameter("steps", "int", False, False, "1")


def _job(**changes: object) -> OpJob:
    return OpJob(name="lib::f", module="ops", roots=(), display="ops.py", line=1, runs=(), **changes)  # type: ignore[arg-type]


def _tried(job: OpJob, takes: list[OpParameter], takes_all: bool = True) -> list[Case]:
    calls = cases(job, takes)
    found = [next(calls)]
    with suppress(StopIteration):
        while len(found) < 61:
            found.append(calls.send(takes_all))
    return found


def test_schemas_are_read() -> None:
    schema = torch._C.parse_schema("lib::f(Tensor x, Tensor(a!)? y, Tensor[] z, int n=3, *, ScalarType? d=None) -> ()")
    assert [(p.name, p.kind, p.is_optional, p.is_list, p.default) for p in parameters(schema)] == [
        ("x", "Tensor", False, False, None), ("y", "Tensor", True, False, None), ("z", "Tensor", False, True, None),
        ("n", "int", False, False, "3"), ("d", "ScalarType", True, False, "None")]


def test_flags_go_both_ways_and_what_may_be_none_is_so_once() -> None:
    found = _tried(_job(), [X, BIAS, FLAG])
    assert {case["flag"] for case in found} == {"False", "True"}
    assert "None" in {case["bias"] for case in found}
    assert any(";" in case["x"] for case in found), "one is not contiguous"
    assert any(case["x"] != case["bias"] for case in found)


def test_compared_numbers_are_tried_as_values_and_as_sizes() -> None:
    found = _tried(_job(words=Words(numbers=(36,))), [X, STEPS])
    assert {"35", "36", "37"} <= {case["steps"] for case in found}
    assert any("36" in case["x"] for case in found)


def test_other_calls_are_made_of_a_given_one() -> None:
    given = {"x": "*bf16[4, 8]", "flag": "True"}
    found = _tried(_job(given=(given,)), [X, FLAG])
    assert found[0] == given
    assert {"x": "*bf16[4, 8]", "flag": "False"} in found


def test_an_op_that_refuses_everything_is_called_with_many_shapes_and_types() -> None:
    found = _tried(_job(), [X, FLAG], takes_all=False)
    assert len({case["x"] for case in found}) >= 30
    assert {case["flag"] for case in found} == {"False", "True"}


def test_the_calls_are_the_same_every_time() -> None:
    one, other = (_tried(_job(), [X, BIAS, FLAG, STEPS]) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("text", ["*fp32[5, 6]", "*i64[33]", "*i1[33]", "*bf16[5, 6; 1, 5]", "*i32[9; 2]", "*u8[4]"])
def test_every_element_differs_between_the_fills(text: str) -> None:
    takes = [OpParameter("w", "Tensor", False, False, None)]
    one, other = (made({"w": text}, takes, RunMemory("cpu"), {}, fill)["w"] for fill in (0, 1))
    assert (one.shape, one.stride()) == (other.shape, other.stride())
    assert not (one == other).any()
    assert list(one.shape) == [int(n) for n in text.split("[")[1].rstrip("]").split(";")[0].split(",")]


def test_lists_and_plain_values() -> None:
    takes = [OpParameter("z", "Tensor", False, True, None), OpParameter("d", "ScalarType", False, False, None), FLAG]
    found = made({"z": "(*fp32[2], *fp32[3])", "d": "float16", "flag": "true"}, takes, RunMemory("cpu"), {}, 0)
    assert [tuple(t.shape) for t in found["z"]] == [(2,), (3,)]
    assert (found["d"], found["flag"]) == (torch.float16, True)


def test_values_of_the_spec_are_what_tensors_hold() -> None:
    takes = [OpParameter("i", "Tensor", False, False, None)]
    assert list(islice(made({"i": "*i64[5]"}, takes, RunMemory("cpu"), {"i": [2, 1]}, 0)["i"].tolist(), 5)) == [
        2, 1, 2, 1, 2]
