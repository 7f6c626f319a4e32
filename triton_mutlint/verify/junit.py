"""What `verify` found as JUnit XML: a suite per file, a case per kernel and op. Times are constants."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from triton_mutlint.basics import flat
from triton_mutlint.report.junit import document, token
from triton_mutlint.verify.model import KernelOutcome, OpOutcome, Outcome, VerifyReport
from triton_mutlint.verify.text import call_text


def render(report: VerifyReport) -> str:
    """The report as one `testsuites` document."""
    suites: dict[str, list[ET.Element]] = {}
    for one in report.outcomes:
        suites.setdefault(one.location.file, []).append(_case(one))
    for argument, failure in report.failures:
        case = ET.Element("testcase", {"name": "read", "classname": token(argument), "time": "0"})
        ET.SubElement(case, "error", {"message": flat(failure.message), "type": failure.stage.value})
        suites.setdefault(argument, []).append(case)
    return document({file: (cases, "") for file, cases in sorted(suites.items())})


def _case(one: KernelOutcome | OpOutcome) -> ET.Element:
    title = f"{one.name} (line {one.location.line})"
    case = ET.Element("testcase", {"name": token(title), "classname": token(one.location.file), "time": "0"})
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
