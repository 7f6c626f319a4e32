"""`init`: the specs of some files with an entry for every kernel, begun or added to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from triton_mutlint.judging import LintedFile
from triton_mutlint.linting import Run
from triton_mutlint.model import Failure, LoadedKernel, SourceFile, Variant
from triton_mutlint.request import Progress, Request
from triton_mutlint.source.discover import discover
from triton_mutlint.spec.complete import SpecChange, SpecWriter
from triton_mutlint.spec.find import NAMES, find_spec, project_root


@dataclass(frozen=True)
class InitResult:
    """What becomes of each spec file, the arguments that could not be read, and how many files could not be loaded.

    The remarks of the changes say why those could not.
    """

    changes: tuple[SpecChange, ...]
    failures: tuple[tuple[str, Failure], ...] = ()
    unloaded: int = 0


def init(request: Request, to: Path | None, progress: Progress) -> InitResult:
    """The specs that hold for the files of `request`, completed; writes nothing.

    `to` is the one spec file to complete or begin; without it each file's own is, else one at its
    project's root. Raises UsageError for a spec that cannot be used.
    """
    config = request.config
    sources, failures = discover(
        request.arguments, request.cwd, config.exclude, root=config.root, force=config.force_exclude)
    if to is not None:
        to = request.cwd / to
        request = replace(request, spec=to if to.is_file() else None, use_spec=to.is_file())
    places = {s.path: to or path for s, path in zip(sources, _destinations(sources), strict=True)}
    seen: dict[LoadedKernel, list[Variant]] = {}
    run = Run(request, progress, lambda kernel, variant, _: seen.setdefault(kernel, []).append(variant))
    files = run.files(sources)
    by_place: dict[Path, list[LintedFile]] = {}
    for file in files:
        by_place.setdefault(places[file.source.path], []).append(file)
    changes = tuple(SpecWriter(request, run, seen, path, own).change() for path, own in by_place.items())
    unloaded = sum(any(not name for name, _ in file.result.failures) for file in files)
    return InitResult(changes, failures, unloaded)


def _destinations(sources: Sequence[SourceFile]) -> Iterator[Path]:
    """Per file the spec to write: the one that holds, else one at the project's root."""
    roots = {s.path: project_root(s.path) for s in sources}
    free = [s.path.parent for s in sources if roots[s.path] is None]
    common = Path(os.path.commonpath(free)) if free else None
    for source in sources:
        root = roots[source.path] or common
        assert root is not None, "a file without a root is among those with a common folder"
        yield find_spec(source.path) or root / NAMES[0]
