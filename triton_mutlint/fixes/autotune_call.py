"""Which call in a file is the `triton.autotune` decorator of a kernel, and where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.contracts.spans import parse
from triton_mutlint.fixes.document import Document
from triton_mutlint.fixes.edit import CannotFixError

_AUTOTUNE = frozenset({"triton.autotune", "triton.runtime.autotune", "triton.runtime.autotuner.autotune"})


def find_autotune(document: Document, line: int) -> tuple[int, int]:
    """The span of the call of Triton's autotune whose decorator starts on `line`; raises CannotFixError."""
    tree = parse(document.normal)
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    function = next((f for f in functions if any(d.lineno == line for d in f.decorator_list)), None)
    if function is None:
        raise CannotFixError("the kernel is not autotuned by a decorator of its own")
    decorator = next(d for d in function.decorator_list if d.lineno == line)
    if not isinstance(decorator, ast.Call):
        raise CannotFixError("the decorator is no call")
    if len([d for d in function.decorator_list if "autotune" in ast.unparse(d)]) > 1:
        raise CannotFixError("the kernel has several autotune decorators")
    if not _is_tritons(tree, decorator.func):
        raise CannotFixError("the decorator is not `triton.autotune` itself")
    start = offset_of(document, decorator.lineno, decorator.col_offset)
    return start, offset_of(document, decorator.end_lineno or line, decorator.end_col_offset or 0)


def offset_of(document: Document, line: int, column: int) -> int:
    """The index into the text of a place as `ast` gives it: the column counts bytes of UTF-8."""
    return document.byte_offset(line, column + 1)


def _is_tritons(tree: ast.Module, function: ast.expr) -> bool:
    """Whether every binding of the name that `function` starts with makes it Triton's autotune."""
    root, _, rest = ast.unparse(function).partition(".")
    origins = set(_origins(tree, root))
    return bool(origins) and all(f"{origin}.{rest}".rstrip(".") in _AUTOTUNE for origin in origins)


def _origins(tree: ast.Module, name: str) -> Iterator[str]:
    """What `name` is bound to, anywhere in the file: a dotted module path, or nothing for other things.

    Where an import failed, `None` stands in for what was to be imported.
    """
    placeholders = {
        id(target) for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None
        for target in node.targets
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _imported(node.names, name)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{a.name}" for a in node.names if (a.asname or a.name) == name)
        elif _binds(node, name) and id(node) not in placeholders:
            yield ""


def _imported(aliases: list[ast.alias], name: str) -> Iterator[str]:
    for alias in aliases:
        if alias.asname == name:
            yield alias.name
        elif alias.asname is None and alias.name.partition(".")[0] == name:
            yield name


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    if isinstance(node, ast.arg):
        return node.arg == name
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
