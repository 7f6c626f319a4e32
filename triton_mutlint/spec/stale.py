"""What a spec says that holds for nothing, given that a run may lint only part of what the spec covers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from triton_mutlint.basics import nearest
from triton_mutlint.process.inputs import read
from triton_mutlint.source.searching import walk
from triton_mutlint.spec.model import Declared, KernelSpec, Spec, pattern_parts
from triton_mutlint.spec.nodes import show_path
from triton_mutlint.types import FileResult, Kernel, Location, SourceFile

MAX_FILES = 5000  # searched for a name before it is given the benefit of the doubt
_GLOB = re.compile(r"[*?\[]")
_WORD = re.compile(r"\w+")
Stale = tuple[str, Location]  # what a person is told, and the place in the spec


def stale_entries(spec: Spec, files: Sequence[FileResult], root: Path) -> Iterator[Stale]:
    """Every entry and parameter of `spec`, which holds for `files`, that names nothing.

    An entry that only files under `root` which this run did not lint could match is not stale.
    """
    linted, kernels = [file.source for file in files], [kernel for file in files for kernel in file.functions]
    failed = [name for file in files for name, _ in file.failures if name]
    held: dict[int, list[Kernel]] = {}
    for kernel in kernels:
        match = spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line)
        held.setdefault(id(match), []).append(kernel)
    for entry in spec.kernels:
        own, shown = held.get(id(entry), []), show_path(entry.path)
        if own:
            yield from _parameters(entry, own, lambda e, p: elsewhere(e.pattern, linted, root, parameter=p))
        elif any(entry.rank(k.path, k.name, k.qualname, k.location.line) is not None for k in kernels):
            if not elsewhere(entry.pattern, linted, root):
                yield f"{shown}: a more specific entry holds for every kernel that this one names", entry.location
        else:
            name = pattern_parts(entry.pattern)[1]
            exists = any(fnmatchcase(f, name) for f in failed)
            if not exists and not elsewhere(entry.pattern, linted, root, mentioned=True):
                near = _near(name, [k.name for k in kernels])
                yield f"{shown}: no kernel is called `{entry.pattern}`{near}", entry.location


def _parameters(entry: KernelSpec, kernels: Sequence[Kernel],
                is_elsewhere: Callable[[KernelSpec, str], bool]) -> Iterator[Stale]:
    names = {name for kernel in kernels for name in kernel.parameter_names}
    arguments = [(Declared(arg.parameter, arg.location, arg.path), arg.parameter) for arg in entry.args]
    # An element of a tuple parameter is declared by its own name, `ptrs.0`.
    written = [(declared, declared.name.partition(".")[0]) for declared in entry.mutates or ()]
    for declared, parameter in sorted((*arguments, *written), key=lambda pair: pair[0].location):
        if parameter not in names and not is_elsewhere(entry, parameter):
            near = _near(declared.name, names)
            message = f"{show_path(declared.path)}: `{entry.pattern}` has no parameter `{declared.name}`{near}"
            yield message, declared.location


def _near(name: str, candidates: Collection[str], prefix: str = "") -> str:
    near = nearest(name, candidates)
    return f"; did you mean `{prefix}{near}`?" if near else ""


def elsewhere(pattern: str, linted: Sequence[SourceFile], root: Path, *, mentioned: bool = False,
              parameter: str = "") -> bool:
    """Whether a file under `root` that is not among those `linted` may hold a kernel that `pattern` names.

    With `mentioned` it is enough that the file has the name: kernels are not all made by `def`. Of a dotted name, such
    as that of an entry of a dict, it is enough that it has the first part. With `parameter` it must have that, too.
    """
    file_pattern, name, _ = pattern_parts(pattern)
    done = {f.path for f in linted if mentioned or not f.kernels or name in f.kernels}
    if file_pattern and not _GLOB.search(file_pattern) and any(PurePosixPath(p).match(file_pattern) for p in done):
        return False
    first = name.partition(".")[0]
    defined = rf"{'' if mentioned or first != name else 'def '}\b{re.escape(first)}\b"
    defines = re.compile(r"@?\bjit\b" if _GLOB.search(name) else defined)
    for text in _texts(root, done, file_pattern):
        if text is None or (defines.search(text) and (not parameter or _mentions(text, parameter))):
            return True
    return False


def stale_globals(spec: Spec, files: Sequence[FileResult], root: Path) -> Iterator[Stale]:
    """Every name under `globals` that no file mentions.

    Whatever asks for `settings.LANES` holds the word `LANES`: a name is stale where that is in no linted file, none
    that was loaded for them, and none under `root`. Where linted files stand outside of `root`, none is.
    """
    linted, loaded = [file.source for file in files], {path for file in files for path in file.sources}
    root = Path(os.path.abspath(root))  # noqa: PTH100 - symlinks stay, as in the paths of sources
    if any(not source.path.is_relative_to(root) for source in linted):
        return
    left = {given.name.rpartition(".")[2] for given in spec.global_specs}
    done = {source.path for source in linted}

    def texts() -> Iterator[str | None]:
        yield from (source.text for source in linted)
        yield from (_text(path) for path in loaded if path not in done)
        yield from _texts(root, done)

    for text in texts() if left else ():
        if text is None:
            return
        left -= {word for word in left if _mentions(text, word)}
        if not left:
            return
    for given in spec.global_specs:
        prefix, dot, word = given.name.rpartition(".")
        if word in left:
            near = _near(word, {other for source in linted for other in _WORD.findall(source.text)}, f"{prefix}{dot}")
            yield f"globals.{given.name}: no file asks for `{given.name}`{near}", given.location


def _mentions(text: str, word: str) -> bool:
    return word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None


# --------------------------------------------------------------------------- the files of a project


def _texts(root: Path, done: Collection[Path], pattern: str = "") -> Iterator[str | None]:
    """The texts of the Python files under `root` that fit `pattern` and are not `done`; None if too many."""
    for count, path in enumerate(walk(root, lambda path: False, lambda error: None)):
        if count >= MAX_FILES:
            yield None
        if path not in done and (not pattern or PurePosixPath(path).match(pattern)):
            yield _text(path)


def _text(path: Path) -> str:
    """The text of a file, empty where it cannot be read."""
    try:
        return read(path).decode("utf-8", "replace")
    except OSError:
        return ""
