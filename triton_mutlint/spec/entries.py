"""A kernel's spec entry from its verdict: the arguments that it was lowered with, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from triton_mutlint.model import (
    ArgType,
    ConstexprValue,
    KernelReport,
    LoadedKernel,
    Mutation,
    Parameter,
    SignaturePlan,
    StageError,
    Status,
    Variant,
)
from triton_mutlint.spec.as_yaml import argument_spec, argument_text
from triton_mutlint.spec.bind import tuned_parameters, value_parameters
from triton_mutlint.spec.entry_text import WrittenArgument
from triton_mutlint.spec.model import KernelSpec
from triton_mutlint.spec.values import argument_key

Plan = Callable[[KernelSpec | None], SignaturePlan]  # of one kernel, under an entry; raises StageError
Analyze = Callable[[KernelSpec | None], KernelReport]
_Arguments = dict[str, tuple[ArgType, ...]]


@dataclass(frozen=True)
class Subject:
    """A kernel that was analysed: its entry so far, its plan and verdict, and the variants as lowered.

    `plan` and `analyze` do the same again under another entry.
    """

    kernel: LoadedKernel
    entry: KernelSpec | None
    report: KernelReport
    variants: Sequence[Variant]
    plan: Plan
    analyze: Analyze


@dataclass(frozen=True)
class Settled:
    """Arguments that give the kernel its verdict again, and those that are better left to inference.

    `guesses` are shown as comments: each check makes them anew, from the source as it is then.
    """

    arguments: tuple[WrittenArgument, ...]
    guesses: tuple[WrittenArgument, ...] = ()
    left: tuple[tuple[str, str], ...] = ()  # (parameter, why)


def settle(subject: Subject) -> Settled:
    """What to write for the parameters that were inferred, so that the verdict stays as it is.

    A value that the source could take otherwise is not written: under it alone, the gate would not see a write that
    comes to stand under another. A spec's lists multiply, while a guess is repaired for one variant at a time: where
    the product of all types is not what was analysed, fewer of them are written, and the verdict is compared.
    """
    plan = subject.plan(subject.entry)
    wanted = _wanted(subject.kernel, plan)
    found = {n: _distinct(v.args[n] for v in subject.variants) for n in wanted}
    guessed = [n for n in wanted if n in plan.partial or not _holds_always(found[n])]
    wanted = [n for n in wanted if n not in guessed]
    texts = {n: argument_text(subject.kernel, p, found[n]) for n, p in _parameters(subject.kernel, wanted)}
    writable = {n: found[n] for n in wanted if texts[n] is not None}
    planned = {n: _distinct(v.args[n] for v in plan.variants) for n in wanted}
    chosen = writable
    if not _is_exact(subject, writable) or subject.report.unknown:  # a type that is written down leaves no doubt
        tried = _fewer(subject, writable, planned)
        chosen = next((c for c in tried if _keeps_verdict(subject, c)), {})
    return Settled(
        tuple(_written(subject.kernel, n, chosen[n], planned[n], plan.reasons) for n in wanted if n in chosen),
        tuple(_written(subject.kernel, n, found[n], found[n], plan.reasons) for n in guessed),
        tuple((n, _why_left(subject, n, n in writable)) for n in wanted if n not in chosen),
    )


def _holds_always(args: tuple[ArgType, ...]) -> bool:
    """Whether nothing else can be passed: a type, perhaps beside None, or a flag with both of its values."""
    values = [a.value for a in args if isinstance(a, ConstexprValue)]
    return len(values) < len(args) or (len(values) == 2 and all(isinstance(v, bool) for v in values))


def _why_left(subject: Subject, name: str, writable: bool) -> str:
    if not writable:
        return "YAML has no name for its value"
    if any(name in p.name.split(".")[:1] for p in subject.report.parameters if p.mutation is Mutation.UNKNOWN):
        return "whether it is written hangs on it: say what it is"
    return "its types depend on each other's"


def guesses(subject: Subject) -> tuple[WrittenArgument, ...]:
    """For a kernel without a verdict: what was tried first, or else what a person has to fill in."""
    kernel = subject.kernel
    try:
        plan = subject.plan(subject.entry)
    except StageError:
        values = value_parameters(kernel)
        given = tuned_parameters(kernel) | set(kernel.heuristics)
        names = [p.name for p in kernel.parameters if p.name not in given and not p.has_default]
        return tuple(WrittenArgument(n, '"<value>"' if n in values else '"<type>"') for n in names)
    wanted = _wanted(kernel, plan)
    planned = {n: _distinct(v.args[n] for v in plan.variants) for n in wanted}
    return tuple(_written(kernel, n, planned[n], planned[n], plan.reasons) for n in wanted)


def given_by_source(kernel: LoadedKernel, plan: SignaturePlan) -> str:
    """The parameters that need no entry, and what gives them; empty if there are none."""
    tuned = [n for n in kernel.parameter_names if n in tuned_parameters(kernel)]
    computed = [n for n in kernel.parameter_names if n in kernel.heuristics and n not in plan.inferred]
    parts = []
    if tuned:
        line = f", line {kernel.autotune.line}" if kernel.autotune and kernel.autotune.line else ""
        parts.append(f"{', '.join(tuned)} (autotune{line})")
    if computed:
        parts.append(f"{', '.join(computed)} (heuristics)")
    defaults = [p.name for p in kernel.parameters if p.has_default and p.name not in (*tuned, *computed)]
    own = [n for n in defaults if n not in plan.inferred]
    if own:
        parts.append(f"{', '.join(own)} (default)")
    return f"from the source: {'; '.join(parts)}" if parts else ""


def verdict_comments(report: KernelReport) -> Iterator[str]:
    """What `mutates` alone does not tell of the verdict."""
    for parameter in report.parameters:
        if parameter.mutation is Mutation.CONDITIONAL:
            yield f"{parameter.name} is written only with {' or '.join(parameter.when)}"
    if report.unknown:
        yield f"undecided: {', '.join(report.unknown)}"
    for via in sorted({(w.through, w.via) for w in report.indirect_writes}):
        yield f"writes through {'addresses loaded from' if via[1] == 'loaded' else 'the address'} {via[0]}"


# --------------------------------------------------------------------------- which arguments


def _wanted(kernel: LoadedKernel, plan: SignaturePlan) -> list[str]:
    """The parameters that nothing but inference gives."""
    tuned = tuned_parameters(kernel)
    return [n for n in kernel.parameter_names if n in plan.inferred and n not in tuned]


def _parameters(kernel: LoadedKernel, names: Iterable[str]) -> Iterator[tuple[str, Parameter]]:
    by_name = {p.name: p for p in kernel.parameters}
    return ((name, by_name[name]) for name in names)


def _distinct(args: Iterable[ArgType]) -> tuple[ArgType, ...]:
    return tuple({argument_key(arg): arg for arg in reversed(list(args))}.values())[::-1]


def _written(kernel: LoadedKernel, name: str, args: tuple[ArgType, ...], planned: tuple[ArgType, ...],
             reasons: Mapping[str, str]) -> WrittenArgument:
    parameter = kernel.parameters[kernel.parameter_names.index(name)]
    text = argument_text(kernel, parameter, args) or '"<value>"'
    known = {argument_key(a) for a in planned}
    reason = reasons.get(name, "")
    if any(argument_key(a) not in known for a in args):
        reason = f"{reason}; Triton refuses {', '.join(map(str, planned))}".removeprefix("; ")
    return WrittenArgument(name, text, reason)


# --------------------------------------------------------------------------- does the verdict stay


def _entry(subject: Subject, arguments: _Arguments) -> KernelSpec:
    """The kernel's entry with these arguments, bound from their text as a spec file would be."""
    base = subject.entry or KernelSpec(subject.kernel.name)
    specs = []
    for name, args in arguments.items():
        parameter = subject.kernel.parameters[subject.kernel.parameter_names.index(name)]
        text = argument_text(subject.kernel, parameter, args)
        spec = argument_spec(name, text) if text else None
        assert spec is not None, "only what can be written is asked for"
        specs.append(spec)
    return replace(base, args=(*base.args, *specs))


def _planned(subject: Subject, arguments: _Arguments) -> set[object] | None:
    """The variants under these arguments; None if they cannot be planned."""
    try:
        return {_key(v) for v in subject.plan(_entry(subject, arguments)).variants}
    except StageError:
        return None


def _is_exact(subject: Subject, arguments: _Arguments) -> bool:
    """Whether the product of the arguments is the set of variants that was analysed."""
    return _planned(subject, arguments) == {_key(v) for v in subject.variants}


def _key(variant: Variant) -> tuple[tuple[str, tuple[str, str]], ...]:
    return tuple((name, argument_key(arg)) for name, arg in variant.args.items())


def _fewer(subject: Subject, arguments: _Arguments, planned: _Arguments) -> Iterator[_Arguments]:
    """Sets of arguments that may give the same verdict, the fullest first."""
    yield arguments
    unknown = {name.partition(".")[0] for name in subject.report.unknown}
    yield {n: args for n, args in arguments.items() if n not in unknown}
    yield {n: _repaired(args, planned[n]) for n, args in arguments.items()}
    yield _box(subject, arguments)
    yield {n: args for n, args in arguments.items() if len(args) == 1}


def _repaired(args: tuple[ArgType, ...], planned: tuple[ArgType, ...]) -> tuple[ArgType, ...]:
    """Those that took the place of a guess, if any did: they tend to do for every variant."""
    known = {argument_key(a) for a in planned}
    return tuple(a for a in args if argument_key(a) not in known) or args


def _box(subject: Subject, arguments: _Arguments) -> _Arguments:
    """The alternatives whose product stays within what was analysed, from the first variant on."""
    analysed = {_key(v) for v in subject.variants}
    box = {name: args[:1] for name, args in arguments.items()}
    for name, args in arguments.items():
        for arg in args[1:]:
            wider = {**box, name: (*box[name], arg)}
            planned = _planned(subject, wider)
            if planned is not None and planned <= analysed:
                box = wider
    return box


def _keeps_verdict(subject: Subject, arguments: _Arguments) -> bool:
    return _verdict(subject.analyze(_entry(subject, arguments))) == _verdict(subject.report)


def _verdict(report: KernelReport) -> tuple[object, ...]:
    through = frozenset((w.through, w.via) for w in report.indirect_writes)
    return report.status is Status.ANALYZED, report.mutated, report.unknown, through
