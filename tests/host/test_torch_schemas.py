"""The schemas of torch's own ops, read as data."""

from __future__ import annotations

import json

import pytest

from triton_mutlint.host.torch.known_schemas import DATA, sought_in_vain, torch_schema, written_by
from triton_mutlint.host.torch.schema import parse_schema
from triton_mutlint.types import Location

HERE = Location("ops.py", 1)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("aten::add.Tensor", ()), ("aten::add.out", ("out",)), ("aten::add_.Tensor", ("self",)), ("aten::neg", ()),
        ("aten::neg.default", ()), ("aten::sort.values", ("values", "indices")),
        ("aten::native_batch_norm", ("running_mean", "running_var")),  # which its schema does not say
        ("aten::_foreach_add_.Scalar", ("self",)),
    ],
)  # fmt: skip
def test_what_an_op_writes(name: str, written: tuple[str, ...]) -> None:
    schema = torch_schema(name)
    assert schema is not None
    assert written_by(name, schema) == written


@pytest.mark.parametrize("name", ["aten::no_such_op", "aten::add.No", "mine::add.Tensor", "add.Tensor"])
def test_what_is_not_of_torch(name: str) -> None:
    assert torch_schema(name) is None


def test_an_overload_is_sought_in_vain() -> None:
    (problem,) = sought_in_vain("aten::greater.out", HERE)
    assert "`greater.Tensor_out`" in problem.help
    for name in ("aten::add.Tensor", "aten::no_such_op", "mine::greater.out"):
        assert sought_in_vain(name, HERE) == ()


def test_every_schema_can_be_read() -> None:
    held = json.loads(DATA.read_bytes())["aten"]
    assert len(held) > 3000
    for name, text in held.items():
        schema = parse_schema(f"aten::{name}{text}")
        assert ".".join(filter(None, (schema.name, schema.overload))) == name


@pytest.mark.torch
def test_the_file_is_what_the_installed_torch_gives() -> None:
    import torch

    from scripts.torch_effects.aten import schemas

    held = json.loads(DATA.read_bytes())
    if held["made from"]["torch"] != torch.__version__.partition("+")[0]:
        pytest.skip(f"the file was made from torch {held['made from']['torch']}")
    assert schemas() == held, "run `python -m scripts.torch_effects`"
