'''A store through an address that was loaded from memory or passed as an integer.

## What it does

Reports each store or atomic whose address comes out of a parameter's memory (a table of pointers)
or out of an integer parameter. Such a write is not a write of that parameter's own memory, and
which tensor it hits cannot be told from the kernel. A declaration that names the parameter
acknowledges the write, and it is not reported; nor are ops that TML201 reports.

## Why

No list of mutated arguments can name the tensor that is written: `torch.compile` does not see it,
and autotuning cannot restore it.

## Example

```diff
 @triton.jit
-def fill_all(table_ptr):
-    target = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
-    tl.store(target + tl.arange(0, 128), 0.0)
+def fill_one(out_ptr):
+    tl.store(out_ptr + tl.program_id(0) * 128 + tl.arange(0, 128), 0.0)
```

## How to fix

Pass the tensors themselves, as parameters or as a tuple of pointers. Where the table is needed,
name it in `mutates` and have every caller declare all the tensors in it as mutated.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import KernelSubject, Rule
from triton_mutlint.types import Finding, Related, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    declared = subject.declaration
    undecided = {(op.op, op.location) for op in subject.report.unanalyzable_ops}  # TML201 speaks for these
    for write in subject.report.indirect_writes:
        name, loaded = write.through, write.via == "loaded"
        acknowledged = declared is not None and declared.names(name)
        if not acknowledged and (write.op, write.location) not in undecided:
            source = f"loaded from the memory of `{name}`" if loaded else f"that the integer `{name}` holds"
            yield RULE.finding(
                f"{write.op} in `{subject.report.name}` writes through an address {source}: which tensor it hits is "
                "not known", write.location, kernel=subject.report, parameter=name,
                related=[Related("the address comes through this parameter", subject.place_of(name))],
                help=f"pass the tensor itself, or declare `mutates={name}` and have callers declare every tensor it "
                     "points to",
            )


RULE = Rule("TML202", "indirect-write", Severity.WARNING, __doc__ or "", check=check)
