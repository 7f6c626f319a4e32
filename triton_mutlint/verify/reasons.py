"""Why a kernel did not run, in a few words that can be counted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_mutlint.verify.wire import Settings

_NO_OP = re.compile(r"'InterpreterBuilder' object has no attribute '(?:create_|get_)?(\w+)'")
_FIRST = 300  # characters of a message that are kept


def reason_of(error: BaseException, settings: Settings) -> tuple[str, str]:
    """The status and the message of a run that ended with `error`."""
    chain = list(_chain(error))
    text = " ".join(str(e) for e in chain)
    missing = _NO_OP.search(text)
    if "inline_asm not supported" in text:
        return "unsupported", "inline asm: the interpreter cannot run it (--device cuda can)"
    if "extern_elementwise not supported" in text:
        return "unsupported", "an extern function: the interpreter cannot run it (--device cuda can)"
    if "_semantic` argument must be provided" in text:
        return "unsupported", "a builtin of the target: the interpreter cannot run it (--device cuda can)"
    if missing:
        return "unsupported", f"the interpreter of this Triton has no `{missing[1]}` (--device cuda can run it)"
    if "out of memory" in text.lower() or any(isinstance(e, MemoryError) for e in chain):
        return "memory", f"it needs more than {settings.memory} MiB"
    root = chain[-1]
    if settings.device == "cuda" and ("CUDA error" in text or "[CUDA]" in text) and "out of resource" not in text:
        return "fault", _line(root)
    if isinstance(root, AssertionError):
        return "assertion", f"an assertion failed: {_line(root)}"
    return "error", f"{type(root).__name__}: {_line(root)}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, the cause last: the interpreter wraps what a kernel raises."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        wrapped = type(current).__name__ in ("InterpreterError", "CompilationError")
        current = (current.__cause__ or current.__context__) if wrapped else None


def _line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else "no message")[:_FIRST]
