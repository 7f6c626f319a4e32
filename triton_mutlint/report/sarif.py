"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from triton_mutlint.report import order
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.sarif_flows import flows
from triton_mutlint.report.sarif_rules import LEVELS, rule_descriptors
from triton_mutlint.report.sources import SourceLines
from triton_mutlint.types import Finding, KernelReport, Location, Report
from triton_mutlint.version import REPOSITORY, __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
FINGERPRINT = "tritonMutlint/v1"
Json = dict[str, Any]
_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The findings as a SARIF log; suppressed ones carry their suppression."""
    options = options or RenderOptions()
    sources = options.sources
    findings = order.findings(report)
    rules = rule_descriptors(findings)
    position = {rule["id"]: index for index, rule in enumerate(rules)}
    prints = _fingerprints(findings)
    results = [
        {"ruleId": f.rule, "ruleIndex": position[f.rule], **_result(f, report.kernels, sources), **mark,
         **_fixes(f, options)}
        for f, mark in zip(findings, prints, strict=True)
    ]
    run = {
        "tool": {"driver": {
            "name": "triton-mutlint", "semanticVersion": __version__, "informationUri": REPOSITORY, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(finding: Finding, kernels: Sequence[KernelReport], sources: SourceLines) -> Json:
    message = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    place = {"physicalLocation": physical(finding.location, sources), **_logical(finding)}
    related = [
        {"id": i, "message": {"text": r.message}, "physicalLocation": physical(r.location, sources)}
        for i, r in enumerate(finding.related, 1)
    ]
    steps = [
        [{"location": {"message": {"text": text}, "physicalLocation": physical(at, sources)}} for text, at in flow]
        for flow in flows(finding, kernels)
    ]
    result: Json = {"level": LEVELS[finding.severity], "message": {"text": message}, "locations": [place]}
    if related:
        result["relatedLocations"] = related
    if steps:
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]} for flow in steps]
    kind = "external" if finding.suppressed_by in ("baseline", "spec") else "inSource"
    result["suppressions"] = [{"kind": kind}] if finding.suppressed else []
    return result


def _fixes(finding: Finding, options: RenderOptions) -> Json:
    """What `--fix` would do, as viewers can offer it; it may settle other findings of the same list as well."""
    offer = options.fixes.get(finding)
    if offer is None or finding.suppressed:
        return {}
    replacements = [
        {"deletedRegion": _region(one.start, one.end), "insertedContent": {"text": one.text}}
        for one in offer.replacements
    ]
    change = {"artifactLocation": _artifact(offer.file), "replacements": replacements}
    return {"fixes": [{"description": {"text": offer.message}, "artifactChanges": [change]}]}


def _logical(finding: Finding) -> Json:
    if finding.kernel is None:
        return {}
    return {"logicalLocations": [{"name": finding.kernel, "kind": "function"}]}


def physical(location: Location, sources: SourceLines) -> Json:
    """A place; columns are counted in characters, as `columnKind` says."""
    start, line = sources.character(location), sources.line(location.file, location.line)
    region = {"startLine": location.line, "startColumn": start + 1}
    if line is not None:
        region["endColumn"] = max(_end(line, start), start) + 1
    return {"artifactLocation": _artifact(location.file), "region": region}


def _region(start: tuple[int, int], end: tuple[int, int]) -> Json:
    return {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}


def _end(line: str, start: int) -> int:
    """Where what begins at `start` ends: a dotted name, or else the text of the line."""
    name = _NAME.match(line, start)
    return name.end() if name else len(line.rstrip())


def _artifact(file: str) -> Json:
    path = quote(os.fsencode(file), safe="/")
    if PurePosixPath(file).is_absolute():
        return {"uri": f"file://{path}"}
    return {"uri": path, "uriBaseId": ROOT}


def _fingerprints(findings: Sequence[Finding]) -> list[Json]:
    """What a finding is, without its line: it stays the same when code above it moves."""
    seen: Counter[tuple[str, ...]] = Counter()
    marks = []
    for f in findings:
        identity = (f.rule, f.location.file, f.kernel or "", f.op or "", f.parameter or "")
        text = "\0".join((*identity, str(seen[identity])))
        seen[identity] += 1
        digest = sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()
        marks.append({"partialFingerprints": {FINGERPRINT: digest[:32]}})
    return marks
