"""What Triton compiled, read back from its cache, from single files and from traces."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import jsonschema
import pytest
import yaml

from tests.helpers import casebook
from tests.helpers.compiling import compiled
from triton_mutlint import report as report_room
from triton_mutlint.basics import UsageError
from triton_mutlint.config.request import Request
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.run.run import run
from triton_mutlint.types import KernelReport, Report, Status

SOURCE = '''import triton
import triton.language as tl


@triton.jit
def put(ptr, value):
    tl.store(ptr, value)


@triton.jit
def scale(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr, CLEAR: tl.constexpr):  # triton-mutlint: mutates=out_ptr
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) * step
    put(out_ptr + at, tl.load(x_ptr + at, mask=at < n))
    if CLEAR:
        tl.store(x_ptr + at, 0.0)


@triton.jit
def renamed(a_ptr, b_ptr, flag):
    p = a_ptr
    if flag:
        p = b_ptr
    tl.store(p, 1.0)


@triton.jit
def idle(x_ptr):
    tl.store(x_ptr, 1.0)
'''
SPEC = {"version": 1, "kernels": {
    "scale": {"args": {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "step": "i32", "BLOCK": 16,
                       "CLEAR": [False, True]}},
    "renamed": {"args": {"a_ptr": "*fp32", "b_ptr": "*fp32", "flag": "i32"}},
    "idle": {"args": {"x_ptr": "*fp32"}},
}}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources (`kernels.py`) and a cache into which two of their kernels were compiled (`cache`)."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "kernels.py").write_text(SOURCE)
    spec = folder / "spec.yaml"
    spec.write_text(yaml.safe_dump(SPEC))
    request = Request(("kernels.py",), folder, spec=spec, targets=("cuda:90",))
    compiled(request, folder / "cache", lambda kernel: kernel.name != "idle")
    spec.unlink()
    return folder


def kernels(report: Report) -> dict[str, KernelReport]:
    return {kernel.name: kernel for kernel in report.kernels}


def stage(project: Path, name: str) -> Path:
    return sorted((project / "cache").glob(f"*/{name}"))[0]


def test_compilations_of_one_kernel_are_its_variants(project: Path) -> None:
    found = kernels(run(Request(("cache",), project)))
    assert found.keys() == {"scale", "renamed"}
    scale = found["scale"]
    assert (scale.location.file, scale.location.line, scale.total_variants) == ("kernels.py", 11, 2)
    assert {p.name: p.mutation.value for p in scale.parameters} == {
        "x_ptr": "conditional", "out_ptr": "written", "n": "unwritten", "step": "unwritten", "BLOCK": "unwritten",
        "CLEAR": "unwritten"}
    (when,) = next(p.when for p in scale.parameters if p.name == "x_ptr")
    assert when.startswith("entry=")  # nothing else that is kept tells these two apart
    access = next(a for p in scale.parameters if p.name == "out_ptr" for a in p.accesses)
    assert [(frame.function, frame.line) for frame in access.path] == [("scale", 13), ("put", 7)]


def test_names_are_those_of_the_def_where_the_ir_has_those_of_variables(project: Path) -> None:
    assert kernels(run(Request(("cache",), project)))["renamed"].mutated == ("a_ptr", "b_ptr")


def test_without_the_source_arguments_are_called_as_in_the_ir(project: Path, tmp_path: Path) -> None:
    text = stage(project, "scale.ttir").read_text().replace(str(project), "/nowhere")
    (tmp_path / "scale.ttir").write_text(text)
    (kernel,) = run(Request(("scale.ttir",), tmp_path)).kernels
    assert kernel.location.file == "/nowhere/kernels.py"
    assert len(kernel.mutated) in (1, 2)  # which of the two variants comes first is up to the hash
    assert any("as the IR calls" in note for note in kernel.notes)


@pytest.mark.parametrize("suffix", ["ttir", "ttgir"])
def test_one_file_of_ir_gives_what_its_entry_gives(project: Path, suffix: str) -> None:
    (kernel,) = run(Request((str(stage(project, f"renamed.{suffix}")),), project)).kernels
    assert kernel.mutated == ("a_ptr", "b_ptr")


def test_what_ran_is_held_against_what_is_declared(project: Path) -> None:
    report = run(Request(("cache",), project, declared=("kernels.py",)))
    found = [(f.rule, f.kernel, f.parameter) for f in report.findings]
    assert found == [("TML101", "scale", "x_ptr")]
    assert "kernels.py: not compiled: idle" in report.notes


def test_what_ran_is_known_of_kernels_that_cannot_be_loaded(project: Path, tmp_path: Path) -> None:
    before, marked, rest = SOURCE.partition("@triton.jit\ndef renamed")
    body, idle, after = (marked + rest).partition("@triton.jit\ndef idle")
    made = "def make(function):\n" + indent(body.replace("1.0", "function(1.0)"), "    ") + "    return renamed\n\n\n"
    (tmp_path / "kernels.py").write_text(before + made + idle + after)
    report = run(Request((str(project / "cache"),), tmp_path, declared=("kernels.py",)))
    assert [(k.location.file, k.mutated) for k in report.kernels if k.name == "renamed"] == [
        ("kernels.py", ("a_ptr", "b_ptr"))]


def test_what_tuning_runs_again_is_seen_in_what_ran(project: Path, tmp_path: Path) -> None:
    tuned = "@triton.autotune(configs=[triton.Config({}, num_warps=n) for n in (4, 8)], key=['n'])\n"
    (tmp_path / "kernels.py").write_text(SOURCE.replace("@triton.jit\ndef scale", f"{tuned}@triton.jit\ndef scale"))
    report = run(Request((str(project / "cache"),), tmp_path, declared=("kernels.py",)))
    assert [(f.kernel, f.parameter) for f in report.findings if f.rule == "TML301"] == [("scale", "x_ptr")]


def test_a_kernel_of_no_declared_source_is_reported_too(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import triton\n\n@triton.jit\ndef other(x_ptr):\n    pass\n")
    report = run(Request(("cache",), project, declared=(str(tmp_path),)))
    assert kernels(report).keys() == {"scale", "renamed"}
    assert any(note.endswith("not compiled: other") for note in report.notes)


def event(entry: Path, name: str, **more: Any) -> dict[str, Any]:
    metadata = json.loads((entry / f"{name}.json").read_text())
    contents = {f"{name}.ttir": (entry / f"{name}.ttir").read_text()}
    return {"event_type": "compilation", "payload": {"metadata": metadata, "file_content": contents, **more}}


def launch(entry: Path, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    metadata = json.loads((entry / f"{name}.json").read_text())
    return {"event_type": "launch", "name": name, "compilation_metadata": {"hash": metadata["hash"]},
            "extracted_args": {key: {"type": type(value).__name__, "value": value} for key, value in values.items()}}


@pytest.mark.parametrize("packed", [False, True])
def test_traces_name_the_values_that_kernels_were_launched_with(project: Path, tmp_path: Path, packed: bool) -> None:
    entries = [path.parent for path in sorted((project / "cache").glob("*/scale.ttir"))]
    python = {"file_path": str(project / "kernels.py"), "start_line": 10, "code": "".join(
        SOURCE.splitlines(keepends=True)[9:15])}
    events = [event(entry, "scale", python_source=python) for entry in entries]
    clears = ["store" in (entry / "scale.ttir").read_text().partition("tt.store")[2] for entry in entries]
    events += [launch(entry, "scale", {"BLOCK": 16, "CLEAR": clear, "n": n})
               for entry, clear in zip(entries, clears, strict=True) for n in (5, 6)]
    text = "".join(json.dumps(one) + "\n" for one in events)
    path = tmp_path / ("trace.ndjson.gz" if packed else "trace.ndjson")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    (kernel,) = run(Request((str(path),), tmp_path)).kernels
    by_name = {p.name: p for p in kernel.parameters}
    assert by_name["x_ptr"].when == ("CLEAR=True",)
    assert by_name["BLOCK"].type == "16"
    assert kernel.total_variants == 2


def test_what_was_launched_without_being_compiled_is_named(project: Path, tmp_path: Path) -> None:
    entry = stage(project, "renamed.ttir").parent
    other = {**launch(entry, "renamed", {"flag": 1}), "name": "lost", "compilation_metadata": {"hash": "another"}}
    lines = [event(entry, "renamed"), launch(entry, "renamed", {"flag": 1}), other]
    (tmp_path / "trace.ndjson").write_text("".join(json.dumps(one) + "\n" for one in lines))
    report = run(Request(("trace.ndjson",), tmp_path))
    assert [note.partition("; with")[0] for note in report.notes] == [
        "trace.ndjson: launched, and not compiled in this trace: lost"]


def test_before_and_after_an_edit_the_parameters_are_called_by_the_same_names(project: Path, tmp_path: Path) -> None:
    entry = stage(project, "scale.ttir").parent
    text = "def scale(x_ptr, out_ptr, n, added, step, BLOCK, CLEAR, more):\n    pass\n"
    python = [{"file_path": "kernels.py", "start_line": 10, "code": code}
              for code in (text, text.replace(", added", "").replace(", more", ""))]
    lines = [event(entry, "scale", python_source=one) for one in python]
    (tmp_path / "trace.ndjson").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (kernel,) = run(Request(("trace.ndjson",), tmp_path)).kernels
    assert not any(p.name.startswith("arg") for p in kernel.parameters)


def test_a_trace_that_is_cut_gives_what_stands_before(project: Path, tmp_path: Path) -> None:
    entry = stage(project, "renamed.ttir").parent
    line = json.dumps(event(entry, "renamed")).encode()
    (tmp_path / "plain.ndjson").write_bytes(line + b"\n" + line[:500])
    packed = gzip.compress(line + b"\n" + line + b"\n")
    (tmp_path / "packed.ndjson.gz").write_bytes(packed[:-20])
    for name in ("plain.ndjson", "packed.ndjson.gz"):
        report = run(Request((name,), tmp_path))
        assert kernels(report)["renamed"].mutated == ("a_ptr", "b_ptr")
        (finding,) = report.findings
        assert (finding.rule, finding.location.file) == ("TML901", name)
        assert finding.location.line in (2, 3)


BAD = {
    "cut.ttir": lambda text: text[: len(text) // 2].encode(),
    "edited.ttir": lambda text: text.replace("tt.store", "%% tt.store").encode(),
    "binary.ttir": lambda text: bytes(range(256)),
    "empty.ttir": lambda text: b"",
    "other.ttir": lambda text: b"define void @f() {\n  ret void\n}\n",
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_costs_itself(project: Path, tmp_path: Path, name: str) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(project / "cache", cache)
    entry = cache / "BROKEN"
    entry.mkdir()
    (entry / "__grp__x.json").write_text("{}")
    (entry / name).write_bytes(BAD[name](stage(project, "renamed.ttir").read_text()))
    report = run(Request(("cache",), tmp_path))
    assert kernels(report).keys() == {"scale", "renamed"}
    (finding,) = report.findings
    assert finding.rule == "TML901"
    assert finding.location.file == f"cache/BROKEN/{name}"
    assert finding.help


def test_an_unknown_dialect_is_no_silence(project: Path, tmp_path: Path) -> None:
    text = stage(project, "renamed.ttir").read_text().replace("tt.store %", "new.put %")
    (tmp_path / "new.ttir").write_text(text)
    (kernel,) = run(Request(("new.ttir",), tmp_path)).kernels
    assert set(kernel.unknown) == {"a_ptr", "b_ptr"}
    assert kernel.unanalyzable_ops


def test_an_argument_of_a_type_of_no_dialect_of_tritons_may_be_an_address(tmp_path: Path) -> None:
    (tmp_path / "new.ttir").write_text('module {\n  tt.func public @k(%arg0: memref<*xf32>, %arg1: bf16) {\n'
                                      '    memref.fill %arg1, %arg0 : memref<*xf32>\n    tt.return\n  }\n}\n')
    (kernel,) = run(Request(("new.ttir",), tmp_path)).kernels
    assert kernel.unknown == ("arg0",)


def test_targets_of_one_cache_are_told_apart(project: Path, tmp_path: Path) -> None:
    entry = stage(project, "renamed.ttir").parent
    for name, arch in (("A", '"cuda", "arch": 90'), ("B", '"hip", "arch": "gfx942"')):
        shutil.copytree(entry, tmp_path / name)
        (tmp_path / name / "renamed.json").write_text(f'{{"target": {{"backend": {arch}}}}}')
    (tmp_path / "C").mkdir()  # which another process has begun to write
    (tmp_path / "C" / "__grp__renamed.json").write_text("{}")
    report = run(Request((".",), tmp_path))
    (kernel,) = report.kernels
    assert [str(target) for target in kernel.targets] == ["cuda:90", "hip:gfx942"]
    assert (kernel.total_variants, kernel.mutated, report.findings) == (2, ("a_ptr", "b_ptr"), ())


def test_metadata_that_cannot_be_read_cost_the_target_alone(project: Path, tmp_path: Path) -> None:
    for text in ("", "[1]", "{", '{"target": 7}'):
        entry = tmp_path / f"e{len(text)}" / "X"
        shutil.copytree(stage(project, "renamed.ttir").parent, entry)
        (entry / "renamed.json").write_text(text)
        (kernel,) = run(Request((str(entry.parent),), tmp_path)).kernels
        assert kernel.mutated == ("a_ptr", "b_ptr")


def test_sources_and_ir_are_not_mixed(project: Path) -> None:
    with pytest.raises(UsageError, match="--declared kernels"):
        run(Request(("cache", "kernels.py"), project))
    with pytest.raises(UsageError, match="none of that"):
        run(Request(("kernels.py",), project, declared=("kernels.py",)))


def test_the_report_in_json_says_that_it_was_compiled(project: Path) -> None:
    document = json.loads(render("json", run(Request(("cache",), project)), RenderOptions()))
    schema = json.loads((Path(report_room.__file__).parent / "schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert {k["signature_origin"] for k in document["kernels"]} == {"compiled"}
    assert document["environment"]["triton"] is None


@pytest.mark.slow
@pytest.mark.parametrize("book", ["tutorials", "cases"])
def test_verdicts_from_ir_are_those_from_source(book: str, tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(yaml.safe_dump(casebook.spec_of(book)))
    request = Request((str(casebook.FIXTURES / book),), tmp_path, spec=spec, targets=("cuda:90",))
    # What ptxas refuses is in no cache.
    refused = {"dev_desc_gather_only", "extern_pure_on_address", "host_desc_scatter"}
    source = kernels(compiled(request, tmp_path / "cache", lambda kernel: kernel.name not in refused))
    read = kernels(run(Request(("cache",), tmp_path)))
    wanted = {name for name, k in source.items() if k.status is Status.ANALYZED and name not in refused}
    assert len(wanted) > 10
    assert wanted - read.keys() == set()
    for name in wanted:
        assert verdict(source[name], read[name]) == verdict(read[name], read[name]), name


def verdict(kernel: KernelReport, read: KernelReport) -> tuple[object, object]:
    """What is written and unknown: by name, or only how many where the IR does not have the names of the source."""
    if any("as the IR calls" in note for note in read.notes) or "t.1" in read.mutated:  # the second field of a tuple
        return len(kernel.mutated), len(kernel.unknown)
    return kernel.mutated, kernel.unknown
