"""SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from triton_mutlint.report.options import RenderOptions, SourceLines
from triton_mutlint.rules import RULES, Rule
from triton_mutlint.types import Access, AccessKind, Finding, KernelReport, Location, Related, Report, Severity
from triton_mutlint.version import REPOSITORY, __version__, page

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
FINGERPRINT = "tritonMutlint/v1"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note", Severity.OFF: "none"}
FLOWS = 10  # of one finding
Json = dict[str, Any]
_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The findings as a SARIF log; suppressed ones carry their suppression."""
    options = options or RenderOptions()
    findings = report.findings
    described = {code: _rule(rule) for code, rule in RULES.items()}
    for finding in findings:
        described.setdefault(finding.rule, {"id": finding.rule, "name": _pascal(finding.name)})
    rules = [described[code] for code in sorted(described)]
    position = {rule["id"]: index for index, rule in enumerate(rules)}
    results = [
        {"ruleId": f.rule, "ruleIndex": position[f.rule], **_result(f, report.kernels, options.sources),
         "partialFingerprints": {FINGERPRINT: fingerprint}, **_fixes(f, options)}
        for f, fingerprint in zip(findings, _fingerprints(findings), strict=True)
    ]
    driver = {"name": "triton-mutlint", "semanticVersion": __version__, "informationUri": REPOSITORY, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


# --------------------------------------------------------------------------- rules


def _rule(rule: Rule) -> Json:
    text = inspect.cleandoc(rule.doc)
    off = rule.default_severity is Severity.OFF
    return {
        "id": rule.code,
        "name": _pascal(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _prose(text) or rule.summary},
        "helpUri": page(f"docs/rules/{rule.code}.md"),
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {
            "enabled": not off, "level": LEVELS[Severity.WARNING if off else rule.default_severity]},
    }


def _prose(text: str) -> str:
    """What the rule does, as plain text: viewers show it without reading Markdown."""
    section = text.partition("## What it does\n")[2].partition("\n## ")[0]
    words = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", section).replace("`", "").replace("**", "")
    return "\n\n".join(" ".join(part.split()) for part in words.strip().split("\n\n"))


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


# --------------------------------------------------------------------------- results


def _result(finding: Finding, kernels: Sequence[KernelReport], sources: SourceLines) -> Json:
    place: Json = {"physicalLocation": _physical(finding.location, sources)}
    if finding.kernel is not None:
        place["logicalLocations"] = [{"name": finding.kernel, "kind": "function"}]
    result: Json = {
        "level": LEVELS[finding.severity],
        "message": {"text": f"{finding.message}\n{finding.help}" if finding.help else finding.message},
        "locations": [place],
    }
    if finding.related:
        result["relatedLocations"] = [{"id": i, **_step(r, sources)} for i, r in enumerate(finding.related, 1)]
    if flows := _flows(finding, kernels):
        result["codeFlows"] = [
            {"threadFlows": [{"locations": [{"location": _step(step, sources)} for step in flow]}]} for flow in flows]
    kind = "external" if finding.suppressed_by in ("baseline", "spec") else "inSource"
    result["suppressions"] = [{"kind": kind}] if finding.suppressed else []
    return result


def _step(step: Related, sources: SourceLines) -> Json:
    return {"message": {"text": step.message}, "physicalLocation": _physical(step.location, sources)}


def _flows(finding: Finding, kernels: Sequence[KernelReport]) -> list[list[Related]]:
    """The ways from the kernel's parameter to each write that the finding is about: at its place, else all of them."""
    kernel = _kernel(finding, kernels)
    if kernel is None or finding.parameter is None:
        return []
    found = [a for p in kernel.parameters if p.name == finding.parameter for a in p.accesses]
    writes = [a for a in found if a.kind is not AccessKind.READ]
    chosen = [a for a in writes if a.location == finding.location] or writes
    return [_flow(finding.parameter, kernel, access) for access in chosen[:FLOWS]]


def _kernel(finding: Finding, kernels: Sequence[KernelReport]) -> KernelReport | None:
    """The kernel a finding names; of several in a file, the last that starts before the finding."""
    named = [k for k in kernels if k.name == finding.kernel]
    here = [k for k in named if k.location.file == finding.location.file]
    before = [k for k in here if k.location.line <= finding.location.line]
    if before:
        return max(before, key=lambda k: k.location.line)
    return next(iter(here or named), None)


def _flow(parameter: str, kernel: KernelReport, access: Access) -> list[Related]:
    steps = [Related(f"parameter {parameter} of {kernel.name}", kernel.location)]
    for caller, callee in zip(access.path, access.path[1:], strict=False):
        steps.append(Related(f"{caller.function} calls {callee.function}", Location(caller.file, caller.line)))
    verb = "updated atomically" if access.kind is AccessKind.ATOMIC else "written"
    return [*steps, Related(f"{parameter} is {verb} by {access.op}", access.location)]


def _fixes(finding: Finding, options: RenderOptions) -> Json:
    """What `--fix` would do, as viewers can offer it; it may settle other findings of the same list as well."""
    offer = options.fixes.get(finding)
    if offer is None or finding.suppressed:
        return {}
    replacements = [
        {"deletedRegion": {"startLine": one.start[0], "startColumn": one.start[1],
                           "endLine": one.end[0], "endColumn": one.end[1]},
         "insertedContent": {"text": one.text}}
        for one in offer.replacements
    ]
    change = {"artifactLocation": _artifact(offer.file), "replacements": replacements}
    return {"fixes": [{"description": {"text": offer.message}, "artifactChanges": [change]}]}


# --------------------------------------------------------------------------- places


def _physical(location: Location, sources: SourceLines) -> Json:
    """A place; columns are counted in characters, as `columnKind` says."""
    start, line = sources.character(location), sources.line(location.file, location.line)
    region = {"startLine": location.line, "startColumn": start + 1}
    if line is not None:
        name = _NAME.match(line, start)  # the region ends with it, or else with the line
        region["endColumn"] = max(name.end() if name else len(line.rstrip()), start) + 1
    return {"artifactLocation": _artifact(location.file), "region": region}


def _artifact(file: str) -> Json:
    path = quote(os.fsencode(file), safe="/")
    if PurePosixPath(file).is_absolute():
        return {"uri": f"file://{path}"}
    return {"uri": path, "uriBaseId": ROOT}


def _fingerprints(findings: Iterable[Finding]) -> list[str]:
    """What a finding is, without its line: it stays the same when code above it moves."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for f in findings:
        identity = (f.rule, f.location.file, f.kernel or "", f.op or "", f.parameter or "")
        text = "\0".join((*identity, str(seen[identity])))
        seen[identity] += 1
        found.append(sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:32])
    return found
