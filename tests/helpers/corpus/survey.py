"""One run of the tool over one package without any spec, and what it cost: run as a process of its own.

    python -m tests.helpers.corpus.survey FOLDER [--exclude GLOB]... [--result FILE]

Writes JSON to the file (or to standard output); the linted package must add nothing to that.
"""

from __future__ import annotations

import argparse
import ast
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from triton_mutlint.config.request import Config, Request
from triton_mutlint.lowering import triton_api
from triton_mutlint.run import lint as linting
from triton_mutlint.run.judge import report_on
from triton_mutlint.source.discover import discover
from triton_mutlint.types import Failure, FileResult, KernelReport, Location, Report, SourceFile

_OTHERS = ("numba", "torch.jit", "jax", "cute")  # their `jit` makes no Triton kernel


@dataclass(frozen=True)
class FailedKernel:
    """A kernel without a verdict: where it stands, and what its report says of the reason."""

    name: str
    file: str
    line: int
    stage: str
    message: str
    hint: str


@dataclass(frozen=True)
class Survey:
    """What one run over a package gave; times in seconds, memory in MiB."""

    triton: str | None
    files: int
    functions: int  # jit functions as the syntax tree shows them
    lost: tuple[str, ...]  # of these, `file:line name` of those that did not load
    kernels: int
    failed: tuple[FailedKernel, ...]
    verdicts: dict[str, list[str]]  # "file:line name" -> mutated
    undecided: dict[str, list[str]]  # "file:line name" -> unknown
    findings: tuple[str, ...]  # those of TML301, as one line each
    slowest: dict[str, float]  # the five kernels that took longest, in seconds
    load_seconds: float
    lower_seconds: float
    seconds: float
    peak_mib: float


class Clock:
    """A progress callback that measures each kernel, and can tell how far the run is."""

    def __init__(self, log: Path | None) -> None:
        self.seconds: dict[str, float] = {}
        self._log, self._label, self._since = log, "", time.perf_counter()

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.perf_counter()
        if self._label and total:
            self.seconds[self._label] = round(now - self._since, 2)
        self._label, self._since = label if total else "", now
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(f"{now:.1f} {done}/{total} {label}\n")

    def slowest(self) -> dict[str, float]:
        return dict(sorted(self.seconds.items(), key=lambda item: -item[1])[:5])


def survey(folder: Path, exclude: Sequence[str], log: Path | None = None) -> Survey:
    """Lints every file below `folder`, with nothing given."""
    seconds: dict[str, float] = {"load": 0.0, "lower": 0.0}
    linting.load_file = _timed(linting.load_file, seconds, "load")
    triton_api.Backend.make_ir = _timed(triton_api.Backend.make_ir, seconds, "lower")  # type: ignore[method-assign]
    start = time.perf_counter()
    config = Config(exclude=tuple(exclude))
    request = Request((str(folder),), folder, use_spec=False, targets=("cuda:90",), config=config)
    sources, failures = discover(request.arguments, folder, request.config.exclude)
    clock = Clock(log)
    run = linting.Run(request, clock)
    files = run.files(sources)
    report = report_on(run, files, failures)
    return _summary(files, report, sources, seconds, time.perf_counter() - start, clock)


def _summary(files: Sequence[FileResult], report: Report, sources: Sequence[SourceFile],
             seconds: dict[str, float], total: float, clock: Clock) -> Survey:
    loaded = {(f.source.display, k.location.line) for f in files for k in f.functions}
    functions = [(s.display, line, name) for s in sources for line, name in jit_functions(s.text)]
    unnamed = [FailedKernel("", f.source.display, 1, failure.stage.value, failure.message, failure.hint)
               for f in files if (failure := f.failure) is not None]
    return Survey(
        report.environment.triton, len({file for file, _, _ in functions}), len(functions),
        tuple(f"{file}:{line} {name}" for file, line, name in functions if (file, line) not in loaded),
        len(report.kernels),
        (*(_failed(k, k.failure) for k in report.kernels if k.failure is not None), *unnamed),
        {_key(k.location, k.name): list(k.mutated) for k in report.kernels if k.failure is None},
        {_key(k.location, k.name): list(k.unknown) for k in report.kernels if k.unknown},
        tuple(f"{_key(f.location, f.kernel or '')}: {f.message}" for f in report.findings if f.rule == "TML301"),
        clock.slowest(), round(seconds["load"], 2), round(seconds["lower"], 2), round(total, 2),
        round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    )


def jit_functions(text: str, names: Sequence[str] = ("triton.jit",)) -> Iterator[tuple[int, str]]:
    """Line and name of every function of a file that stands under one of these decorators, or plain `jit`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any(_is_jit(d, names) for d in node.decorator_list):
            yield node.lineno, node.name


def _is_jit(decorator: ast.expr, names: Sequence[str]) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return not name.startswith(_OTHERS) and (name == "jit" or any(f".{name}".endswith(f".{n}") for n in names))


def _key(location: Location, name: str) -> str:
    return f"{location.file}:{location.line} {name}"


def _failed(kernel: KernelReport, failure: Failure) -> FailedKernel:
    return FailedKernel(kernel.name, kernel.location.file, kernel.location.line, failure.stage.value,
                        failure.message, failure.hint)


def _timed(function: Callable[..., Any], seconds: dict[str, float], key: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[key] += time.perf_counter() - start

    return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--exclude", action="append", default=[])
    parser.add_argument("--result", type=Path)
    parser.add_argument("--log", type=Path, help="a file to add a line to for every kernel")
    options = parser.parse_args()
    text = json.dumps(asdict(survey(options.folder.absolute(), options.exclude, options.log)), indent=1)
    if options.result:
        options.result.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
