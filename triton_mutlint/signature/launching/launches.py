"""What the launch sites of a kernel (`k[grid](x, x.stride(0), BLOCK=64)`) tell about its arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triton_mutlint.signature.launching.launch_index import index
from triton_mutlint.signature.launching.launch_reader import Evidence, Reader

_MAX_SITES = 12


def arguments(
    kernel: str, parameters: Sequence[str], trees: Sequence[ast.Module], namespace: Mapping[str, Any]
) -> dict[str, tuple[Evidence, ...]]:
    """Evidence per parameter from every launch of `kernel` in `trees`, in source order."""
    found: dict[str, list[Evidence]] = {}
    for tree in trees:
        known_launches = index(tree)
        for launch in known_launches.launches.get(kernel, ())[:_MAX_SITES]:
            reader = Reader(launch, known_launches, namespace)
            for name, expression in bound(launch.call, parameters):
                for evidence in reader.read(expression):
                    known_so_far = found.setdefault(name, [])
                    if evidence.kind != "unknown" and evidence not in known_so_far:
                        known_so_far.append(evidence)
    return {name: tuple(items) for name, items in found.items() if items}


def bound(call: ast.Call, parameters: Sequence[str]) -> Iterator[tuple[str, ast.expr]]:
    """Parameters and the expressions passed for them; stops at a starred argument."""
    for name, expression in zip(parameters, call.args, strict=False):
        if isinstance(expression, ast.Starred):
            break
        yield name, expression
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg in parameters:
            yield keyword.arg, keyword.value


