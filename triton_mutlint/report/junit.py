"""JUnit XML: a suite per file, a case per kernel, what fails the run as a failure.

Times and host are constants, as equal inputs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from triton_mutlint.basics import flat
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.summary import fails
from triton_mutlint.types import Finding, KernelReport, Report, Status

CONSTANT = {"time": "0", "timestamp": "1970-01-01T00:00:00", "hostname": "localhost"}


def render(report: Report, options: RenderOptions | None = None) -> str:
    """The report as one `testsuites` document."""
    fail_on = (options or RenderOptions()).fail_on
    findings = report.active
    root = ET.Element("testsuites")
    files = {kernel.location.file for kernel in report.kernels} | {finding.location.file for finding in findings}
    for index, file in enumerate(sorted(files)):
        kernels = [k for k in report.kernels if k.location.file == file]
        root.append(_suite(index, file, kernels, [f for f in findings if f.location.file == file], fail_on))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(index: int, file: str, kernels: Sequence[KernelReport], findings: Sequence[Finding],
           fail_on: str) -> ET.Element:
    failing = [f for f in findings if fails(f, fail_on)]
    names = [kernel.name for kernel in kernels]
    cases = [_case(file, k.name, k.location.line, [f for f in failing if f.kernel == k.name], k) for k in kernels]
    cases += [_case(file, f.rule, f.location.line, [f]) for f in failing if f.kernel not in names]
    suite = ET.Element("testsuite", {
        "name": _token(file), "package": _token(file), "id": str(index), "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)), **CONSTANT,
    })  # fmt: skip
    ET.SubElement(suite, "properties")
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "".join(_line(f) for f in findings if not fails(f, fail_on))
    ET.SubElement(suite, "system-err")
    return suite


def _case(file: str, name: str, line: int, failing: Sequence[Finding],
          kernel: KernelReport | None = None) -> ET.Element:
    """A kernel, or a finding of none, with what fails the run."""
    title = f"{name} (line {line})" if name else f"line {line}"
    case = ET.Element("testcase", {"name": _token(title), "classname": _token(file), "time": "0"})
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


def _token(text: str) -> str:
    return flat(text) or "-"
