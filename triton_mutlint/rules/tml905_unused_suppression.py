'''A suppression comment suppresses nothing.

## What it does

Reports `# triton-mutlint: ignore[...]` comments whose codes match no finding on the lines that they
cover, and those that cannot be read: an unknown code, codes without brackets, a misspelt word. A
code whose rule is switched off is left alone, and so is a file in which some kernel was not
analysed.

## Why

A suppression that outlived its finding hides the next one on that line.

## Bad

```python
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 0.0, mask=i < n)  # triton-mutlint: ignore[TML202] was a pointer table
```

## Good

```python
@triton.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 0.0, mask=i < n)
```

## How to fix

Remove the comment, or the codes that the message names.
'''

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triton_mutlint.contracts.suppressions import Suppression, read_suppressions
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import RunSubject
from triton_mutlint.types import Change, Finding, ListKind, Severity, SourceFile


def unused(run: RunSubject, known: Mapping[str, str]) -> Iterator[Finding]:
    """What this rule finds, once `run.matched` and `run.active` are known."""
    for source in run.sources:
        found = read_suppressions(source, known)
        for problem in found.problems:
            yield RULE.finding(problem.message, problem.location, help=problem.help)
        if run.is_complete(source):
            for suppression in found.items:
                yield from _unused(run, source, suppression)


def _unused(run: RunSubject, source: SourceFile, suppression: Suppression) -> Iterator[Finding]:
    needed = {code for item, code in run.matched if item == suppression}
    active = run.active.get(source.display, frozenset())
    idle = [code for code in suppression.codes if code not in needed and code in active and code != RULE.code]
    if suppression.codes and idle:
        names = ", ".join(idle)
        rest = [code for code in suppression.codes if code not in idle]
        advice = f"shorten it to `ignore[{','.join(rest)}]`" if rest else "remove the comment"
        changes = [Change(ListKind.IGNORE, code, False, suppression.location) for code in idle]
        yield RULE.finding(f"this comment suppresses no finding of {names}", suppression.location, help=advice,
                           changes=changes)
    elif not suppression.codes and not needed:
        yield RULE.finding("this comment suppresses nothing", suppression.location, help="remove the comment",
                           changes=[Change(ListKind.IGNORE, "", False, suppression.location)])


def check_run(run: RunSubject) -> Iterator[Finding]:
    return unused(run, run.known)


RULE = Rule("TML905", "unused-suppression", Severity.WARNING, __doc__ or "", check_run=check_run)
