'''Autotuning corrupts a parameter that the kernel reads and writes, or accumulates into.

## What it does

Looks at kernels with more than one autotune config and reports

* a parameter that is read and written, unless `restore_value` names it;
* a parameter that is accumulated into (atomics, or load, add and store), or through which programs
  wait for each other, unless `restore_value` or `reset_to_zero` names it;
* a `pre_hook` or `post_hook` of `@triton.autotune` itself that replaces the hook which carries out
  `restore_value` or `reset_to_zero`, so that these do nothing;
* a name in those lists that is no parameter, or one that Triton cannot clone.

It does not report what runs as well a second time:

* a parameter that the kernel writes before it reads it, such as scratch memory;
* a lock that is always freed, and a counter that the kernel itself sets back to zero;
* an atomic maximum or minimum whose result is not used;
* a store that puts into each place what was there or a value from elsewhere, chosen by something else:
  filling under a mask, clamping, or overwriting a value that was loaded and not used;
* flags that are only ever set to one value, and that decide nothing else;
* reads and writes that look as if they never met, because a launch argument that is no stride lies
  between them: one step reads its own slot and writes that of the next step;
* what a kernel reads under one value of a constexpr parameter and writes under another, unless the
  configs choose that value: then one call runs both.

It also reports nothing where it cannot know: where hooks are given (also by a config), as they may
restore what the kernel changed, and where a list could not be evaluated.

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

from triton_mutlint.rules.autotune.launches import NOT_TAKEN, gets_zeros, may_be_none
from triton_mutlint.rules.autotune.lists import faults, is_hooked, protects
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.subject import KernelSubject, condition, places
from triton_mutlint.types import (
    Autotune,
    Change,
    Finding,
    Kernel,
    ListKind,
    Location,
    ParameterKind,
    ParameterReport,
    Rerun,
    Severity,
    VariantUse,
)

_WHAT = {
    Rerun.ACCUMULATES: "accumulates into",
    Rerun.SIGNALS: "waits for what other programs write to",
    Rerun.UPDATES: "reads and writes",
}


def check(subject: KernelSubject) -> Iterator[Finding]:
    kernel = subject.kernel
    autotune = kernel.autotune if kernel else None
    if kernel is None or autotune is None:
        return
    place = Location(subject.report.location.file, autotune.line or subject.report.location.line)
    for fault in faults(subject, kernel, autotune):
        changes = [Change(fault.redundant, fault.parameter or "", False, place)] if fault.redundant else []
        yield RULE.finding(fault.message, place, kernel=subject.report, parameter=fault.parameter, help=fault.help,
                           changes=changes, unfixed=fault.unfixed, subject=place)
    if len(autotune.configs) < 2:
        return
    tuned = _tuned(subject, kernel, autotune)
    for parameter in subject.report.parameters:
        rerun = _rerun(parameter, tuned)
        if rerun is not Rerun.SAFE and not protects(kernel, autotune, parameter.name.partition(".")[0], rerun):
            yield _finding(subject, kernel, parameter, rerun, place)


def _tuned(subject: KernelSubject, kernel: Kernel, autotune: Autotune) -> frozenset[str] | None:
    """The parameters that may differ between the runs of one tuning; None if not all variants are known."""
    if subject.report.analyzed_variants < subject.report.total_variants:
        return None
    names = {name for config in autotune.configs for name in (*config.kwargs, *config.options)}
    return frozenset(names | set(kernel.heuristics))  # a heuristic may look at the config


def _rerun(parameter: ParameterReport, tuned: frozenset[str] | None) -> Rerun:
    """What the worst call does to a parameter: one that tunes over variants which agree in all that is not `tuned`."""
    calls: dict[object, list[VariantUse]] = {}
    for use in parameter.uses:
        # A descriptor's block shape follows the config: its hook sets it.
        given = None if tuned is None else tuple(
            c for c in use.choices if c[0] not in tuned and not c[1].startswith("tensordesc<"))
        calls.setdefault(given, []).append(use)
    found = Rerun.SAFE
    for uses in calls.values():
        found = max(found, *(use.rerun for use in uses))
        if any(use.reads and not use.writes for use in uses) and any(use.writes for use in uses):
            found = Rerun.UPDATES  # a config reads what another one wrote
    return found


def _finding(subject: KernelSubject, kernel: Kernel, parameter: ParameterReport, rerun: Rerun,
             place: Location) -> Finding:
    autotune, name = kernel.autotune, parameter.name
    assert autotune is not None
    outcome = f"and tuning over {len(autotune.configs)} configs runs it again and again on what the run before left"
    if name in autotune.reset_to_zero:
        also = " too, and the zeros win" if name in autotune.restore_value else ""
        outcome = f"but `reset_to_zero` names it{also}: the launch that counts reads zeros, not the caller's values"
    remedy, changes = _remedy(subject, kernel, parameter, rerun, place)
    return RULE.finding(
        f"`{subject.report.name}` {_WHAT[rerun]} `{name}`{condition(parameter)}, {outcome}",
        place, kernel=subject.report, parameter=name, help=remedy, subject=place, changes=changes,
        related=places(parameter),
        unfixed=NOT_TAKEN if not changes and may_be_none(subject, parameter) else "",
    )


def _remedy(subject: KernelSubject, kernel: Kernel, parameter: ParameterReport, rerun: Rerun,
            place: Location) -> tuple[str, tuple[Change, ...]]:
    """What to do, in words and as an edit: restoring is right whatever callers pass, zeroing only if all pass zeros."""
    autotune, name = kernel.autotune, parameter.name
    assert autotune is not None
    if parameter.kind is ParameterKind.DESCRIPTOR:
        return "`restore_value` cannot hold a tensor descriptor: copy and put back `desc.base` in hooks", ()
    if "." in name:
        return "`restore_value` cannot hold an element of a tuple: pass the pointer by itself, or use hooks", ()
    if may_be_none(subject, parameter):
        return f"copy and put back `{name}` in hooks that ask for None: {NOT_TAKEN}", ()
    names = tuple(p.name for p in subject.report.parameters)
    restore = Change(ListKind.RESTORE_VALUE, name, True, place, names)
    if name in autotune.reset_to_zero:
        hooked = is_hooked(kernel, autotune)
        moved = (restore, Change(ListKind.RESET_TO_ZERO, name, False, place))
        return f"name `{name}` in `restore_value`, and not in `reset_to_zero`", () if hooked else moved
    if rerun is Rerun.ACCUMULATES and gets_zeros(kernel, name):
        reset = Change(ListKind.RESET_TO_ZERO, name, True, place, names)
        return f"name `{name}` in `reset_to_zero`: every launch in this file passes zeros", (reset,)
    zeros = "" if rerun is Rerun.UPDATES else ", or in `reset_to_zero` if callers always pass zeros"
    return f"name `{name}` in `restore_value`{zeros}", (restore,)


RULE = Rule("TML301", "autotune-unrestored", Severity.ERROR, __doc__ or "", check=check)
