"""What `verify` found as JUnit XML: a suite per file, a case per kernel and op. Times are constants."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from triton_mutlint.basics import flat
from triton_mutlint.report.junit import CONSTANT
from triton_mutlint.verify.model import KernelOutcome, OpOutcome, Outcome, VerifyReport
from triton_mutlint.verify.ops.text import call_text


def render(report: VerifyReport) -> str:
    """The report as one `testsuites` document."""
    root = ET.Element("testsuites")
    files = sorted({one.location.file for one in report.outcomes} | {argument for argument, _ in report.failures})
    for index, file in enumerate(files):
        cases = [_case(one, file) for one in report.outcomes if one.location.file == file]
        for _, failure in (told for told in report.failures if told[0] == file):
            cases.append(ET.Element("testcase", {"name": "read", "classname": flat(file), "time": "0"}))
            ET.SubElement(cases[-1], "error", {"message": flat(failure.message), "type": failure.stage.value})
        counts = {f"{kind}s": str(sum(c.find(kind) is not None for c in cases)) for kind in ("failure", "error")}
        suite = ET.SubElement(root, "testsuite", {"name": flat(file), "package": flat(file), "id": str(index),
                                                  "tests": str(len(cases)), **counts, **CONSTANT})
        suite.append(ET.Element("properties"))
        suite.extend(cases)
        suite.extend([ET.Element("system-out"), ET.Element("system-err")])
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(one: KernelOutcome | OpOutcome, file: str) -> ET.Element:
    case = ET.Element("testcase", {"name": flat(f"{one.name} (line {one.location.line})"), "classname": flat(file),
                                   "time": "0"})
    if one.outcome is Outcome.FAILED:
        told = list(_told(one))
        kind = {"message": flat(told[0].partition("\n")[0]), "type": "disagreement"}
        ET.SubElement(case, "failure", kind).text = "\n".join(told)
    elif one.outcome in (Outcome.NOT_RUN, Outcome.NO_VERDICT):
        reason = one.refused or next((message for _, message, _ in one.problems), one.outcome.value)
        ET.SubElement(case, "skipped", {"message": flat(reason)})
    return case


def _told(one: KernelOutcome | OpOutcome) -> Iterator[str]:
    if isinstance(one, KernelOutcome):
        yield f"writes {', '.join((*one.missed, *one.leaked))}, which was not predicted"
    else:
        for d in one.disagreements:
            yield f"{f'{d.rule}: ' if d.rule else ''}{d.message}\n  with {call_text(d.given)}\n  {d.help}"
    yield one.reproducer
