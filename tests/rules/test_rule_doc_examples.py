"""The examples in the rules' documentation do what the documentation says."""

from __future__ import annotations

import ast
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from triton_mutlint.config.request import Config, Request
from triton_mutlint.contracts.snapshot import MAGIC, VERSION
from triton_mutlint.rules import RULES
from triton_mutlint.types import Finding

_IMPORTS = "import triton\nimport triton.language as tl\n\n\n"


def example(code: str, sign: str) -> str:
    """The example of a page: "-" as it is found, "+" as it should be."""
    match = re.search(r"^## Example\n(.*?)(?=^## |\Z)", RULES[code].doc, re.MULTILINE | re.DOTALL)
    assert match
    return re.sub(r"```diff\n(.*?)```", lambda block: f"```{_kind(block[1])}\n{_side(block[1], sign)}```", match[1],
                  flags=re.DOTALL)


def _side(diff: str, sign: str) -> str:
    return "".join(f"{line[1:]}\n" for line in diff.splitlines() if line[:1] in ("", " ", sign))


def _kind(diff: str) -> str:
    return "yaml" if diff.startswith("+kernels:") else "python"


def lint(code: str, sign: str, folder: Path) -> tuple[Finding, ...]:
    from triton_mutlint.run.run import run

    text = example(code, sign)
    source = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    spec = re.search(r"```yaml\n(.+?)```", text, re.DOTALL)
    assert source
    ast.parse(source[1])
    (folder / "kernels.py").write_text(_IMPORTS + source[1])
    snapshot = re.search(r"```snapshot\n(.*?)```", text, re.DOTALL)
    if snapshot:
        (folder / "snapshot").write_text(f"{MAGIC}{VERSION}\n{snapshot[1]}")
    if spec:
        (folder / "triton-mutlint.yaml").write_text("version: 1\n" + spec[1])
    required = code == "TML903"
    off = RULES[code].default_severity.value == "off" and not required
    config = Config(extend_select=(code,) if off else (), require_spec=required)
    request = Request(("kernels.py",), folder, use_spec=spec is not None, config=config, require_spec=required,
                      snapshot=Path("snapshot") if snapshot else None, torch=version("torch") if code in TORCH else "")
    return run(request).findings


TORCH = ("TML204", "TML205")  # compare with torch's own pass
CODES = [pytest.param(code, marks=[pytest.mark.torch] if code in TORCH else []) for code in RULES]


@pytest.mark.parametrize("code", CODES)
def test_the_example_is_found(code: str, tmp_path: Path) -> None:
    assert code in {f.rule for f in lint(code, "-", tmp_path)}


@pytest.mark.parametrize("code", CODES)
def test_the_example_as_it_should_be_is_clean(code: str, tmp_path: Path) -> None:
    assert [f.message for f in lint(code, "+", tmp_path)] == []
