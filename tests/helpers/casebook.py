"""The known-answer kernels under fixtures/: their specs, their truth, and one run of the engine over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tests.helpers.places import FIXTURES, read_book
from triton_mutlint.config.request import Request
from triton_mutlint.lowering import triton_api
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Report

BOOKS = ("cases", "tutorials", "hard", "hard/amd", "old")


@dataclass(frozen=True)
class Case:
    book: str
    name: str
    file: str
    kernel: str
    truth: frozenset[str]
    indirect: frozenset[str]
    unknown: frozenset[str]
    lowers: bool  # on the installed Triton
    undecidable: bool  # `unknown` parameters must be named, not only may be

    def report(self, report: Report) -> KernelReport:
        return next(k for k in report.kernels if (k.location.file, k.name) == (self.file, self.kernel))


def raw(book: str) -> tuple[dict[str, Any], ...]:
    return tuple(read_book(FIXTURES / book / "cases.yaml")["cases"])


@lru_cache
def cases(book: str) -> tuple[Case, ...]:
    return tuple(
        Case(book, c["name"], c["file"], c["kernel"], frozenset(c["truth"]), frozenset(c.get("truth_indirect") or ()),
             frozenset(c.get("unknown") or ()), _lowers(c), "unknown" in c.get("tags", ()))
        for c in raw(book)
    )


def _lowers(case: dict[str, Any]) -> bool:
    def parse(text: str) -> tuple[int, ...]:
        return tuple(map(int, str(text).split(".")))

    have = triton_api.version()
    return parse(case.get("min_triton", "0.0")) <= have <= parse(case.get("max_triton", "99.0"))


def spec_of(book: str) -> dict[str, Any]:
    """The spec that gives every kernel of a book its arguments."""
    kernels = {f"{c['file']}::{c['kernel']}": {"args": {a["name"]: value_in_spec(a) for a in c["args"]}}
               for c in raw(book)}
    return {"version": 1, "kernels": kernels}


def value_in_spec(arg: dict[str, Any]) -> Any:
    kind = arg["kind"]
    if kind in ("pointer", "scalar", "descriptor"):
        return arg["type"]
    if kind == "none":
        return None
    if kind == "constexpr":
        if "value_ref" in arg:
            return {"ref": arg["value_ref"]}
        return {"ref": f"tl.{arg['value_dtype']}"} if "value_dtype" in arg else arg["value"]
    inner = [str(value_in_spec(e)) for e in arg["elements"]]
    if kind == "namedtuple":
        fields = ", ".join(f"{e['name']}={v}" for e, v in zip(arg["elements"], inner, strict=True))
        return f"{arg['class']}({fields})"
    return f"({', '.join(inner)})"


@lru_cache
def report_of(book: str, folder: Path, with_spec: bool) -> Report:
    """One run over all files of a book; the spec is written into `folder`."""
    spec = folder / f"{book.replace('/', '-')}.yaml"
    target = "hip:gfx942" if book.endswith("amd") else "cuda:90"
    spec.write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    files = sorted({c["file"] for c in raw(book)})
    return run(Request(tuple(files), FIXTURES / book, spec=spec if with_spec else None, use_spec=with_spec,
                       targets=(target,)))


def needs_another_triton(kernel: KernelReport) -> bool:
    """Whether a Triton that is older than some of the books cannot lower it, and the report says which can."""
    return (triton_api.version() < (3, 6) and kernel.failure is not None
            and "analyse it with " in kernel.failure.hint)
