"""The cheap scan for torch ops, and what it makes of files without kernels."""

import subprocess
import sys
from pathlib import Path

import pytest

from triton_mutlint.source.discover import discover
from triton_mutlint.source.python_text import has_ops, may_have_ops

OP = """\
import torch
from torch.library import custom_op


@custom_op("a::f", mutates_args=())
def f(x: torch.Tensor) -> None:
    x.add_(1)
"""


@pytest.mark.parametrize(
    "text",
    [
        OP, "from torch.library import triton_op as t", "lib.define(schema)", "lib.impl('f', f, 'CUDA')",
        "direct_register_custom_op('f', f)", "@register_custom_op()", "import torch.library", "x = infer_schema(f)",
        "@f.register_kernel('cuda')", "direct_register_aiter_op(op_func=f)", "_torch_custom_op_wrapper('a::f')",
    ],
)
def test_what_may_register_ops(text: str) -> None:
    assert has_ops(text)
    assert may_have_ops(text.encode())


@pytest.mark.parametrize("text", ["import torch\n", "def register_hooks(): ...", "x.defined()", "register_option('x')"])
def test_what_does_not(text: str) -> None:
    assert not has_ops(text)


def test_the_projects_own_registrars(tmp_path: Path) -> None:
    text = "from mylib.utils import publish\npublish(f)\n"
    assert not has_ops(text)
    assert has_ops(text, ("mylib.utils.publish",))
    assert may_have_ops(text.encode(), ("mylib.utils.publish",))
    (tmp_path / "own.py").write_text(text)
    assert discover(["."], tmp_path)[0] == ()
    assert [f.display for f in discover(["."], tmp_path, registrars=("mylib.utils.publish",))[0]] == ["own.py"]


def test_files_with_ops_are_kept_and_others_left_out(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OP)
    (tmp_path / "other.py").write_text("import torch\n")
    files, failures = discover(["."], tmp_path)
    assert ([f.display for f in files], failures) == (["ops.py"], ())


def test_ops_without_kernels_are_linted_without_triton_and_torch(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OP.replace("()", "('x', 'x')", 1))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from triton_mutlint.run.run import run\n"
        "from triton_mutlint.config.request import Request\n"
        "found = [f.rule for f in run(Request(('ops.py',), Path.cwd())).findings]\n"
        "print(found, sorted({'triton', 'torch'} & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['TML105'] []"
