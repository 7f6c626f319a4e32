"""Judging one run: the rules that are on, then `allow`, suppressions and the order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from triton_mutlint.config.settings import Config
from triton_mutlint.contracts.baseline import accept, unmet
from triton_mutlint.contracts.spans import header
from triton_mutlint.contracts.suppressions import Suppression, read_suppressions
from triton_mutlint.rules import NAMES, RULES
from triton_mutlint.rules.accepted import idle_allowed, idle_entry
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import KernelSubject, RunSubject
from triton_mutlint.types import Finding, Severity

_RANK = {Severity.OFF: 0, Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}
_LAST = "TML905"  # looks at what the others needed
_SPEC_REQUIRED = "TML903"


@dataclass(frozen=True)
class _Raised:
    """A finding and the kernel it came from, if it came from one."""

    finding: Finding
    subject: KernelSubject | None = None


def judge(run: RunSubject, config: Config) -> tuple[Finding, ...]:
    """The findings of one run in a stable order, suppressed ones among them."""
    run = replace(run, kernels=tuple(replace(k, sources=k.sources or run.sources) for k in run.kernels))
    levels = _Levels(config, run.cwd)
    comments = _Comments(run)
    raised = [r for r in _raise(run, levels) if r.finding.severity is not Severity.OFF]
    findings = [_settle(r, comments) for r in raised]
    run = replace(run, matched=frozenset(comments.matched), active=levels.active(run), known=NAMES)
    for finding in (*RULES[_LAST].check_run(run), *_idle_allowed(run, raised)):
        levelled = levels.apply(RULES[_LAST], finding)
        if levelled.severity is not Severity.OFF:
            findings.append(_settle(_Raised(levelled), comments))
    return _accepted(sorted(dict.fromkeys(findings), key=_order), run, levels)


def _accepted(findings: list[Finding], run: RunSubject, levels: _Levels) -> tuple[Finding, ...]:
    """The findings with those of the baseline suppressed, and what the baseline lists in vain."""
    baseline = run.baseline
    if baseline is None:
        return tuple(findings)
    findings, used = accept(baseline, findings, run.cwd)
    covered = run.covered({kind.file for kind in baseline.entries}, baseline.folder)
    for kind, left, place in unmet(baseline, used, covered):
        rule = RULES.get(kind.rule)
        if rule is None or (rule.applies(run) and levels.is_on(rule, str(baseline.folder / kind.file))):
            idle = idle_entry(kind, baseline.entries[kind].count, left, place)
            findings.append(levels.apply(RULES[_LAST], idle))
    return tuple(sorted((f for f in findings if f.severity is not Severity.OFF), key=_order))


def _idle_allowed(run: RunSubject, raised: list[_Raised]) -> Iterator[Finding]:
    """What is said of codes in `allow` that no finding of this run needed, nor one of another may."""
    subjects = [k for k in run.kernels if k.allowed]
    if not subjects:
        return
    needed = {(a, r.finding.rule) for r in raised if r.subject is not None for a in r.subject.allowed}
    unsure = {a for k in subjects for a in k.allowed
              if k.report.failure is not None or a.code not in run.active.get(k.report.location.file, ())}
    for allowed in dict.fromkeys(a for k in subjects for a in k.allowed):
        if (allowed, allowed.code) not in needed and allowed not in unsure and not run.may_be_elsewhere(allowed):
            yield idle_allowed(allowed)


def _raise(run: RunSubject, levels: _Levels) -> Iterator[_Raised]:
    for code, rule in RULES.items():
        if code == _LAST or not levels.wanted(rule):
            continue
        for subject in run.kernels:
            for finding in rule.check(subject):
                yield _Raised(levels.apply(rule, finding), subject)
        by_name = {(k.report.name, k.report.location.file): k for k in run.kernels}
        for finding in rule.check_run(run):
            owner = by_name.get((finding.kernel or "", finding.location.file))
            yield _Raised(levels.apply(rule, finding), owner)


def _settle(raised: _Raised, comments: _Comments) -> Finding:
    finding, subject = raised.finding, raised.subject
    allowed = subject is not None and finding.rule in subject.allow
    # Asked even when allowed: the comment is then needed by nobody else, but it is not idle.
    commented = comments.suppress(finding, subject)
    by = "comment" if commented else "spec" if allowed else ""
    return replace(finding, suppressed=bool(by), suppressed_by=by)


def _order(finding: Finding) -> tuple[object, ...]:
    named = (finding.kernel or "", finding.op or "", finding.parameter or "")
    return (finding.location, finding.rule, *named, finding.message)


class _Levels:
    """The severity of each finding under a configuration."""

    def __init__(self, config: Config, cwd: Path) -> None:
        self._config, self._cwd = config, cwd
        self._known: dict[tuple[str, str], Severity] = {}

    def wanted(self, rule: Rule) -> bool:
        """Whether the rule can be on in some file at all; saves the work of those that are off."""
        return self._level(rule, "") is not Severity.OFF

    def apply(self, rule: Rule, finding: Finding) -> Finding:
        """The finding at its configured level; one that the rule made milder stays milder, unless that is undone."""
        level = self._level(rule, finding.location.file)
        whole = rule.has_strict and (self._config.strict or rule.code in self._config.severity)
        if finding.severity is not rule.default_severity and not whole:
            level = min(level, finding.severity, key=_RANK.__getitem__)
        return replace(finding, severity=level)

    def is_on(self, rule: Rule, file: str) -> bool:
        """Whether a rule reports in `file`."""
        return self._level(rule, file) is not Severity.OFF

    def active(self, run: RunSubject) -> dict[str, frozenset[str]]:
        """By file, the codes of the rules that are on."""
        return {
            source.display: frozenset(
                code for code, rule in RULES.items() if rule.applies(run) and self.is_on(rule, source.display))
            for source in run.sources
        }

    def _level(self, rule: Rule, file: str) -> Severity:
        if not self._config.per_file_ignores:
            file = ""  # it is the same in every file
        level = self._known.get((rule.code, file))
        if level is None:
            default = rule.default_severity
            if rule.code == _SPEC_REQUIRED and self._config.require_spec:
                default = Severity.ERROR
            level = self._known[rule.code, file] = self._config.severity_of(rule.code, default, self._relative(file))
        return level

    def _relative(self, file: str) -> str:
        """`file` as seen from the configuration's folder, which its patterns refer to."""
        root = self._config.root
        if root is None or not file:
            return file
        return Path(os.path.relpath(self._cwd / file, root)).as_posix()


class _Comments:
    """The suppressions of every linted file, and which of them were needed."""

    def __init__(self, run: RunSubject) -> None:
        self._by_file = {s.display: read_suppressions(s, NAMES).items for s in run.sources}
        self.matched: set[tuple[Suppression, str]] = set()

    def suppress(self, finding: Finding, subject: KernelSubject | None) -> bool:
        """Whether a comment covers the finding; remembers each that does."""
        place = finding.location
        hits = [s for s in self._by_file.get(place.file, ()) if s.covers(finding.rule, place.line)]
        if not hits and subject is not None:
            hits = list(self._on_kernel(finding, subject))
        self.matched.update((hit, finding.rule) for hit in hits)
        return bool(hits)

    def _on_kernel(self, finding: Finding, subject: KernelSubject) -> Iterable[Suppression]:
        """For a finding in another file (a helper's), the comments on the kernel's own header."""
        kernel = subject.report.location
        if finding.location.file == kernel.file or subject.kernel is None:
            return
        span = header(subject.kernel.node)
        for suppression in self._by_file.get(kernel.file, ()):
            if suppression.first <= span.last and suppression.last >= span.first and \
                    suppression.covers(finding.rule, kernel.line):
                yield suppression
