'''A kernel writes a parameter that its declaration leaves out.

## What it does

Compares what a kernel may write with what it is declared to write: `mutates` in the spec, a
`# triton-mutlint: mutates=...` comment, or a parameter's `tl.const` annotation. Kernels without a
declaration are not checked. A write under a condition (a constexpr, an autotune config) counts.

## Why

Whoever reads the declaration trusts it. `torch.compile` drops, reorders or fuses around a kernel
whose writes it does not know of, and the numbers are silently wrong.

## Example

```diff
-# triton-mutlint: mutates=out_ptr
+# triton-mutlint: mutates=x_ptr,out_ptr
 @triton.jit
 def scale(x_ptr, out_ptr):
     i = tl.program_id(0) * 128 + tl.arange(0, 128)
     tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)
-    tl.store(x_ptr + i, 0.0)  # x_ptr is not declared
+    tl.store(x_ptr + i, 0.0)
```

## How to fix

If the write is meant, add the parameter to the declaration, and to the `mutates_args` of every
custom op that launches the kernel. If it is not, remove the write.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.contracts.declarations import KernelDeclaration, change_of, covers
from triton_mutlint.rules.rule import WRITING, KernelSubject, Rule, condition, places
from triton_mutlint.types import Finding, Mutation, ParameterReport, Related, Severity


def check(subject: KernelSubject) -> Iterator[Finding]:
    for parameter in subject.report.parameters:
        if parameter.mutation in (Mutation.WRITTEN, Mutation.CONDITIONAL):
            if subject.declaration is not None and not subject.declaration.names(parameter.name):
                yield _undeclared(subject, parameter)
            elif subject.declaration is None and _is_const(subject, parameter):
                what = f"`{subject.report.name}` writes `{parameter.name}`{condition(parameter)}"
                yield RULE.finding(
                    f"{what}, which is annotated `tl.const`", subject.place_of(parameter.name), kernel=subject.report,
                    parameter=parameter.name, related=places(parameter, WRITING),
                    help="remove the annotation or the write", subject=subject.report.location,
                )


def _undeclared(subject: KernelSubject, parameter: ParameterReport) -> Finding:
    declared = subject.declaration
    assert declared is not None
    what = f"`{subject.report.name}` writes `{parameter.name}`{condition(parameter)}"
    names = ", ".join(f"`{name}`" for name in declared.mutates) or "nothing"
    where = "its spec entry" if declared.origin == "spec" else "its comment"
    place = Related(f"declared to write {names} here", declared.location)
    complete = _complete(subject, declared)
    wanted = f"mutates: [{', '.join(complete)}]" if declared.origin == "spec" else f"mutates={','.join(complete)}"
    return RULE.finding(
        f"{what}, which {where} does not list under `mutates`", subject.place_of(parameter.name),
        kernel=subject.report, parameter=parameter.name, related=(place, *places(parameter, WRITING)),
        help=f"if the write is meant, declare it: `{wanted}`; otherwise remove it",
        changes=[change_of(declared, parameter.name, [p.name for p in subject.report.parameters], add=True)],
        subject=declared.location,
    )


def _complete(subject: KernelSubject, declared: KernelDeclaration) -> list[str]:
    """What the declaration should name: what it names now, if it exists, and every write."""
    report = subject.report
    kept = [n for n in declared.mutates if any(covers(n, p.name) for p in report.parameters)]
    added = [n for n in report.mutated if not declared.names(n)]
    order = {p.name: i for i, p in enumerate(report.parameters)}
    first = {n: min(i for p, i in order.items() if covers(n, p)) for n in (*kept, *added)}
    return sorted(first, key=first.__getitem__)


def _is_const(subject: KernelSubject, parameter: ParameterReport) -> bool:
    kernel = subject.kernel
    return kernel is not None and any(p.is_const and p.name == parameter.name for p in kernel.parameters)


RULE = Rule("TML101", "undeclared-mutation", Severity.ERROR, __doc__ or "", check=check)
