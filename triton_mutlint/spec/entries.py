"""A kernel's spec entry from its verdict: the arguments that it was lowered with, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from triton_mutlint.spec.as_yaml import WrittenArgument, argument_spec, argument_text
from triton_mutlint.spec.bind import tuned_parameters, value_parameters
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.spec.values import distinct, value_key
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Kernel,
    KernelReport,
    Mutation,
    Parameter,
    Plan,
    StageError,
    Status,
    Variant,
)

_Arguments = Mapping[str, tuple[ArgType, ...]]


@dataclass(frozen=True)
class EntrySubject:
    """A kernel that was analysed: its entry so far, its verdict, and the variants as lowered.

    `plan` (which raises StageError) and `analyze` do the same again under another entry.
    """

    kernel: Kernel
    entry: KernelSpec | None
    report: KernelReport
    variants: Sequence[Variant]
    plan: Callable[[KernelSpec | None], Plan]
    analyze: Callable[[KernelSpec | None], KernelReport]

    def argument(self, name: str, args: tuple[ArgType, ...], comment: str = "") -> WrittenArgument | None:
        """The line that gives a parameter these alternatives; None if YAML cannot say it."""
        parameter = self.kernel.parameters[self.kernel.parameter_names.index(name)]
        text = argument_text(self.kernel, parameter, args)
        return None if text is None else WrittenArgument(name, text, comment)


@dataclass(frozen=True)
class Settled:
    """Arguments that give the kernel its verdict again, and those that are better left to inference.

    `guesses` are shown as comments: each check makes them anew, from the source as it is then.
    """

    arguments: tuple[WrittenArgument, ...]
    guesses: tuple[WrittenArgument, ...] = ()
    left: tuple[tuple[str, str], ...] = ()  # (parameter, why)


@dataclass(frozen=True)
class Draft:
    """What the entry of one kernel is made of: its verdict with the arguments of `entry` alone, what to write for those
    that were inferred (of a kernel without a verdict, its guesses), and what the source gives."""

    report: KernelReport
    settled: Settled
    given: str = ""


def draft(subject: EntrySubject) -> Draft:
    """Needs the kernel itself; what comes out is data."""
    if subject.report.failure is not None:
        return Draft(subject.report, Settled((), guesses(subject)))
    return Draft(subject.report, settle(subject), given_by_source(subject.kernel, subject.plan(subject.entry)))


def settle(subject: EntrySubject) -> Settled:
    """What to write for the parameters that were inferred, so that the verdict stays as it is.

    A value that the source could take otherwise is not written: under it alone, the gate would not see a write that
    comes to stand under another. A spec's lists multiply, while a guess is repaired for one variant at a time: where
    the product of all types is not what was analysed, fewer of them are written, and the verdict is compared.
    """
    plan = subject.plan(subject.entry)
    planned = _planned(subject.kernel, plan)
    found = {n: distinct(v.args[n] for v in subject.variants) for n in planned}
    guessed = [n for n in planned if n in plan.partial or not _holds_always(found[n])]
    lines = {n: subject.argument(n, found[n], _reason(n, found[n], planned[n], plan)) for n in planned}
    writable = {n: found[n] for n in planned if n not in guessed and lines[n] is not None}
    chosen = next((c for c in _fewer(subject, writable) if _keeps_verdict(subject, c)), {})
    return Settled(
        tuple(line for n, line in lines.items() if n in chosen and line is not None),
        tuple(lines[n] or WrittenArgument(n, '"<value>"', plan.reasons.get(n, "")) for n in guessed),
        tuple((n, _why_left(subject, n, n in writable)) for n in planned if n not in guessed and n not in chosen),
    )


def _fewer(subject: EntrySubject, arguments: _Arguments) -> Iterator[_Arguments]:
    """Sets of arguments that may give the same verdict, the fullest first."""
    yield arguments
    unknown = {name.partition(".")[0] for name in subject.report.unknown}
    yield {n: args for n, args in arguments.items() if n not in unknown}
    yield {n: args for n, args in arguments.items() if len(args) == 1}


def _keeps_verdict(subject: EntrySubject, arguments: _Arguments) -> bool:
    """Whether the kernel has its verdict again under its entry with these arguments."""
    base = subject.entry or KernelSpec(subject.kernel.name)
    lines = [subject.argument(name, args) for name, args in arguments.items()]
    specs = [argument_spec(line.name, line.text) for line in lines if line is not None]
    entry = replace(base, args=(*base.args, *(spec for spec in specs if spec is not None)))
    try:
        same = {_key(v) for v in subject.plan(entry).variants} == {_key(v) for v in subject.variants}
    except StageError:
        return False
    if same and not subject.report.unknown:  # a type that is written down leaves no doubt
        return True
    return _verdict(subject.analyze(entry)) == _verdict(subject.report)


def _key(variant: Variant) -> tuple[tuple[str, tuple[str, str]], ...]:
    return tuple((name, value_key(arg)) for name, arg in variant.args.items())


def _verdict(report: KernelReport) -> tuple[object, ...]:
    through = frozenset((w.through, w.via) for w in report.indirect_writes)
    return report.status is Status.ANALYZED, report.mutated, report.unknown, through


def _holds_always(args: tuple[ArgType, ...]) -> bool:
    """Whether nothing else can be passed: a type, perhaps beside None, or a flag with both of its values."""
    values = [a.value for a in args if isinstance(a, ConstexprValue)]
    return len(values) < len(args) or (len(values) == 2 and all(isinstance(v, bool) for v in values))


def _why_left(subject: EntrySubject, name: str, writable: bool) -> str:
    if not writable:
        return "YAML has no name for its value"
    if any(name in p.name.split(".")[:1] for p in subject.report.parameters if p.mutation is Mutation.UNKNOWN):
        return "whether it is written hangs on it: say what it is"
    return "its types depend on each other's"


def guesses(subject: EntrySubject) -> tuple[WrittenArgument, ...]:
    """For a kernel without a verdict: what was tried first, or else what a person has to fill in."""
    kernel = subject.kernel
    try:
        plan = subject.plan(subject.entry)
    except StageError:
        values = value_parameters(kernel)
        given = tuned_parameters(kernel) | set(kernel.heuristics)
        names = [p.name for p in kernel.parameters if p.name not in given and not p.has_default]
        return tuple(WrittenArgument(n, '"<value>"' if n in values else '"<type>"') for n in names)
    return tuple(
        subject.argument(n, args, plan.reasons.get(n, "")) or WrittenArgument(n, '"<value>"')
        for n, args in _planned(kernel, plan).items()
    )


def giver_in_source(kernel: Kernel, parameter: Parameter) -> str:
    """What in the source gives a parameter, if anything does: autotune, heuristics or its default."""
    if parameter.name in tuned_parameters(kernel):
        return "autotune"
    return "heuristics" if parameter.name in kernel.heuristics else "default" if parameter.has_default else ""


def given_by_source(kernel: Kernel, plan: Plan) -> str:
    """The parameters that need no entry, and what gives them; empty if there are none."""
    line = f", line {kernel.autotune.line}" if kernel.autotune and kernel.autotune.line else ""
    given: dict[str, list[str]] = {}
    for parameter in kernel.parameters:
        giver = giver_in_source(kernel, parameter)
        if giver == "autotune" or (giver and parameter.name not in plan.inferred):
            given.setdefault(giver + (line if giver == "autotune" else ""), []).append(parameter.name)
    parts = [f"{', '.join(names)} ({origin})" for origin, names in given.items()]
    return f"from the source: {'; '.join(parts)}" if parts else ""


def verdict_comments(report: KernelReport) -> Iterator[str]:
    """What `mutates` alone does not tell of the verdict."""
    for parameter in report.parameters:
        if parameter.mutation is Mutation.CONDITIONAL:
            yield f"{parameter.name} is written only with {parameter.condition}"
    if report.unknown:
        yield f"undecided: {', '.join(report.unknown)}"
    for via in sorted({(w.through, w.via) for w in report.indirect_writes}):
        yield f"writes through {'addresses loaded from' if via[1] == 'loaded' else 'the address'} {via[0]}"


def _planned(kernel: Kernel, plan: Plan) -> dict[str, tuple[ArgType, ...]]:
    """The parameters that nothing but inference gives, with what it took them for."""
    names = [n for n in kernel.parameter_names if n in plan.inferred and n not in tuned_parameters(kernel)]
    return {n: distinct(v.args[n] for v in plan.variants) for n in names}


def _reason(name: str, args: tuple[ArgType, ...], planned: tuple[ArgType, ...], plan: Plan) -> str:
    """Why a parameter is what it is, and which guess was repaired."""
    reason = plan.reasons.get(name, "")
    if {value_key(a) for a in args} <= {value_key(a) for a in planned}:
        return reason
    return f"{reason}; Triton refuses {', '.join(map(str, planned))}".removeprefix("; ")
