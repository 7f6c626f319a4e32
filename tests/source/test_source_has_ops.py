"""The cheap scan for torch ops, and what it makes of files without kernels."""

import subprocess
import sys
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.source.discover import discover
from triton_mutlint.source.python_text import has_ops
from triton_mutlint.source.registrars import registering
from triton_mutlint.types import SourceFile

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


@pytest.mark.parametrize("text", ["import torch\n", "def register_hooks(): ...", "x.defined()", "register_option('x')"])
def test_what_does_not(text: str) -> None:
    assert not has_ops(text)


def test_the_projects_own_registrars(tmp_path: Path) -> None:
    text = "from mylib.utils import publish\npublish(f)\n"
    assert not has_ops(text)
    assert has_ops(text, ("mylib.utils.publish",))
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


GUARD = """\
import torch
from torch.library import Library

LIB = Library("mine", "FRAGMENT")


def guard(writes=(), fake=None):
    def decorator(func):
        LIB.define(func.__name__ + torch.library.infer_schema(func, mutates_args=writes))
        LIB.impl(func.__name__, func, "CUDA")
        return func
    return decorator


def compiled(name):
    def decorator(func):
        return guard(fake=func)(func)
    return decorator


class Registry:
    def add(self, func):
        LIB.impl(func.__name__, func, "CUDA")


registry = Registry()
short = guard


def scale(x):
    return torch.relu(x)


def define_all():
    LIB.define("own(Tensor x) -> ()")
"""


def test_a_name_means_what_the_file_defines_that_uses_it() -> None:
    """`guard` of another file registers no ops, nor does what passes something to it."""
    texts = {
        "k.py": GUARD,
        "own.py": "def guard(x): return x\n\ndef loop(x): return guard(x)\n",
        "method.py": "class Walker:\n    def guard(self, x): return x\n\n    def visit(self, x): self.guard(x)\n",
        "imported.py": "from k import guard\n\ndef more(f): return guard()(f)\n",
        "both.py": "from k import (\n    guard)\n\nclass A:\n    def guard(x): 0\n\ndef again(f): return guard()(f)\n",
        "of_module.py": "import k\n\nclass A:\n    def guard(self): pass\n\ndef last(f): return k.guard()(f)\n",
    }
    found, names = registering([SourceFile(Path(name), name, text) for name, text in texts.items()])
    assert {file.display for file in found} == {"k.py", "imported.py", "both.py", "of_module.py"}
    assert names == {"guard", "compiled", "Registry", "registry", "short", "more", "again", "last"}


def test_the_functions_that_register_what_they_are_passed() -> None:
    guard = SourceFile(Path("k.py"), "k.py", GUARD)
    assert registering([guard])[1] == {"guard", "compiled", "Registry", "registry", "short"}


@pytest.mark.parametrize("use", [
    "from guards import guard\n\n\n@guard(writes=['x'])", "import guards\n\n\n@guards.compiled('m')",
    "from guards import registry\n\n\n@registry.add",
])  # fmt: skip
def test_a_file_that_uses_a_registrar_of_the_run_holds_ops(tmp_path: Path, use: str) -> None:
    (tmp_path / "guards.py").write_text(GUARD)
    (tmp_path / "uses.py").write_text(use + "\ndef f(x): ...\n")
    (tmp_path / "other.py").write_text("from guards import scale\n\nscale(1)\n")
    assert [f.display for f in discover(["."], tmp_path)[0]] == ["guards.py", "uses.py"]


def test_a_registrar_in_a_file_that_is_found_by_another_counts(tmp_path: Path) -> None:
    (tmp_path / "guards.py").write_text(GUARD)
    (tmp_path / "more.py").write_text("from guards import guard\n\n\ndef twice(func):\n    return guard(func)\n")
    (tmp_path / "a_use.py").write_text("from more import twice\n\n\n@twice\ndef f(x): ...\n")
    assert [f.display for f in discover(["."], tmp_path)[0]] == ["a_use.py", "guards.py", "more.py"]


def test_the_ops_of_a_file_without_a_registering_word_are_judged(tmp_path: Path) -> None:
    (tmp_path / "guards.py").write_text(GUARD)
    (tmp_path / "uses.py").write_text(
        "import torch\nfrom guards import guard\n\n\n@guard()\ndef f(x: torch.Tensor) -> None:\n    x.add_(1)\n")
    request = Request((".",), tmp_path, jobs=1)
    found = [(f.parameter, f.location.file) for f in run(request).findings if f.rule == "TML103"]
    assert found == [("x", "uses.py")]


USED = "from mine.registry import register_op\n\n\n@register_op('f')\ndef f(x):\n    x.add_(1)\n"
OWN = "from mine.parts import keep\n\n\ndef register_op(name):\n    return lambda function: keep(name, function)\n"
KEEP = "KNOWN = {}\n\n\ndef keep(name, function):\n    KNOWN[name] = function\n"
TORCH = "from torch.library import custom_op as op\n\n\ndef keep(name, function):\n    return op('a::f')(function)\n"


@pytest.mark.parametrize(("use", "parts", "read"), [
    (USED, KEEP, set()),
    (USED, TORCH, {"use.py", "parts.py", "registry.py"}),
    (USED.replace("from mine.registry import register_op", "from mine import registry").replace("@", "@registry."),
     TORCH, {"use.py", "parts.py", "registry.py"}),
    (USED.replace("from mine.registry import register_op", "import mine").replace("@", "@mine.registry."), TORCH,
     {"use.py", "parts.py", "registry.py"}),
    (USED.replace("mine.registry", ".mine.registry").replace("register_op\n\n", "(  # why\n    register_op as r)\n\n"),
     TORCH, {"use.py", "parts.py", "registry.py"}),
])
def test_a_registry_that_passes_nothing_on_is_none(tmp_path: Path, use: str, parts: str, read: set[str]) -> None:
    """A name that only sounds like a registrar's counts where what it is given is passed on to torch."""
    (tmp_path / "mine").mkdir()
    for name, text in (("use", use), ("mine/__init__", ""), ("mine/registry", OWN), ("mine/parts", parts)):
        (tmp_path / f"{name}.py").write_text(text)
    files, _ = discover(["."], tmp_path)
    assert {file.path.name for file in registering(files)[0]} == read


def test_ops_of_registrars_that_stand_for_others_are_followed(tmp_path: Path) -> None:
    """`wrap` passes on what it is given to `guard`, of a file that holds none of torch's words; so does `lift`."""
    for name, text in (
        ("guards", GUARD), ("wraps", "from guards import guard\n\n\ndef wrap(f):\n    return guard()(f)\n"),
        ("lifts", "import wraps\n\n\ndef lift(f):\n    return wraps.wrap(f)\n"),
        ("uses", "import torch\nfrom lifts import lift\n\n\n@lift\ndef zero(x: torch.Tensor):\n    x.zero_()\n"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    (op,) = [op for op in run(Request((".",), tmp_path)).ops if op.location.file == "uses.py"]
    assert op.mutated == ("x",)
