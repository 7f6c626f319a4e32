"""Arguments that a call lists: those of inline asm, of partitions of warps, and of Gluon's functions by name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from triton_mutlint.kernel_source.objects import named_and_home, parameter_names
from triton_mutlint.kernel_source.values import NOTHING, MayBe

Eval = Callable[[ast.expr], MayBe]


def spell_out(node: ast.Call, args: list[MayBe], named: dict[str, MayBe], evaluate: Eval) -> None:
    """Tell the operands of an inline asm apart, where the call itself lists them: nothing else has that list."""
    for keyword in node.keywords:
        if keyword.arg == "args":
            named["args"] = _listed(keyword.value, evaluate) or named["args"]
    if len(node.args) > 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        args[2] = _listed(node.args[2], evaluate) or args[2]


def partitions(node: ast.Call, evaluate: Eval) -> Sequence[tuple[Any, list[MayBe]]]:
    """The functions that groups of warps run, each with its arguments; none, where they are not all known."""
    listed = _listed(node.args[0], evaluate) if node.args else None
    return [*_partitions(listed.items or ())] if listed is not None else []


def _partitions(parts: Sequence[MayBe]) -> Iterator[tuple[Any, list[MayBe]]]:
    pairs = [part.items if part.items is not None and len(part.items) == 2 else (NOTHING, NOTHING) for part in parts]
    if all(len(f.functions) == 1 and not f.is_open and given.items is not None for f, given in pairs):
        for function, given in pairs:
            yield function.functions[0].it, [*(given.items or ())]


def by_parameter(target: Any, args: Sequence[MayBe], named: Mapping[str, MayBe]) -> dict[str, MayBe]:
    """All arguments by the names of their parameters; `desc` is the descriptor that AMD's data movers take first."""
    names = parameter_names(target)
    if named_and_home(target)[1].endswith(".tdm") and names[:1] in (("src",), ("dest",)):
        names, named = ("desc", *names[1:]), {"desc" if n == names[0] else n: v for n, v in named.items()}
    return {**dict(zip(names, args, strict=False)), **named}


def _listed(node: ast.expr, evaluate: Eval) -> MayBe | None:
    """The elements of a list that is written out."""
    if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(e, ast.Starred) for e in node.elts):
        return None
    return MayBe(items=tuple(evaluate(e) for e in node.elts))
