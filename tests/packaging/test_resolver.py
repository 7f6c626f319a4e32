"""What pip would install beside what is there: never another torch or Triton, nor a library of CUDA.

pip's own resolver is asked, with the index, in environments that hold no code: a distribution is to pip what its
metadata says.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# What the wheels for Linux on the index require; torch 2.9.1 and 2.13.0.
TORCH = {
    "2.9.1": (
        "filelock", "typing-extensions>=4.10.0", 'setuptools; python_version >= "3.12"', "sympy>=1.13.3",
        "networkx>=2.5.1", "jinja2", "fsspec>=0.8.5", "nvidia-cuda-nvrtc-cu12==12.8.93",
        "nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cudnn-cu12==9.10.2.21",
        "nvidia-cublas-cu12==12.8.4.1", "nvidia-cufft-cu12==11.3.3.83", "nvidia-curand-cu12==10.3.9.90",
        "nvidia-cusolver-cu12==11.7.3.90", "nvidia-cusparse-cu12==12.5.8.93", "nvidia-cusparselt-cu12==0.7.1",
        "nvidia-nccl-cu12==2.27.5", "nvidia-nvshmem-cu12==3.3.20", "nvidia-nvtx-cu12==12.8.90",
        "nvidia-nvjitlink-cu12==12.8.93", "nvidia-cufile-cu12==1.13.1.3", "triton==3.5.1"),
    "2.13.0": (
        "filelock", "typing-extensions>=4.10.0", "setuptools>=77.0.3", "sympy>=1.13.3", "networkx>=2.5.1", "jinja2",
        "fsspec>=0.8.5", "cuda-toolkit[cublas,cudart,nvrtc]==13.0.3", "cuda-bindings<14,>=13.0.3",
        "nvidia-cudnn-cu13==9.20.0.48", "nvidia-cusparselt-cu13==0.8.1", "nvidia-nccl-cu13==2.29.7",
        "nvidia-nvshmem-cu13==3.4.5", "triton==3.7.1"),
}
ROCM = ("filelock", "typing-extensions>=4.10.0", "sympy>=1.13.3", "networkx>=2.5.1", "jinja2", "fsspec>=0.8.5",
        "triton-rocm==3.5.1")
# Everything that comes with the tool: what it requires, and what that requires in turn.
OURS = {"triton-mutlint", "triton", "click", "rich", "pyyaml", "ruamel-yaml", "markdown-it-py", "mdurl", "pygments"}
OLD_PYTHON = {"tomli", "typing-extensions"}  # on 3.10


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


def simulated(folder: Path, torch: str = "", requires: tuple[str, ...] = ()) -> Path:
    """The Python of an environment with this torch, as it would be with all that it requires."""
    venv.create(folder, with_pip=False)
    if torch:
        (site,) = folder.glob("lib/python*/site-packages")
        write(site, "torch", torch, requires)
        for requirement in requires:
            name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?(?:.*[=>]=([\d.]+))?(?:;.*)?", requirement).groups()
            write(site, name, version or "80.0")
    return folder / "bin" / "python"


def write(site: Path, name: str, version: str, requires: tuple[str, ...] = ()) -> None:
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    extras = "".join(f"Provides-Extra: {extra}\n" for extra in ("cublas", "cudart", "nvrtc"))
    lines = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{extras}{lines}")
    (info / "INSTALLER").write_text("pip\n")
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\n{info.name}/INSTALLER,,\n{info.name}/RECORD,,\n")


def installs(python: Path, *asked: str) -> Mapping[str, str]:
    """The versions that `pip install` would put into that environment, by name."""
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--dry-run", "--quiet", "--report", "-",
               *asked]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    chosen = (entry["metadata"] for entry in json.loads(done.stdout)["install"])
    return {re.sub(r"[-_.]+", "-", found["name"]).lower(): found["version"] for found in chosen}


@pytest.mark.parametrize("torch", ["2.13.0", pytest.param("2.9.1", marks=pytest.mark.long)])
def test_the_pair_that_is_there_stays(tmp_path: Path, wheel: Path, torch: str) -> None:
    """Even where torch is asked for, the more where it is not."""
    got = installs(simulated(tmp_path, torch, TORCH[torch]), f"{wheel}[torch]")
    assert "triton-mutlint" in got
    assert got.keys() >= {"click", "rich", "pyyaml", "ruamel-yaml"}
    assert [name for name in got if re.match(r"torch|triton$|nvidia|cuda", name)] == []


@pytest.mark.long
def test_without_a_triton_it_comes_alone(tmp_path: Path, wheel: Path) -> None:
    assert installs(simulated(tmp_path), str(wheel)).keys() - OLD_PYTHON == OURS


@pytest.mark.long
def test_beside_a_triton_of_another_name(tmp_path: Path, wheel: Path) -> None:
    """pip does not know that `triton-rocm` is a Triton, and would install another over it: thus `--no-deps`."""
    python = simulated(tmp_path, "2.9.1", ROCM)
    assert "triton" in installs(python, str(wheel))
    others = installs(python, "click", "rich", "pyyaml", "ruamel.yaml").keys()
    assert others - OLD_PYTHON == OURS - {"triton-mutlint", "triton"}
