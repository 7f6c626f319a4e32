"""`allow` in a spec: codes that are no rule are refused, those that allow nothing are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.config.request import Config, Request
from triton_mutlint.types import Report, UsageError

HEAD = "import triton\nimport triton.language as tl\n\n\n"
FILL = "@triton.jit\ndef {}(out_ptr, n):\n    tl.store(out_ptr + tl.program_id(0), n)\n"
TABLE = """\
@triton.jit
def {}(ptrs, n):
    tl.store(tl.load(ptrs).to(tl.pointer_type(tl.float32)), n)
"""


def lint(folder: Path, *arguments: str, config: Config | None = None) -> Report:
    from triton_mutlint.run.run import run

    return run(Request(arguments, folder, config=config or Config()))


def put(folder: Path, entries: str, **files: str) -> None:
    (folder / "triton-mutlint.yaml").write_text(f"version: 1\nkernels:\n{entries}")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(HEAD + text)


def shown(report: Report) -> list[str]:
    return [f"{f.location.file}:{f.location.line} {f.rule} {f.message}" for f in report.findings if not f.suppressed]


def test_a_code_that_is_no_rule(tmp_path: Path) -> None:
    put(tmp_path, "  fill:\n    allow: [TML201, TML120]\n", a=FILL.format("fill"))
    with pytest.raises(UsageError) as error:
        lint(tmp_path, "a.py")
    message = "kernels.fill.allow[1]: there is no rule TML120"
    assert str(error.value) == f"triton-mutlint.yaml:4:21: {message}"


def test_what_is_needed_is_not_reported(tmp_path: Path) -> None:
    put(tmp_path, "  table:\n    allow: [TML202]\n", a=TABLE.format("table"))
    report = lint(tmp_path, "a.py")
    assert shown(report) == []
    assert [(f.rule, f.suppressed_by) for f in report.findings] == [("TML202", "spec")]


def test_what_allows_nothing_is(tmp_path: Path) -> None:
    put(tmp_path, "  table:\n    allow: [TML202, TML201]\n", a=TABLE.format("table"))
    assert shown(lint(tmp_path, "a.py")) == [
        "triton-mutlint.yaml:4 TML905 kernels.table.allow[1]: `table` has no finding of TML201"]


@pytest.mark.parametrize("code", ["TML302", "TML107", "TML903"])
def test_rules_that_are_not_on_say_nothing(tmp_path: Path, code: str) -> None:
    put(tmp_path, f"  fill:\n    allow: [{code}]\n", a=FILL.format("fill"))
    assert shown(lint(tmp_path, "a.py")) == []
    if code == "TML302":
        assert len(shown(lint(tmp_path, "a.py", config=Config(extend_select=(code,))))) == 1


def test_a_pattern_may_hold_for_other_files(tmp_path: Path) -> None:
    put(tmp_path, '  "k_*":\n    allow: [TML202]\n', a=FILL.format("k_fill"), b=TABLE.format("k_table"))
    assert shown(lint(tmp_path, "a.py")) == []
    assert shown(lint(tmp_path, ".")) == []
    (tmp_path / "b.py").write_text(HEAD + FILL.format("k_other"))
    assert len(shown(lint(tmp_path, "."))) == 1


def test_parameters_of_a_pattern_may_be_those_of_other_files(tmp_path: Path) -> None:
    entry = '  "k_*":\n    args: {out_ptr: "*fp32", ptrs: "*i64"}\n'
    put(tmp_path, entry + "    allow: [TML202]\n", a=FILL.format("k_fill"), b=TABLE.format("k_table"))
    assert shown(lint(tmp_path, "a.py")) == []
    assert shown(lint(tmp_path, ".")) == []
    put(tmp_path, entry)
    (tmp_path / "b.py").unlink()
    assert shown(lint(tmp_path, "a.py")) == [
        "triton-mutlint.yaml:4 TML904 kernels.k_*.args.ptrs: `k_*` has no parameter `ptrs`"]


def test_a_misspelt_parameter_of_one_kernel(tmp_path: Path) -> None:
    put(tmp_path, '  fill:\n    args: {out: "*fp32"}\n', a=FILL.format("fill"), test_a="from a import fill\nfill\n")
    for argument in ("a.py", "a.py::fill", "."):
        assert [line.split()[1] for line in shown(lint(tmp_path, argument))] == ["TML904"]


def test_a_kernel_without_a_verdict_may_need_it(tmp_path: Path) -> None:
    text = "@triton.jit\ndef broken(x):\n    tl.store(x, missing)\n"
    put(tmp_path, "  broken:\n    allow: [TML201]\n", a=text)
    assert [line.split()[1] for line in shown(lint(tmp_path, "a.py"))] == ["TML901"]
