"""Files of Python source, places in them, and why one or a kernel has no verdict."""

from __future__ import annotations

import ast
import io
import warnings
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from triton_mutlint.basics import MutlintError, byte_column


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; `file` is as given to the tool.

    `line` and `column` are 1-based; the column counts bytes of UTF-8, as those of Triton and `ast` do.
    """

    file: str
    line: int
    column: int = 1


@dataclass(frozen=True, order=True)
class Frame:
    """One step of a call chain: inside `function`, at `file`:`line`."""

    function: str
    file: str
    line: int


class Stage(str, Enum):
    """The stage at which a kernel (or file) failed."""

    LOAD = "load"
    SIGNATURE = "signature"
    LOWER = "lower"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class Failure:
    """Why one file or kernel has no verdict; a result, not an exception.

    `crashed` says that it ended the process that was at work on it; `lacks` is "arguments" or "globals" where these
    parts of a spec may help; `line` is the one of the kernel's own body that was being compiled.
    """

    stage: Stage
    message: str
    location: Location | None = None
    hint: str = ""  # what the user can add or change to fix it
    crashed: bool = False
    lacks: str = ""
    line: int = 0
    wanted: str = ""  # what was asked for by name, and is no kernel of the file


class StageError(MutlintError):
    """A stage could not finish for one kernel or file; carries the `Failure` to report."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @classmethod
    def of_file(cls, display: str, message: str, hint: str = "", line: int = 1) -> StageError:
        """A file that cannot be loaded, or a line of it."""
        return cls(Failure(Stage.LOAD, message, Location(display, line), hint))


@dataclass(frozen=True)
class SourceFile:
    """A file to lint: its path, the name shown in reports, its text and the kernels asked for.

    `kernels` is empty when all of them are wanted (`path.py::name` and `module:name` name some).
    """

    path: Path
    display: str
    text: str
    kernels: frozenset[str] = frozenset()

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax. Raises StageError with the line and column of a syntax error."""
        return parse_source(self.text, str(self.path), self.display)

    @cached_property
    def functions(self) -> dict[tuple[int, int], ast.FunctionDef]:
        """The functions in `tree` by line and column of their `def`, from 1."""
        nodes: list[ast.AST] = [self.tree]
        for node in nodes:  # which grows: no function stands in an expression
            nodes.extend(n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr))
        return {(n.lineno, n.col_offset + 1): n for n in nodes if isinstance(n, ast.FunctionDef)}


def parse_source(text: str, filename: str, display: str) -> ast.Module:
    """Parse quietly. Raises `StageError` with the line and column of a syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the linted file's business
            return ast.parse(text, filename)
    except SyntaxError as error:
        location = _place(error, text, display)
        hint = "fix the syntax; the file was read as Python 3"
        raise StageError(Failure(Stage.LOAD, f"syntax error: {error.msg}", location, hint)) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nesting too deep
        hint = "break up what is nested deepest, or leave the file out of the run"
        message = f"cannot parse {display}: {error or type(error).__name__}"
        raise StageError.of_file(display, message, hint) from error


def _place(error: SyntaxError, text: str, display: str) -> Location:
    """Where Python stumbled; it counts characters."""
    line, at = error.lineno or 1, max(error.offset or 1, 1)
    lines = split_lines(text)
    return Location(display, line, byte_column(lines[line - 1], at - 1) if 0 < line <= len(lines) else at)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, split only where Python's own reader splits."""
    return io.StringIO(text).readlines()
