"""What used to hide the rest: given globals, names of modules, imports, an earlier run."""

from __future__ import annotations

import textwrap
from pathlib import Path

from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.types import Report

CONSTANTS = "import triton.language as tl\nA = tl.constexpr(4)\nB = tl.constexpr(8)\n"
KERNELS = """\
    import triton
    import triton.language as tl
    from pkg.constants import A, B


    @triton.jit
    def k(x):
        tl.store(x + A + B, 1)


    def make():
        @triton.jit
        def nested(y):
            tl.store(y, 1)

        return nested
"""


def _linted(folder: Path, name: str, *, spec: Path | None = None, true_import: bool = False) -> Report:
    return run(Request((name,), folder, spec=spec, use_spec=spec is not None, targets=("cuda:90",),
                       true_import=true_import))


def _written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


def test_a_given_global_leaves_the_rest_of_its_module(tmp_path: Path) -> None:
    _written(tmp_path, {"pkg/__init__.py": "", "pkg/constants.py": CONSTANTS, "pkg/kernels.py": KERNELS,
                        "spec.yaml": "version: 1\nglobals:\n  pkg.constants.A: 16\n"})
    report = _linted(tmp_path, "pkg/kernels.py", spec=tmp_path / "spec.yaml")
    assert {k.name: k.mutated for k in report.kernels} == {"k": ("x",), "nested": ("y",)}


def test_nested_kernels_are_found_beside_an_import(tmp_path: Path) -> None:
    files = {"imported_pkg/__init__.py": "", "imported_pkg/constants.py": CONSTANTS,
             "imported_pkg/kernels.py": KERNELS.replace("pkg.constants", "imported_pkg.constants")}
    report = _linted(_written(tmp_path, files), "imported_pkg/kernels.py", true_import=True)
    assert {k.name: k.mutated for k in report.kernels} == {"k": ("x",), "nested": ("y",)}


def test_a_kernel_may_be_called_triton(tmp_path: Path) -> None:
    text = """\
        import triton
        import triton.language as tl


        class ops:
            @triton.jit
            def triton(y):
                tl.store(y, 1)


        @triton.jit
        def other(x):
            tl.store(x, 1)


        @triton.jit
        def triton(z):
            tl.store(z, 1)
    """
    report = _linted(_written(tmp_path, {"kernels.py": text}), "kernels.py")
    assert [(k.location.line, k.mutated) for k in report.kernels] == [(7, ("y",)), (12, ("x",)), (17, ("z",))]


def test_a_run_sees_what_changed_since_the_last(tmp_path: Path) -> None:
    helper = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef put(p, q):\n    tl.store({}, 1)\n"
    kernels = "import triton\nfrom helpers import put\n\n\n@triton.jit\ndef k(x, y):\n    put(x, y)\n"
    _written(tmp_path, {"helpers.py": helper.format("p"), "kernels.py": kernels})
    assert _linted(tmp_path, "kernels.py").kernels[0].mutated == ("x",)
    _written(tmp_path, {"helpers.py": helper.format("q")})
    assert _linted(tmp_path, "kernels.py").kernels[0].mutated == ("y",)


def test_what_takes_a_block_is_no_kernel(tmp_path: Path) -> None:
    text = """\
        import triton
        import triton.language as tl


        @triton.jit
        def store_rows(out, rows, value):
            tl.store(out + rows[:, None], value)


        @triton.jit
        def k(x):
            tl.store(x, 1)
    """
    report = _linted(_written(tmp_path, {"kernels.py": text}), "kernels.py")
    assert [k.name for k in report.kernels] == ["k"]
    assert report.helpers == 1
