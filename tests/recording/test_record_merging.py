"""From notes to a spec: what adds up, what is left alone, and which lists may multiply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from triton_mutlint.recording.merging import Launch, columns, merge, proposals, read_notes
from triton_mutlint.spec.read import parse_spec

SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""


def _launch(**args: Any) -> Launch:
    return {"args": args}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "src" / "kernels.py"
    path.parent.mkdir()
    path.write_text(SOURCE, encoding="utf-8")
    return path


def _note(file: Path, element: str = "fp32", block: int = 16, **more: Any) -> str:
    args = {"x_ptr": f"*{element}:16", "out_ptr": f"*{element}:16", "n": "i32", "BLOCK": block}
    note = {"file": str(file), "name": "copy_kernel", "line": 5, "args": args, "values": {"n": 10},
            "shapes": {"x_ptr": [10]}, "grid": [1], **more}
    return json.dumps(note) + "\n"


def test_a_new_spec_is_written(file: Path) -> None:
    found = merge(_note(file), None, file.parent.parent / "spec.yaml")
    entry, = parse_spec(found.text, "spec.yaml").kernels
    assert entry.pattern == "src/kernels.py::copy_kernel"
    assert [a.parameter for a in entry.args] == ["x_ptr", "out_ptr", "n", "BLOCK"]
    assert found.changed == ("src/kernels.py::copy_kernel",)


def test_launches_of_several_runs_add_up(file: Path) -> None:
    spec = file.parent.parent / "spec.yaml"
    first = merge(_note(file), None, spec)
    second = merge(_note(file, block=32), first.text, spec)
    third = merge(_note(file) + _note(file, block=32), second.text, spec)
    entry, = parse_spec(second.text, "spec.yaml").kernels
    assert entry.verify is not None
    assert [launch["args"]["BLOCK"] for launch in entry.verify["launches"]] == [16, 32]
    assert [[v.plain() for v in a.values] for a in entry.args if a.parameter == "BLOCK"] == [[16, 32]]  # type: ignore[union-attr]
    assert (third.text, third.changed) == (second.text, ())


def test_what_a_person_wrote_stays(file: Path) -> None:
    spec = file.parent.parent / "spec.yaml"
    first = merge(_note(file), None, spec).text
    other = "  other_kernel:  # by hand\n    args: {x: i32}\n"
    edited = first.replace("kernels:\n", f"kernels:\n{other}").replace(
        "    verify:\n", "    mutates: [out_ptr]\n    verify:\n      grid: [2]\n")
    second = merge(_note(file, block=32), edited, spec).text
    assert other in second
    entry = parse_spec(second, "spec.yaml").kernels[1]
    assert entry.mutates is not None
    assert [d.name for d in entry.mutates] == ["out_ptr"]
    assert entry.verify is not None
    assert entry.verify["grid"] == [2]
    assert len(entry.verify["launches"]) == 2


def test_an_entry_without_launches_is_left_alone(file: Path) -> None:
    old = "version: 1\nkernels:\n  copy_kernel: {args: {n: i64}}\n"
    found = merge(_note(file), old, file.parent.parent / "spec.yaml")
    assert (found.text, found.changed) == (old, ())
    assert found.remarks == ("copy_kernel: the spec has an entry of its own for it, 'copy_kernel'",)


def test_entries_are_added_to_a_spec_of_a_persons(file: Path) -> None:
    old = "version: 1\n\nkernels:\n    other:\n        args: {n: i64}\n# the end"
    found = merge(_note(file), old, file.parent.parent / "spec.yaml")
    assert [k.pattern for k in parse_spec(found.text, "s").kernels] == ["other", "src/kernels.py::copy_kernel"]
    assert found.text.startswith(old.removesuffix("# the end"))
    begun = merge(_note(file), "version: 1\n", file.parent.parent / "spec.yaml").text
    assert begun.startswith("version: 1\nkernels:\n")


def test_kernels_on_one_line_are_written_below_each_other(file: Path) -> None:
    text = merge(_note(file), "version: 1\nkernels: {a: {}}\n", file.parent.parent / "spec.yaml").text
    assert text.startswith("version: 1\nkernels:\n  a: {}\n  src/kernels.py::copy_kernel:\n")


def test_comments_and_other_keys_of_an_entry_stay_where_they_are(file: Path) -> None:
    spec = file.parent.parent / "spec.yaml"
    first = merge(_note(file), None, spec).text
    gate = "    mutates: [out_ptr]  # the gate\n    # how it runs\n    verify:  # on a GPU\n"
    edited = first.replace("    verify:\n", gate)
    second = merge(_note(file, block=32), f"{edited}  # the end\nglobals:\n  X: 1\n", spec).text
    assert f"{gate}      launches:\n" in second
    assert second.endswith("  # the end\nglobals:\n  X: 1\n")


def test_an_entry_of_two_kernels_takes_launches_of_one(file: Path) -> None:
    spec = file.parent.parent / "spec.yaml"
    first = merge(_note(file), None, spec).text.replace("src/kernels.py::copy_kernel", '"*_kernel"')
    file.write_text(SOURCE + SOURCE.replace("copy_kernel", "other_kernel"), encoding="utf-8")
    notes = _note(file, block=32) + _note(file, block=64, name="other_kernel", line=15)
    found = merge(notes, first, spec)
    assert found.changed == ("*_kernel",)
    assert found.remarks == ("other_kernel: its entry is that of another kernel, too",)


def test_torn_lines_and_files_that_are_gone_are_left_out(file: Path) -> None:
    text = _note(file) + _note(file)[:40] + "\n" + _note(file.parent / "gone.py") + "[]\n"
    assert [place.file for place in read_notes(text)[0]] == [file]


def test_all_types_are_listed(file: Path) -> None:
    text = merge(_note(file) + _note(file, "fp16"), None, file.parent.parent / "spec.yaml").text
    entry, = parse_spec(text, "spec.yaml").kernels
    args = {a.parameter: [v.plain() for v in a.values] for a in entry.args}  # type: ignore[union-attr]
    assert args["x_ptr"] == args["out_ptr"] == ["*fp16:16", "*fp32:16"]


def test_a_value_that_was_seen_alone_fixes_no_flag() -> None:
    seen = columns([_launch(F=True, P="a", N=None, B=64, ACT="relu")])
    full, plain, *_ = proposals(seen, {"F", "B", "ACT"}, {"P", "ACT"})
    assert [(a.name, a.text) for a in full.arguments] == [("P", "[a, null]"), ("B", "64")]
    assert [(a.name, a.text) for a in plain.arguments] == [("P", "a"), ("B", "64")]
    assert [(a.name, a.text) for a in full.guesses] == [("F", "true"), ("N", "null"), ("ACT", "relu")]


def test_what_goes_together_is_tried_with_ever_less() -> None:
    seen = columns([_launch(F=True, P="a", B=64), _launch(F=False, P=None, B=64)])
    found = [{a.name: a.text for a in one.arguments} for one in proposals(seen, {"F", "B"}, {"F"})]
    both = {"F": "[true, false]", "P": "[a, null]", "B": "64"}
    assert found == [both, both, {"P": "[a, null]", "B": "64"}, {"B": "64"}, {}]


def test_divisibility_is_kept_where_all_have_it() -> None:
    launches = [_launch(x="*fp32:16", y="*fp32:16"), _launch(x="*fp32", y="*fp32:16")]
    assert columns(launches) == {"x": ('"*fp32"',), "y": ('"*fp32:16"',)}


def test_calls_of_ops_go_into_a_section_of_their_own_which_is_left_alone_later(tmp_path: Path) -> None:
    notes = "".join(json.dumps({"op": "lib::f", "call": {"x": f"*fp32[{n}]", "flag": "True"}}) + "\n" for n in (3, 4))
    found = merge(notes, "kernels: {}\n", tmp_path / "s.yaml")
    assert found.changed == ("lib::f",)
    calls = parse_spec(found.text, "s.yaml").ops["lib::f"]["verify"]["calls"]
    assert calls == [{"x": "*fp32[3]", "flag": "True"}, {"x": "*fp32[4]", "flag": "True"}]
    again = merge(notes + json.dumps({"op": "lib::f", "call": {"x": "*fp32[5]"}}), found.text, tmp_path / "s.yaml")
    assert (again.text, again.changed) == (found.text, ())
