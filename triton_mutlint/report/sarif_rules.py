"""The rules' metadata in SARIF."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from triton_mutlint.rules import RULES, Rule
from triton_mutlint.types import Finding, Severity
from triton_mutlint.version import page

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note", Severity.OFF: "none"}
Json = dict[str, Any]


def rule_descriptors(findings: Iterable[Finding]) -> list[Json]:
    """Every rule by code: those of the tool, and any other that a finding names."""
    described = {code: _descriptor(rule) for code, rule in RULES.items()}
    for finding in findings:
        described.setdefault(finding.rule, {"id": finding.rule, "name": _pascal(finding.name)})
    return [described[code] for code in sorted(described)]


def _descriptor(rule: Rule) -> Json:
    text = inspect.cleandoc(rule.doc)
    off = rule.default_severity is Severity.OFF
    level = LEVELS[Severity.WARNING if off else rule.default_severity]
    return {
        "id": rule.code,
        "name": _pascal(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _prose(text) or rule.summary},
        "helpUri": page(f"docs/rules/{rule.code}.md"),
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"enabled": not off, "level": level},
    }


def _prose(text: str) -> str:
    """What the rule does, as plain text: viewers show it without reading Markdown."""
    section = text.partition("## What it does\n")[2].partition("\n## ")[0]
    words = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", section).replace("`", "").replace("**", "")
    return "\n\n".join(" ".join(part.split()) for part in words.strip().split("\n\n"))


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))
