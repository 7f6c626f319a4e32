"""The key `verify` of a spec's entry: what the command `verify` runs the kernel with.

    verify:
      grid: [4]                        # or several: [[1], [4, 2]]
      shapes: {x_ptr: 4096, desc: [64, 64]}   # elements
      values: {n: 1000, eps: 1.0e-5, index_ptr: [0, 1, 2], table_ptr: addresses, x_ptr: ones}
      skip: "needs a peer"             # never run it
      launches:                        # what `record` saw; each is run as it is
        - {args: {x_ptr: "*fp32:16", n: i32, BLOCK: 128}, values: {n: 1000}, shapes: {x_ptr: [1000]}, grid: [8]}
"""

from __future__ import annotations

import re

from triton_mutlint.spec.checker import Checker
from triton_mutlint.spec.errors import did_you_mean
from triton_mutlint.spec.nodes import Node

KEYS = ("grid", "shapes", "values", "skip", "launches")
LAUNCH_KEYS = ("args", "values", "shapes", "grid")
FILLS = ("random", "ones", "zeros", "ramp", "extreme", "addresses")
_MOST = 1 << 40  # elements
_PARAMETER = re.compile(r"[^\W\d]\w*(\.\w+)*")


def check_verify(node: Node, check: Checker) -> None:
    """Report everything that is wrong with the mapping `node`."""
    _keys(node, "verify", KEYS, check)


def _keys(node: Node, what: str, keys: tuple[str, ...], check: Checker) -> None:
    for key, entry in check.known(node, what, keys).items():
        value = entry.node
        if key == "grid":
            _grid(value, check)
        elif key == "launches":
            if value.kind != "list":
                check.report(value, f"must be a list of launches, not {value.shown}")
            for launch in value.items:
                _keys(launch, "a launch", LAUNCH_KEYS, check)
        elif key == "skip":
            if not isinstance(value.scalar, str) or not value.scalar:
                check.report(value, f"must say why the kernel is not run, not {value.shown}")
        else:
            _by_parameter(value, "args of a launch" if key == "args" else key, check)


def _grid(node: Node, check: Checker) -> None:
    if node.kind != "list" or not node.items:
        check.report(node, f"must be a list of up to three sizes, or several such lists, not {node.shown}")
    nested = [item for item in node.items if item.kind == "list"]
    if nested and len(nested) != len(node.items):
        check.report(node, "mixes sizes and lists of sizes")
        return
    for grid in nested or [node] * bool(node.items):
        if not 1 <= len(grid.items) <= 3:
            check.report(grid, f"a grid has one to three sizes, not {len(grid.items)}")
        for size in grid.items:
            _size(size, "the size of a grid", check)


def _by_parameter(node: Node, what: str, check: Checker) -> None:
    for entry in check.mapping(node, what):
        value = entry.node
        if not _PARAMETER.fullmatch(entry.key):
            check.report(entry, "not a parameter name")
        elif what == "shapes":
            for size in value.items if value.kind == "list" else (value,):
                _size(size, "a size in elements", check)
            if value.kind == "list" and not value.items:
                check.report(value, "an empty list is no shape")
        elif what == "values":
            _value(value, check)


def _size(node: Node, what: str, check: Checker) -> None:
    if type(node.scalar) is not int or not 1 <= node.scalar <= _MOST:
        check.report(node, f"{what} is an integer from 1 on, not {node.shown}")


def _value(node: Node, check: Checker) -> None:
    if node.kind == "mapping" or node.is_nothing:
        check.report(node, f"must be a number, a list of numbers, or one of {', '.join(FILLS)}, not {node.shown}")
    if isinstance(node.scalar, str) and node.scalar not in FILLS:
        hint = did_you_mean(node.scalar, FILLS)
        check.report(node, f"{node.scalar!r} is no kind of values{hint}; known: {', '.join(FILLS)}")
    for item in node.items:
        if item.kind != "scalar" or not isinstance(item.scalar, (int, float)):
            check.report(item, f"must be a number, not {item.shown}")
