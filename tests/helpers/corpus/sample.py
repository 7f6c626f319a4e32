"""Which kernels of the corpus are read by hand: drawn by a fixed seed, from the source alone.

    python -m tests.helpers.corpus.sample      prints `package file:line kernel`

A kernel is drawn from the functions under `@triton.jit` that are launched in their own file. Those
that use block pointers, gluon or the language of a fork of Triton are passed over.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from tests.helpers.corpus.packages import Package, packages
from tests.helpers.corpus.survey import jit_functions

SEED = 20250
SHARES = {"liger-kernel": 10, "fla-core": 12, "flag-gems": 12, "torchao": 5, "xformers": 2, "gemlite": 3, "sglang": 6,
          "conch-triton-kernels": 3, "mamba-ssm": 3, "vllm": 4}
_FORK = "tle.gpu"


def drawn(package: Package) -> list[tuple[str, int, str]]:
    """(file relative to the package's folder, line, name) of the kernels drawn from one package."""
    pool = sorted(_launched(package))
    random.Random(f"{SEED} {package.name}").shuffle(pool)
    return [kernel[:3] for kernel in pool if not kernel[4] and _FORK not in kernel[3]][: SHARES[package.name]]


def _launched(package: Package) -> Iterator[tuple[str, int, str, str, bool]]:
    """File, line, name, text and whether it is gluon's, of every kernel in the package's own files."""
    for path in package.folder.rglob("*.py"):
        file = path.relative_to(package.folder)
        if "test" in file.as_posix() or any(above.match(glob) for glob in package.excluded for above in file.parents):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        wanted = set(jit_functions(text, ("triton.jit", "gluon.jit"))) if "triton" in text else set()
        triton = set(jit_functions(text)) if wanted else set()
        for node in ast.walk(ast.parse(text)) if wanted else ():
            if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) in wanted:
                body = ast.get_source_segment(text, node) or ""
                if "block_ptr" not in body and re.search(rf"\b{node.name}\s*\[", text):
                    yield file.as_posix(), node.lineno, node.name, body, (node.lineno, node.name) not in triton


def main() -> None:
    for package in packages():
        for file, line, name in drawn(package):
            print(f"{package.name} {file}:{line} {name}")  # noqa: T201


if __name__ == "__main__":
    main()
