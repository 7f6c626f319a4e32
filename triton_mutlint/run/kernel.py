"""One kernel from its signature plan to its verdict: lower, parse, analyse, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol

from triton_mutlint.analysis import Places, VariantEffects, analyze_module
from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.analysis.verdict import AnalyzedVariant, judge
from triton_mutlint.lowering.arguments import flat_names
from triton_mutlint.rules.autotune.rerun import reruns_of
from triton_mutlint.run.doubting import Addresses, doubted
from triton_mutlint.run.family import Family
from triton_mutlint.ttir.ir import ParseError
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    AccessKind,
    ArgType,
    Failure,
    Kernel,
    KernelReport,
    Lowered,
    Plan,
    Rerun,
    Stage,
    StageError,
    Status,
    Target,
    Variant,
)

MAX_REPAIRS = 12
MAX_REPAIRS_PER_KERNEL = 48
_CASTS = ("tt.int_to_ptr", "tt.ptr_to_int")
Types = Mapping[str, ArgType]
_Found = tuple[Variant, VariantEffects, Mapping[str, Rerun]]  # as it was lowered
Observe = Callable[[Kernel, Variant, VariantEffects], None]
Repair = Callable[[Kernel, Types, frozenset[str], Failure, set[str]], "Types | None"]


class Lowers(Protocol):
    def lower(self, kernel: Kernel, variant: Variant, target: Target) -> Lowered:
        """The TTIR of one variant; raises StageError."""

    def simplify(self, lowered: Lowered) -> Lowered:
        """The same kernel with constants folded and calls inlined."""


def ignore(kernel: Kernel, variant: Variant, effects: VariantEffects) -> None:
    """Nobody wants to know of the variants."""


@dataclass(frozen=True)
class Tools:
    """What the pipeline works with; `repair` proposes other types for inferred parameters.

    `observe` is told of each variant that was analysed, with the arguments as they were lowered.
    """

    lowerer: Lowers
    places: Places
    repair: Repair
    opaque_asm: bool = False
    observe: Observe = ignore


@dataclass
class _Outcome:
    analyzed: list[AnalyzedVariant] = field(default_factory=list)
    failures: list[tuple[Variant, Failure]] = field(default_factory=list)
    repaired: dict[tuple[str, str], ArgType] = field(default_factory=dict)  # by parameter and first guess
    repairs: int = 0
    is_lowered: bool = False  # some variant was
    addresses: Addresses = field(default_factory=Addresses)

    def may_repair(self, attempts: int) -> bool:
        """Whether another guess may be tried, for this variant and for the kernel as a whole."""
        return attempts < MAX_REPAIRS and self.repairs < MAX_REPAIRS_PER_KERNEL


def analyze_kernel(kernel: Kernel, plan: Plan, targets: Sequence[Target], tools: Tools) -> KernelReport:
    """The verdict on one kernel: the union over the plan's variants and the targets.

    A failure is a result. Variants that the user listed must all lower; of inferred ones, and of
    autotune configs that Triton itself would skip, it is enough that one does.
    """
    outcome = _Outcome()
    for target in targets:
        _analyze_variants(kernel, plan, target, tools, outcome, named=len(targets) > 1)
    base = KernelReport(kernel.name, kernel.location, Status.FAILED, plan.origin,
                        analyzed_variants=len(outcome.analyzed), total_variants=plan.total * len(targets),
                        targets=tuple(targets), notes=(*plan.notes, *_notes(outcome)))
    fatal = _fatal(plan, outcome)
    if fatal is not None:
        return replace(base, failure=_shown(fatal, tools.places), analyzed_variants=0)
    effects = [a.effects for a in outcome.analyzed]
    positions = {name: index for index, name in enumerate(plan.variants[0].args)}
    complete = len(plan.variants) == plan.total
    judged = judge(outcome.analyzed, plan.inferred | plan.assumed, plan.reasons, positions, complete)
    parameters, undecided = doubted(judged, plan.doubts, bool(outcome.failures), outcome.addresses, kernel)
    return replace(
        base, status=Status.ANALYZED, parameters=parameters,
        indirect_writes=tuple(sorted({w for e in effects for w in e.indirect_writes}, key=_order)),
        opaque_ops=tuple(sorted({o for e in effects for o in e.opaque_ops}, key=_order)),
        unanalyzable_ops=tuple(sorted({*undecided, *(u for e in effects for u in e.unanalyzable_ops)}, key=_order)),
    )


def failed(kernel: Kernel, failure: Failure, targets: Sequence[Target] = ()) -> KernelReport:
    """The report of a kernel that did not get as far as a plan."""
    return KernelReport(kernel.name, kernel.location, Status.FAILED, failure=failure, targets=tuple(targets))


def _order(item: object) -> tuple[object, ...]:
    location = item.location  # type: ignore[attr-defined]  # all three report types have one
    return (location, repr(item))


def _analyze_variants(kernel: Kernel, plan: Plan, target: Target, tools: Tools, outcome: _Outcome,
                      named: bool) -> None:
    """Lowers each variant, but for those that others say all of."""
    found, family = dict[int, _Found](), Family(plan)
    for index in family.order():
        variant = plan.variants[index]
        current = _patched(variant, plan.inferred, outcome)
        is_planned = _choices(current, variant) == variant.choices
        effects = family.told(index) if is_planned else None
        if effects is not None and not (kernel.is_tuned and _updated(effects)):
            found[index] = current, effects, {}
        elif is_planned and (failure := family.bound_to_fail(index)):
            outcome.failures.append((variant, failure))
        elif lowered := _analyze_variant(kernel, plan, variant, current, target, tools, outcome):
            is_planned = _choices(lowered[0], variant) == variant.choices
            if is_planned:
                family.learn(index, lowered[1])
            found[index if is_planned else index + len(plan.variants)] = lowered  # or repaired into another variant
            outcome.is_lowered = True
        else:
            family.fail(index, outcome.failures[-1][1])
    own = (("target", str(target)),) if named else ()
    for _, (current, effects, reruns) in sorted(found.items(), key=lambda item: item[0]):
        tools.observe(kernel, current, effects)
        choices = (*own, *_choices(current, current))
        outcome.analyzed.append(AnalyzedVariant(_flat(current.args), choices, effects, reruns))


def _choices(variant: Variant, planned: Variant) -> tuple[tuple[str, str], ...]:
    """What tells a variant from its siblings, as it was lowered."""
    return tuple((name, str(variant.args[name])) for name, _ in planned.choices)


def _flat(args: Types) -> dict[str, ArgType]:
    return {name: t for owner, arg in args.items() for name, t in flat_names(owner, arg)}


def _analyze_variant(kernel: Kernel, plan: Plan, variant: Variant, current: Variant, target: Target,
                     tools: Tools, outcome: _Outcome) -> _Found | None:
    """One variant, begun with the guesses of `current`, as it was lowered; None if it failed, which is then noted."""
    tried: set[str] = set()
    first: Failure | None = None
    for attempt in count():
        try:
            lowered = tools.lowerer.lower(kernel, current, target)
            effects = analyze_text(lowered, tools)
            reruns = _reruns(lowered, effects, tools) if kernel.is_tuned else {}
            break
        except StageError as error:
            first = first or error.failure
            proposal = None
            if plan.inferred and error.failure.stage is Stage.LOWER and outcome.may_repair(attempt):
                proposal = tools.repair(kernel, current.args, plan.inferred, error.failure, tried)
            if proposal is None:
                # Repairs that got no further only obscure what the kernel was first lowered with.
                stuck = (first.message, first.location) == (error.failure.message, error.failure.location)
                outcome.failures.append((variant, first if stuck else error.failure))
                return None
            outcome.repairs += 1
            current = replace(current, args=proposal)
    _remember(variant, current, outcome)
    choices = _choices(current, variant)
    if first is not None and choices != variant.choices:  # repaired into another variant: this one was not analysed
        outcome.failures.append((variant, first))
        if outcome.is_lowered:
            return None
    if plan.doubts is not None:
        def analyze(other: Variant) -> VariantEffects:
            return analyze_text(tools.lowerer.lower(kernel, other, target), tools)

        casts = plan.doubts.casts or any(op in lowered.text for op in _CASTS)
        outcome.addresses.try_them(plan.doubts, current, effects, _flat(current.args), analyze, casts)
    return current, effects, reruns


def analyze_text(lowered: Lowered, tools: Tools) -> VariantEffects:
    """Parse and analyse one lowered variant; raises StageError."""
    with _limits():
        module = parse(lowered.text)
        if may_simplify(module):
            module = parse(tools.lowerer.simplify(lowered).text)
        return analyze_module(module, lowered.owners, lowered.target.backend, tools.places, tools.opaque_asm)


@contextmanager
def _limits() -> Iterator[None]:
    """What the tool cannot read ends the analysis of one variant."""
    try:
        yield
    except (ParseError, LookupError, ValueError, RecursionError) as error:
        message = f"{type(error).__name__}: {error}" if not isinstance(error, ParseError) else str(error)
        hint = "this is a limit of triton-mutlint: please report it with the kernel"
        raise StageError(Failure(Stage.ANALYZE, message, None, hint)) from error


def _reruns(lowered: Lowered, effects: VariantEffects, tools: Tools) -> dict[str, Rerun]:
    """What the variant does to the parameters that it updates when it is run again."""
    updated = _updated(effects)
    if not updated:
        return {}
    with _limits():
        module = parse(tools.lowerer.simplify(lowered).text)
        return reruns_of(module, lowered.owners, lowered.target.backend, updated)


def _updated(effects: VariantEffects) -> frozenset[str]:
    """The parameters that are both read and written, or updated at once."""
    kinds = {name: {access.kind for access in found} for name, found in effects.accesses.items()}
    return frozenset(n for n, k in kinds.items() if AccessKind.ATOMIC in k or {AccessKind.READ, AccessKind.WRITE} <= k)


def _patched(variant: Variant, inferred: frozenset[str], outcome: _Outcome) -> Variant:
    """The variant with the guesses that made an earlier one lower, where it makes the same guess."""
    changed = {}
    for name in inferred & variant.args.keys():
        repaired = outcome.repaired.get((name, str(variant.args[name])))
        if repaired is not None:
            changed[name] = repaired
    return replace(variant, args={**variant.args, **changed}) if changed else variant


def _remember(variant: Variant, lowered: Variant, outcome: _Outcome) -> None:
    for name, new in lowered.args.items():
        if str(variant.args[name]) != str(new):
            outcome.repaired[name, str(variant.args[name])] = new


def _fatal(plan: Plan, outcome: _Outcome) -> Failure | None:
    """The failure that leaves the kernel without a verdict, if any."""
    if not outcome.failures:
        return None
    if not outcome.analyzed:
        return outcome.failures[0][1]
    for variant, failure in outcome.failures:
        if failure.stage is Stage.ANALYZE or not _optional(plan, variant, failure):
            label = ", ".join(f"{n}={v}" for n, v in variant.choices)
            return replace(failure, message=f"{failure.message}\n(with {label})" if label else failure.message)
    return None


def _shown(failure: Failure, places: Places) -> Failure:
    """The failure with its file as reports name it."""
    if failure.location is None:
        return failure
    return replace(failure, location=replace(failure.location, file=places.display(failure.location.file)))


def _optional(plan: Plan, variant: Variant, failure: Failure) -> bool:
    """Whether a verdict may do without this variant: a guess, or a config that Triton would skip."""
    guessed = any(name in plan.inferred for name, _ in variant.choices)
    return guessed or "static_assert" in failure.message or "static assert" in failure.message.lower()


def _notes(outcome: _Outcome) -> list[str]:
    if not outcome.failures or not outcome.analyzed:
        return []
    first = outcome.failures[0][1].message.splitlines()[0]
    return [f"{len(outcome.failures)} variant(s) did not lower and are left out; the first: {first}"]
