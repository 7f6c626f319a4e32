'''A spec entry or a declaring comment names nothing.

## What it does

Reports kernels and parameters that a spec names but no linted file has, names under its `globals`
that no file mentions, `mutates` comments that name no parameter, that belong to no analysed kernel
or cannot be read, and comments that differ from the spec's `mutates` for the same kernel.

## Why

A gate with a misspelt name is open: nothing is checked, and nobody is told.

## Example

```diff
-# triton-mutlint: mutates=ouptut_ptr
+# triton-mutlint: mutates=output_ptr
 @triton.jit
 def fill(output_ptr):
     tl.store(output_ptr + tl.arange(0, 128), 0.0)
```

## How to fix

Correct the name (the message gives the nearest one) or remove it.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.contracts.declarations import COMMENT, KernelDeclaration, change_of, covers, read_declarations
from triton_mutlint.rules.rule import KernelSubject, Rule, RunSubject, misnamed
from triton_mutlint.types import Finding, Related, Severity, SourceFile, Status


def check_run(run: RunSubject) -> Iterator[Finding]:
    for message, location in run.spec_unused:
        yield RULE.finding(message, location, help="correct the name in the spec, or remove it")
    for source in run.sources:
        yield from _comments(run, source)
    for subject in run.kernels:
        if subject.declaration is not None:
            yield from _names(subject, subject.declaration)


def _comments(run: RunSubject, source: SourceFile) -> Iterator[Finding]:
    comments = read_declarations(source)
    for problem in comments.problems:
        yield RULE.finding(problem.message, problem.location, help=problem.help)
    kernels: dict[int, list[KernelSubject]] = {}
    for subject in run.kernels:
        if subject.report.location.file == source.display:
            kernels.setdefault(subject.report.location.line, []).append(subject)
    for line, declared in comments.by_line.items():
        if line not in kernels and run.is_complete(source):
            yield RULE.finding(
                "this `mutates` comment belongs to no kernel that was analysed", declared.location,
                help="declarations are checked on kernels, not on the functions that they call",
            )
        for subject in kernels.get(line, ()):
            yield from _conflict(subject, declared)


def _conflict(subject: KernelSubject, comment: KernelDeclaration) -> Iterator[Finding]:
    used = subject.declaration
    if used is None or used.origin == COMMENT or set(used.mutates) == set(comment.mutates):
        return
    names = ", ".join(used.mutates) or "nothing"
    yield RULE.finding(
        f"this comment and the spec declare different writes for `{subject.report.name}`; the spec holds ({names})",
        comment.location, kernel=subject.report, related=(Related("the spec's `mutates`", used.location),),
        help="keep one of the two",
    )


def _names(subject: KernelSubject, declared: KernelDeclaration) -> Iterator[Finding]:
    """Names that are no parameter; those of a spec are already among `spec_unused`, elements are not."""
    report = subject.report
    known = list(subject.kernel.parameter_names) if subject.kernel else []
    flattened = [p.name for p in report.parameters] if report.status is Status.ANALYZED else []
    for name in declared.mutates:
        base = name.partition(".")[0]
        missing = bool(known) and base not in known and declared.origin == COMMENT
        no_element = bool(flattened) and base != name and not any(
            covers(name, p) or covers(p, name) for p in flattened) and (base in known or not known)
        if missing or no_element:
            meant, hint = misnamed(name, flattened or known, declared.mutates)
            yield RULE.finding(f"`{report.name}` has no parameter `{name}`, which `mutates` names",
                               declared.place_of(name), kernel=report, parameter=name, help=hint,
                               changes=[change_of(declared, name, (), add=False)] if missing and not meant else (),
                               unfixed=f"`{meant}` may be meant" if meant else "it may have other elements",
                               subject=declared.location)


RULE = Rule("TML904", "stale-spec", Severity.WARNING, __doc__ or "", check_run=check_run)
