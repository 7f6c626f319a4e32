"""Which files to lint: files, directories, `path.py::kernel`, `module:kernel`."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from triton_mutlint.basics import UsageError, nearest
from triton_mutlint.config.request import matches
from triton_mutlint.source.finder import Finder, ModulePlace
from triton_mutlint.source.python_text import decode_source, has_kernels, has_ops, read_bytes, refuse_foreign
from triton_mutlint.source.registrars import registering
from triton_mutlint.source.searching import ignored, walk
from triton_mutlint.types import Failure, Location, SourceFile, Stage, StageError, parse_source

NamedFailure = tuple[str, Failure]


@dataclass
class _Wanted:
    """One file to lint; `kernels` is None once the whole file was asked for."""

    path: Path
    explicit: bool
    root: Path | None = None  # the folder that was searched
    kernels: set[str] | None = field(default_factory=set)


@dataclass(frozen=True)
class Excluded:
    """Which paths are left out: by globs relative to `root`; with `force`, what was named outright too."""

    patterns: tuple[str, ...]
    root: Path
    force: bool

    def __contains__(self, path: object) -> bool:
        return isinstance(path, Path) and any(
            matches(display_path(path, self.root), pattern) for pattern in self.patterns)


def discover(
    arguments: Sequence[str], cwd: Path, exclude: Sequence[str] = (), *, root: Path | None = None,
    force: bool = False, registrars: Collection[str] = (),
) -> tuple[tuple[SourceFile, ...], tuple[NamedFailure, ...]]:
    """The files that the arguments name and that may hold kernels or torch ops, and what was wrong with the others.

    An argument is a file, a directory (searched for `*.py`, sorted; hidden, environment, build and cache
    folders are left out, and files that git ignores), `path.py::kernel` or `package.module:kernel`
    (found without importing it).
    `exclude` holds globs matched against a path relative to `root` (`cwd` if there is none), its name, and
    each folder above it; `force` holds them against what was named outright as well. `registrars` are the
    project's own functions that register ops, by dotted name; those that files of the run define are found.
    A file named outright that cannot be read or parsed is a failure; the other files go on. A file reached by
    two paths is linted once. Raises UsageError for an argument that leads to no file.
    """
    wanted: dict[Path, _Wanted] = {}
    failures: list[NamedFailure] = []
    excluded = Excluded(tuple(exclude), root or cwd, force)
    for argument in arguments:
        try:
            _collect(argument, cwd, excluded, wanted, failures)
        except StageError as error:
            raise UsageError("; ".join(filter(None, (error.failure.message, error.failure.hint)))) from error
    files, left = _holding(wanted.values(), cwd, registrars, failures)
    names = registering(files, registrars)[1] if left else ()
    while left and set(names) - set(registrars):
        registrars = names
        more, left = _holding(left, cwd, registrars, [])
        files += more
        names = registering(files, registrars)[1] if more else names
    order = {item.path: number for number, item in enumerate(wanted.values())}
    files.sort(key=lambda file: order[file.path])
    left_out = _ignored(wanted.values(), {file.path for file in files})
    return tuple(file for file in files if file.path not in left_out), tuple(failures)


def _holding(items: Iterable[_Wanted], cwd: Path, registrars: Collection[str],
             failures: list[NamedFailure]) -> tuple[list[SourceFile], list[_Wanted]]:
    """Those of the files that may hold anything to lint, and the others that could be read."""
    files, left = [], []
    for item in items:
        display = display_path(item.path, cwd)
        try:
            source = _source(item, display, registrars)
        except StageError as error:
            failures.append((display, error.failure))
            continue
        if source is None:
            left.append(item)
        else:
            files.append(source)
    return files, left


def _source(item: _Wanted, display: str, registrars: Collection[str]) -> SourceFile | None:
    """The file, if it may hold anything to lint. Raises `StageError` if that cannot be told.

    A file without a sign of it is parsed only if it was named: nobody else would say that it is broken.
    """
    data = read_bytes(item.path, display)
    plain = data.decode("latin-1")  # the words that tell are ASCII
    is_wanted = has_kernels(plain) or has_ops(plain, registrars) or bool(item.kernels)
    if not item.explicit and not is_wanted:
        return None
    text = decode_source(data, display)
    _check_name(item.path, display)
    if item.explicit:
        refuse_foreign(item.path, text, display)
    if is_wanted:
        return SourceFile(item.path, display, text, frozenset(item.kernels or ()))
    parse_source(text, str(item.path), display)
    return None


def searched(arguments: Sequence[str], cwd: Path, excluded: Excluded) -> tuple[Path, ...]:
    """Every file that the arguments name or lead to, whatever it holds; what cannot be read is left out."""
    wanted: dict[Path, _Wanted] = {}
    for argument in arguments:
        with contextlib.suppress(StageError):
            _collect(argument, cwd, excluded, wanted, [])
    return tuple(wanted)


def _ignored(wanted: Iterable[_Wanted], holding: set[Path]) -> set[Path]:
    """Files found by searching a folder that git ignores; only those worth linting are asked for."""
    by_root: dict[Path, list[Path]] = {}
    for item in wanted:
        if not item.explicit and item.root is not None and item.path in holding:
            by_root.setdefault(item.root, []).append(item.path)
    return {path for root, paths in by_root.items() for path in ignored(root, paths)}


def _check_name(path: Path, display: str) -> None:
    """Refuse a path that is not UTF-8: Triton puts it in every location. Raises `StageError`."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        message = f"the path of {display} is not UTF-8: Triton compiles no kernel in it"
        raise StageError.of_file(display, message, "rename it") from error


def source_from_stdin(data: bytes, filename: Path, cwd: Path) -> SourceFile:
    """A buffer to lint as if it stood at `filename`. Raises `StageError` if it is not Python text."""
    path = Path(os.path.abspath(cwd / filename))  # noqa: PTH100 - symlinks stay as the user named them
    display = display_path(path, cwd)
    text = decode_source(data, display)
    refuse_foreign(Path(), text, display)  # only by its text: what an editor gives under a notebook's name is a cell
    return SourceFile(path, display, text)


def display_path(path: Path, cwd: Path) -> str:
    """The path relative to `cwd`, with forward slashes, when it lies below it; else as it is."""
    try:
        return path.relative_to(cwd).as_posix()
    except ValueError:
        return path.as_posix()


def _collect(
    argument: str, cwd: Path, excluded: Excluded, wanted: dict[Path, _Wanted], failures: list[NamedFailure]
) -> None:
    name, separator, kernel = argument.partition("::")
    if separator and os.path.exists(_absolute(argument, cwd)):  # noqa: PTH110 - the file's own name holds `::`
        name, separator, kernel = argument, "", ""
    if not name.strip() or (separator and not kernel):
        what = "names no kernel" if name.strip() else "names no file"
        raise StageError.of_file(argument, f"`{argument}` {what}", "write path.py, path.py::kernel or module:kernel")
    path = _absolute(name, cwd)
    mode = _mode(path, argument, name)
    if mode is None and ":" in name:
        module, _, rest = name.partition(":")
        kernel = rest + separator + kernel
        if os.path.isfile(_absolute(module, cwd)):  # noqa: PTH113
            hint = f"write {module}::{kernel or 'kernel'}"
            raise StageError.of_file(argument, f"no such file or directory: {name}", hint)
        if len(module) > 1 and not name.endswith(".py"):  # else it is a drive
            path, separator = find_module(module, cwd, argument), ":"
            mode = _mode(path, argument, name)
    if separator and not kernel:
        raise StageError.of_file(argument, f"`{argument}` names no kernel", "write path.py::kernel or module:kernel")
    if mode is not None and separator and stat.S_ISDIR(mode):
        raise StageError.of_file(argument, f"{name} is a folder", "write path.py::kernel, with the file of the kernel")
    if mode is None:
        raise StageError.of_file(argument, f"no such file or directory: {name}", _nearest(path, cwd))
    if excluded.force and path in excluded:
        return
    if stat.S_ISDIR(mode):
        for file in walk(path, excluded.__contains__, partial(_unreadable, cwd, failures)):
            _add(file, None, False, wanted, path)
    else:
        _add(path, kernel if separator else None, True, wanted)


def _unreadable(cwd: Path, failures: list[NamedFailure], error: OSError) -> None:
    display = display_path(Path(error.filename), cwd)
    message = f"cannot read folder {display}: {error.strerror}"
    failures.append((display, Failure(Stage.LOAD, message, Location(display, 1), "leave it out of the run")))


def _mode(path: Path, argument: str, name: str) -> int | None:
    """What kind of file `path` is, or None where there is none. Raises `StageError` if that cannot be told."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StageError.of_file(argument, f"cannot read {name}: {error.strerror or error}", "") from error


def _add(path: Path, kernel: str | None, explicit: bool, wanted: dict[Path, _Wanted], root: Path | None = None) -> None:
    item = wanted.setdefault(Path(os.path.realpath(path)), _Wanted(path, explicit, root))
    item.explicit |= explicit
    if kernel is None:
        item.kernels = None
    elif item.kernels is not None:
        item.kernels.add(kernel)


def find_module(name: str, cwd: Path, argument: str) -> Path:
    """The file of a dotted module, looked up below `cwd`, then as an import in it would, importing nothing.

    Raises `StageError` when there is none.
    """
    finder, place = Finder(), ModulePlace(cwd)
    parts, path = name.split("."), None
    for end in range(1, len(parts) + 1):
        wanted = ".".join(parts[:end])
        path = finder.below(cwd, wanted) or finder.absolute(wanted, place)
        if path is None:
            hint = f"give the path of the file, or run where `import {parts[0]}` would find it"
            raise StageError.of_file(argument, f"no module named `{wanted}`", hint)
    if path is None or path.is_dir():
        raise StageError.of_file(argument, f"module `{name}` has no Python source", "name one of its modules")
    return path


def _absolute(name: str, cwd: Path) -> Path:
    return Path(os.path.abspath(cwd / os.path.expanduser(name)))  # noqa: PTH100, PTH111 - see above


def _nearest(path: Path, cwd: Path) -> str:
    """A hint naming a sibling of similar name, if there is one."""
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which is not there"
    try:
        siblings = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    close = nearest(path.name, siblings)
    return f"did you mean {display_path(path.with_name(close), cwd)}?" if close else ""
