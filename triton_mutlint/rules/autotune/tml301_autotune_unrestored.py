'''Autotuning corrupts a parameter that the kernel reads and writes, or accumulates into.

## What it does

Looks at kernels with more than one autotune config and reports

* a parameter from which the kernel loads a value where it writes another one, unless `restore_value` names it;
* a parameter that is accumulated into (atomics, or load, add and store), or through which programs
  wait for each other, unless `restore_value` or `reset_to_zero` names it;
* a `pre_hook` or `post_hook` of `@triton.autotune` itself that replaces the hook which carries out
  `restore_value` or `reset_to_zero`, so that these do nothing;
* a name in those lists that is no parameter, or one that Triton cannot clone.

It does not report what runs as well a second time: memory that the kernel writes before it reads it, a
lock that is always freed, a counter that the kernel itself sets back to zero, an atomic maximum or minimum whose
result is not used, and a store of what was there, limited or replaced by a value from elsewhere.

It also reports nothing where it cannot know: where reads and writes go to addresses that are computed in different
ways, where hooks are given (also by a config), as they may restore what the kernel changed, and where a list could
not be evaluated.

## Why

To find the best config, Triton runs every config many times on the caller's own tensors, and only
then makes the launch that counts. `restore_value` copies a tensor before each of these runs and
puts it back afterwards. `reset_to_zero` sets it to zero before each run and once before the launch
that counts: right for a sum that starts at zero, wrong for values that the kernel needs. The first
call gives wrong numbers, later ones do not, so tests that run twice pass.

## Bad

```python
CONFIGS = [triton.Config({"BLOCK": block}) for block in (128, 256)]

@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
```

## Good

```python
CONFIGS = [triton.Config({"BLOCK": block}) for block in (128, 256)]

@triton.autotune(CONFIGS, key=["n"], restore_value=["x_ptr"])
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
```

## How to fix

Add `restore_value` as the message says, or `reset_to_zero` where the kernel accumulates and every caller passes
zeros, which costs no copy. A tensor descriptor or a tuple cannot be restored by name:
give `pre_hook` and `post_hook`, which get all arguments by name, or pass a pointer. A `pre_hook` of
a `triton.Config` is run besides `restore_value`, not in place of it.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.autotune.launches import NOT_TAKEN, may_be_none
from triton_mutlint.rules.autotune.lists import faults, is_hooked, protects
from triton_mutlint.rules.rule import KernelSubject, Rule, condition, places
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
    for parameter in subject.report.parameters if len(autotune.configs) > 1 else ():
        base, rerun = parameter.name.partition(".")[0], parameter.rerun
        if rerun is not Rerun.SAFE and not protects(kernel, autotune, base, rerun):
            yield _finding(subject, kernel, autotune, parameter, place)


def _finding(subject: KernelSubject, kernel: Kernel, autotune: Autotune, parameter: ParameterReport,
             place: Location) -> Finding:
    name = parameter.name
    outcome = f"and tuning over {len(autotune.configs)} configs runs it again and again on what the run before left"
    if name in autotune.reset_to_zero:
        also = " too, and the zeros win" if name in autotune.restore_value else ""
        outcome = f"but `reset_to_zero` names it{also}: the launch that counts reads zeros, not the caller's values"
    may_be_absent = may_be_none(subject, parameter)
    order = tuple(p.name for p in subject.report.parameters)
    changes = [Change(ListKind.RESTORE_VALUE, name, True, place, order)]  # right whatever callers pass
    remedy = f"name `{name}` in `restore_value`"
    if parameter.kind is ParameterKind.DESCRIPTOR:
        remedy, changes = "`restore_value` cannot hold a tensor descriptor: copy and put back `desc.base` in hooks", []
    elif "." in name:
        remedy = "`restore_value` cannot hold an element of a tuple: pass the pointer by itself, or use hooks"
        changes = []
    elif may_be_absent:
        remedy, changes = f"copy and put back `{name}` in hooks that ask for None: {NOT_TAKEN}", []
    elif name in autotune.reset_to_zero:
        remedy += ", and not in `reset_to_zero`"
        moved = [*changes, Change(ListKind.RESET_TO_ZERO, name, False, place)]
        changes = [] if is_hooked(kernel, autotune) else moved
    elif parameter.rerun is not Rerun.UPDATES:
        remedy += ", or in `reset_to_zero` if callers always pass zeros"
    return RULE.finding(
        f"`{subject.report.name}` {_WHAT[parameter.rerun]} `{name}`{condition(parameter)}, {outcome}", place,
        kernel=subject.report, parameter=name, help=remedy, subject=place, changes=changes, related=places(parameter),
        unfixed=NOT_TAKEN if not changes and may_be_absent else "",
    )


RULE = Rule("TML301", "autotune-unrestored", Severity.ERROR, __doc__ or "", check=check)
