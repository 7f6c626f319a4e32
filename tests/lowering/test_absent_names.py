"""What the installed Triton lacks is told, with the versions that have it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import triton_names
from tests.lowering.test_failure_hints import failure_of
from triton_mutlint import triton_names as names
from triton_mutlint.lowering import triton_api
from triton_mutlint.lowering.advice import no_argument_helps

pytestmark = pytest.mark.both

LAST = "triton.language._experimental_make_tensor_descriptor"  # which 3.3 alone has


def test_a_misspelt_name_is_corrected(tmp_path: Path) -> None:
    failure = failure_of("""
        @triton.jit
        def kernel(x):
            tl.stor(x, 1)
    """, tmp_path)
    assert failure.message == "AttributeError: module 'triton.language' has no attribute 'stor'"
    assert failure.hint == "did you mean `triton.language.store`?"
    assert failure.location is not None
    assert (failure.location.file, failure.location.line) == ("kernels.py", 8)


def test_a_name_that_moved_is_found(tmp_path: Path) -> None:
    failure = failure_of("""
        @triton.jit
        def kernel(x_ptr, y_ptr):
            x = tl.load(x_ptr) & 255
            tl.store(y_ptr, tl.math.pow(x.to(tl.float32), 2.2))
    """, tmp_path)
    assert failure.hint == "did you mean `triton.language.extra.libdevice.pow`?"


@pytest.mark.parametrize(("name", "said"), [
    (LAST, "3.3"),
    ("triton.language.make_tensor_descriptor", "3.4 or newer"),
    ("triton.language.constexpr_function", "3.4"),
    ("tensor_descriptor.atomic_add", "3.4 or newer"),
    ("triton.constexpr_function", "3.5 or newer"),
])
def test_the_versions_that_have_a_name_are_said(name: str, said: str) -> None:
    module, _, last = name.rpartition(".")
    assert names.hint(module, last) == f"analyse it with a Triton version that has it: {said}"


def test_an_error_about_a_class_or_module_of_triton_says_which_versions_have_it() -> None:
    told = names.hint_of("AttributeError: 'tensor_descriptor' object has no attribute 'atomic_add'")
    assert told == "analyse it with a Triton version that has it: 3.4 or newer"
    told = names.hint_of("AttributeError: module 'triton' has no attribute 'constexpr_function'")
    assert told == "analyse it with a Triton version that has it: 3.5 or newer"
    assert names.hint_of("AttributeError: 'Thing' object has no attribute 'load'") is None


@pytest.mark.parametrize("refused", ["_builder", "_semantic"])
def test_an_extern_function_for_another_triton_is_told(refused: str) -> None:
    message = f"twice() got an unexpected keyword argument '{refused}'"
    told = no_argument_helps(SimpleNamespace(name="kernel"), message, None, None)
    assert told == "analyse it with the Triton version that it is written for"


def test_the_table_is_true_of_the_installed_triton() -> None:
    """What it says of this version is what this version says of itself."""
    table = json.loads(triton_names.TABLE.read_text(encoding="utf-8"))
    version = ".".join(map(str, triton_api.version()))
    asked = triton_names.names_of(sys.executable)[1]
    assert version in table["versions"]
    assert {name for name, have in table["names"].items() if version in have} == asked & table["names"].keys()
