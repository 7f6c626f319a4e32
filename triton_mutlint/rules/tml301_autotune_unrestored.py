'''Autotuning corrupts a parameter that the kernel reads and writes, or accumulates into.

## What it does

Looks at kernels with more than one autotune config and reports

* a parameter that is read and written, unless `restore_value` names it;
* a parameter that is accumulated into (atomics, or load, add and store), or through which programs
  wait for each other, unless `restore_value` or `reset_to_zero` names it;
* a `pre_hook` or `post_hook` of `@triton.autotune` itself that replaces the hook which carries out
  `restore_value` or `reset_to_zero`, so that these do nothing;
* a name in those lists that is no parameter, or one that Triton cannot clone.

Where hooks are given (also by a config) the tool cannot see what they do, and reports an unnamed
parameter as a note only. So it does where a list could not be evaluated, for a parameter that the
kernel itself sets back to zero, for one that is written first and then read at other addresses, and
for one whose reads and writes look as if they never met: a mask ends the reads where the writes
begin, or a launch constant that is no stride lies between them.

What runs as well a second time is left alone: a parameter that is written before it is read, a lock
that is always set back to its free value, an atomic maximum or minimum whose result is not used; a
store that puts into each place what was there or a value from elsewhere, chosen by something else
(filling under a mask, clamping); flags that are only ever cleared, by what flags that are still set
decide. What a kernel reads under one value of a constexpr parameter and writes under another does
not count, unless the configs choose that value: then one call runs both.

## Why

To find the best config, Triton runs every config many times on the caller's own tensors, and only
then makes the launch that counts. `restore_value` copies a tensor before each of these runs and
puts it back afterwards. `reset_to_zero` sets it to zero before each run and once before the launch
that counts: right for a sum that starts at zero, wrong for values that the kernel needs. The first
call gives wrong numbers, later ones do not, so tests that run twice pass.

## Bad

```python
@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
```

## Good

```python
@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"],
                 restore_value=["x_ptr"])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
```

## How to fix

Add the argument that the message gives: `restore_value`, or `reset_to_zero` where the kernel
accumulates and every launch in its file passes fresh zeros. A tensor descriptor or a tuple cannot be restored by name:
give `pre_hook` and `post_hook`, which get all arguments by name, or pass a pointer. A `pre_hook` of
a `triton.Config` is run besides `restore_value`, not in place of it.
'''

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from triton_mutlint.rules.absent_arguments import NOT_TAKEN, may_be_none
from triton_mutlint.rules.access_calls import AccessCalls
from triton_mutlint.rules.autotune_advice import CERTAIN, Lists, advice, is_plain, is_zeroed
from triton_mutlint.rules.autotune_names import faults, may_prune_to_hooks, replaced
from triton_mutlint.rules.protection import Protection
from triton_mutlint.rules.rerun import Rerun, rerun_of
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.types import (
    AccessKind,
    Autotune,
    Change,
    Finding,
    ListKind,
    Location,
    ParameterReport,
    Severity,
)
from triton_mutlint.types import Related as Note

_WHY = {
    Rerun.ACCUMULATED: "accumulates into {}",
    Rerun.IN_PLACE: "reads and writes {}",
    Rerun.POLLED: "waits for what other programs write to {}",
    Rerun.RESET_BY_KERNEL: "updates {} and sets it to zero itself",
    Rerun.READ_BACK: "writes {} and then reads it at other addresses",
    Rerun.APART: "reads {} and writes it at other addresses",
}
_UNLESS = {
    Rerun.RESET_BY_KERNEL: ": harmless only if each launch leaves zeros",
    Rerun.READ_BACK: ": harmless only if every value that it reads was written by the same launch",
    Rerun.APART: ": harmless only if no launch writes what it reads",
}


def check(subject: KernelSubject) -> Iterator[Finding]:
    autotune = subject.kernel.autotune if subject.kernel else None
    if autotune is None:
        return
    place = Location(subject.report.location.file, autotune.line or subject.report.location.line)
    for fault in faults(subject, autotune):
        changes = [Change(fault.redundant, fault.parameter or "", False, place)] if fault.redundant else []
        yield RULE.finding(fault.message, place, kernel=subject.report, parameter=fault.parameter, help=fault.help,
                           changes=changes, unfixed=fault.unfixed, subject=place)
    if len(autotune.configs) > 1:
        yield from _unrestored(subject, autotune, place)


def _unrestored(subject: KernelSubject, autotune: Autotune, place: Location) -> Iterator[Finding]:
    calls = AccessCalls(subject.kernel, subject.sources)
    protection = Protection.of(autotune)
    reported = {name for names in replaced(autotune).values() for name in names}
    exposed = []
    tuned = _tuned(subject, autotune)
    for parameter in subject.report.parameters:
        rerun, base = rerun_of(parameter, calls, tuned), parameter.name.partition(".")[0]
        if rerun is not Rerun.SAFE and base not in reported and not protection.suffices(base, rerun):
            exposed.append((parameter, rerun))
    lists = Lists.of(subject, exposed)
    for parameter, rerun in exposed:
        unread = protection.perhaps(parameter.name.partition(".")[0], rerun) if is_plain(parameter) else ""
        finding = _finding(subject, autotune, parameter, rerun, lists, place)
        yield _doubted(finding, parameter.name, unread) if unread else finding


def _tuned(subject: KernelSubject, autotune: Autotune) -> frozenset[str] | None:
    """The parameters that may differ between the runs of one tuning; None if not all variants are known."""
    if subject.report.analyzed_variants < subject.report.total_variants or subject.kernel is None:
        return None
    names = {name for config in autotune.configs for name in (*config.kwargs, *config.options)}
    return frozenset(names | set(subject.kernel.heuristics))  # a heuristic may look at the config


def _doubted(finding: Finding, name: str, unread: str) -> Finding:
    """The finding as a note: a list that could not be evaluated may name the parameter."""
    return replace(
        finding, message=f"{finding.message}, unless `{unread}`, which could not be evaluated, names it",
        help=f"make sure that `{unread}` names `{name}`", severity=Severity.INFO, changes=(),
    )


def _finding(subject: KernelSubject, autotune: Autotune, parameter: ParameterReport, rerun: Rerun,
             lists: Lists, place: Location) -> Finding:
    hooked = autotune.has_pre_hook or autotune.has_post_hook or any(c.has_pre_hook for c in autotune.configs)
    hooked = hooked or (subject.kernel is not None and may_prune_to_hooks(subject.kernel))
    # A hook may undo what the kernel did, but not bring back what `reset_to_zero` wiped.
    excused = hooked and parameter.name not in autotune.reset_to_zero
    condition = f" when {' or '.join(parameter.when)}" if parameter.when else ""
    zeros = is_zeroed(subject, parameter, rerun)
    what = _WHY[rerun].format(f"`{parameter.name}`")
    unless = ", unless a hook undoes that" if excused else _UNLESS.get(rerun, "")
    changes = () if hooked or rerun not in CERTAIN else tuple(_changes(subject, autotune, parameter, place, zeros))
    return RULE.finding(
        f"`{subject.report.name}` {what}{condition}, {_outcome(autotune, parameter)}{unless}",
        place, kernel=subject.report, parameter=parameter.name, related=_accesses(parameter),
        help=advice(subject, autotune, parameter, rerun, lists), subject=place,
        severity=None if rerun in CERTAIN and not excused else Severity.INFO,
        changes=changes, unfixed=NOT_TAKEN if not changes and may_be_none(subject, parameter) else "",
    )


def _changes(subject: KernelSubject, autotune: Autotune, parameter: ParameterReport, place: Location,
             zeros: bool) -> Iterator[Change]:
    """Restoring is right whatever callers pass, zeroing if all pass zeros; neither takes `None` before Triton 3.8."""
    name = parameter.name
    if not is_plain(parameter) or may_be_none(subject, parameter):
        return
    kind = ListKind.RESET_TO_ZERO if zeros else ListKind.RESTORE_VALUE
    yield Change(kind, name, True, place, tuple(p.name for p in subject.report.parameters))
    if name in autotune.reset_to_zero:
        yield Change(ListKind.RESET_TO_ZERO, name, False, place)


def _outcome(autotune: Autotune, parameter: ParameterReport) -> str:
    if parameter.name not in autotune.reset_to_zero:
        return f"and tuning over {len(autotune.configs)} configs runs it again and again on what the run before left"
    also = " too, and the zeros win" if parameter.name in autotune.restore_value else ""
    return f"but `reset_to_zero` names it{also}: the launch that counts reads zeros, not the caller's values"


def _accesses(parameter: ParameterReport) -> list[Note]:
    verb = {AccessKind.READ: "read", AccessKind.WRITE: "written", AccessKind.ATOMIC: "updated"}
    found = sorted({(a.location, a.kind.value, verb[a.kind], a.op) for a in parameter.accesses})
    return [Note(f"{what} here by {op}", place) for place, _, what, op in found]


RULE = Rule("TML301", "autotune-unrestored", Severity.ERROR, __doc__ or "", check=check)
