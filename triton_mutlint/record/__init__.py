"""`import triton_mutlint.record`: note the signatures of this program's launches in a spec.

The spec is the file that the variable TRITON_MUTLINT_RECORD names, else `triton-mutlint.yaml` in the current
folder; it is written when the program ends. `triton-mutlint record -- python train.py` does the same without an
import. Costs nothing where Triton has compiled a launch already, and prints nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile

VARIABLE = "TRITON_MUTLINT_RECORD"
DEFAULT = "triton-mutlint.yaml"


def _begin() -> None:
    """Record this program, unless it is being recorded already."""
    if "TRITON_MUTLINT_RECORD_RAW" in os.environ:
        return
    from triton_mutlint.recording import hooks

    descriptor, raw = tempfile.mkstemp(prefix="mutlint-record-", suffix=".jsonl")
    os.close(descriptor)
    target = os.path.abspath(os.environ.get(VARIABLE) or DEFAULT)  # noqa: PTH100
    hooks.begin(raw)
    atexit.register(_end, raw, target, os.getpid())


def _end(raw: str, target: str, process: int) -> None:
    """Merge what was noted, in a process of its own: this one may run Triton's interpreter."""
    if os.getpid() != process:
        return
    try:
        if os.path.getsize(raw):  # noqa: PTH202
            environment = {n: v for n, v in os.environ.items() if n != "TRITON_INTERPRET"}
            subprocess.run(  # noqa: S603 - this package, run by this Python
                [sys.executable, "-m", "triton_mutlint.recording.merging", raw, target],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(raw)  # noqa: PTH108


_begin()
