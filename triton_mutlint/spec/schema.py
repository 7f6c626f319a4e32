"""What a spec may hold: one check for each key, made of a few general ones. A check gives every problem that it finds.

The key `verify` of an entry is what the command `verify` runs the kernel with:

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
from collections.abc import Callable, Iterator, Mapping

from triton_mutlint.basics import did_you_mean
from triton_mutlint.spec.nodes import Entry, Node
from triton_mutlint.spec.notation import DOTTED, TypeTextError, parse_type
from triton_mutlint.types import UsageError, parse_target

Problem = tuple[Node | Entry, str]
Check = Callable[[Node], Iterator[Problem]]

_VERSION = 1
_BACKENDS = ("cuda", "hip")
_FILLS = ("random", "ones", "zeros", "ramp", "extreme", "addresses")
_MOST = 1 << 40  # elements of a tensor
_PARAMETER = re.compile(r"[^\W\d]\w*")
_ELEMENT = re.compile(r"[^\W\d]\w*(\.\w+)*")  # a parameter, or an element of a tuple
_PER_PARAMETER = "must be a mapping of parameters"


# --------------------------------------------------------------------------- collections


def keys(table: Mapping[str, Check], must: str = "must be a mapping") -> Check:
    """A mapping with these keys and no others; a key with nothing below it has none."""
    def check(node: Node) -> Iterator[Problem]:
        yield from _mapping(node, must)
        for entry in node.entries:
            if entry.key in table:
                yield from table[entry.key](entry.node)
            else:
                known = f"; known keys: {', '.join(table)}"
                yield entry, f"unknown key{did_you_mean(entry.key, table) or known}"

    return check


def named(pattern: re.Pattern[str], otherwise: str, value: Check, must: str = "must be a mapping") -> Check:
    """A mapping whose keys fit `pattern`; of those that don't, the message `otherwise` tells."""
    def check(node: Node) -> Iterator[Problem]:
        yield from _mapping(node, must)
        for entry in node.entries:
            if not pattern.fullmatch(entry.key):
                yield entry, otherwise
            yield from value(entry.node)

    return check


def _mapping(node: Node, must: str) -> Iterator[Problem]:
    if node.kind != "mapping" and not node.is_nothing:
        yield node, f"{'' if node.path else 'a spec '}{must}, not {node.shown}"


def _each(check: Check, empty: str) -> Check:
    """A value, or a list of at least one."""
    def each(node: Node) -> Iterator[Problem]:
        if node.kind == "list" and not node.items:
            yield node, empty
        for item in node.items if node.kind == "list" else (node,):
            yield from check(item)

    return each


def _list_of(check: Check, must: str, *, distinct: bool = False) -> Check:
    def each(node: Node) -> Iterator[Problem]:
        if node.kind != "list":
            example = f"; write [{node.scalar}]" if distinct and isinstance(node.scalar, str) else ""
            yield node, f"{must}, not {node.shown}{example}"
        seen: set[object] = set()
        for item in node.items:
            again = distinct and isinstance(item.scalar, str) and item.scalar in seen
            yield from [(item, f"{item.scalar!r} is listed twice")] if again else check(item)
            seen.add(item.scalar)

    return each


# --------------------------------------------------------------------------- values


def _anything(node: Node) -> Iterator[Problem]:
    yield from ()


def _text(pattern: re.Pattern[str], what: str) -> Check:
    def check(node: Node) -> Iterator[Problem]:
        if not isinstance(node.scalar, str) or not pattern.fullmatch(node.scalar):
            yield node, f"{node.shown} is not {what}"

    return check


def _version(node: Node) -> Iterator[Problem]:
    if node.scalar != _VERSION or node.scalar is True:
        yield node, f"unsupported version {node.shown}; this tool reads version {_VERSION}"


def _argument(node: Node) -> Iterator[Problem]:
    """A value or type; whether a text is one or the other depends on the kernel."""
    if node.kind == "mapping":
        yield from _REFERENCE(node)
        if not node.entries:
            yield node, "an empty mapping; write {ref: name}"
    for item in node.items:
        yield from _argument(item)


def _type(node: Node) -> Iterator[Problem]:
    yield from _argument(node)
    if isinstance(node.scalar, str):
        try:
            parse_type(node.scalar)
        except TypeTextError as error:
            yield node, str(error)


def _arguments(node: Node) -> Iterator[Problem]:
    if not isinstance(node.scalar, str):  # a whole signature is read when the kernel is known
        yield from _BY_PARAMETER(node)


def _target(node: Node) -> Iterator[Problem]:
    backend = str(node.scalar).partition(":")[0]
    if not re.fullmatch(r"\w+:\w+", str(node.scalar)):
        yield node, f"{node.shown} is not a target; write cuda:90 or hip:gfx942"
    elif backend not in _BACKENDS:
        yield node, f"unknown backend {backend!r}{did_you_mean(backend, _BACKENDS) or '; known: cuda, hip'}"
    else:
        try:
            parse_target(str(node.scalar))
        except UsageError as error:
            yield node, str(error)


def _targets(node: Node) -> Iterator[Problem]:
    return _list_of(_target, "", distinct=True)(node) if node.kind == "list" else _target(node)


def _size(what: str) -> Check:
    def check(node: Node) -> Iterator[Problem]:
        if type(node.scalar) is not int or not 1 <= node.scalar <= _MOST:
            yield node, f"{what} is an integer from 1 on, not {node.shown}"

    return check


def _grid(node: Node) -> Iterator[Problem]:
    if node.kind != "list" or not node.items:
        yield node, f"must be a list of up to three sizes, or several such lists, not {node.shown}"
    nested = [item for item in node.items if item.kind == "list"]
    if nested and len(nested) != len(node.items):
        yield node, "mixes sizes and lists of sizes"
        return
    for grid in nested or [node] * bool(node.items):
        if not 1 <= len(grid.items) <= 3:
            yield grid, f"a grid has one to three sizes, not {len(grid.items)}"
        for size in grid.items:
            yield from _size("the size of a grid")(size)


def _values(node: Node) -> Iterator[Problem]:
    if node.kind == "mapping" or node.is_nothing:
        yield node, f"must be a number, a list of numbers, or one of {', '.join(_FILLS)}, not {node.shown}"
    if isinstance(node.scalar, str) and node.scalar not in _FILLS:
        hint = did_you_mean(node.scalar, _FILLS)
        yield node, f"{node.scalar!r} is no kind of values{hint}; known: {', '.join(_FILLS)}"
    for item in node.items:
        if item.kind != "scalar" or not isinstance(item.scalar, (int, float)):
            yield item, f"must be a number, not {item.shown}"


def _reason(node: Node) -> Iterator[Problem]:
    if not isinstance(node.scalar, str) or not node.scalar:
        yield node, f"must say why the kernel is not run, not {node.shown}"


# --------------------------------------------------------------------------- the keys

_NO_VALUE = "an empty list gives no value"
_NO_PARAMETER = "not a parameter name"
_ANY_NAME = re.compile(r".*", re.DOTALL)
_REFERENCE = keys({"ref": _text(DOTTED, "the dotted name of an object")})
_BY_PARAMETER = named(_PARAMETER, f"{_NO_PARAMETER}; patterns go into defaults", _each(_argument, _NO_VALUE),
                      f"{_PER_PARAMETER}, or a whole signature in one text")
_RUN: Mapping[str, Check] = {
    "grid": _grid,
    "shapes": named(_ELEMENT, _NO_PARAMETER, _each(_size("a size in elements"), "an empty list is no shape"),
                    _PER_PARAMETER),
    "values": named(_ELEMENT, _NO_PARAMETER, _values, _PER_PARAMETER),
}
_LAUNCH = keys({"args": named(_ELEMENT, _NO_PARAMETER, _anything, _PER_PARAMETER), **_RUN},
               "must be a mapping of args, values, shapes, grid")
_KERNEL = keys({
    "args": _arguments,
    "mutates": _list_of(_text(_ELEMENT, "a parameter name"), "must be a list", distinct=True),
    "allow": _list_of(_text(re.compile(r"TML\d{3}"), "a rule; rules are written TML201"), "must be a list",
                      distinct=True),
    "target": _targets,
    "verify": keys({**_RUN, "skip": _reason, "launches": _list_of(_LAUNCH, "must be a list of launches")}),
})
SPEC = keys({
    "version": _version,
    "defaults": keys({
        "types": named(_ANY_NAME, "", _each(_type, _NO_VALUE)),
        "constexpr": named(_ANY_NAME, "", _each(_argument, _NO_VALUE)),
    }),
    "kernels": named(re.compile(r"(?s).+(?<!::)"),
                     "names no kernel; write name, a glob, or path/to/file.py::name", _KERNEL),
    "ops": named(re.compile(r"\w+::\w[\w.]*|[\w.]+:\w+"), "names no op of torch; write lib::op, or module:Function",
                 keys({
        "args": named(_ELEMENT, _NO_PARAMETER, _each(_anything, _NO_VALUE), _PER_PARAMETER),
        "verify": keys({"shapes": _RUN["shapes"], "values": _RUN["values"], "skip": _reason,
                        "calls": _list_of(named(_ELEMENT, _NO_PARAMETER, _anything, _PER_PARAMETER),
                                          "must be a list of calls")}),
    })),
    "globals": named(DOTTED, "not a dotted Python name", _anything),
})
