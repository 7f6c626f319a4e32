"""Configs that a library keeps in YAML are read as it reads them, sooner."""

from __future__ import annotations

import textwrap
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from triton_mutlint.source.load import load, reset
from triton_mutlint.types import SourceFile

KERNELS = """
import triton
import triton.language as tl
import yaml
{extra}
with open("{folder}/configs.yaml") as file:
    SIZES = yaml.{call}

@triton.autotune(configs=[triton.Config({{"BLOCK": n}}) for n in SIZES], key=[])
@triton.jit
def kernel(p, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 0)
"""
OWN = """
class Loader(yaml.SafeLoader):
    pass

Loader.add_constructor("!twice", lambda loader, node: 2 * int(node.value))
"""


@pytest.mark.parametrize(("extra", "call", "text", "is_fast"), [
    ("", "safe_load(file)", "[16, 32]", True),
    (OWN, "load(file, Loader)", "[!twice 8, 32]", False),
])
def test_sizes_come_from_the_file(tmp_path: Path, extra: str, call: str, text: str, is_fast: bool) -> None:
    assert _sizes(tmp_path, extra, call, text) == ([16, 32], is_fast and yaml.__with_libyaml__)


def test_constructors_of_its_own_are_heeded(tmp_path: Path) -> None:
    added = {**yaml.SafeLoader.yaml_constructors, "!twice": lambda loader, node: 2 * int(node.value)}
    with patch.object(yaml.SafeLoader, "yaml_constructors", added):
        assert _sizes(tmp_path, "", "safe_load(file)", "[!twice 8, 32]") == ([16, 32], False)


def _sizes(folder: Path, extra: str, call: str, text: str) -> tuple[list[int], bool]:
    """The blocks of the autotune configs, and whether libyaml read them."""
    (folder / "configs.yaml").write_text(text, encoding="utf-8")
    source = textwrap.dedent(KERNELS).format(extra=extra, folder=folder.as_posix(), call=call)
    reset()
    real, loaders = yaml.load, list[object]()

    def noting(stream: object, Loader: type) -> object:
        loaders.append(Loader)
        return real(stream, Loader)

    with patch.object(yaml, "load", noting):
        result = load(SourceFile(folder / "k.py", "k.py", source, frozenset()))
    assert result.failures == ()
    (kernel,) = result.kernels
    assert kernel.autotune is not None
    return [c.kwargs["BLOCK"] for c in kernel.autotune.configs], loaders == [getattr(yaml, "CSafeLoader", None)]
