"""The key `verify` of a spec: what it takes, and what is wrong with the rest."""

from __future__ import annotations

import pytest

from triton_mutlint.spec.nodes import SpecError
from triton_mutlint.spec.read import parse_spec


def _spec(verify: str) -> str:
    return f"version: 1\nkernels:\n  add_kernel:\n    verify: {verify}\n"


def test_what_it_takes() -> None:
    text = _spec('{grid: [[1], [4, 2]], shapes: {x: 128, pair.0: [4, 8]}, values: {n: 3, i: [0, 1], t: addresses}, '
                 'skip: "a reason", launches: [{args: {x: "*fp32"}, values: {n: 1.5}, shapes: {x: [3]}, grid: [2]}]}')
    found = parse_spec(text, "s.yaml").kernels[0].verify
    assert found is not None
    assert found["grid"] == [[1], [4, 2]]
    assert found["values"] == {"n": 3, "i": [0, 1], "t": "addresses"}
    assert found["launches"][0]["args"] == {"x": "*fp32"}


@pytest.mark.parametrize(("verify", "problem"), [
    ("{shape: {x: 4}}", "verify.shape: unknown key; did you mean 'shapes'?"),
    ("{shapes: {x: 0}}", "shapes.x: a size in elements is an integer from 1 on, not 0"),
    ("{shapes: {x: [2, -1]}}", "shapes.x[1]: a size in elements is an integer from 1 on, not -1"),
    ("{shapes: {x: true}}", "not True"),
    ("{shapes: {x: 99999999999999999}}", "a size in elements is an integer"),
    ("{shapes: {x: []}}", "an empty list is no shape"),
    ("{shapes: [1]}", "must be a mapping of parameters"),
    ("{grid: [1, 2, 3, 4]}", "a grid has one to three sizes, not 4"),
    ("{grid: [0]}", "the size of a grid is an integer from 1 on, not 0"),
    ("{grid: [1, [2]]}", "mixes sizes and lists of sizes"),
    ("{grid: 3}", "must be a list"),
    ("{values: {n: rnadom}}", "did you mean 'random'?"),
    ("{values: {n: {a: 1}}}", "must be a number"),
    ("{values: {n: [a]}}", "must be a number, not 'a'"),
    ("{values: {1x: 1}}", "not a parameter name"),
    ("{skip: true}", "must say why"),
    ("{launches: 3}", "must be a list of launches"),
    ("{launches: [3]}", "must be a mapping of args"),
    ("{launches: [{arg: {}}]}", "unknown key; did you mean 'args'?"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(verify: str, problem: str) -> None:
    with pytest.raises(SpecError) as error:
        parse_spec(_spec(verify), "s.yaml")
    assert problem in str(error.value)
    assert str(error.value).startswith("s.yaml:4:")
