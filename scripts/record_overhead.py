"""What recording adds to a launch that was seen before: on a GPU where there is one, else under the interpreter.

    python -m scripts.record_overhead

Prints microseconds for a launch without and with recording, and the difference in per cent.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

ROUNDS = 15
_ON_GPU = torch.cuda.is_available()
if not _ON_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

import triton  # noqa: E402 - it reads the variable when it is imported
import triton.language as tl  # noqa: E402

from triton_mutlint.recording import hooks  # noqa: E402


@triton.jit  # type: ignore[untyped-decorator]
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * factor, mask=i < n)


def main() -> None:
    owner: Any = type(scale)
    name = "_do_compile" if _ON_GPU else "run"
    plain = getattr(owner, name)
    with tempfile.TemporaryDirectory() as folder:
        hooks.begin(str(Path(folder) / "notes.jsonl"))
        recording = getattr(owner, name)
        best = {"plain": float("inf"), "recording": float("inf")}
        for _ in range(ROUNDS):
            for label, method in (("plain", plain), ("recording", recording)):
                setattr(owner, name, method)
                best[label] = min(best[label], _launch())
    more = best["recording"] / best["plain"] - 1
    where = torch.cuda.get_device_name() if _ON_GPU else "interpreter"
    sys.stdout.write(f"{where}: {best['plain']:.2f} us plain, {best['recording']:.2f} us recording ({more:+.2%})\n")


def _launch() -> float:
    """Microseconds for one launch, the mean of many."""
    device = "cuda" if _ON_GPU else "cpu"
    x, out = torch.ones(64, device=device), torch.zeros(64, device=device)
    count = 5000 if _ON_GPU else 50
    scale[(1,)](x, out, 64, 1.5, BLOCK=64)
    if _ON_GPU:
        torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(count):
        scale[(1,)](x, out, 64, 1.5, BLOCK=64)
    taken = (time.perf_counter() - begun) / count * 1e6
    if _ON_GPU:
        torch.cuda.synchronize()
    return taken


if __name__ == "__main__":
    main()
