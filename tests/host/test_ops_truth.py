"""fixtures/ops/ops.yaml: every registration has its truth, and the truth agrees with itself."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.places import OPS, read_book

NAMESPACES = {"lib": "vendor"}  # libraries that a file takes from another one
OWN_REGISTRARS = ("direct_register_custom_op", "register_custom_op", "publish")
REQUIRED = {"file", "line", "declared", "written", "maybe", "unknown", "kernels", "findings", "why", "run"}
OPTIONAL = {"function", "call", "returns", "op_raises", "refused", "may_also", "accept_maybe", "opaque", "one_way",
            "unmarked", "reason", "coarser"}


@dataclass(frozen=True)
class Registration:
    name: str
    file: str
    line: int


def book() -> dict[str, dict[str, Any]]:
    return read_book(OPS / "ops.yaml")


def name_of(key: str) -> str:
    """The op's name: a key carries `#n` where a name is registered more than once."""
    return key.partition("#")[0]


def registrations(path: Path) -> tuple[Registration, ...]:
    """What `path` registers, by a reading that knows these fixtures only."""
    return tuple(_Reader(path).found())


class _Reader:
    def __init__(self, path: Path) -> None:
        self.file = path.relative_to(OPS).as_posix()
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.constants: dict[str, Any] = {}
        self.libraries = dict(NAMESPACES)
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._constant(node.targets[0].id, node.value)

    def _constant(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Constant):
            self.constants[name] = value.value
        elif isinstance(value, ast.Call) and _last(value.func) == "Library":
            self.libraries[name] = ast.literal_eval(value.args[0])

    def found(self) -> Iterator[Registration]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                for name in self._names(node):
                    yield Registration(name, self.file, node.lineno)
            elif isinstance(node, ast.FunctionDef):
                yield from self._decorated(node)
            if self.file.startswith("tables/"):
                yield from self._rows(node)

    def _rows(self, node: ast.AST) -> Iterator[Registration]:
        """Those of `NAME_TABLE = (("op", function), ...)`, of a dict, and of a loop over such a display."""
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            named = isinstance(target, ast.Subscript) or getattr(target, "id", "").endswith("_TABLE")
        else:
            target, value, named = None, getattr(node, "iter", None), isinstance(node, ast.For)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "map":
                value, named = node.args[1], True
        rows: list[ast.expr] = []
        if named and isinstance(target, ast.Subscript):
            rows = [target.slice]
        elif named and isinstance(value, ast.Dict):
            rows = [key for key in value.keys if key is not None]
        elif named and isinstance(value, ast.Tuple | ast.List):
            rows = [row.elts[0] for row in value.elts if isinstance(row, ast.Tuple)]
        for row in rows:
            text = ast.literal_eval(row)
            space = "tables" if "(" in text else "aten"
            yield Registration(f"{space}::{text.partition('(')[0]}", self.file, row.lineno)

    def _decorated(self, node: ast.FunctionDef) -> Iterator[Registration]:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Name) and decorator.id in OWN_REGISTRARS:
                yield Registration(f"vendor::{node.name}", self.file, decorator.lineno)
            elif isinstance(decorator, ast.Call) and _last(decorator.func) == "register_custom_op":
                given = {k.arg: k.value for k in decorator.keywords}.get("op_name")
                name = ast.literal_eval(given) if given else node.name
                yield Registration(f"vendor::{name}", self.file, decorator.lineno)

    def _names(self, call: ast.Call) -> tuple[str, ...]:
        kind = _last(call.func)
        if kind in ("impl", "direct_register_custom_op", "publish", "register_custom_op"):
            return self._own(call, kind)
        if kind == "define" and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            return (f"{self.libraries[call.func.value.id]}::{_schema_name(call.args[0])}",)
        return self._qualified(call.args[0]) if call.args else ()

    def _own(self, call: ast.Call, kind: str) -> tuple[str, ...]:
        if kind in ("impl", "register_custom_op") or self.file == "registrars/torch_utils.py":
            return ()
        given = {k.arg: k.value for k in call.keywords}.get("op_name") or call.args[0]
        return (f"vendor::{ast.literal_eval(given)}",)

    def _qualified(self, node: ast.expr) -> tuple[str, ...]:
        if isinstance(node, ast.BinOp):
            start = node.left.value if isinstance(node.left, ast.Constant) else None
            if not isinstance(start, str) or not isinstance(node.right, ast.Name):
                return ()
            return tuple(start + end for end in self._loop_values(node.right.id))
        text = node.value if isinstance(node, ast.Constant) else ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(p.value if isinstance(p, ast.Constant) else self.constants.get(p.value.id, "")
                           for p in node.values if isinstance(p, ast.Constant | ast.FormattedValue)
                           and (isinstance(p, ast.Constant) or isinstance(p.value, ast.Name)))
        return (text,) if isinstance(text, str) and re.fullmatch(r"\w+::[\w.]+", text) else ()

    def _loop_values(self, name: str) -> Iterator[str]:
        for loop in self.tree.body:
            if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple) and isinstance(loop.iter, ast.Tuple):
                at = [getattr(t, "id", None) for t in loop.target.elts].index(name)
                yield from (ast.literal_eval(row.elts[at]) for row in loop.iter.elts)  # type: ignore[attr-defined]


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _schema_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):  # infer_schema(…, op_name="…")
        return ast.literal_eval(next(k.value for k in node.keywords if k.arg == "op_name"))
    text = ast.literal_eval(node.left if isinstance(node, ast.BinOp) else node)
    return text.partition("(")[0]


def _sources() -> list[Path]:
    return sorted(p for p in OPS.rglob("*.py") if p.name not in ("observe.py", "make_long.py", "register.py")
                  and p != OPS / "registrars" / "torch_utils.py")


def test_every_registration_has_its_truth_at_its_line() -> None:
    registered = Counter((r.name, r.file, r.line) for path in _sources() for r in registrations(path))
    told = Counter((name_of(key), op["file"], op["line"]) for key, op in book().items())
    assert told == registered


def test_there_are_enough_ops() -> None:
    ops = book().values()
    assert len(ops) >= 300
    assert sum(bool(op["unknown"]) for op in ops) <= 12  # a person who reads the files can tell nearly all
    assert {f["rule"] for op in ops for f in op["findings"]} == {"TML103", "TML104", "TML105", "TML106", "TML108"}
    assert sum(not op["findings"] for op in ops) >= 100


def test_truth_is_well_formed() -> None:
    for key, op in book().items():
        assert REQUIRED <= op.keys() <= REQUIRED | OPTIONAL, key
        told = Counter(op["written"] + op["maybe"] + op["unknown"])
        assert max(told.values(), default=1) == 1, key
        assert (op["run"] is False) == ("reason" in op), key
        beside = (OPS / op["file"]).parent.glob("*kernels.py")
        kernels = _jit_functions(OPS / op["file"]).union(*map(_jit_functions, beside))
        assert set(op["kernels"]) <= kernels, key


@pytest.mark.parametrize("key", book())
def test_findings_follow_from_what_is_declared_and_written(key: str) -> None:
    op = book()[key]
    found = [(f["rule"], f["argument"], f.get("severity")) for f in op["findings"]]
    malformed = [f for f in found if f[0] == "TML105"]
    if malformed:  # what such a declaration leaves out is the optional finding
        assert not [f for f in found if f[0] not in ("TML105", "TML104")]
        return
    declared = op["declared"]
    expected = [f for f in found if f[0] == "TML106"]
    expected += [("TML108", a, None) for a in op.get("returns", ()) if op.get("op_raises")]  # not as the schema says
    if isinstance(declared, list):
        expected += [("TML103", a, None) for a in op["written"] if a not in declared]
        expected += [("TML103", a, "warning") for a in op["maybe"] if a not in declared]
        if not op["unknown"]:
            expected += [("TML104", a, None) for a in declared if a not in op["written"] + op["maybe"]]
    assert sorted(found, key=str) == sorted(expected, key=str)


@lru_cache
def _jit_functions(path: Path) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    decorated = {n.name for n in nodes if isinstance(n, ast.FunctionDef)
                 and any(_last(d) == "jit" for d in n.decorator_list)}
    made = {n.targets[0].id for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
            and isinstance(n.value, ast.Call) and _last(n.value.func) == "jit"}
    return frozenset(decorated | made)
