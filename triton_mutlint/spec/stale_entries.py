"""Which entries of a spec hold for nothing, given that a run may lint only part of what the spec covers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from triton_mutlint.model import LoadedKernel, Location, SourceFile
from triton_mutlint.spec.model import Spec
from triton_mutlint.spec.project_files import MAX_FILES, python_files, text_of
from triton_mutlint.spec.unused import Unused, unused


def stale_entries(spec: Spec, linted: Sequence[SourceFile], kernels: Sequence[LoadedKernel],
                  failed: Sequence[str], root: Path) -> Iterator[tuple[str, Location]]:
    """(message, place) of every entry and parameter of `spec` that names nothing.

    `failed` holds names of kernels that exist but did not load. An entry that only files under
    `root` which this run did not lint could match is not stale.
    """
    for item in unused(spec, kernels):
        if item.kind == "kernel":
            name = item.kernel.rpartition("::")[2]
            unsure = any(fnmatchcase(f, name) for f in failed) or elsewhere(item.kernel, linted, root, mentioned=True)
        else:
            parameter = "" if item.kind == "shadowed" else item.name.partition(".")[0]
            unsure = elsewhere(item.kernel, linted, root, parameter=parameter)
        if not unsure:
            yield _message(item), item.location


def _message(item: Unused) -> str:
    near = f"; did you mean `{item.nearest}`?" if item.nearest else ""
    if item.kind == "kernel":
        return f"{item.key_path}: no kernel is called `{item.name}`{near}"
    if item.kind == "shadowed":
        return f"{item.key_path}: a more specific entry holds for every kernel that this one names"
    return f"{item.key_path}: `{item.kernel}` has no parameter `{item.name}`{near}"


def elsewhere(pattern: str, linted: Sequence[SourceFile], root: Path, *, mentioned: bool = False,
              parameter: str = "") -> bool:
    """Whether a file under `root` that is not among those `linted` may hold a kernel that `pattern` names.

    With `mentioned` it is enough that the file has the name: kernels are not all made by `def`. With
    `parameter` it must have that name, too.
    """
    file_pattern, _, name = pattern.rpartition("::")
    done = {f.path for f in linted if mentioned or not f.kernels or name in f.kernels}
    if file_pattern and not _is_glob(file_pattern) and any(PurePosixPath(p).match(file_pattern) for p in done):
        return False
    defined = rf"{'' if mentioned else 'def '}\b{re.escape(name)}\b"
    defines = re.compile(r"@?\bjit\b" if _is_glob(name) else defined)
    for count, path in enumerate(python_files(root)):
        if count >= MAX_FILES:
            return True
        if path in done or (file_pattern and not PurePosixPath(path).match(file_pattern)):
            continue
        text = text_of(path)
        if defines.search(text) and (not parameter or re.search(rf"\b{re.escape(parameter)}\b", text)):
            return True
    return False


def _is_glob(pattern: str) -> bool:
    return re.search(r"[*?\[]", pattern) is not None
