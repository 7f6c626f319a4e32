'''A pointer parameter is never read or written.

## What it does

Reports pointers and tensor descriptors that no analysed variant accesses and that nothing else
depends on. A pointer that the source may read under a flag whose other value was not analysed is not
reported. Off by default.

## Why

A pointer that is passed and never used is usually left over from an edit, or the sign of one that
went wrong. It costs a register, and an alignment check at every launch.

## Example

```diff
 @triton.jit
-def copy(x_ptr, bias_ptr, out_ptr):
+def copy(x_ptr, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
     tl.store(out_ptr + i, tl.load(x_ptr + i))
```

## How to fix

Remove the parameter and the argument at each launch.
'''

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Mutation, ParameterKind, ParameterReport, Severity

_ADDRESSES = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)


def check(subject: KernelSubject) -> Iterator[Finding]:
    through = {write.through for write in subject.report.indirect_writes}
    through |= {name for op in subject.report.opaque_ops for name in op.parameters}
    for parameter in subject.report.parameters:
        if not _is_unused(parameter) or parameter.name in through:
            continue
        message = f"`{subject.report.name}` does not use `{parameter.name}`"
        if _is_mentioned(subject, parameter):
            message = (f"`{subject.report.name}` mentions `{parameter.name}`, but no analysed variant reads or writes "
                       "through it")
        yield RULE.finding(
            message, subject.place_of(parameter.name), kernel=subject.report, parameter=parameter.name,
            help="remove the parameter, and the argument at each launch", subject=subject.report.location,
        )


def _is_unused(parameter: ParameterReport) -> bool:
    untouched = not (parameter.reads or parameter.writes or parameter.atomics or parameter.may_read)
    return parameter.kind in _ADDRESSES and untouched and parameter.mutation is Mutation.UNWRITTEN


def _is_mentioned(subject: KernelSubject, parameter: ParameterReport) -> bool:
    if subject.kernel is None:
        return False
    base = parameter.name.partition(".")[0]
    nodes = (node for statement in subject.kernel.node.body for node in ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id == base for node in nodes)


RULE = Rule("TML302", "unused-pointer", Severity.OFF, __doc__ or "", check=check)
