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

## Bad

```python
@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
    tl.store(out_ptr + i, 1.0, mask=i < n)
```

```snapshot
kernel kernels.py::scale
  written out_ptr
```

## Good

```python
@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
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

from collections.abc import Iterator

from triton_mutlint.contracts.contract import (
    CONDITIONAL,
    MAYBE,
    UNKNOWN,
    WRITTEN,
    Contract,
    Key,
    contract_of,
    keyed,
    keyed_ops,
    op_contract_of,
)
from triton_mutlint.contracts.snapshot import Entry, Snapshot
from triton_mutlint.model import Finding, Location, OpReport, Related, Severity
from triton_mutlint.rules.op_effects import steps
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import WRITING, KernelSubject, RunSubject, places

_UPDATE = "if this is meant, update the snapshot: `triton-mutlint snapshot` with the same paths"
_NOW = {WRITTEN: "now writes", MAYBE: "may now write", UNKNOWN: "may now write", "": "no longer writes"}  # of an op
_SHOWN = 3  # places of a write that are listed


def check_run(run: RunSubject) -> Iterator[Finding]:
    snapshot = run.snapshot
    if snapshot is None:
        return
    subjects = {id(s.report): s for s in run.kernels}
    now = keyed([s.report for s in run.kernels], run.cwd, snapshot.folder)
    for key, report in now.items():
        yield from _compare(subjects[id(report)], snapshot, snapshot.entries.get(key))
    ops = keyed_ops(run.ops, run.cwd, snapshot.folder)
    for key, op in ops.items():
        yield from _compare_op(op, snapshot, snapshot.entries.get(key))
    covered = run.covered({key.file for key in snapshot.entries}, snapshot.folder)
    for key, entry in snapshot.entries.items():
        if key not in now and key not in ops and key.file in covered:
            yield _gone(key, entry, snapshot)


def _gone(key: Key, entry: Entry, snapshot: Snapshot) -> Finding:
    return RULE.finding(f"the snapshot has the {key.kind} `{key.name}`, which {key.file} no longer has",
                        Location(snapshot.file, entry.line), help=_UPDATE)


def _compare(subject: KernelSubject, snapshot: Snapshot, entry: Entry | None) -> Iterator[Finding]:
    report, now = subject.report, contract_of(subject.report)
    if not now.analyzed:
        if entry is not None and entry.contract.analyzed:
            yield RULE.finding(
                f"`{report.name}` has a verdict in the snapshot and none now", report.location, kernel=report,
                related=[Related("the snapshot's entry", Location(snapshot.file, entry.line))],
                help="give the kernel's arguments in a spec, so that it can be analysed again",
            )
        return
    if entry is None or not entry.contract.analyzed:
        state = "is not in the snapshot yet" if entry is None else "has no verdict in the snapshot"
        yield RULE.finding(f"`{report.name}` {state}", report.location, kernel=report, severity=Severity.INFO,
                           help="`triton-mutlint snapshot` with the same paths adds it")
        return
    before = entry.contract
    place = Location(snapshot.file, entry.line)
    for name in sorted({*before.writes, *now.writes}):
        old, new = before.writes.get(name), now.writes.get(name)
        if old != new:
            yield _changed(subject, name, old, new, place)
    yield from _indirect(subject, before, now, place)


def _compare_op(op: OpReport, snapshot: Snapshot, entry: Entry | None) -> Iterator[Finding]:
    if entry is None:
        yield RULE.finding(f"`{op.name}` is not in the snapshot yet", op.location, op=op, severity=Severity.INFO,
                           help="`triton-mutlint snapshot` with the same paths adds it")
        return
    before, now = entry.contract.writes, op_contract_of(op).writes
    arguments = {a.name: a for a in op.arguments}
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new:
            places = [r for e in arguments[name].effects[:_SHOWN] for r in steps(e)] if name in arguments else []
            held = Location(snapshot.file, entry.line)
            now_it = _NOW[new[0] if new else ""]
            yield RULE.finding(
                f"`{op.name}` {now_it} `{name}`; the snapshot says: {_verdict(old)}", op.location, op=op,
                parameter=name, related=[Related("the snapshot's entry", held), *places], subject=held,
                help=_UPDATE, severity=Severity.INFO if old is not None and old[0] == UNKNOWN else None,
            )


def _changed(subject: KernelSubject, name: str, old: tuple[str, str] | None, new: tuple[str, str] | None,
             snapshot: Location) -> Finding:
    settled = old is not None and old[0] == UNKNOWN
    parameter = subject.parameter(name)
    written = places(parameter, WRITING)[:_SHOWN] if parameter else []
    related = [Related(f"the snapshot says: {_verdict(old)}", snapshot), *written]
    return RULE.finding(
        f"`{subject.report.name}` {_phrase(name, old, new)}", subject.place_of(name), kernel=subject.report,
        parameter=name, related=related, help=_UPDATE, severity=Severity.INFO if settled else None, subject=snapshot,
    )


def _phrase(name: str, old: tuple[str, str] | None, new: tuple[str, str] | None) -> str:
    how = new[0] if new else ""
    before = f", which it wrote{_when(old)} before" if old and old[0] in (WRITTEN, CONDITIONAL) else ""
    before = f", which was {UNKNOWN} before" if old and old[0] == UNKNOWN else before
    if how == UNKNOWN:
        return f"may now write `{name}`: that cannot be decided any more{before}"
    if new is not None:
        return f"now writes `{name}`{_when(new)}{before or ', which it did not write before'}"
    return f"no longer writes `{name}`{before}"


def _when(verdict: tuple[str, str]) -> str:
    how, when = verdict
    if how == WRITTEN:
        return " always"
    return f" when {when}" if when else " sometimes"


def _verdict(verdict: tuple[str, str] | None) -> str:
    if verdict is None:
        return "not written"
    how, when = verdict
    return f"{how} when {when}" if when else how


def _indirect(subject: KernelSubject, before: Contract, now: Contract, snapshot: Location) -> Iterator[Finding]:
    for name, via in sorted(before.indirect ^ now.indirect):
        appeared = (name, via) in now.indirect
        address = f"addresses loaded from `{name}`" if via == "loaded" else f"the address in `{name}`"
        verb = "now writes through" if appeared else "no longer writes through"
        places = [Related(f"written here by {w.op}", w.location) for w in subject.report.indirect_writes
                  if (w.through, w.via) == (name, via)]
        said = Related(f"the snapshot {'does not list' if appeared else 'lists'} it", snapshot)
        yield RULE.finding(f"`{subject.report.name}` {verb} {address}", subject.place_of(name), kernel=subject.report,
                           parameter=name, related=[said, *places[:_SHOWN]], help=_UPDATE, subject=snapshot)


RULE = Rule("TML107", "contract-changed", Severity.ERROR, __doc__ or "", check_run=check_run,
            applies=lambda run: run.snapshot is not None)
