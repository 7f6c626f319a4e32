"""Which arguments of a run name what Triton compiled, rather than sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from triton_mutlint.basics import UsageError
from triton_mutlint.compiled.cache_files import is_cache, is_ir
from triton_mutlint.compiled.trace import is_trace


def are_compiled(arguments: Sequence[str], cwd: Path, declared: Sequence[str]) -> bool:
    """Whether the arguments name IR; `declared` are the sources that it is to be held against.

    Raises UsageError where IR and sources are mixed, or sources are declared for other sources.
    """
    found = {argument: _is_compiled((cwd / argument).expanduser()) for argument in arguments}
    if declared and not all(found.values()):
        sources = next(argument for argument, is_ir_ in found.items() if not is_ir_)
        raise UsageError(f"--declared needs what was compiled among the paths, and {sources} is none of that: give "
                         "Triton's cache, files of IR or a trace")
    if len(set(found.values())) > 1:
        compiled, sources = (next(a for a, is_ir_ in found.items() if is_ir_ is wanted) for wanted in (True, False))
        raise UsageError(f"{compiled} was compiled and {sources} is source: to hold one against the other, give the "
                         f"sources by --declared {sources}")
    return any(found.values())


def _is_compiled(path: Path) -> bool:
    return is_trace(path) or (is_cache(path) if path.is_dir() else is_ir(path))
