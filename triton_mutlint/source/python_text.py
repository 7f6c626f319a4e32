"""Python source text: reading it as Python itself does, and the cheap scan for kernels."""

from __future__ import annotations

import io
import json
import re
import shlex
import tokenize
from collections.abc import Collection
from pathlib import Path

from triton_mutlint.config.registrar import PUBLIC
from triton_mutlint.process.inputs import read
from triton_mutlint.types import StageError

_JIT = re.compile(r"(?<![A-Za-z])jit\b")  # also `triton_jit`, not `numba_njit`
_LANGUAGE = re.compile(r"\bfrom triton import [^\n]*\blanguage\b")
# Every way to register an op holds one of these, but for a project's own function of another name.
_REGISTERING = ("custom_op", "triton_op", "mutates_args", ".define(", ".impl(", "torch.library", "torch_library_impl",
                "infer_schema", "register_kernel", "triton_call", *PUBLIC)  # fmt: skip
REGISTRAR = re.compile(r"register_\w*ops?\b")
_COMPILED = frozenset({".ttir", ".ttgir", ".gluonir", ".llir", ".mlir", ".ptx", ".amdgcn", ".cubin", ".hsaco"})
_ENCODING = "save the file as UTF-8, or declare its encoding in the first line (PEP 263)"


def has_kernels(text: str) -> bool:
    """Whether the text may hold Triton kernels: it mentions `jit`, or the language that any kernel is written in."""
    if "triton" not in text:
        return False
    return "tl." in text or "triton.language" in text or bool(_JIT.search(text) or _LANGUAGE.search(text))


def has_ops(text: str, registrars: Collection[str] = ()) -> bool:
    """Whether the text may register torch ops; `registrars` are the project's own functions that do."""
    return registers(text, registrars) or ("register_" in text and REGISTRAR.search(text) is not None)


def registers(text: str, registrars: Collection[str] = ()) -> bool:
    """Whether it holds a word by which ops are registered with torch, or the name of one of `registrars`."""
    if any(word in text for word in _REGISTERING):
        return True
    own = {name.rpartition(".")[2] for name in registrars}
    return any(name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None for name in own)


def read_source(path: Path, display: str) -> str:
    """The text of a Python file, decoded by its coding cookie, newlines as `\\n`.

    Raises `StageError` for a file that cannot be read or decoded.
    """
    return decode_source(read_bytes(path, display), display)


def read_bytes(path: Path, display: str) -> bytes:
    """The bytes of a file. Raises `StageError`."""
    try:
        return read(path)
    except OSError as error:
        raise StageError.of_file(display, f"cannot read {display}: {error.strerror or error}", "") from error


def decode_source(data: bytes, display: str) -> str:
    """Decode as Python does (PEP 263). Raises `StageError` for binary or undecodable data."""
    if b"\0" in data:
        message = f"{display} is not Python source: it holds null bytes"
        raise StageError.of_file(display, message, "leave it out of the run")
    try:
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"{display} is not {error.encoding}: byte 0x{data[error.start]:02x}"
        raise StageError.of_file(display, reason, _ENCODING, line) from error
    except (SyntaxError, LookupError, UnicodeError) as error:  # the codec "undefined" raises the last
        raise StageError.of_file(display, f"{display}: {error}", _ENCODING) from error
    return io.StringIO(text, newline=None).read()


def refuse_foreign(path: Path, text: str, display: str) -> None:
    """Raises `StageError` for what is no Python source and may yet be read as if it were: it would hold no kernels."""
    if path.suffix == ".ipynb" or _is_notebook(text):
        written = shlex.quote(display if path.suffix == ".ipynb" else "NOTEBOOK.ipynb")
        raise StageError.of_file(display, f"{display} is a notebook: notebooks are not read",
                     f"lint its code: jupyter nbconvert --to script --stdout {written} | triton-mutlint -")
    if path.suffix in _COMPILED:
        raise StageError.of_file(display, f"{display} is not Python source but what Triton compiled",
                     "name the file that defines the kernel")


def _is_notebook(text: str) -> bool:
    if '"cells"' not in text or not text.lstrip().startswith("{"):
        return False
    try:
        return "cells" in json.loads(text)
    except (ValueError, RecursionError):
        return False


def _encoding(data: bytes) -> str:
    """The declared encoding. Raises `SyntaxError`, or `UnicodeDecodeError` where that is the cause."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if "unknown encoding" not in str(error):
            data.decode("utf-8")
        raise
