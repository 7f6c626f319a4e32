'''A pointer that is only read could be annotated `tl.const`.

## What it does

Reports pointer parameters that are read in some analysed variant and written in none, and that are
not annotated `tl.const`. Off by default.

## Why

With `x_ptr: tl.const` Triton itself refuses to compile a store through `x_ptr`: the contract is
checked at every launch and visible in the signature.

## Example

```diff
 @triton.jit
-def copy(x_ptr, out_ptr):
+def copy(x_ptr: tl.const, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
     tl.store(out_ptr + i, tl.load(x_ptr + i))
```

## How to fix

Annotate the parameter: `x_ptr: tl.const`.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule, places
from triton_mutlint.types import AccessKind, Finding, Mutation, ParameterKind, ParameterReport, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    through = {write.through for write in subject.report.indirect_writes}
    const = {p.name for p in subject.kernel.parameters if p.is_const or p.annotation} if subject.kernel else set()
    for parameter in subject.report.parameters:
        if _is_candidate(parameter) and parameter.name not in const | through:
            yield RULE.finding(
                f"`{subject.report.name}` only reads `{parameter.name}`", subject.place_of(parameter.name),
                kernel=subject.report, parameter=parameter.name, related=places(parameter, [AccessKind.READ]),
                help=f"annotate `{parameter.name}` as `tl.const`", subject=subject.report.location,
            )


def _is_candidate(parameter: ParameterReport) -> bool:
    # A tuple's elements cannot be annotated one by one; `*k` types are const already.
    plain = parameter.kind is ParameterKind.POINTER and "." not in parameter.name
    reads_only = parameter.reads and parameter.mutation is Mutation.UNWRITTEN
    return plain and reads_only and not parameter.type.startswith("*k")


RULE = Rule("TML303", "const-candidate", Severity.OFF, __doc__ or "", check=check)
