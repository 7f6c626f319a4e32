"""JUnit XML: a suite per file, a case per kernel, what fails the run as a failure.

Times and host are constants, as equal inputs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from triton_mutlint.basics import flat
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import fails
from triton_mutlint.types import Finding, KernelReport, Report, Status

_CONSTANT = {"time": "0", "timestamp": "1970-01-01T00:00:00", "hostname": "localhost"}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as one `testsuites` document."""
    fail_on = (options or RenderOptions()).fail_on
    files = {kernel.location.file for kernel in report.kernels} | {finding.location.file for finding in report.active}
    suites = {}
    for file in sorted(files):
        kernels = [kernel for kernel in report.kernels if kernel.location.file == file]
        findings = [finding for finding in report.active if finding.location.file == file]
        failing = [finding for finding in findings if fails(finding, fail_on)]
        names = [kernel.name for kernel in kernels]
        cases = [_case(file, k.name, k.location.line, [f for f in failing if f.kernel == k.name], k) for k in kernels]
        cases += [_case(file, f.rule, f.location.line, [f]) for f in failing if f.kernel not in names]
        suites[file] = cases, "".join(_line(f) for f in findings if not fails(f, fail_on))
    return document(suites)


def document(suites: Mapping[str, tuple[Sequence[ET.Element], str]]) -> str:
    """A `testsuites` document: of each file the cases, and what else there is to say."""
    root = ET.Element("testsuites")
    for index, (file, (cases, said)) in enumerate(suites.items()):
        counts = {f"{kind}s": str(sum(case.find(kind) is not None for case in cases)) for kind in ("failure", "error")}
        suite = ET.SubElement(root, "testsuite", {"name": token(file), "package": token(file), "id": str(index),
                                                  "tests": str(len(cases)), **counts, **_CONSTANT})
        ET.SubElement(suite, "properties")
        suite.extend(cases)
        ET.SubElement(suite, "system-out").text = said
        ET.SubElement(suite, "system-err")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(file: str, name: str, line: int, failing: Sequence[Finding],
          kernel: KernelReport | None = None) -> ET.Element:
    """A kernel, or a finding of none, with what fails the run."""
    title = f"{name} (line {line})" if name else f"line {line}"
    case = ET.Element("testcase", {"name": token(title), "classname": token(file), "time": "0"})
    failure = kernel.failure if kernel is not None and kernel.status is Status.FAILED else None
    if failing and failure is not None:
        kind = {"message": failure.message.strip(), "type": failure.stage.value}
        ET.SubElement(case, "error", kind).text = "".join(map(_line, failing))
    elif failing:
        kind = {"message": failing[0].message, "type": failing[0].rule}
        ET.SubElement(case, "failure", kind).text = "".join(map(_line, failing))
    return case


def _line(finding: Finding) -> str:
    place = finding.location
    text = f"{place.file}:{place.line}:{place.column}: {finding.severity.value} {finding.rule}: {finding.message}"
    return f"{text}\n" + (f"  help: {finding.help}\n" if finding.help else "")


def token(text: str) -> str:
    """`text` as it can stand in an attribute."""
    return flat(text) or "-"
