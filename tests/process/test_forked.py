"""Work in processes of its own: what becomes of one that ends by itself."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator

from tests.helpers.places import ROOT
from triton_mutlint.process.forked import Lost, Processes

RAISE = ctypes.CFUNCTYPE(None, ctypes.c_int)(ctypes.CDLL(None)["raise"])


def main() -> None:
    """Handlers of faulthandler's and of a library's, each of which hands a signal to the one that it has found."""
    ctypes.CDLL(None).signal(6, RAISE)
    faulthandler.enable()

    def work(task: int) -> Iterator[int]:
        os.abort()
        yield task

    def lose(_: int, lost: Lost) -> Iterable[int]:
        sys.stdout.write(lost.reason)
        return ()

    Processes([1], 1, int, work, lambda _: 10.0, lambda task, item: None, lose, lambda keep: None).run()


def test_a_signal_of_native_code_ends_a_process_whatever_handles_it() -> None:
    done = subprocess.run([sys.executable, "-c", "from tests.process.test_forked import main; main()"], cwd=ROOT,
                          capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.stdout.startswith("its process was ended by SIGABRT"), done
