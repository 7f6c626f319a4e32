"""Surveys in processes of their own, and what their failures come down to."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tests.helpers.corpus.packages import ROOT, Package
from tests.helpers.corpus.survey import FailedKernel, Survey

LONGEST_RUN = 3600  # seconds for one package
_OTHER_TRITON = "analyse it with the Triton version"
_DETAILS = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|<[^>]*>|\[[^\]]*\]|\b\d[\w.]*\b|\(with .*", re.DOTALL)


@lru_cache
def measure(package: Package) -> tuple[Survey, str]:
    """The survey of one package, and whatever the run printed. Raises `CalledProcessError` on a crash."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "survey.json"
        excluded = [f"--exclude={glob}" for glob in package.excluded]
        done = subprocess.run(
            [sys.executable, "-m", "tests.helpers.corpus.survey", str(package.folder), *excluded, f"--result={result}"],
            cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_RUN, check=True,
        )
        return read(result), done.stdout + done.stderr


def read(result: Path) -> Survey:
    """A survey as `tests.helpers.corpus.survey` wrote it."""
    values = json.loads(result.read_text(encoding="utf-8"))
    failed = tuple(FailedKernel(**f) for f in values.pop("failed"))
    return Survey(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}, failed=failed)


@dataclass(frozen=True)
class Tally:
    """Counts of one package or more; what needs an API that the installed Triton lacks stands apart."""

    functions: int
    lost: int  # did not load, though Triton has all that they need
    kernels: int
    failed: int  # likewise
    foreign_functions: int
    foreign_kernels: int

    @property
    def loaded(self) -> float:
        return 1 - self.lost / max(1, self.functions - self.foreign_functions)

    @property
    def analyzed(self) -> float:
        return 1 - self.failed / max(1, self.kernels - self.foreign_kernels)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def tally(survey: Survey) -> Tally:
    """The counts of one survey."""
    foreign = [f for f in survey.failed if is_foreign(f)]
    unloaded = {f"{f.file}:{f.line} {f.name}" for f in foreign if f.stage == "load"} & set(survey.lost)
    return Tally(survey.functions, len(survey.lost) - len(unloaded), survey.kernels, len(survey.failed) - len(foreign),
                 len(unloaded), len(foreign))


def is_foreign(failed: FailedKernel) -> bool:
    """Whether a kernel needs what the installed Triton does not have: block pointers, a fork's API."""
    return failed.hint.startswith(_OTHER_TRITON)


def kind(message: str) -> str:
    """The first line of a message without what differs from kernel to kernel."""
    first = re.sub(r"^kernel \S+ needs", "it needs", message.strip().splitlines()[0])
    return re.sub(r"\s+", " ", _DETAILS.sub("…", first)).strip()[:110]
