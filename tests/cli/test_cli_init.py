"""`init`: a spec that gives the same verdicts, and later runs that change nothing a person wrote."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.run.run import run
from triton_mutlint.source.load import reset
from triton_mutlint.spec.read import load_spec
from triton_mutlint.types import KernelReport, Origin, Status

SPEC = Path("triton-mutlint.yaml")
HEAD = "import triton\nimport triton.language as tl\n\n\n"
COPY = """\
@triton.jit
def copy(src, dst, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < n), mask=i < n)
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + body, encoding="utf-8")
    return path


def verdict(kernel: KernelReport) -> tuple[object, ...]:
    through = {(w.through, w.via) for w in kernel.indirect_writes}
    return kernel.location, kernel.name, kernel.status, kernel.mutated, kernel.unknown, through


@pytest.mark.parametrize(
    ("book", "paths"), [("quickstart", "kernels.py"), pytest.param("cases", "kernels", marks=pytest.mark.slow)]
)
def test_the_written_spec_gives_the_same_verdicts(shell: Shell, here: Path, book: str, paths: str) -> None:
    copied = here / book
    shutil.copytree(FIXTURES / book, copied, ignore=shutil.ignore_patterns("*.yaml"))
    before = run(Request((paths,), copied))
    assert shell("init", str(copied / paths)) == 0
    after = run(Request((paths,), copied))
    assert [verdict(k) for k in after.kernels] == [verdict(k) for k in before.kernels]
    assert {k.origin for k in before.kernels if k.status is Status.ANALYZED} == {Origin.INFERRED}
    decided = [k for k in after.kernels if k.status is Status.ANALYZED and not k.unknown]
    assert {k.origin for k in decided} <= {Origin.SPEC, Origin.MIXED}  # guessed values stay guesses
    gate = {"TML101", "TML102", "TML904"}
    assert not gate & {f.rule for f in after.findings}
    spec = load_spec(here / SPEC)
    assert {k.pattern for k in spec.kernels} == {
        f"{book}/{k.location.file}::{k.name}" for k in before.kernels if k.status is Status.ANALYZED
    }
    written = (here / SPEC).read_bytes()
    assert shell("init", str(copied / paths)) == 0
    assert (here / SPEC).read_bytes() == written
    assert "nothing to add" in shell.out


def test_what_an_entry_holds(shell: Shell, here: Path) -> None:
    shutil.copy(FIXTURES / "quickstart" / "kernels.py", here)
    assert shell("init", "kernels.py") == 0
    assert shell.out == "triton-mutlint.yaml written: 4 kernels added\n"
    lines = SPEC.read_text(encoding="utf-8").splitlines()
    start = lines.index("  kernels.py::add_kernel:  # line 8")
    bare = [re.sub(r"(?<=\S)  # .*", "", line) for line in lines[start + 1 : start + 8]]
    assert bare == [
        "    args:",
        '      x_ptr: "*fp32"',
        '      y_ptr: "*fp32"',
        '      output_ptr: "*fp32"',
        "      n_elements: i32",
        "      # BLOCK_SIZE: 64",
        "    mutates: [output_ptr]",
    ]
    assert all(line.count("# ") == 1 for line in lines[start + 2 : start + 6])  # each says why


GIVEN = """\
@triton.autotune([triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, n, by: tl.float32, FN: tl.constexpr, DT: tl.constexpr, BLOCK: tl.constexpr, EVEN: tl.constexpr,
          POWER: tl.constexpr = 2):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = FN(tl.load(x + i, mask=i < n)).to(DT)
    for _ in tl.static_range(POWER):
        value *= by
    tl.store(x + i, value, mask=i < n)


@triton.jit
def double(x):
    return x + x


def launch(x, n):
    scale[(1,)](x, n, 2.0, double, tl.float16)
"""


def test_objects_are_named_and_what_the_source_gives_is_left_out(shell: Shell, here: Path) -> None:
    write(here / "k.py", GIVEN)
    assert shell("init", "k.py") == 0
    text = SPEC.read_text(encoding="utf-8")
    (entry,) = load_spec(SPEC).kernels
    assert [a.parameter for a in entry.args] == ["x", "n", "by"]
    assert "      # FN: {ref: double}" in text
    assert "      # DT: {ref: tl.float16}" in text
    assert "# from the source: BLOCK (autotune, line 5); EVEN (heuristics); POWER (default)" in text
    (kernel,) = run(Request(("k.py",), here)).kernels
    assert kernel.origin is Origin.MIXED
    assert kernel.mutated == ("x",)
    SPEC.write_text(text.replace("# FN:", "FN:").replace("# DT:", "DT:"), encoding="utf-8")
    (kernel,) = run(Request(("k.py",), here)).kernels
    assert kernel.origin is Origin.SPEC
    assert kernel.mutated == ("x",)


def test_variants_become_lists_and_conditions_comments(shell: Shell, here: Path) -> None:
    write(here / "k.py", """\
@triton.jit
def norm(x, out, bias, stats, SAVE: tl.constexpr):
    i = tl.arange(0, 16)
    value = tl.load(x + i)
    if bias is not None:
        tl.store(bias + i, value)
    if SAVE:
        tl.store(stats, tl.sum(value))
    tl.store(out + i, value)
""")
    before = run(Request(("k.py",), here)).kernels
    assert shell("init", "k.py") == 0
    text = SPEC.read_text(encoding="utf-8")
    assert 'bias: ["*fp32", null]' in text
    assert "SAVE: [false, true]" in text
    assert "# stats is written only with SAVE=True" in text
    after = run(Request(("k.py",), here)).kernels
    assert [verdict(k) for k in after] == [verdict(k) for k in before]
    assert after[0].analyzed_variants == before[0].analyzed_variants == 4


def test_types_that_depend_on_each_other_keep_the_verdict(shell: Shell, here: Path) -> None:
    """A guess that was repaired in one variant alone cannot be said by lists, which multiply."""
    write(here / "k.py", """\
@triton.jit
def either(x, out, WIDE: tl.constexpr):
    value = tl.load(x)
    if WIDE:
        tl.static_assert(x.dtype.element_ty.is_int64(), "wide")
        tl.store(out, value.to(tl.float32))
    else:
        tl.static_assert(x.dtype.element_ty.is_fp32(), "narrow")
        tl.store(x, value)
""")
    before = run(Request(("k.py",), here)).kernels
    assert shell("init", "k.py") == 0
    after = run(Request(("k.py",), here)).kernels
    assert [verdict(k) for k in after] == [verdict(k) for k in before]


# --------------------------------------------------------------------------- merging

MINE = """\
# my spec
version:   1
kernels:
    "k.py::copy": {args: {n:   i64, gone: i32,}, mutates: [dst]}   # mine

    # the end
"""


def test_what_a_person_wrote_stays(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY + "\n\n" + COPY.replace("copy", "again"))
    SPEC.write_text(MINE, encoding="utf-8", newline="")
    assert shell("init", "k.py") == 0
    text = SPEC.read_text(encoding="utf-8")
    old, added = MINE.splitlines(), 'src: "*fp32", dst: "*fp32"'
    assert text.splitlines()[: len(old)] == [
        *old[:3], f'    "k.py::copy": {{args: {{n: i64, gone: i32, {added}}}, mutates: [dst]}}  # mine', *old[4:],
    ]  # fmt: skip
    assert text.splitlines()[len(old)].startswith("    k.py::again:  # line ")
    assert "completed k.py::copy: src, dst\n" in shell.out
    assert "triton-mutlint.yaml:4: kernels" in shell.out
    assert "has no parameter `gone`" in shell.out
    kernels = run(Request(("k.py",), here)).kernels
    assert {k.origin for k in kernels} == {Origin.MIXED}
    types = {p.name: p.type for p in kernels[0].parameters}
    assert types["n"] == "i64"


def test_a_new_kernel_and_a_new_parameter_are_added_alone(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    assert shell("init", "k.py") == 0
    before = SPEC.read_text(encoding="utf-8").replace("# BLOCK: 64 ", "BLOCK: 128 ")
    before = before.replace("version: 1", "version:  1")
    SPEC.write_text(before, encoding="utf-8")
    write(here / "k.py", COPY.replace("n, ", "n, scale, ") + "\n\n" + COPY.replace("copy", "again"))
    assert shell("init", "k.py") == 0
    after = SPEC.read_text(encoding="utf-8").splitlines()
    added = [line for line in after if line not in before.splitlines()]
    assert [line for line in after if line in before.splitlines()][: len(before.splitlines())] == before.splitlines()
    assert added[0].startswith("      scale: ")
    assert added[1].startswith("  k.py::again:")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("  '*': {args: {n: i64}}\n", "a pattern for several kernels"),
        ("  copy: {args: {n: i64}}\n", "is the entry of copy in b.py too"),
        ("  copy: {args: '*fp16, *fp16, i32, 64'}\n", "gives its signature as one text"),
    ],
)
def test_an_entry_that_is_not_one_kernels_alone_is_left(shell: Shell, here: Path, entry: str, why: str) -> None:
    text = COPY.replace("tl.constexpr", "tl.constexpr, FLAG: tl.constexpr")
    text += "    if FLAG:\n        tl.store(dst, 1)\n"
    write(here / "a.py", text)
    write(here / "b.py", text)
    SPEC.write_text(f"version: 1\nkernels:\n{entry}", encoding="utf-8")
    assert shell("init", "a.py", "b.py") == 0
    assert SPEC.read_text(encoding="utf-8") == f"version: 1\nkernels:\n{entry}"
    assert why in shell.out


def test_defaults_of_the_spec_are_not_repeated(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    SPEC.write_text('version: 1\ndefaults:\n  types: {"???": "*fp16"}\n', encoding="utf-8")
    assert shell("init", "k.py") == 0
    (entry,) = load_spec(SPEC).kernels
    assert [a.parameter for a in entry.args] == ["n"]


def test_a_file_of_a_similar_path_gets_its_own_entry(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    assert shell("init", "k.py") == 0
    write(here / "sub" / "k.py", COPY.replace("tl.store(dst + i, tl.load(src + i", "tl.store(src + i, tl.load(dst + i"))
    assert shell("init", "sub/k.py") == 0
    assert {k.pattern: [d.name for d in k.mutates or ()] for k in load_spec(SPEC).kernels} == {
        "k.py::copy": ["dst"], "sub/k.py::copy": ["src"],
    }  # fmt: skip


def test_bytes_around_stay_too(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    old = b"\xef\xbb\xbfversion: 1\r\nkernels:\r\n  other: {}\r\n"
    SPEC.write_bytes(old)
    SPEC.chmod(0o600)
    assert shell("init", "k.py") == 0
    new = SPEC.read_bytes()
    assert new.startswith(old)
    assert new.count(b"\n") == new.count(b"\r\n")
    assert SPEC.stat().st_mode & 0o777 == 0o600
    assert len(load_spec(SPEC).kernels) == 2


# --------------------------------------------------------------------------- names, failures, declarations


def test_kernels_of_one_name_are_told_by_their_line(shell: Shell, here: Path) -> None:
    shutil.copy(FIXTURES / "bad" / "same_name_twice.py", here)
    before = run(Request(("same_name_twice.py",), here)).kernels
    assert shell("init", "same_name_twice.py") == 0
    assert {k.pattern for k in load_spec(SPEC).kernels} == {
        f"same_name_twice.py::{k.name}:{k.location.line}" for k in before
    }
    after = run(Request(("same_name_twice.py",), here)).kernels
    assert [verdict(k) for k in after] == [verdict(k) for k in before]
    assert {k.origin for k in after} == {Origin.SPEC}


def test_a_kernel_without_a_verdict_is_commented_out(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY + """\


@triton.jit
def broken(x, n):
    tl.static_assert(False, "never")
    tl.store(x, n)
""")
    assert shell("init", "k.py") == 0
    assert "not analysed: k.py::broken" in shell.out
    text = SPEC.read_text(encoding="utf-8")
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if "k.py::broken:" in line)
    assert all(line.startswith("  # ") for line in lines[start:])
    assert "never" in lines[start + 1]
    assert any(line.startswith('  #     x: "*') for line in lines[start:])
    assert [k.pattern for k in load_spec(SPEC).kernels] == ["k.py::copy"]
    assert shell("init", "k.py") == 0
    assert SPEC.read_text(encoding="utf-8") == text
    assert "k.py::broken: still not analysed" in shell.out


def test_a_kernel_that_did_not_load_says_what_to_give(shell: Shell, here: Path) -> None:
    shutil.copy(FIXTURES / "bad" / "needed_dependency.py", here)
    assert shell("init", "needed_dependency.py") == 0
    text = SPEC.read_text(encoding="utf-8")
    assert "# needed_dependency.py::needed_dependency_kernel:" in text
    assert "globals" in text
    assert load_spec(SPEC).kernels == ()


def test_a_declaration_in_the_source_stays_the_gate(shell: Shell, here: Path) -> None:
    write(here / "k.py", f"# triton-mutlint: mutates=src\n{COPY}")
    assert shell("init", "k.py") == 0
    (entry,) = load_spec(SPEC).kernels
    assert entry.mutates is None
    assert "line 5 declares what is written" in SPEC.read_text(encoding="utf-8")
    assert "TML101" in {f.rule for f in run(Request(("k.py",), here)).findings}


# --------------------------------------------------------------------------- where it goes


@pytest.mark.parametrize("options", [["--stdout"], ["--spec", "-"]])
def test_the_spec_can_be_printed(shell: Shell, here: Path, options: list[str]) -> None:
    write(here / "k.py", COPY)
    assert shell("init", "k.py", *options) == 0
    assert not SPEC.exists()
    assert shell.out.startswith("# Kernel signatures")
    assert "k.py::copy:" in shell.out
    assert "1 kernel added" in shell.err


def test_a_dry_run_shows_a_diff(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    SPEC.write_text("version: 1\nkernels:\n  copy: {}", encoding="utf-8")
    assert shell("init", "k.py", "--dry-run") == 0
    assert SPEC.read_text(encoding="utf-8") == "version: 1\nkernels:\n  copy: {}"
    assert shell.out.startswith("--- triton-mutlint.yaml\n+++ triton-mutlint.yaml\n")
    assert '-  copy: {}\n' in shell.out
    assert '+  copy:\n+    args:\n+      src: "*fp32"  # ' in shell.out
    assert "would be written: 1 entry completed" in shell.err


def test_a_named_spec_is_the_only_one(shell: Shell, here: Path) -> None:
    write(here / "src" / "k.py", COPY)
    SPEC.write_text("version: 1\nkernels:\n  copy: {args: {n: i64}}\n", encoding="utf-8")
    assert shell("init", "src/k.py", "--spec", "own.yaml") == 0
    assert [k.pattern for k in load_spec(Path("own.yaml")).kernels] == ["src/k.py::copy"]
    assert "n: i32" in Path("own.yaml").read_text(encoding="utf-8")


def test_each_project_gets_its_own(shell: Shell, here: Path) -> None:
    for name in ("one", "two"):
        write(here / name / "pkg" / "k.py", COPY)
        (here / name / "pyproject.toml").touch()
    assert shell("init", "one", "two/pkg/k.py") == 0
    for name in ("one", "two"):
        assert [k.pattern for k in load_spec(here / name / SPEC).kernels] == ["pkg/k.py::copy"]
    assert shell("init", "one", "two", "--stdout") == 2
    assert "one at a time" in shell.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--stdout", "--dry-run", "k.py"], "contradict"),
        (["-"], "standard input"),
        (["--spec", "nowhere/s.yaml", "k.py"], "there is no folder"),
        (["--target", "cuda:x", "k.py"], "cuda:x"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_done_is_refused(shell: Shell, here: Path, arguments: list[str], why: str) -> None:
    write(here / "k.py", COPY)
    assert shell("init", *arguments) == 2
    assert why in shell.err
    assert not SPEC.exists()


def test_a_spec_that_cannot_be_read_is_not_touched(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    SPEC.write_text("version: 1\nkernels: [\n", encoding="utf-8")
    assert shell("init", "k.py") == 2
    assert "triton-mutlint.yaml" in shell.err
    assert SPEC.read_text(encoding="utf-8") == "version: 1\nkernels: [\n"


def test_an_argument_that_leads_nowhere_ends_the_run(shell: Shell, here: Path) -> None:
    write(here / "k.py", COPY)
    (here / "none.py").write_text("x = 1\n", encoding="utf-8")
    assert shell("init", "missing.py", "k.py", "none.py") == 2
    assert "missing.py" in shell.err
    assert shell("init", "none.py") == 0
    assert shell.out == "no kernels found\n"
    assert not SPEC.exists()


def test_a_file_that_cannot_be_parsed_is_told_and_the_rest_is_done(shell: Shell, here: Path) -> None:
    write(here / "good.py", COPY)
    write(here / "bad.py", "@triton.jit\ndef k(x):\n  if x:\n   return\n return\n")
    assert shell("init", ".") == 1
    assert "bad.py: syntax error" in shell.out
    assert len(load_spec(SPEC).kernels) == 1


# --------------------------------------------------------------------------- what is guessed stays a guess

BODY = """\
@triton.jit
def scaled(x, bias, y, n, FP8: tl.constexpr, SHIFT: tl.constexpr, ACT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    if FP8:
        value = tl.clamp(value, -448.0, 448.0)
    if bias is not None:
        value += tl.load(bias + i, mask=i < n)
    value = finish(x, i, value, SHIFT)
    if ACT == "relu":
        value = tl.maximum(value, 0.0)
    tl.store(y + i, value, mask=i < n)


@triton.jit
def finish(x, i, value, SHIFT: tl.constexpr):
    if SHIFT:
        value += 1.0
    return value
"""


@pytest.mark.parametrize(("line", "store"), [
    ("        value = tl.clamp(value, -448.0, 448.0)", "        tl.store(x + i, value)"),
    ("        value += 1.0", "        tl.store(x + i, value)"),
    ("        value = tl.maximum(value, 0.0)", "        tl.store(x + i, value)"),
    ("    i = tl.arange(0, BLOCK)", "    if BLOCK > 512:\n        tl.store(x, 0.0)"),
    ("    i = tl.arange(0, BLOCK)", '    if ACT == "gelu":\n        tl.store(x, 0.0)'),
    ("    i = tl.arange(0, BLOCK)", "    if bias is None:\n        tl.store(x, 0.0)"),
], ids=["flag", "flag of a helper", "text", "size", "new text", "absent"])
def test_a_write_that_comes_to_stand_under_a_guessed_value_is_seen(
    shell: Shell, here: Path, line: str, store: str
) -> None:
    write(here / "k.py", BODY)
    assert shell("init", "k.py") == 0
    assert not run(Request(("k.py",), here)).findings
    assert BODY.count(line) == 1
    write(here / "k.py", BODY.replace(line, f"{line}\n{store}"))
    reset()
    assert [(f.rule, f.parameter) for f in run(Request(("k.py",), here)).findings] == [("TML101", "x")]


def test_a_launch_is_read_anew_and_not_frozen(shell: Shell, here: Path) -> None:
    body = COPY.replace("n, BLOCK", "n, BACK: tl.constexpr, BLOCK") + """\
    if BACK == 2:
        tl.store(src + i, 0.0, mask=i < n)


def launch(src, dst, n):
    copy[(1,)](src, dst, n, BACK=1, BLOCK=64)
"""
    write(here / "k.py", body)
    assert shell("init", "k.py") == 0
    spec = SPEC.read_text(encoding="utf-8")
    assert "# BACK: [1, 2]  #" in spec
    assert "mutates: [src, dst]" in spec


def test_an_entry_of_guesses_alone_is_an_entry(shell: Shell, here: Path) -> None:
    write(here / "k.py", """\
@triton.jit
def only(out: "*fp32", N: tl.constexpr):
    tl.device_print("n", N)
""")
    SPEC.write_text('version: 1\ndefaults:\n  types: {"out": "*fp32"}\n', encoding="utf-8")
    assert shell("init", "k.py") == 0
    assert "    # args:\n      # N: 64" in SPEC.read_text(encoding="utf-8")
    (entry,) = load_spec(SPEC).kernels
    assert (entry.args, entry.mutates) == ((), ())
