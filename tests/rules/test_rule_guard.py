"""A rule is whole: its page, its metadata in SARIF, its explanation, its fixtures.

What the pages and fixtures hold is the business of test_rule_fixtures.
"""

from __future__ import annotations

import inspect
import json
import re

import pytest

from tests.helpers.places import ROOT
from triton_mutlint.cli.shell import boundary
from triton_mutlint.report import render
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.rules import RULES
from triton_mutlint.types import Environment, Report


def test_each_file_of_a_rule_is_registered() -> None:
    files = {p.stem for p in (ROOT / "triton_mutlint" / "rules").rglob("tml*.py")}
    assert {f"tml{code[3:]}_{rule.name.replace('-', '_')}" for code, rule in RULES.items()} == files


@pytest.mark.parametrize("code", RULES)
def test_it_is_described_in_sarif(code: str) -> None:
    log = json.loads(render("sarif", Report(Environment(None)), RenderOptions()))
    described = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert described.keys() == RULES.keys()
    rule = RULES[code]
    assert described[code]["name"].lower() == rule.name.replace("-", "")
    assert described[code]["shortDescription"]["text"] == rule.summary
    assert described[code]["fullDescription"]["text"].strip()
    assert described[code]["help"]["markdown"] == inspect.cleandoc(rule.doc)
    assert described[code]["defaultConfiguration"]["enabled"] is (rule.default_severity.value != "off")


@pytest.mark.parametrize("code", RULES)
def test_it_is_explained(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    rule = RULES[code]
    outputs = []
    for name in (code, code.lower(), rule.name):
        assert boundary.run(["rule", name]) == 0
        outputs.append(capsys.readouterr().out)
    title = f"{code} {rule.name} ({rule.default_severity.value} by default)"
    assert outputs == [f"{title}\n\n{inspect.cleandoc(rule.doc)}\n"] * 3
    assert boundary.run(["rules"]) == 0
    assert re.search(rf"^{code} +{rule.name} +{rule.default_severity.value} +{re.escape(rule.summary)}$",
                     capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("code", RULES)
def test_it_has_fixtures_and_a_page(code: str) -> None:
    for kind in ("bad", "good"):
        assert len(list((ROOT / "fixtures" / "rules" / code / kind).glob("*.py"))) >= 2
    page = (ROOT / "docs" / "rules" / f"{code}.md").read_text(encoding="utf-8")
    assert f"\n# {code} {RULES[code].name}\n" in page
    assert f"({code}.md)" in (ROOT / "docs" / "rules" / "index.md").read_text(encoding="utf-8")
