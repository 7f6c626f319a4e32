"""The formats for machines and for CI: concise, github, junit, markdown, sarif."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from tests.helpers.places import ROOT
from tests.helpers.report_samples import (
    ADD_KERNEL,
    EMPTY_REPORT,
    EVIL,
    FINDINGS,
    FULL,
    NORM_KERNEL,
    SAMPLES,
    SIMPLE,
    TEXTS,
    many,
)
from triton_mutlint.report import FORMATS, render
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.types import Location, Report, Severity
from triton_mutlint.version import REPOSITORY

NAMES = [name for name in FORMATS if name not in ("text", "json")]


def shown(name: str, report: Report, **options: object) -> str:
    return render(name, report, RenderOptions(sources=SourceLines(TEXTS), **options))  # type: ignore[arg-type]


def sarif(report: Report) -> dict[str, object]:
    log = json.loads(shown("sarif", report))
    (run,) = log["runs"]
    return run


@pytest.mark.parametrize("name", [n for n in NAMES if n != "sarif"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_golden(name: str, sample: str, golden) -> None:
    golden(f"{sample}.{name}", shown(name, SAMPLES[sample]))


@pytest.mark.parametrize("name", FORMATS)
def test_odd_text_renders_and_the_size_is_bearable(name: str) -> None:
    text = shown(name, replace(FULL, findings=(EVIL,)))
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "\x00" not in text


def test_concise_is_one_line_per_finding() -> None:
    assert shown("concise", FULL).splitlines() == [
        "kernels.py:16:5: error: TML101 add_kernel writes output_ptr, which its `mutates` leaves out",
        "kernels.py:22:12: error: TML902 broken_kernel: arange's range must be a power of 2",
        "nn/norm.py:21:5: warning: TML201 X may be written: the inline asm was not understood",
    ]
    assert shown("concise", EMPTY_REPORT) == ""
    assert len(shown("concise", replace(FULL, findings=(EVIL,))).splitlines()) == 1
    assert len(shown("concise", many(500)).splitlines()) == 333


def test_github_escapes_what_would_end_a_command() -> None:
    assert shown("github", replace(FULL, findings=(EVIL,))) == (
        "::warning file=a%2Cb%3Ac%25/größe \\udcff|.py,line=3,col=2,title=TML201 unanalyzable-op::"
        "100%25 of a|b, <b>*x*</b>:%0D%0A::error::`no`?? ]]>%0Ado, this: & that\n"
    ).replace("??", "\\x00\\x1b[2J")


def test_github_levels() -> None:
    findings = tuple(replace(EVIL, severity=s) for s in (Severity.ERROR, Severity.WARNING, Severity.INFO))
    starts = [line.split()[0] for line in shown("github", replace(FULL, findings=findings)).splitlines()]
    assert sorted(starts) == ["::error", "::notice", "::warning"]


def test_junit_counts_and_fails_what_fails_the_run() -> None:
    root = ET.fromstring(shown("junit", FULL))  # noqa: S314 - made here
    suites = {suite.get("name"): suite for suite in root}
    kernels = suites["kernels.py"]
    assert (kernels.get("tests"), kernels.get("failures"), kernels.get("errors")) == ("2", "1", "1")
    assert [case.get("name") for case in kernels.iter("testcase")] == [
        "add_kernel (line 9)",
        "broken_kernel (line 20)",
    ]
    assert suites["nn/norm.py"].get("failures") == "0"
    assert "TML201" in (suites["nn/norm.py"].findtext("system-out") or "")
    strict = ET.fromstring(shown("junit", FULL, fail_on="warning"))  # noqa: S314
    assert [suite.get("failures") for suite in strict] == ["1", "1"]
    lenient = ET.fromstring(shown("junit", FULL, fail_on="never"))  # noqa: S314
    assert not list(lenient.iter("failure")) + list(lenient.iter("error"))


def test_junit_finds_a_place_for_findings_without_a_kernel() -> None:
    lost = replace(FINDINGS[1], kernel=None, location=Location("gone.py", 1))
    root = ET.fromstring(shown("junit", replace(SIMPLE, findings=(lost,))))  # noqa: S314
    assert [case.get("name") for case in root.iter("testcase")] == ["TML101 (line 1)", "add_kernel (line 9)"]


def test_junit_is_well_formed_whatever_the_text() -> None:
    root = ET.fromstring(shown("junit", replace(FULL, findings=(EVIL,)), fail_on="info"))  # noqa: S314
    failure = next(root.iter("failure"))
    assert "<b>*x*</b>" in (failure.text or "")


def test_markdown_escapes_tables_and_markup() -> None:
    text = shown("markdown", replace(FULL, findings=(EVIL,)))
    (row,) = [line for line in text.splitlines() if "TML201" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    assert "\\<b\\>" in row


def test_sarif_rules_are_indexed() -> None:
    run = sarif(FULL)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted(rules)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert {result["ruleId"] for result in run["results"]} == {f.rule for f in FINDINGS}


def test_sarif_follows_the_parameter_to_the_store() -> None:
    finding = replace(FINDINGS[1], kernel="norm_kernel", parameter="Y", location=Location("nn/helpers.py", 12, 25))
    (result,) = sarif(replace(SIMPLE, kernels=(NORM_KERNEL,), findings=(finding,)))["results"]
    ((flow,),) = [code_flow["threadFlows"] for code_flow in result["codeFlows"]]
    steps = [step["location"] for step in flow["locations"]]
    assert [step["message"]["text"] for step in steps] == [
        "parameter Y of norm_kernel",
        "norm_kernel calls store_row",
        "store_row calls store_masked",
        "Y is written by tt.store",
    ]
    last = steps[-1]["physicalLocation"]
    assert last["artifactLocation"] == {"uri": "nn/helpers.py", "uriBaseId": "%SRCROOT%"}
    # In characters, of which two take two bytes.
    assert last["region"] == {"startLine": 12, "startColumn": 23, "endColumn": 31}
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "declared here: mutates=[]"


def test_sarif_suppressions() -> None:
    by_rule = {result["ruleId"]: result["suppressions"] for result in sarif(FULL)["results"]}
    assert by_rule["TML202"] == [{"kind": "inSource"}]
    assert by_rule["TML101"] == []


def test_sarif_fingerprints_survive_moved_code_and_tell_twins_apart() -> None:
    def prints(report: Report) -> list[str]:
        return [result["partialFingerprints"]["tritonMutlint/v1"] for result in sarif(report)["results"]]

    twins = (FINDINGS[1], replace(FINDINGS[1], location=Location("kernels.py", 18, 5)))
    before = prints(replace(SIMPLE, findings=twins))
    moved = tuple(replace(f, location=replace(f.location, line=f.location.line + 100)) for f in twins)
    assert prints(replace(SIMPLE, findings=moved)) == before
    assert len(set(before)) == 2
    assert len(set(prints(many(60)))) == 40


@pytest.mark.parametrize("file", ["a b/größe#?.py", "/abs/x.py", "<stdin>", "../up.py"])
def test_sarif_uris(file: str) -> None:
    finding = replace(FINDINGS[1], location=Location(file, 1), related=(), kernel=None)
    (result,) = sarif(replace(SIMPLE, findings=(finding,)))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"].isascii()
    assert not set(artifact["uri"]) & set(" <>#?")
    assert unquote(artifact["uri"]).removeprefix("file://") == file
    assert ("uriBaseId" in artifact) is not file.startswith("/")


def test_every_format_is_listed_and_loads() -> None:
    for name in FORMATS:
        assert isinstance(shown(name, replace(SIMPLE, kernels=(ADD_KERNEL,))), str)


def test_markdown_keeps_code_as_code() -> None:
    finding = replace(EVIL, message="`a_b|c` is *written* by `k`", help="")
    (row,) = [line for line in shown("markdown", replace(SIMPLE, findings=(finding,))).splitlines() if "TML201" in line]
    assert row.endswith("| `a_b\\|c` is \\*written\\* by `k` |")


def test_sarif_describes_rules_in_prose_and_says_where_their_pages_are() -> None:
    driver = sarif(SIMPLE)["tool"]["driver"]
    assert driver["informationUri"] == REPOSITORY
    for rule in driver["rules"]:
        prose = rule["fullDescription"]["text"]
        assert len(prose.split()) >= 8
        assert not re.search(r"^#|`|\*\*|\]\(", prose)
        assert rule["helpUri"].startswith(f"{REPOSITORY}/")
        assert (ROOT / "docs" / "rules" / rule["helpUri"].rpartition("/")[2]).is_file()


@pytest.mark.parametrize(("line", "column", "end"), [
    ("    tl.store(out_ptr, x)", 5, 13), ("    tl.store(out_ptr, x)", 14, 21), ("@triton.autotune(CONFIGS)", 1, 26),
    ("@triton.autotune(CONFIGS)", 2, 17), ("# triton-mutlint: mutates=a  ", 1, 28), ("größe.x = 1", 1, 8),
    ("x", 9, 2), ("", 1, 1),
])
def test_sarif_regions_end_where_what_they_are_about_does(line: str, column: int, end: int) -> None:
    finding = replace(FINDINGS[1], location=Location("k.py", 1, column), related=())
    options = RenderOptions(sources=SourceLines({"k.py": line}))
    log = json.loads(render("sarif", replace(SIMPLE, kernels=(), findings=(finding,)), options))
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region["endColumn"] == end


def test_sarif_of_a_file_that_cannot_be_read_has_no_end() -> None:
    log = json.loads(render("sarif", replace(SIMPLE, findings=FINDINGS[1:2]), RenderOptions(sources=SourceLines())))
    region = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 16, "startColumn": 5}


def test_markdown_names_what_is_written_through() -> None:
    by_kernel = {line.split("`")[1]: line for line in shown("markdown", FULL).splitlines() if line.startswith("| `")}
    assert by_kernel["norm_kernel"].endswith("| `X` | `table` |")
    assert by_kernel["add_kernel"].endswith("|  |  |  |")
