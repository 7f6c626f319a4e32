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
from collections.abc import Callable

from triton_mutlint.spec.errors import did_you_mean
from triton_mutlint.spec.nodes import Entry, Node

KEYS = ("grid", "shapes", "values", "skip", "launches")
LAUNCH_KEYS = ("args", "values", "shapes", "grid")
FILLS = ("random", "ones", "zeros", "ramp", "extreme", "addresses")
_MOST = 1 << 40  # elements
_PARAMETER = re.compile(r"[^\W\d]\w*(\.\w+)*")
Report = Callable[[Node | Entry, str], None]


def check_verify(node: Node, report: Report) -> None:
    """Report everything that is wrong with the mapping `node`."""
    for entry in node.entries:
        if entry.key == "grid":
            _grid(entry.node, report)
        elif entry.key in ("shapes", "values"):
            _by_parameter(entry.node, entry.key, report)
        elif entry.key == "launches":
            _launches(entry.node, report)
        elif entry.key == "skip":
            if not isinstance(entry.node.scalar, str) or not entry.node.scalar:
                report(entry.node, f"must say why the kernel is not run, not {entry.node.shown}")
        else:
            hint = did_you_mean(entry.key, KEYS) or f"; known keys: {', '.join(KEYS)}"
            report(entry, f"unknown key{hint}")


def _launches(node: Node, report: Report) -> None:
    if node.kind != "list":
        report(node, f"must be a list of launches, not {node.shown}")
    for launch in node.items:
        if launch.kind != "mapping":
            report(launch, f"must be a mapping of {', '.join(LAUNCH_KEYS)}, not {launch.shown}")
        for entry in launch.entries:
            if entry.key not in LAUNCH_KEYS:
                report(entry, f"unknown key{did_you_mean(entry.key, LAUNCH_KEYS)}")
            elif entry.key == "grid":
                _grid(entry.node, report)
            elif entry.key != "args":
                _by_parameter(entry.node, entry.key, report)
            elif entry.node.kind != "mapping":
                report(entry.node, f"must be a mapping of parameters, not {entry.node.shown}")


def _grid(node: Node, report: Report) -> None:
    if node.kind != "list" or not node.items:
        report(node, f"must be a list of up to three sizes, or several such lists, not {node.shown}")
        return
    nested = [item for item in node.items if item.kind == "list"]
    if nested and len(nested) != len(node.items):
        report(node, "mixes sizes and lists of sizes")
        return
    for grid in nested or [node]:
        if not 1 <= len(grid.items) <= 3:
            report(grid, f"a grid has one to three sizes, not {len(grid.items)}")
        for size in grid.items:
            _size(size, "the size of a grid", report)


def _by_parameter(node: Node, what: str, report: Report) -> None:
    if node.kind != "mapping":
        report(node, f"must be a mapping of parameters, not {node.shown}")
    for entry in node.entries:
        if not _PARAMETER.fullmatch(entry.key):
            report(entry, "not a parameter name")
        elif what == "shapes":
            for size in entry.node.items if entry.node.kind == "list" else (entry.node,):
                _size(size, "a size in elements", report)
            if entry.node.kind == "list" and not entry.node.items:
                report(entry.node, "an empty list is no shape")
        else:
            _value(entry.node, report)


def _size(node: Node, what: str, report: Report) -> None:
    if type(node.scalar) is not int or not 1 <= node.scalar <= _MOST:
        report(node, f"{what} is an integer from 1 on, not {node.shown}")


def _value(node: Node, report: Report) -> None:
    if node.kind == "mapping" or (node.kind == "scalar" and node.scalar is None):
        report(node, f"must be a number, a list of numbers, or one of {', '.join(FILLS)}, not {node.shown}")
    if isinstance(node.scalar, str) and node.scalar not in FILLS:
        report(node, f"{node.scalar!r} is no kind of values{did_you_mean(node.scalar, FILLS)}"
                     f"; known: {', '.join(FILLS)}")
    for item in node.items:
        if item.kind != "scalar" or not isinstance(item.scalar, (int, float)):
            report(item, f"must be a number, not {item.shown}")
