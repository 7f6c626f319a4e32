"""The table of what torch's functions do to their arguments, alone and against an installed torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

from tests.helpers.places import ROOT
from triton_mutlint.host.torch.table import DATA, Result, TorchEffect, attribute, function, method, parse, table


def by_name(effect: TorchEffect | None, places: Callable[[TorchEffect], tuple[int, ...]]) -> list[str]:
    assert effect is not None
    return [effect.parameters[place] for place in places(effect)]


@pytest.mark.parametrize(
    ("name", "writes", "same", "maybe", "result"),
    [
        ("torch.add", [], [], [], "tensor"),
        ("torch.Tensor.add_", ["self"], ["self"], [], "tensor"),
        ("torch.ops.aten.add_.Tensor", ["self"], ["self"], [], "tensor"),
        ("torch.ops.aten.relu_.default", ["self"], ["self"], [], "tensor"),
        ("torch._foreach_add_", ["input"], ["input"], [], "tensors"),
        ("torch.ops.aten._foreach_add_", ["self"], [], [], "plain"),
        ("torch.reshape", [], [], ["input"], "tensor"),
        ("torch.squeeze", [], ["input"], [], "tensor"),
        ("torch.split", [], ["tensor"], [], "tensors"),
        ("torch.unbind", [], ["input"], [], "tensors"),
        ("torch.broadcast_tensors", [], [], ["*tensors"], "tensors"),
        ("torch.einsum", [], [], ["*args"], "tensor"),
        ("torch.dropout", [], [], ["input"], "tensor"),
        ("torch.from_numpy", [], ["ndarray"], [], "tensor"),
        ("torch.as_tensor", [], [], ["data"], "tensor"),
        ("torch.tensor", [], [], [], "tensor"),
        ("torch.linalg.svd", [], [], [], "tensors"),
        ("torch.nn.functional.softplus", [], [], [], "tensor"),
        ("torch.nn.functional.unfold", [], [], [], "tensor"),
        ("torch.Tensor.unfold", [], ["self"], [], "tensor"),
        ("torch.nn.init.normal_", ["tensor"], ["tensor"], [], "tensor"),
        ("torch.distributed.all_reduce", ["tensor"], [], [], "plain"),
        ("torch.distributed.all_gather_into_tensor", ["output_tensor"], [], [], "plain"),
        ("torch.cuda.synchronize", [], [], [], "plain"),
        ("torch.ops._c10d_functional.wait_tensor", [], ["tensor"], [], "tensor"),
        ("torch.ops._c10d_functional.all_reduce_", ["input"], ["input"], [], "tensor"),
    ],
)
def test_a_function(name: str, writes: list[str], same: list[str], maybe: list[str], result: str) -> None:
    effect = function(name)
    assert by_name(effect, lambda e: e.writes) == writes
    assert by_name(effect, lambda e: e.same) == same
    assert by_name(effect, lambda e: e.maybe) == maybe
    assert effect is not None
    assert effect.result is Result(result)


@pytest.mark.parametrize(
    ("name", "writes", "same", "maybe"),
    [
        ("copy_", ["self"], ["self"], []),
        ("index_put_", ["self"], ["self"], []),
        ("scatter_", ["self"], ["self"], []),
        ("masked_fill_", ["self"], ["self"], []),
        ("masked_fill", [], [], []),
        ("__iadd__", ["self"], ["self"], []),
        ("__setitem__", ["self"], [], []),
        ("resize_", ["self"], ["self"], []),
        ("view", [], ["self"], []),
        ("view_as", [], ["self"], []),
        ("reshape_as", [], [], ["self"]),
        ("expand_as", [], ["self"], []),
        ("movedim", [], ["self"], []),
        ("diagonal", [], ["self"], []),
        ("conj", [], ["self"], []),
        ("resolve_conj", [], [], ["self"]),
        ("detach", [], ["self"], []),
        ("as_strided", [], ["self"], []),
        ("contiguous", [], [], ["self"]),
        ("to", [], [], ["self"]),
        ("float", [], [], ["self"]),
        ("cuda", [], [], ["self"]),
        ("type_as", [], [], ["self"]),
        ("pin_memory", [], [], ["self"]),
        ("share_memory_", [], ["self"], []),
        ("requires_grad_", [], ["self"], []),
        ("detach_", [], ["self"], []),
        ("record_stream", [], [], []),
        ("clone", [], [], []),
        ("chunk", [], ["self"], []),
        ("unsafe_chunk", [], ["self"], []),
        ("data_ptr", [], [], []),
        ("item", [], [], []),
    ],
)
def test_a_method(name: str, writes: list[str], same: list[str], maybe: list[str]) -> None:
    effect = method(name)
    assert by_name(effect, lambda e: e.writes) == writes
    assert by_name(effect, lambda e: e.same) == same
    assert by_name(effect, lambda e: e.maybe) == maybe


def test_attributes_share_or_are_plain() -> None:
    for name in ("data", "T", "mT", "H", "mH", "real", "imag"):
        assert by_name(attribute(name), lambda e: e.same) == ["self"]
    for name in ("shape", "dtype", "device", "ndim", "is_cuda", "requires_grad", "layout"):
        effect = attribute(name)
        assert effect is not None
        assert effect.result is Result.PLAIN
    assert attribute("grad") is None


def test_what_makes_one_argument_another_is_not_known() -> None:
    """After `x.set_(y)` the variable x is y's storage, which no entry could say."""
    assert method("set_") is None
    assert function("torch.utils.swap_tensors") is None
    assert function("torch.ops.aten._copy_from") is None
    assert function("torch.vmap") is None
    assert function("torch.no_such_function") is None


def test_running_statistics_are_written_where_they_are_updated() -> None:
    for name, flag, default in (
        ("torch.nn.functional.batch_norm", "training", False),
        ("torch.batch_norm", "training", False),
        ("torch.native_batch_norm", "training", False),
        ("torch.nn.functional.instance_norm", "use_input_stats", True),
    ):
        effect = function(name)
        assert by_name(effect, lambda e: e.writes) == ["running_mean", "running_var"]
        assert effect is not None
        assert (effect.only_if, effect.only_if_default) == (flag, default)
    embedding = function("torch.nn.functional.embedding")
    assert by_name(embedding, lambda e: e.writes) == ["weight"]
    assert embedding is not None
    assert embedding.only_if == "max_norm"


def test_lists_flags_and_places_for_results() -> None:
    fused = function("torch._fused_adam_")
    assert fused is not None
    assert by_name(fused, lambda e: e.content)[:2] == ["input", "grads"]
    relu = function("torch.nn.functional.relu")
    assert relu is not None
    assert relu.inplace == "inplace"
    svd = function("torch.linalg.svd")
    assert svd is not None
    assert {"U", "S", "Vh", "out"} == set(svd.writes_named)
    transpose = method("t_")
    assert transpose is not None
    assert (transpose.writes, transpose.metadata, transpose.same) == ((), (0,), (0,))
    pointer = method("data_ptr")
    assert pointer is not None
    assert (pointer.carries, pointer.result) == ((0,), Result.PLAIN)


def test_arguments_find_their_positions() -> None:
    view = method("view")
    assert view is not None
    assert [view.position(n) for n in range(4)] == [0, 1, 1, 1]
    assert view.named("size") == 1
    assert view.named("nonsense") is None
    add = function("torch.mm")
    assert add is not None
    assert add.position(2) is not None  # where `out` stands, which only its name reaches
    assert add.position(9) is None
    device = function("torch.device")
    assert device is not None
    assert device.position(5) == 0
    assert device.named("index") == 1


def test_every_entry_can_be_read() -> None:
    sections = table()
    assert len(sections["functions"]) > 4500
    assert len(sections["methods"]) > 600
    for section in ("functions", "methods", "attributes"):
        for name, text in sections[section].items():
            effect = parse(text)
            bare = [p.lstrip("*") for p in effect.parameters]
            assert len(set(bare)) == len(bare), name
            assert not set(effect.same) & set(effect.maybe), name
            for flag in filter(None, (effect.inplace, effect.only_if)):
                assert flag in effect.parameters, name
            if name.endswith("_") and not name.endswith("__") and section == "methods":
                harmless = {"requires_grad_", "detach_", "share_memory_", "rename_", "_coalesced_"}
                assert effect.writes == (0,) or effect.metadata == (0,) or name in harmless, name


def test_a_malformed_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="no result"):
        parse("self other")
    with pytest.raises(ValueError, match="nothing"):
        parse("self -> nothing")


# What torch says of the table, all in one process: importing it takes longer than most of this.
ASKED = """
import json
from scripts.torch_effects.generate import generate
made = generate()
import torch
from tests.helpers.torch_calls import Tally, judge
from triton_mutlint.host.torch.table import parse
def told(text, call, *args, **kwargs):
    tally = Tally()
    judge(tally, 'f', parse(text), call, args, kwargs)
    return sorted(tally.wrong.get('f', ()))
def x():
    return torch.rand(3, 3)
told_of = [
    told('self other -> tensor', torch.Tensor.add_, x(), x()),
    told('self other -> tensor', torch.Tensor.add, x(), x()),
    told('self!= other -> tensor', torch.Tensor.add_, x(), x()),
    told('self -> tensor', torch.t, x()),
    told('self= -> tensor', torch.clone, x()),
    told('self -> plain', torch.clone, x()),
    told('self dim -> tensor', torch.unbind, x(), 0),
    told('input other * out -> tensor', torch.add, x(), x(), out=x()),
]
print(json.dumps({'made': made, 'told': told_of}))
"""


@lru_cache
def asked() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run([sys.executable, "-W", "ignore", "-c", ASKED]))
    return found


@pytest.mark.torch
@pytest.mark.slow
def test_the_file_is_what_the_generator_gives() -> None:
    made, kept = asked()["made"], json.loads(DATA.read_bytes())
    if made["made from"] != kept["made from"]:
        pytest.skip(f"the file was made from torch {kept['made from']['torch']}")
    for section, entries in made.items():
        assert entries == kept[section], f"run `python -m scripts.torch_effects`: {section}"


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.long
def test_samples_do_what_the_table_says() -> None:
    """Every public function and method: plain arguments, the corners, torch's own samples, several kinds of tensors."""
    seen = calls("--banks", "10", "--samples", "3")
    assert len(seen["called"]) > 2000
    assert seen["wrong"] == {}


@pytest.mark.torch
def test_the_calls_would_show_a_wrong_entry() -> None:
    """The check itself: entries that are wrong in each way are reported, right ones are not."""
    written, right, declared, shared, copied, plain, parts, out = asked()["told"]
    assert written == [
        "self was written, the table does not say so",
        "the result shares the storage of self, the table does not say so",
    ]
    assert right == declared == []
    assert shared == ["the result shares the storage of self, the table does not say so"]
    assert copied[-1] == "the result does not share the storage of self, the table says it must"
    assert plain == ["the result is a tensor, the table says plain"]
    assert "the result is a list of tensors, the table says tensor" in parts
    assert "out was written, the table does not say so" in out


def calls(*options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.helpers.torch_calls", "--samples", "0", *options]
    found: dict[str, Any] = json.loads(run(command))
    return found


def run(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:  # some of torch's functions write files
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder,
                              env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
