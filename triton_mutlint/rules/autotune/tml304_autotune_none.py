'''`restore_value` or `reset_to_zero` names an argument that may be None.

## What it does

Reports a name in `restore_value` or `reset_to_zero` of a kernel with more than one autotune config for which
a launch passes None, or which a launch leaves out because its default is None. Launches are looked for in
the kernel's file and in the linted files that import the kernel. Where the launching function tests the argument
before (`if state is not None:`), nothing is reported.

## Why

While tuning, Triton calls `clone()` on each argument in `restore_value` and `zero_()` on each one in
`reset_to_zero`. Triton before 3.8 does so without asking whether the argument is None, and the first launch
ends with `AttributeError: 'NoneType' object has no attribute 'clone'`. From 3.8 on None is passed over.
An argument that a launch leaves out is a `KeyError` in every version, as its default is not looked up.
A launch whose key was tuned before goes well, so tests may miss it.

## Example

```diff
 CONFIGS = [triton.Config({"BLOCK": block}) for block in (128, 256)]

 @triton.autotune(CONFIGS, key=["n"], restore_value=["state_ptr"])
 @triton.jit
 def add_to(x_ptr, state_ptr, n, BLOCK: tl.constexpr):
     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
     if state_ptr is not None:
         tl.atomic_add(state_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


-def step(x):
-    add_to[(1,)](x, None, x.numel())
+def step(x, state):
+    add_to[(1,)](x, state, x.numel())
```

## How to fix

Pass a tensor that the kernel does not use, and let a flag say so. Or take the name out of the list, and copy
and put back the argument in a `pre_hook` and a `post_hook` of `@triton.autotune` that ask whether it is None.
Or require Triton 3.8 or newer, pass None explicitly, and suppress the finding.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.autotune.surroundings import Absence, absence
from triton_mutlint.rules.autotune.tml301_autotune_unrestored import METHODS, replaced
from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Location, Related, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    autotune = subject.kernel.autotune if subject.kernel else None
    if autotune is None or len(autotune.configs) < 2:
        return
    place = Location(subject.report.location.file, autotune.line or subject.report.location.line)
    idle = replaced(autotune)
    for argument in METHODS:
        for name in dict.fromkeys(getattr(autotune, argument)):
            found = absence(subject, name) if name not in idle.get(argument, ()) else None
            if found is not None:
                yield _finding(subject, argument, name, found, place)


def _finding(subject: KernelSubject, argument: str, name: str, found: Absence, place: Location) -> Finding:
    how = "passes as None: before Triton 3.8, tuning ends with an AttributeError, as None has no " + METHODS[argument]
    if found.is_left_out:
        how = "leaves out, as its default is None: tuning such a launch ends with a KeyError"
    return RULE.finding(
        f"`{argument}` of `{subject.report.name}` names `{name}`, which a launch {how}", place, kernel=subject.report,
        parameter=name, related=[Related("launched here", found.place)],
        help=f"pass a tensor in place of None, or take `{name}` out of `{argument}` and handle it in hooks that ask "
             "for None",
        unfixed="what launches should pass in place of None is not known",
    )


RULE = Rule("TML304", "autotune-none", Severity.ERROR, __doc__ or "", check=check)
