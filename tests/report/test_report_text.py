from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from tests.helpers.report_samples import (
    ADD_KERNEL,
    BROKEN_KERNEL,
    FINDINGS,
    FULL,
    NORM_KERNEL,
    SAMPLES,
    SIMPLE,
    TEXTS,
    access,
    parameter,
)
from triton_mutlint.report import render as render_as
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.report.terminal import text
from triton_mutlint.types import (
    AccessKind,
    Declaration,
    Environment,
    Frame,
    Location,
    Mutation,
    OpaqueOp,
    OpArgument,
    OpMutation,
    OpReport,
    Report,
    Target,
)

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def render(report: Report, **options: object) -> str:
    return text.render(report, RenderOptions(sources=SourceLines(TEXTS), **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", SAMPLES)
def test_golden(name: str, width: int, golden) -> None:
    golden(f"{name}.{width}.txt", render(SAMPLES[name], width=width))


@pytest.mark.parametrize("mode", ["quiet", "brief", "verbose", "ascii"])
def test_golden_modes(mode: str, golden) -> None:
    golden(f"full.{mode}.txt", render(FULL, **{mode: True}))


def test_golden_colour(golden) -> None:
    golden("full.color.txt", render(FULL, color=True))


@pytest.mark.parametrize("name", SAMPLES)
def test_colour_changes_no_character(name: str) -> None:
    assert ANSI.sub("", render(SAMPLES[name], color=True)) == render(SAMPLES[name])


PLACE = Location("ops.py", 3)
OP = OpReport("ns::op", "custom_op", PLACE, Declaration((), PLACE), (OpArgument("x", 0, OpMutation.MAYBE),), ())


@pytest.mark.parametrize("report", [
    Report(Environment(None)),
    Report(Environment(None), ops=(OP,)),
    Report(Environment(None), kernels=(ADD_KERNEL,)),
    Report(Environment(None), findings=FINDINGS[:1]),
    Report(Environment(None), notes=("a note",)),
    Report(Environment("3.9.0", (Target("cuda", "90", 32, "default"),))),
], ids=["nothing", "ops", "kernels", "findings", "notes", "targets"])
def test_without_colour_nothing_is_left_out(report: Report) -> None:
    plain, coloured = (render_as("text", report, RenderOptions(color=color)) for color in (False, True))
    assert plain == ANSI.sub("", coloured)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked(width: int) -> None:
    lines = render(FULL, width=width, verbose=True).splitlines()
    assert max(cell_len(line) for line in lines) <= width


def test_ascii_is_ascii_but_for_quoted_text() -> None:
    shown = render(replace(FULL, kernels=(ADD_KERNEL, BROKEN_KERNEL)), ascii=True)
    assert shown.isascii()


def test_the_caret_stands_under_the_byte_column() -> None:
    lines = render(FULL).splitlines()
    at = next(i for i, line in enumerate(lines) if "größe = cols" in line)
    assert lines[at][lines[at + 1].index("^") :].startswith("tl.store(out + cols")


def test_a_tab_moves_the_caret_along() -> None:
    write = access(AccessKind.WRITE, "tt.store", "t.py", 1, 2)
    kernel = replace(ADD_KERNEL, parameters=(parameter("p", 0, "*i8", Mutation.WRITTEN, write),))
    report = replace(SIMPLE, kernels=(kernel,))
    options = RenderOptions(sources=SourceLines({"t.py": "\ttl.store(p, 1)"}))
    lines = text.render(report, options).splitlines()
    at = next(i for i, line in enumerate(lines) if "tl.store" in line)
    assert lines[at].index("tl.store") == lines[at + 1].index("^")


def test_a_column_in_the_indentation_points_at_the_first_word() -> None:
    write = access(AccessKind.WRITE, "tt.store", "t.py", 1, 1)
    kernel = replace(ADD_KERNEL, parameters=(parameter("p", 0, "*i8", Mutation.WRITTEN, write),))
    options = RenderOptions(sources=SourceLines({"t.py": "    tl.store(p, 1)"}))
    lines = text.render(replace(SIMPLE, kernels=(kernel,)), options).splitlines()
    at = next(i for i, line in enumerate(lines) if "tl.store" in line)
    assert lines[at].index("tl.store") == lines[at + 1].index("^")


@pytest.mark.parametrize("column", [1, 60, 150, 299])
def test_long_lines_are_cropped_around_the_caret(column: int) -> None:
    source = "".join(chr(0x21 + i % 90) for i in range(300))
    write = access(AccessKind.WRITE, "tt.store", "t.py", 1, column)
    kernel = replace(ADD_KERNEL, parameters=(parameter("p", 0, "*i8", Mutation.WRITTEN, write),))
    options = RenderOptions(width=80, sources=SourceLines({"t.py": source}))
    lines = text.render(replace(SIMPLE, kernels=(kernel,)), options).splitlines()
    at = next(i for i, line in enumerate(lines) if line.lstrip().startswith("1 | "))
    assert len(lines[at]) <= 80
    caret = lines[at + 1].index("^")
    assert lines[at][caret : caret + 5] == source[column - 1 : column + 4].ljust(0)[: len(lines[at]) - caret]


def test_a_file_that_cannot_be_read_is_not_quoted() -> None:
    shown = text.render(SIMPLE, RenderOptions(sources=SourceLines()))
    assert "kernels.py:16:5  tt.store" in shown
    assert "^" not in shown


def test_control_characters_do_not_reach_the_terminal() -> None:
    evil = replace(ADD_KERNEL, name="k\x1b[2J", location=Location("a\x07b.py", 1), notes=("x\x1b]0;t\x07y",))
    shown = render(replace(SIMPLE, kernels=(evil,)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown)


def writes(count: int) -> Report:
    many_writes = [access(AccessKind.WRITE, "tt.store", "kernels.py", i + 1, 5) for i in range(count)]
    kernel = replace(ADD_KERNEL, parameters=(parameter("p", 0, "*i8", Mutation.WRITTEN, *many_writes),))
    return replace(SIMPLE, kernels=(kernel,))


def test_at_most_five_places_are_shown_unless_verbose() -> None:
    shown = render(writes(9))
    assert len(re.findall(r"kernels\.py:\d+:5 ", shown)) == 5
    assert "… 4 more places (--verbose shows all)" in shown
    assert len(re.findall(r"kernels\.py:\d+:5 ", render(writes(9), verbose=True))) == 9
    assert "more place" not in render(writes(5))


def test_one_place_reached_by_many_calls_is_quoted_once() -> None:
    routes = [
        replace(
            access(AccessKind.WRITE, "tt.store", "kernels.py", 16, 5),
            path=(Frame("k", "kernels.py", line), Frame("put", "kernels.py", 16)),
        )
        for line in (10, 11, 12, 13, 14)
    ]
    kernel = replace(ADD_KERNEL, parameters=(parameter("p", 0, "*i8", Mutation.WRITTEN, *routes),))
    shown = render(replace(SIMPLE, kernels=(kernel,)))
    assert shown.count("16 |") == 1
    assert shown.count("in put, called from") == 3
    assert "… 2 more calls (--verbose shows all)" in shown


def test_reads_are_shown_only_when_verbose() -> None:
    assert "x_ptr is read" not in render(SIMPLE)
    assert "x_ptr is read" in render(SIMPLE, verbose=True)


def test_quiet_keeps_findings_alone() -> None:
    shown = render(FULL, quiet=True)
    assert "broken_kernel: arange's range must be a power of 2" in shown
    assert "error[TML101]" in shown
    assert "norm_kernel  writes" not in shown
    assert "analysed" not in shown
    assert "note: 1 file" not in shown
    assert render(SIMPLE, quiet=True) == ""
    assert render_as("text", Report(Environment(None)), RenderOptions(quiet=True)) == ""


def test_a_failure_is_told_once() -> None:
    assert render(FULL).count("range must be a power of 2") == 1
    assert "error[TML902]" in render(FULL)
    shown = render(replace(FULL, findings=()))
    assert shown.count("range must be a power of 2") == 1
    assert "help: give BLOCK a power of two in the spec" in shown


def test_suppressed_findings_are_counted_and_shown_when_verbose() -> None:
    assert "TML202" not in render(FULL)
    assert "1 suppressed" in render(FULL)
    assert "[TML202] indirect-write (suppressed)" in render(FULL, verbose=True)


@pytest.mark.parametrize(
    ("mutations", "headline"),
    [
        ("w", "writes a"),
        ("ww", "writes a, b"),
        ("c", "sometimes writes a"),
        ("wc", "writes a and sometimes b"),
        ("u", "may write a"),
        ("wu", "writes a · may write b"),
        ("n", "writes nothing"),
    ],
)
def test_headlines(mutations: str, headline: str) -> None:
    kinds = {
        "w": Mutation.WRITTEN,
        "c": Mutation.CONDITIONAL,
        "u": Mutation.UNKNOWN,
        "n": Mutation.UNWRITTEN,
    }
    parameters = tuple(parameter("ab"[i], i, "*i8", kinds[m]) for i, m in enumerate(mutations))
    shown = render(replace(SIMPLE, kernels=(replace(ADD_KERNEL, parameters=parameters),)))
    assert shown.splitlines()[0] == f"kernels.py:9 add_kernel  {headline}"


def test_a_long_headline_breaks_after_the_name() -> None:
    names = [f"a_rather_long_output_{i}" for i in range(5)]
    parameters = tuple(parameter(name, i, "*i8", Mutation.WRITTEN) for i, name in enumerate(names))
    shown = render(replace(SIMPLE, kernels=(replace(ADD_KERNEL, parameters=parameters),)))
    assert shown.splitlines()[:3] == [
        "kernels.py:9 add_kernel",
        "  writes a_rather_long_output_0, a_rather_long_output_1, a_rather_long_output_2,",
        "    a_rather_long_output_3, a_rather_long_output_4",
    ]


def test_a_kernel_that_writes_only_indirectly_does_not_read_as_harmless() -> None:
    kernel = replace(NORM_KERNEL, parameters=(), unanalyzable_ops=(), opaque_ops=())
    shown = render(replace(FULL, kernels=(kernel,)))
    assert "writes through addresses from table" in shown
    assert "indirect write through an address loaded from table" in shown


def test_asm_that_writes_says_what() -> None:
    op = OpaqueOp("tt.elementwise_inline_asm", "st.global.b32 [$1], 7;", False, "writes", ("x_ptr",), Location("k", 1))
    shown = render(replace(SIMPLE, kernels=(replace(ADD_KERNEL, opaque_ops=(op,)),)))
    assert "inline asm, impure: writes memory of x_ptr" in shown
    assert "| st.global.b32 [$1], 7;" in shown


def test_long_asm_is_cut_unless_verbose() -> None:
    op = OpaqueOp("tt.elementwise_inline_asm", "nop;\n" * 30, False, "none", (), Location("k", 1))
    report = replace(SIMPLE, kernels=(replace(ADD_KERNEL, opaque_ops=(op,)),))
    assert render(report).count("| nop;") == 4
    assert "… 26 more lines" in render(report)
    assert render(report, verbose=True).count("| nop;") == 30


def test_wide_table_cells_move_the_rest_down() -> None:
    long_type = "tensordesc<fp16[128, 128, 128, 128]>"
    kernel = replace(ADD_KERNEL, parameters=(parameter("d" * 40, 0, long_type), *ADD_KERNEL.parameters))
    lines = render(replace(SIMPLE, kernels=(kernel,))).splitlines()
    assert f"  ---  {'d' * 40}" in lines
    assert any(line.strip() == f"{long_type}  untouched" for line in lines)
    assert all(len(line) <= 80 for line in lines)


def test_findings_show_related_places_and_help() -> None:
    shown = render(replace(SIMPLE, kernels=(), findings=FINDINGS[1:2]))
    assert "note: declared here: mutates=[]\n    triton-mutlint.yaml:4:5" in shown
    assert "help: add output_ptr to `mutates`" in shown


def test_only_what_is_quoted_may_be_wider_than_a_narrow_terminal() -> None:
    lines = render(FULL, width=40, verbose=True).splitlines()
    assert [line for line in lines if cell_len(line) > 40] == []
    lines = render(replace(FULL, findings=()), width=40, verbose=True).splitlines()
    assert [line for line in lines if cell_len(line) > 40] == ["  | def broken_kernel(x_ptr, BLOCK: tl.constexpr):"]
