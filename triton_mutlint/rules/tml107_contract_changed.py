"""What a kernel or torch op may write differs from the committed snapshot.

## What it does

With `--check-snapshot`, compares each linted kernel and torch op with its entry in the snapshot that
`triton-mutlint snapshot` wrote. It reports writes, indirect writes and `unknown` verdicts that
appeared or vanished, conditions that changed, and kernels that are gone. A kernel that is new, and
a parameter that could not be decided before and now can, are only notes. Entries of files that
were not linted are left alone.

## Why

Who calls a kernel relies on what it writes: `mutates_args`, buffers that are reused, fusion. A
change of that is a change of interface, and easy to miss in a review of the kernel's body: a
helper that stores through another pointer is enough.

## Example

```diff
 @triton.jit
 def scale(x_ptr, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
-    tl.store(x_ptr + i, tl.load(x_ptr + i) * 2)
+    tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)
```

```snapshot
kernel kernels.py::scale
  written out_ptr
```

## How to fix

If the change is meant, look at the callers, run `triton-mutlint snapshot` with the same paths and
commit the file; its diff shows reviewers what changed. Otherwise undo it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triton_mutlint.contracts.snapshot import (
    CONDITIONAL,
    MAYBE,
    UNKNOWN,
    WRITTEN,
    Contract,
    contract_of,
    keyed,
)
from triton_mutlint.rules.rule import WRITING, KernelSubject, Rule, RunSubject, places, steps
from triton_mutlint.types import Finding, KernelReport, Location, OpReport, Related, Severity

_UPDATE = "if this is meant, update the snapshot: `triton-mutlint snapshot` with the same paths"
_NOW = {WRITTEN: "now writes", CONDITIONAL: "now writes", MAYBE: "may now write", UNKNOWN: "may now write",
        "": "no longer writes"}
_SHOWN = 3  # places of a write that are listed


@dataclass(frozen=True)
class _Owner:
    """A kernel or an op, and what it writes now; `subject` is there for a kernel, `entry` where the snapshot has it."""

    report: KernelReport | OpReport
    now: Contract
    entry: Location
    subject: KernelSubject | None = None

    def finding(self, message: str, help: str = _UPDATE, parameter: str | None = None,  # noqa: A002 - as of a rule
                related: Iterable[Related] = (), severity: Severity | None = None) -> Finding:
        report = self.report
        place = self.subject.place_of(parameter) if self.subject and parameter else report.location
        return RULE.finding(
            f"`{report.name}` {message}", place, kernel=report if isinstance(report, KernelReport) else None,
            op=report if isinstance(report, OpReport) else None, parameter=parameter, related=related, help=help,
            severity=severity, subject=self.entry if parameter else None,
        )

    def written(self, name: str) -> tuple[Related, ...]:
        """The first places where `name` is written."""
        if isinstance(self.report, OpReport):
            effects = (e for a in self.report.arguments if a.name == name for e in a.effects[:_SHOWN])
            return tuple(step for effect in effects for step in steps(effect))
        parameter = self.subject.parameter(name) if self.subject else None
        return tuple(places(parameter, WRITING)[:_SHOWN]) if parameter else ()


def check_run(run: RunSubject) -> Iterator[Finding]:
    snapshot = run.snapshot
    if snapshot is None:
        return
    entries = {key: Location(snapshot.file, contract.line) for key, contract in snapshot.entries.items()}
    nowhere = Location(snapshot.file, 1)
    subjects: dict[int, KernelSubject] = {id(s.report): s for s in run.kernels}
    reports = keyed((*(s.report for s in run.kernels), *run.ops), run.cwd, snapshot.folder)
    owners = {key: _Owner(report, contract_of(report), entries.get(key, nowhere), subjects.get(id(report)))
              for key, report in reports.items()}
    for key, owner in owners.items():
        yield from _compare(owner, snapshot.entries.get(key))
    covered = run.covered({key.file for key in snapshot.entries}, snapshot.folder)
    for key, place in entries.items():
        if key not in owners and key.file in covered:
            yield RULE.finding(f"the snapshot has the {key.kind} `{key.name}`, which {key.file} no longer has", place,
                               help=_UPDATE)


def _compare(owner: _Owner, entry: Contract | None) -> Iterator[Finding]:
    before = entry if entry is not None and entry.analyzed else None
    if before is None:
        if owner.now.analyzed:
            state = "is not in the snapshot yet" if entry is None else "has no verdict in the snapshot"
            yield owner.finding(state, "`triton-mutlint snapshot` with the same paths adds it", severity=Severity.INFO)
    elif not owner.now.analyzed:
        yield owner.finding("has a verdict in the snapshot and none now",
                            "give the kernel's arguments in a spec, so that it can be analysed again",
                            related=[Related("the snapshot's entry", owner.entry)])
    else:
        for name in sorted({*before.writes, *owner.now.writes}):
            old, new = before.writes.get(name), owner.now.writes.get(name)
            if old != new:
                yield _changed(owner, name, old, new)
        yield from _indirect(owner, before)


def _changed(owner: _Owner, name: str, old: tuple[str, str] | None, new: tuple[str, str] | None) -> Finding:
    said = "not written" if old is None else f"{old[0]} when {old[1]}" if old[1] else old[0]
    when = f" when {new[1]}" if new and new[1] else ""
    return owner.finding(
        f"{_NOW[new[0] if new else '']} `{name}`{when}; the snapshot says: {said}",
        parameter=name, related=(Related("the snapshot's entry", owner.entry), *owner.written(name)),
        severity=Severity.INFO if old is not None and old[0] == UNKNOWN else None,
    )


def _indirect(owner: _Owner, before: Contract) -> Iterator[Finding]:
    writes = owner.report.indirect_writes if isinstance(owner.report, KernelReport) else ()
    for name, via in sorted(before.indirect ^ owner.now.indirect):
        appeared = (name, via) in owner.now.indirect
        address = f"addresses loaded from `{name}`" if via == "loaded" else f"the address in `{name}`"
        verb = "now writes through" if appeared else "no longer writes through"
        said = Related(f"the snapshot {'does not list' if appeared else 'lists'} it", owner.entry)
        found = [Related(f"written here by {w.op}", w.location) for w in writes if (w.through, w.via) == (name, via)]
        yield owner.finding(f"{verb} {address}", parameter=name, related=(said, *found[:_SHOWN]))


RULE = Rule("TML107", "contract-changed", Severity.ERROR, __doc__ or "", check_run=check_run,
            applies=lambda run: run.snapshot is not None)
