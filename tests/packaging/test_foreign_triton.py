"""Whatever distribution gives `triton`, it is imported by that name, and no metadata is asked of any other."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

USED = ("triton", "click", "rich", "yaml", "pygments", "markdown_it", "mdurl", "tomli", "typing_extensions")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages in which Triton belongs to the distribution `triton-rocm`."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name in USED:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            origin = origin.parent if spec.submodule_search_locations else origin
            (folder / origin.name).symlink_to(origin)
    installed = distribution("triton")
    info = folder / f"triton_rocm-{installed.version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: triton-rocm\nVersion: {installed.version}\n")
    (info / "entry_points.txt").write_text(installed.read_text("entry_points.txt") or "")
    return folder


def test_a_triton_of_another_distribution_is_used(site: Path) -> None:
    code = "from importlib.metadata import distribution; distribution('triton-rocm'); distribution('triton')"
    assert PackageNotFoundError.__name__ in _python(site, "-c", code).stderr
    done = _python(site, "-m", "triton_mutlint", "--target", "cuda:90", "--target", "hip:gfx942", "kernels.py")
    assert done.returncode == 0, done.stderr
    assert "4 kernels: 4 analysed" in done.stdout


def _python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    return subprocess.run([sys.executable, "-S", *arguments], cwd=ROOT / "fixtures" / "quickstart", text=True,
                          capture_output=True, env=environment)
