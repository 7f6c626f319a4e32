"""What an absolute import means, as for Python; and constants named like members of a class."""

from __future__ import annotations

import pytest

from triton_mutlint.source.load import load
from triton_mutlint.types import SourceFile

_SEND = "import triton\nimport triton.language as tl\n@triton.jit\ndef send(box, v):\n    tl.store(box, v)\n"
_HEADER = "import triton\nimport triton.language as tl\n"


def _loaded(path, name="k.py"):
    return load(SourceFile(path, name, path.read_text()))


def _use(how: str, call: str = "fabric.send(x_ptr, y_ptr)") -> str:
    return f"{how}\nimport triton\n@triton.jit\ndef k(x_ptr, y_ptr):\n    {call}\n"


def test_no_absolute_import_in_a_package_means_its_neighbour(write) -> None:
    for name in ("pkg/__init__.py", "pkg/comms/__init__.py"):
        write(name, "")
    write("pkg/comms/fabric.py", _SEND)
    ((_, failure),) = _loaded(write("pkg/comms/k.py", _use("import fabric"))).failures
    assert "`fabric.send`, which is not installed" in failure.message
    assert not _loaded(write("pkg/comms/k.py", _use("from . import fabric"))).failures
    assert not _loaded(write("pkg/comms/k.py", _use("from pkg.comms import fabric"))).failures


def test_a_package_below_another_imports_its_own_modules(write) -> None:
    for name in ("pkg/__init__.py", "pkg/third_party/__init__.py", "pkg/third_party/lib/__init__.py"):
        write(name, "")
    write("pkg/third_party/lib/fabric.py", _SEND)
    path = write("pkg/third_party/lib/k.py", _use("from lib.fabric import send", "send(x_ptr, 1)"))
    assert not _loaded(path).failures
    write("pkg/third_party/lib/__init__.py", _SEND)
    ((_, failure),) = _loaded(write("pkg/third_party/lib/k.py", _use("import lib", "lib.send(x_ptr, 1)"))).failures
    assert "`lib.send`, which is not installed" in failure.message


def test_an_absolute_import_in_a_script_means_its_neighbour(write) -> None:
    write("scripts/fabric.py", _SEND)
    assert not _loaded(write("scripts/k.py", _use("import fabric"))).failures


@pytest.mark.parametrize("name", ["numpy", "jax", "cuda", "helion", "ray", "pytest"])
def test_folders_of_the_project_are_its_own_whatever_they_are_called(write, name: str) -> None:
    write(f"{name}/__init__.py", "")
    write(f"{name}/fabric.py", _SEND)
    path = write("k.py", _use(f"from {name} import fabric"))
    assert not _loaded(path).failures
    path = write("k.py", _use(f"import {name}.fabric", f"{name}.fabric.send(x_ptr, y_ptr)"))
    assert not _loaded(path).failures


def test_what_is_installed_beside_a_linted_package_is_stood_in_for(write) -> None:
    write("numpy-2.0.dist-info/METADATA", "")
    write("numpy/__init__.py", "raise SystemExit")
    write("pkg/__init__.py", "")
    (kernel,) = _loaded(write("pkg/k.py", _HEADER + "import numpy as np\nN = tl.constexpr(np.inf)\n" + (
        "@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, N)\n"))).kernels
    assert kernel.namespace["N"].value == float("inf")


def test_constants_named_like_members_of_their_class(load_text) -> None:
    (kernel,) = load_text(
        """
        import enum
        class Mode(enum.IntEnum):
            NONE = 0
            RELU = NONE + 1
            BOTH: int = RELU | 2
            if True:
                LAST = BOTH + 1
        NONE, RELU = tl.constexpr(int(Mode.NONE)), tl.constexpr(int(Mode.RELU))
        BOTH = tl.constexpr(int(Mode.BOTH))
        LAST = tl.constexpr(int(Mode.LAST))
        @triton.jit
        def k(x):
            tl.store(x, NONE + RELU + BOTH + LAST)
        """
    ).kernels
    assert [kernel.namespace[name].value for name in ("NONE", "RELU", "BOTH", "LAST")] == [0, 1, 3, 4]


def test_a_class_reads_globals_of_the_name_that_it_binds(load_text) -> None:
    (kernel,) = load_text(
        """
        WIDTH = 8
        SIZES = (1, 2)
        class Shape:
            WIDTH = WIDTH * 2
            for SIZE in SIZES:
                WIDTH += SIZE
            def of(self, width=WIDTH, sizes=SIZES):
                return width
        N = tl.constexpr(Shape().of())
        @triton.jit
        def k(x):
            tl.store(x, N)
        """
    ).kernels
    assert kernel.namespace["N"].value == 19


@pytest.mark.parametrize("how", ['pytest.importorskip("triton", minversion="3.0")', 'pytest.importorskip("triton")'])
def test_modules_that_a_test_file_asks_pytest_for(load_text, how: str) -> None:
    (kernel,) = load_text(
        f"""
        import pytest
        triton = {how}
        tl = pytest.importorskip("triton.language")
        torch = pytest.importorskip("torch", reason="no torch")
        WIDTH = tl.constexpr(torch.float16.itemsize)
        @triton.jit
        def k(x):
            tl.store(x, WIDTH)
        """,
        header="",
    ).kernels
    assert kernel.namespace["WIDTH"].value == 2


def test_what_a_name_does_not_concern_waits(write) -> None:
    write("package/large.py", "def other(): pass\n")
    write("package/other.py", "from package.large import other\n")
    write("package/__init__.py", """from package.other import *
sizes = [64]
SIZE = sizes[-1]
sizes.append(128)
TABLE = {}
for item in (other,):
    TABLE[item] = item
BLOCK = 2 * sizes[-1]
LATE = len(TABLE) + SIZE
""")

    def loaded(name: str, *names: str) -> tuple[list[object], list[str]]:
        text = f"{_HEADER}from package import {', '.join(names)}\n@triton.jit\ndef k(x_ptr, {{}}): tl.store(x_ptr, 0)\n"
        file = _loaded(write(name, text.format(", ".join(f"{n}: tl.constexpr = {n}" for n in names))))
        return [p.default for p in file.kernels[0].parameters[1:]], [path.name for path in file.sources]

    assert loaded("one.py", "BLOCK", "SIZE") == ([256, 64], ["one.py", "__init__.py", "other.py"])
    assert loaded("two.py", "LATE", "BLOCK") == ([65, 256], ["two.py", "__init__.py", "other.py", "large.py"])
