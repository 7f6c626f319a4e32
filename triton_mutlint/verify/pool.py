"""Runs jobs in processes of their own, and collects what they showed."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from triton_mutlint.config.request import Progress, silent
from triton_mutlint.types import UsageError
from triton_mutlint.verify.wire import Finished, Work


def run_jobs(jobs: Sequence[Work], progress: Progress = silent) -> list[Finished]:
    """What each job gave, in their order.

    Raises UsageError where the process for them does not start, or is lost. Every process has ended on return.
    """
    found: dict[int, Finished] = {}
    if not jobs:
        return []
    progress(0, len(jobs), f"running {jobs[0].name}")
    command = [sys.executable, "-m", "triton_mutlint.verify.running.server"]
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(  # noqa: S603 - this package
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            env=_environment(jobs[0].settings.device)) as process:
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        try:
            pickle.dump(list(jobs), process.stdin)
            process.stdin.flush()
            while len(found) < len(jobs):
                number, finished = pickle.load(process.stdout)  # noqa: S301 - this package wrote it
                found[number] = finished
                progress(len(found), len(jobs), f"ran {jobs[number].name}")
        except (EOFError, OSError) as error:
            errors.seek(0)
            lines = errors.read().strip().splitlines()
            raise UsageError(f"the process for runs was lost: {lines[-1] if lines else 'no message'}") from error
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # and what it forked
    return [found[number] for number in range(len(jobs))]


def _environment(device: str) -> Mapping[str, str]:
    """This process's, with the interpreter on or off from the start: Triton's own functions are made then."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asking for GPUs otherwise spoils them for what is forked
    environment.pop("TRITON_INTERPRET", None)
    if device == "cpu":
        environment["TRITON_INTERPRET"] = "1"
    return environment
