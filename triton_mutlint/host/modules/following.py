"""The parts of Python's library that are followed as code of the project is."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.source.finder import Finder, ModulePlace

_PATH = Path(__file__).parents[1] / "library" / "in_python.py"
FOLLOWED = "<python>"  # in place of a file


@lru_cache(maxsize=1)
def in_python_module() -> HostModule:
    text = _PATH.read_text(encoding="utf-8")
    return HostModule(_PATH, FOLLOWED, text, ast.parse(text), ModulePlace(_PATH, Finder().folders))


def in_python(name: str) -> ast.FunctionDef | ast.ClassDef | None:
    """What a full dotted name stands for, if it is one of them."""
    return _defined().get(name.replace(".", "_"))


@lru_cache(maxsize=1)
def _defined() -> dict[str, ast.FunctionDef | ast.ClassDef]:
    body = in_python_module().tree.body
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
