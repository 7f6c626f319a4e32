"""What following an op's code may cost: nothing that grows without end, and what is in vain is not done again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.host.state.core import STEPS, Core
from triton_mutlint.host.values.values import MAX_CHAIN, Attribute, Value, attribute_of
from triton_mutlint.run.run import run
from triton_mutlint.types import OpMutation, OpReport

HEADER = "import torch\nfrom torch.library import custom_op\n\n\n"
OP = '@custom_op("cost::{name}", mutates_args=())\ndef {name}(x: torch.Tensor) -> None:\n    {body}\n\n\n'
LEVELS = 15  # each calls the next one twice: 2 ** 15 calls are more than an op's steps


def ops(tmp_path: Path, text: str) -> dict[str, OpReport]:
    (tmp_path / "ops.py").write_text(HEADER + text)
    return {op.name: op for op in run(Request(("ops.py",), tmp_path)).ops}


@pytest.mark.slow
def test_code_that_is_too_large_is_followed_for_one_op_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: Counter[int] = Counter()
    step = Core.step

    def counted(self: Core) -> None:
        steps[id(self)] += 1
        kept.append(self)
        step(self)

    kept: list[Core] = []  # so that no two have the same identity
    monkeypatch.setattr(Core, "step", counted)
    levels = "".join(f"def f{n}(x):\n    f{n + 1}(x)\n    f{n + 1}(x)\n\n\n" for n in range(LEVELS))
    text = levels + f"def f{LEVELS}(x):\n    x.add_(1)\n\n\n"
    text += "".join(OP.format(name=name, body=f"f{n}(x)") for n, name in enumerate(["first", "second"]))
    text += OP.format(name="third", body=f"f{LEVELS - 2}(x)")
    found = ops(tmp_path, text)
    for name, known in (("cost::first", OpMutation.WRITTEN), ("cost::second", OpMutation.UNKNOWN)):
        assert [a.mutation for a in found[name].arguments] == [known]
        assert not found[name].complete
    assert [a.mutation for a in found["cost::third"].arguments] == [OpMutation.WRITTEN]
    assert sum(count > STEPS // 2 for count in steps.values()) == 1


def test_what_calls_code_that_is_too_large_is_followed_for_other_ops(tmp_path: Path) -> None:
    levels = "".join(f"def f{n}(x):\n    f{n + 1}(x)\n    f{n + 1}(x)\n\n\n" for n in range(LEVELS))
    text = levels + f"def f{LEVELS}(x):\n    x.add_(1)\n\n\ndef through(function, x):\n    function(x)\n\n\n"
    text += OP.format(name="large", body="through(f0, x)") + OP.format(name="small", body=f"through(f{LEVELS}, x)")
    found = ops(tmp_path, text)
    assert (found["cost::large"].complete, found["cost::small"].complete) == (False, True)
    assert [a.mutation for a in found["cost::small"].arguments] == [OpMutation.WRITTEN]


def test_chains_of_unknown_attributes_do_not_grow(tmp_path: Path) -> None:
    attribute = Attribute(Value(), "a")
    for name in "bcdefg":
        attribute = attribute_of(attribute, name)
        assert attribute.chain <= MAX_CHAIN
    assert attribute.name == "g"
    loop = ("node = torch.thing(x)\n    while node.more:\n        node = node.left if node.it else node.right.up\n"
            "    node.value.add_(1)")
    found = ops(tmp_path, OP.format(name="loop", body=loop))
    assert [a.mutation for a in found["cost::loop"].arguments] == [OpMutation.UNKNOWN]
