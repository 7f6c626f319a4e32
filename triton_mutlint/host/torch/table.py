"""What torch functions, Tensor methods and Tensor attributes do to the storage of their arguments.

The table is data, `torch_effects.json`, made by `python -m scripts.torch_effects` from the schemas of an
installed torch and from a reviewed list; torch is not needed to read it. An entry is one line of text:

    "add_":                    "self!= other * alpha -> tensor"
    "torch.add":               "input other * alpha out! -> tensor"
    "torch.broadcast_tensors": "*tensors[]? -> tensors"

`!` is written, `~` has its shape or strides changed in place, `=` shares its storage with the result,
`?` may share it, `@` gives its address to the result, `[]` says that the elements of a list are meant
(or the tensor itself, where one is given). `*` begins what can be given by name alone; `*name` takes all
further positional arguments (`*size` a list as well), `**name` all further keywords. ` if training` after
the result names the flag without which nothing is written, with a `+` before it where it is set when left
out; ` inplace=flag` the one that makes parameter 0 written and the result.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from triton_mutlint.host.values.values import NOTHING, Sort, Value

DATA = Path(__file__).with_name("torch_effects.json")


class Result(str, Enum):
    """What a call gives; a list of one tensor or several counts as TENSORS, even if it can be a single one."""

    TENSOR = "tensor"
    TENSORS = "tensors"  # a list or (named) tuple of tensors
    PLAIN = "plain"  # a number, string, shape, dtype, device, stream, context manager, None


@dataclass(frozen=True)
class TorchEffect:
    """What one function does to its arguments, the union over its overloads.

    A position is an index of `parameters`. Storage of an argument in none of the fields is neither
    written nor shared with the result; of an argument that has no position nothing is known. Keyword
    arguments in `writes_named` are written where given, and the result shares their storage; they may be
    tuples of tensors.
    """

    parameters: tuple[str, ...]  # those by position first; a method's is "self" first; "*tensors" takes the rest
    writes: tuple[int, ...] = ()
    writes_named: tuple[str, ...] = ()
    same: tuple[int, ...] = ()  # every tensor of the result shares its storage for certain
    maybe: tuple[int, ...] = ()  # a tensor of the result may share it
    result: Result = Result.TENSOR
    inplace: str = ""  # the flag that, unless false, makes position 0 written and the result
    content: tuple[int, ...] = ()  # where the elements of a list are meant
    metadata: tuple[int, ...] = ()  # where the tensor object itself gets another shape, the storage nothing
    carries: tuple[int, ...] = ()  # whose address the result holds
    only_if: str = ""  # nothing in `writes` is written where this flag is False, None or 0
    only_if_default: bool = False  # whether the flag counts as set where it is left out

    def position(self, index: int) -> int | None:
        """The position of the positional argument `index`; None where there is no such parameter."""
        for place, name in enumerate(self.parameters[: index + 1]):
            if name.startswith("*"):
                return None if name.startswith("**") else place
        return index if index < len(self.parameters) else None

    def named(self, name: str) -> int | None:
        """The position of the keyword argument `name`; None where there is no such parameter."""
        for place, parameter in enumerate(self.parameters):
            if parameter in (name, f"*{name}") or parameter.startswith("**"):
                return place
        return None


def function(name: str) -> TorchEffect | None:
    """The effect of a function by its full name ("torch.add", "torch.ops.aten.add_.Tensor"); None: not known.

    Overloads that the table does not tell apart have the effect of their op.
    """
    for prefix in ("torch.Tensor.", "torch._tensor.Tensor."):
        if name.startswith(prefix):
            return method(name.removeprefix(prefix))
    found = _lookup("functions", name)
    if found is None and name.startswith("torch.ops.") and name.count(".") == 4:
        found = _lookup("functions", name.rpartition(".")[0])
    return found


def method(name: str) -> TorchEffect | None:
    """The effect of the Tensor method `name`; parameter 0 is the tensor. None: not known."""
    return _lookup("methods", name)


def attribute(name: str) -> TorchEffect | None:
    """What reading the Tensor attribute `name` gives; parameter 0 is the tensor. None: not known."""
    return _lookup("attributes", name)


@lru_cache(maxsize=1)
def table() -> Mapping[str, Mapping[str, str]]:
    """The sections `functions`, `methods` and `attributes` as they stand in the file."""
    data: Mapping[str, Mapping[str, str]] = json.loads(DATA.read_bytes())
    return data


@lru_cache(maxsize=4096)
def _lookup(section: str, name: str) -> TorchEffect | None:
    text = table()[section].get(name)
    return None if text is None else parse(text)


def parse(text: str) -> TorchEffect:
    """One entry of the table; raises ValueError for one that is malformed."""
    left, arrow, right = text.partition("-> ")
    if not arrow:
        raise ValueError(f"no result in {text!r}")
    marks: dict[str, list[int]] = {mark: [] for mark in "!~=?@["}
    parameters: list[str] = []
    named: list[str] = []
    keywords = False
    for token in left.split():
        if token == "*":  # noqa: S105 - no password
            keywords = True
            continue
        bare = token.rstrip("!~=?@[]")
        for mark in token[len(bare) :].replace("]", ""):
            if mark == "!" and keywords:
                named.append(bare)
            else:
                marks[mark].append(len(parameters))
        parameters.append(bare)
    result, *flags = right.split()
    only_if = flags[flags.index("if") + 1] if "if" in flags else ""
    inplace = next((flag.removeprefix("inplace=") for flag in flags if flag.startswith("inplace=")), "")
    return TorchEffect(
        tuple(parameters), tuple(marks["!"]), tuple(named), tuple(marks["="]), tuple(marks["?"]), Result(result),
        inplace, tuple(marks["["]), tuple(marks["~"]), tuple(marks["@"]),
        only_if.lstrip("+"), only_if.startswith("+"),
    )  # fmt: skip


def applied(effect: TorchEffect, arguments: list[Value | None]) -> Value:
    """The result of a torch function, given its arguments by position (None: left out)."""
    given = {i: value for i, value in enumerate(arguments) if value is not None}
    carried = frozenset[str]().union(*(given[i].carried for i in given))
    if effect.carries:
        carried = carried.union(*(given[i].roots for i in effect.carries if i in given))
    if effect.result is Result.PLAIN:
        return Value(carried=carried, kind=Sort.PLAIN)
    same = [given[i] for i in effect.same if i in given]
    maybe = [given[i] for i in effect.maybe if i in given]
    return Value(
        NOTHING.union(*(v.same for v in same)),
        NOTHING.union(*(v.maybe for v in same), *(v.same | v.maybe for v in maybe)),
        NOTHING.union(*(v.unsure for v in (*same, *maybe))), carried, kind=Sort.TENSOR,
        mixed=any(v.mixed for v in (*same, *maybe)),
    )  # fmt: skip
