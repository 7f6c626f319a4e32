"""Judging one run: the rules that are on, then `allow`, suppressions and the order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from triton_mutlint.config.request import Config
from triton_mutlint.contracts.baseline import accept, unmet
from triton_mutlint.contracts.comments import Suppression, header, read_suppressions
from triton_mutlint.rules import NAMES, RULES
from triton_mutlint.rules.rule import KernelSubject, Rule, RunSubject
from triton_mutlint.rules.tml905_unused_suppression import RULE as UNUSED
from triton_mutlint.rules.tml905_unused_suppression import idle_allowed, idle_comment, idle_entry
from triton_mutlint.types import Finding, Severity

_RANK = {Severity.OFF: 0, Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}

_Raised = tuple[Finding, "KernelSubject | None"]  # a finding and the kernel it came from, if it came from one


def judge(run: RunSubject, config: Config) -> tuple[Finding, ...]:
    """The findings of one run in a stable order, suppressed ones among them."""
    levels = _Levels(config, run.cwd)
    comments = _Comments(run)
    raised = [(levelled, subject) for rule, finding, subject in _found(run, levels)
              if (levelled := levels.apply(rule, finding)).severity is not Severity.OFF]
    findings = [comments.settle(finding, subject) for finding, subject in raised]
    active = {s.display: {c for c, rule in RULES.items() if rule.applies(run) and levels.is_on(rule, s.display)}
              for s in run.sources}
    for finding in (*comments.idle(run, active), *_idle_allowed(run, raised, active)):
        findings.append(comments.settle(levels.apply(UNUSED, finding), None))
    return _accepted(sorted(dict.fromkeys(findings), key=_order), run, levels)


def _found(run: RunSubject, levels: _Levels) -> Iterator[tuple[Rule, Finding, KernelSubject | None]]:
    by_name = {(k.report.name, k.report.location.file): k for k in run.kernels}
    for rule in (rule for rule in RULES.values() if levels.is_on(rule)):
        for subject in run.kernels:
            yield from ((rule, finding, subject) for finding in rule.check(subject))
        for finding in (*(finding for op in run.ops for finding in rule.check_op(op)), *rule.check_run(run)):
            yield rule, finding, by_name.get((finding.kernel or "", finding.location.file))


def _idle_allowed(run: RunSubject, raised: list[_Raised], active: dict[str, set[str]]) -> Iterator[Finding]:
    """What is said of codes in `allow` that no finding of this run needed, nor one of another may."""
    given = [(allowed, subject) for subject in run.kernels for allowed in subject.allowed]
    kept = {(a, finding.rule) for finding, subject in raised if subject is not None for a in subject.allowed}
    unsure = {a for a, subject in given
              if subject.report.failure is not None or a.name not in active.get(subject.report.location.file, ())}
    for allowed in dict.fromkeys(allowed for allowed, _ in given):
        if (allowed, allowed.name) not in kept and allowed not in unsure and not run.may_be_elsewhere(allowed):
            yield idle_allowed(allowed)


def _accepted(findings: list[Finding], run: RunSubject, levels: _Levels) -> tuple[Finding, ...]:
    """The findings with those of the baseline suppressed, and what the baseline lists in vain."""
    baseline = run.baseline
    if baseline is not None:
        findings, used = accept(baseline, findings, run.cwd)
        covered = run.covered({kind.file for kind in baseline.entries}, baseline.folder)
        for kind, left, place in unmet(baseline, used, covered):
            rule = RULES.get(kind.rule)
            if rule is None or (rule.applies(run) and levels.is_on(rule, str(baseline.folder / kind.file))):
                findings.append(levels.apply(UNUSED, idle_entry(kind, baseline.entries[kind].count, left, place)))
    return tuple(sorted((f for f in findings if f.severity is not Severity.OFF), key=_order))


def _order(finding: Finding) -> tuple[object, ...]:
    named = (finding.kernel or "", finding.op or "", finding.parameter or "")
    return (finding.location, finding.rule, *named, finding.message)


class _Levels:
    """The severity of each finding under a configuration."""

    def __init__(self, config: Config, cwd: Path) -> None:
        self._config, self._cwd = config, cwd
        self._level = cache(self._level_of)

    def is_on(self, rule: Rule, file: str = "") -> bool:
        """Whether a rule reports in `file`; without one, whether it does in some file."""
        return self._level(rule, file) is not Severity.OFF

    def apply(self, rule: Rule, finding: Finding) -> Finding:
        """The finding at its configured level; one that the rule made milder stays milder, unless that is undone."""
        level = self._level(rule, finding.location.file)
        whole = rule.has_strict and (self._config.strict or rule.code in self._config.severity)
        if finding.severity is not rule.default_severity and not whole:
            level = min(level, finding.severity, key=_RANK.__getitem__)
        return replace(finding, severity=level)

    def _level_of(self, rule: Rule, file: str) -> Severity:
        root = self._config.root  # the configuration's folder, which its patterns refer to
        if root is not None and file and self._config.per_file_ignores:
            file = Path(os.path.relpath(self._cwd / file, root)).as_posix()
        return self._config.severity_of(rule.code, rule.default_severity, file)


class _Comments:
    """The suppressions of every linted file, and which of them were needed."""

    def __init__(self, run: RunSubject) -> None:
        self._by_file = {source.display: read_suppressions(source, NAMES) for source in run.sources}
        self._needed: dict[Suppression, set[str]] = {}

    def settle(self, finding: Finding, subject: KernelSubject | None) -> Finding:
        """The finding, suppressed by a comment or its kernel's spec entry, or not."""
        covering = [*self._covering(finding, subject)]
        for comment in covering:  # not idle, even where the spec allows the finding as well
            self._needed.setdefault(comment, set()).add(finding.rule)
        allowed = subject is not None and any(allowed.name == finding.rule for allowed in subject.allowed)
        by = "comment" if covering else "spec" if allowed else ""
        return replace(finding, suppressed=bool(by), suppressed_by=by)

    def idle(self, run: RunSubject, active: dict[str, set[str]]) -> Iterator[Finding]:
        """What is said of comments that suppress nothing, and of those that cannot be read."""
        for source in run.sources:
            found = self._by_file[source.display]
            for problem in found.problems:
                yield UNUSED.finding(problem.message, problem.location, help=problem.help)
            for comment in found.items if run.is_complete(source) else ():
                yield from idle_comment(comment, self._needed.get(comment, ()), active[source.display])

    def _covering(self, finding: Finding, subject: KernelSubject | None) -> Iterable[Suppression]:
        """The comments on the finding; for one in another file (a helper's), those on the kernel's own header."""
        place = finding.location
        found = [s for s in self._items(place.file) if s.covers(finding.rule, place.line)]
        if found or subject is None or subject.kernel is None or place.file == subject.report.location.file:
            return found
        kernel, span = subject.report.location, header(subject.kernel.node)
        return [s for s in self._items(kernel.file)
                if s.first <= span.last and s.last >= span.first and s.covers(finding.rule, kernel.line)]

    def _items(self, file: str) -> Iterable[Suppression]:
        return self._by_file[file].items if file in self._by_file else ()
