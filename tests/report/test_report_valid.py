"""SARIF and JUnit held against their schemas, of samples and of what is found in the rules' bad fixtures.

Neither schema is ours to ship: SARIF is held against the models that pydantic-sarif made of its schema, and JUnit
against the structure that its schema demands, written out here.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from xml.etree import ElementTree as ET

import pytest

from tests.helpers.places import FIXTURES
from tests.helpers.report_samples import EVIL, SAMPLES, TEXTS
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.types import Report

RULES = FIXTURES / "rules"
pytestmark = pytest.mark.apart  # one of the fixtures ends its process
NAMES = [*SAMPLES, *(f"{name} and worse" for name in SAMPLES), "fixtures"]


@lru_cache(maxsize=1)
def found_in_fixtures() -> Report:
    """What is found in a bad fixture of every rule, most of them without their specs."""
    from triton_mutlint.config.request import Request
    from triton_mutlint.run.run import run

    one_of_each = [min(folder.glob("*.py")) for folder in sorted(RULES.glob("*/bad"))]
    report = run(Request(tuple(str(file.relative_to(RULES)) for file in one_of_each), RULES))
    assert len({f.rule for f in report.findings}) >= 8
    return report


def shown(format_: str, name: str) -> str:
    if name == "fixtures":
        return render(format_, found_in_fixtures(), RenderOptions(sources=SourceLines({}, RULES)))
    sample = SAMPLES[name.removesuffix(" and worse")]
    report = replace(sample, findings=(*sample.findings, EVIL)) if name.endswith("worse") else sample
    return render(format_, report, RenderOptions(sources=SourceLines(TEXTS), fail_on="info"))


@pytest.mark.parametrize("name", NAMES)
def test_sarif_fits_the_models_of_its_schema(name: str) -> None:
    from pydantic_sarif import model

    validate = model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate
    log = json.loads(shown("sarif", name))
    validate(log)
    log["runs"][0]["tool"]["driver"]["unheard"] = 1
    with pytest.raises(ValueError, match="unheard"):  # the models are strict, or this would show nothing
        validate(log)


# The schema of JUnit's XML as Ant writes it: attributes that must be there, and children in order.
_SUITE = {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"}
_CASE = {"name", "classname", "time"}


@pytest.mark.parametrize("name", NAMES)
def test_junit_has_the_structure_of_its_schema(name: str) -> None:
    root = ET.fromstring(shown("junit", name))  # noqa: S314 - made here
    assert (root.tag, root.attrib) == ("testsuites", {})
    assert [suite.get("id") for suite in root] == [str(i) for i in range(len(root))]
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == _SUITE
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        tags = [child.tag for child in suite]
        assert tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"]
        cases = suite.findall("testcase")
        counts = [len(cases), *(len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error"))]
        assert [suite.get(key) for key in ("tests", "failures", "errors")] == [str(count) for count in counts]
        for text in (suite.attrib["name"], suite.attrib["hostname"], *(case.attrib["name"] for case in cases)):
            assert text == " ".join(text.split()) != ""  # a token
        for case in cases:
            _holds_one_outcome(case)


def _holds_one_outcome(case: ET.Element) -> None:
    assert set(case.attrib) == _CASE
    assert re.fullmatch(r"\d+(\.\d+)?", case.attrib["time"])
    assert [child.tag for child in case] in ([], ["failure"], ["error"])
    for outcome in case:
        assert set(outcome.attrib) == {"message", "type"}
        assert not list(outcome)
