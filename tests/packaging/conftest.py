"""What is distributed, built from a copy of the files that it is made of: building leaves its traces there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

BUILD = "import sys, setuptools.build_meta as backend; print(getattr(backend, sys.argv[1])(sys.argv[2]))"


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution of this checkout, and with the wheel that is made from it."""
    folder, out = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("distributions")
    traces = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, folder, ignore=traces, dirs_exist_ok=True)
    archive = out / _build(folder, "build_sdist", out)
    shutil.unpack_archive(archive, folder / "unpacked", filter="data")
    _build(folder / "unpacked" / archive.name.removesuffix(".tar.gz"), "build_wheel", out)
    return out


def _build(folder: Path, hook: str, out: Path) -> str:
    done = subprocess.run([sys.executable, "-c", BUILD, hook, str(out)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]
