"""One run, from arguments to report; returns data and prints nothing.

Files without kernels cost next to nothing: what analyses kernels is imported when there are some.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from triton_mutlint.compiled.cache_files import is_cache, is_ir
from triton_mutlint.compiled.trace import is_trace
from triton_mutlint.config.request import Progress, Request, silent
from triton_mutlint.process.inputs import current, recording, spoil
from triton_mutlint.source.discover import Excluded, discover, source_from_stdin
from triton_mutlint.types import Environment, Failure, Report, SourceFile, UsageError

Failures = tuple[tuple[str, Failure], ...]
_ENOUGH = 200_000  # objects: some 30 MiB


def run(request: Request, progress: Progress | None = None) -> Report:
    """The report of one run.

    Raises UsageError for a spec, a target or an option that cannot be used; whatever goes wrong
    with a file or a kernel is in the report.
    """
    if request.confine == "require":
        request.is_confined  # noqa: B018 - it raises where that cannot be had
    noting = request.cache_dir is not None and current() is None
    with recording() if noting else contextlib.nullcontext():
        compared = request.snapshot is not None or request.baseline is not None
        if compared:
            from triton_mutlint.run.judge import compared_with

            compared_with(request)  # what is wrong with them is told before the work
        is_ir = are_compiled(request.arguments, request.cwd, request.declared)
        if is_ir and request.torch:
            raise UsageError("--compare torch needs the kernels' sources: torch's pass lowers them itself")
        sources, failures = sources_of(replace(request, arguments=request.declared) if is_ir else request)
        if failures:
            spoil()  # what could not be read may be there next time
        if not sources and not failures and not compared and not is_ir:
            return Report(Environment(None))
        with compiling():
            if is_ir:
                from triton_mutlint.run.compiled import report_compiled

                return report_compiled(request, progress or silent, sources, failures)
            from triton_mutlint.run.judge import report_on
            from triton_mutlint.run.lint import Run

            linted = Run(request, progress or silent)
            return report_on(linted, sources, failures, request.jobs)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """What every run begins with: nothing left of files that an earlier one of this process read.

    TRITON_INTERPRET is unset: with it, Triton's jit makes interpreted functions, which have no TTIR.
    """
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    try:
        from triton_mutlint.run.places import forget
        from triton_mutlint.source.load import reset

        reset()
        forget()
        with seldom_collected():
            yield
    finally:
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret


@contextlib.contextmanager
def seldom_collected() -> Iterator[None]:
    """Cyclic collections are rare in this block, and look at young objects alone.

    Syntax trees live as long as the run, and the collector would walk all of those read so far again and again: that
    took over half of the time of loading a library. Triton leaves much in cycles, but dies young.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ENOUGH, 10, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def sources_of(request: Request) -> tuple[tuple[SourceFile, ...], Failures]:
    """The files to lint, standard input among them where `-` was given, and what was wrong with the others."""
    named = tuple(a for a in request.arguments if a != "-")
    config = request.config
    sources, failures = discover(named, request.cwd, config.exclude, root=config.root, force=config.force_exclude,
                                 registrars=request.registering)
    if request.stdin_text is not None:
        filename = Path(request.stdin_filename or "<stdin>")
        buffer = source_from_stdin(request.stdin_text.encode(), filename, request.cwd)
        if not config.force_exclude or buffer.path not in Excluded(config.exclude, config.root or request.cwd, True):
            sources = (buffer, *(s for s in sources if s.path != buffer.path))
    texts = request.texts
    return tuple(replace(s, text=texts[s.display]) if s.display in texts else s for s in sources), failures


def are_compiled(arguments: Sequence[str], cwd: Path, declared: Sequence[str]) -> bool:
    """Whether the arguments name IR; `declared` are the sources that it is to be held against.

    Raises UsageError where IR and sources are mixed, or sources are declared for other sources.
    """
    paths = {argument: (cwd / argument).expanduser() for argument in arguments}
    found = {argument: is_trace(path) or (is_cache(path) if path.is_dir() else is_ir(path))
             for argument, path in paths.items()}
    if declared and not all(found.values()):
        sources = next(argument for argument, is_ir_ in found.items() if not is_ir_)
        raise UsageError(f"--declared needs what was compiled among the paths, and {sources} is none of that: give "
                         "Triton's cache, files of IR or a trace")
    if len(set(found.values())) > 1:
        compiled, sources = (next(a for a, is_ir_ in found.items() if is_ir_ is wanted) for wanted in (True, False))
        raise UsageError(f"{compiled} was compiled and {sources} is source: to hold one against the other, give the "
                         f"sources by --declared {sources}")
    return any(found.values())
