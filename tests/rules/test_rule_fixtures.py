"""Every rule has documentation and fixtures, and finds in them exactly what they say.

A line of a fixture (or of the spec beside it) that a finding must point to ends in
`# finds TML101`; `TML203:info` when the finding is milder than the rule. There may be no others.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from scripts.rule_pages import pages
from tests.helpers.in_process import run_here
from tests.helpers.places import ROOT
from triton_mutlint.config.request import Config, Request
from triton_mutlint.rules import RULES
from triton_mutlint.types import Finding

FIXTURES = ROOT / "fixtures" / "rules"
FILES = sorted(FIXTURES.glob("*/*/*.py"))
TORCH = ("TML204", "TML205")  # compare with torch's own pass
MARKED = [pytest.param(file, marks=[pytest.mark.torch] if file.parts[-3] in TORCH else []) for file in FILES]
_MARK = re.compile(r"# finds (TML\d.*)$")
_SECTIONS = ("What it does", "Why", "Example", "How to fix")


def expected(file: Path) -> list[tuple[str, int, str]]:
    found = []
    for path in (file, file.with_suffix(".yaml")):
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            match = _MARK.search(line)
            for item in match[1].split() if match else ():
                code, _, severity = item.partition(":")
                found.append((path.name, number, f"{code}:{severity or default(code)}"))
    return sorted(found)


def default(code: str) -> str:
    severity = RULES[code].default_severity.value
    return {"off": "error" if code == "TML903" else "warning"}.get(severity, severity)


def lint(file: Path) -> tuple[Finding, ...]:
    code = file.parts[-3]
    off = RULES[code].default_severity.value == "off"
    required = code == "TML903"
    config = Config(extend_select=(code,) if off and not required else (), require_spec=required)
    spec = file.with_suffix(".yaml")
    snapshot = file.with_suffix(".snapshot")
    request = Request((file.name,), file.parent, spec=spec if spec.exists() else None, use_spec=spec.exists(),
                      config=config, require_spec=required, torch=version("torch") if code in TORCH else "",
                      snapshot=snapshot if snapshot.exists() else None)
    return run_here(request).findings


@pytest.mark.parametrize("file", MARKED, ids=lambda f: "/".join(f.parts[-3:]))
def test_fixture(file: Path) -> None:
    found = [f for f in lint(file) if not f.suppressed]
    places = sorted((f.location.file, f.location.line, f"{f.rule}:{f.severity.value}") for f in found)
    assert places == expected(file), [f.message for f in found]
    bad = file.parts[-2] == "bad"
    assert bad == any(f.rule == file.parts[-3] for f in found)
    for finding in found:
        assert finding.message
        assert finding.help or finding.rule in {"TML901", "TML902"}
        assert "\n" not in finding.help


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_fixtures(code: str) -> None:
    for kind in ("bad", "good"):
        assert len(list((FIXTURES / code / kind).glob("*.py"))) >= 2, f"{code} needs two {kind} fixtures"


def test_no_fixtures_without_a_rule() -> None:
    assert {p.name for p in FIXTURES.iterdir()} == set(RULES)
    assert all(f.parts[-2] in {"bad", "good"} for f in FILES)


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_documented(code: str) -> None:
    rule = RULES[code]
    assert rule.code == code
    assert re.fullmatch(r"TML\d{3}", code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert "\n## What it does\n" in rule.doc
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", rule.doc, re.MULTILINE | re.DOTALL))
    assert tuple(sections) == _SECTIONS
    assert all(text.strip() for text in sections.values())


def test_names_are_unique() -> None:
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


def test_pages_are_current() -> None:
    folder = ROOT / "docs" / "rules"
    written = {p.name: p.read_text(encoding="utf-8") for p in folder.glob("*.md")}
    assert written == pages(), "run `python -m scripts.rule_pages`"
