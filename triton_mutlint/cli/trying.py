"""`check --fix --run`: names that a fix would take out of an op's declaration are held against runs of the op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from triton_mutlint.basics import plural
from triton_mutlint.cli.shell.output import Progress
from triton_mutlint.config.request import Request
from triton_mutlint.types import Finding, ListKind, Report
from triton_mutlint.verify.model import Verified
from triton_mutlint.verify.ops.verifying import verify_ops
from triton_mutlint.verify.wire import Settings


class Tried:
    """What runs showed of the ops from whose declarations a name would be taken, each run when first asked for."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._outcomes: dict[str, Verified | None] = {}

    def held(self, report: Report, progress: Progress) -> Report:
        """The report without the changes that no run confirms, or that one speaks against."""
        asked = {op for finding in report.findings if (op := _loses(finding))} - self._outcomes.keys()
        if asked:
            self._outcomes.update(dict.fromkeys(asked))
            wanted = [f"{op.location.file}:{op.name}" for op in report.ops if op.name in asked]
            settings = Settings(stubs=self._request.config.stub_modules)
            with TemporaryDirectory() as folder:  # for programs that show what was seen: nobody asked for them
                request = replace(self._request, arguments=tuple(wanted))
                tried = verify_ops(request, settings, (), Path(folder), progress)
            self._outcomes.update((one.name, one) for one in tried.ops if one.name in asked)
        return replace(report, findings=tuple(map(self._held, report.findings)))

    def _held(self, finding: Finding) -> Finding:
        op = _loses(finding)
        outcome = self._outcomes.get(op)
        seen = sum(a.seen for a in outcome.parameters if a.name == finding.parameter) if outcome is not None else 0
        if op not in self._outcomes or (outcome is not None and outcome.compared and not seen):
            return finding
        reasons = [outcome.refused, *(message for _, message, _ in outcome.problems)] if outcome is not None else []
        why = ": ".join((f"`{op}` could not be run", *list(filter(None, reasons))[:1]))
        if seen:
            why = f"{plural(seen, 'run')} of `{op}` changed `{finding.parameter}`"
        return replace(finding, changes=(), unfixed=why)

    def said(self, findings: Sequence[Finding]) -> str:
        """What runs say of a fix that settles these findings."""
        outcomes = [outcome for finding in findings if (outcome := self._outcomes.get(_loses(finding))) is not None]
        return f" (confirmed by {plural(min(one.compared for one in outcomes), 'run')})" if outcomes else ""


def _loses(finding: Finding) -> str:
    """The op from whose declaration settling a finding takes a name, or ""."""
    taken = any(c.kind is ListKind.MUTATES_ARGS and not c.add and c.name for c in finding.changes)
    return finding.op or "" if taken else ""
