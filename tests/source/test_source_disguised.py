"""Jit decorators under other names, and functions that nothing makes jit functions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from triton_mutlint.source.python_text import has_kernels
from triton_mutlint.types import FileResult

Load = Callable[..., FileResult]
KERNEL = "def k(x, out):\n    tl.store(out, tl.load(x))\n"
TUNED = "triton.autotune(configs=[triton.Config({'B': 1}), triton.Config({'B': 2})], key=[])"
DISGUISED = {
    "renamed import": "from triton import jit as J\n@J\n",
    "import from another file": "from names import J\n@J\n",
    "attribute of another file": "import names\n@names.J\n",
    "partial": "import functools\nspeedy = functools.partial(triton.jit, debug=True)\n@speedy\n",
    "assigned": "speedy = triton.jit\n@speedy\n",
    "function": "def speedy(f):\n    return triton.jit(f)\n@speedy\n",
    "function of a function": "def inner(f):\n    return triton.jit(f)\ndef speedy(f):\n    return inner(f)\n@speedy\n",
    "method": "class Kernels:\n    def add(self, f):\n        return triton.jit(f)\nmade = Kernels()\n@made.add\n",
    "not at hand": "from absent_package import speedy\n@speedy\n",
}


def names(result: FileResult) -> list[str]:
    return [k.qualname for k in result.kernels]


@pytest.mark.parametrize("form", DISGUISED)
def test_a_decorator_that_makes_a_jit_function_makes_a_kernel(load_text: Load, write, form: str) -> None:
    write("names.py", "import triton\nJ = triton.jit\n")
    result = load_text(DISGUISED[form] + KERNEL)
    assert (names(result), result.failures, result.notes) == (["k"], (), ())


def test_a_kernel_that_calls_only_helpers_is_found_by_the_name_of_its_decorator(load_text: Load) -> None:
    helper = "@triton.jit\ndef helper(p):\n    tl.store(p, 1)\n"
    result = load_text(f"{helper}from triton import jit as J\n@J\ndef k(out):\n    helper(out)\n")
    assert (names(result), [h.name for h in result.helpers]) == (["k"], ["helper"])


@pytest.mark.parametrize("head", [
    "from triton import autotune as at, jit as J\n@at([triton.Config({'B': 1}), triton.Config({'B': 2})], [])\n@J\n",
    f"def tuned(f):\n    return {TUNED}(triton.jit(f))\n@tuned\n",
    f"def my_jit(f):\n    return {TUNED}(triton.jit(f))\n@my_jit\n",
])  # fmt: skip
def test_configs_under_other_names_are_read(load_text: Load, head: str) -> None:
    (kernel,) = load_text(head + KERNEL.replace("out)", "out, B: tl.constexpr)", 1)).kernels
    assert [dict(c.kwargs) for c in kernel.autotune.configs] == [{"B": 1}, {"B": 2}]


@pytest.mark.parametrize(("made", "name"), [
    ("K = {'x': triton.jit(k)}\n", "K.x"),
    ("K = [triton.jit(k)]\n", "K.0"),
    ("class C:\n    B = 64\n    K = {'x': triton.jit(k), 'b': B}\n", "C.K.x"),
    ("from triton import jit as J\nK = J(k)\n", "K"),
])
def test_tables_of_jit_functions_are_kernels(load_text: Load, made: str, name: str) -> None:
    assert names(load_text(KERNEL + made)) == [name]


def test_what_a_factory_makes_goes_by_the_name_that_it_is_given(load_text: Load) -> None:
    factory = "from triton import jit as J\ndef make():\n    @J\n    def inner(x):\n        k(x, x)\n    return inner\n"
    result = load_text(f"@triton.jit\n{KERNEL}{factory}made = make()\n")
    assert [k.name for k in result.kernels] == ["made"]


@pytest.mark.parametrize("rest", ["", "def main(x):\n    triton.jit(k)[(1,)](x, x)\n", "k = 1\n"])
def test_a_note_lists_functions_that_nothing_makes_jit_functions(load_text: Load, rest: str) -> None:
    result = load_text(KERNEL + rest)
    assert names(result) == []
    (note,) = result.notes
    assert note.startswith("functions that call Triton's language, but that nothing is seen to make jit functions")
    assert note.endswith(": k (line 3)")


@pytest.mark.parametrize("text", [
    "import functools\n@functools.cache\ndef element(name):\n    return {'a': tl.float32}[name], tl.constexpr(1)\n",
    "@tl.core.extern\ndef sine(x, _semantic=None):\n    return tl.extern_elementwise('', '', [x], {}, False)\n",
    "@tl.constexpr\ndef width(x: tl.constexpr):\n    return tl.core.get_int_dtype(x.value, signed=True)\n",
    "import tensorlayer as tl\n@tl.cached\ndef train(x):\n    return tl.layers.dense(x)\n",
    "def twice(f):\n    jit = 1\n    return lambda x: f(f(x))\n@twice\ndef host(x):\n    return x\n",
])
def test_host_code_is_not_taken_for_a_kernel(load_text: Load, text: str) -> None:
    result = load_text(text)
    assert (result.kernels, result.helpers, result.failures, result.notes) == ((), (), (), ())


def test_what_is_no_jit_function_after_all_is_what_its_decorators_make_it(load_text: Load) -> None:
    width = "@tl.constexpr\ndef width(x):\n    return tl.core.get_int_dtype(x, signed=True)\n"
    result = load_text(f"{width}@triton.jit\ndef k(out):\n    tl.store(out, 1)\nbits = width.value(32)\n")
    (kernel,) = result.kernels
    assert str(kernel.namespace["bits"]) == "int32"


def test_what_host_code_under_such_a_decorator_launches_is_launched(load_text: Load) -> None:
    host = "def deco(f):\n    jit = f\n    return jit\n@deco\ndef main(x):\n    k[(1,)](x)\n"
    kernel = "@triton.jit\ndef k(x):\n    tl.store(x, 1)\n    return x\n"
    assert names(load_text(host + kernel)) == ["k"]


@pytest.mark.parametrize(("text", "expected"), [
    ("import triton.language as language\nfrom names import J\n", True),
    ("from triton import language\n", True),
    ("from utils import tl, triton\nx = tl.load\n", True),
    ("import triton\nx = triton.cdiv(1, 2)\nsubtitle = 1\n", False),
    ("import tl\ntl.load()\n", False),
    ("from triton import Config, language as language\n", True),
])
def test_the_scan_of_a_text_knows_the_language(text: str, expected: bool) -> None:
    assert has_kernels(text) is expected


def test_an_import_notes_what_is_passed_over(load_text: Load, write) -> None:
    text = f"{KERNEL}from triton import jit as J\n@J\ndef other(x):\n    tl.store(x, 1)\n"
    write("kernels.py", f"import triton\nimport triton.language as tl\n{text}")
    result = load_text(text, true_import=True)
    assert names(result) == ["other"]
    assert result.notes[0].endswith(": k (line 3)")
