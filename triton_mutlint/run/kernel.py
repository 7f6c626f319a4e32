"""One kernel from its signature plan to its verdict: lower, parse, analyse, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from triton_mutlint.analysis import Places, VariantEffects, analyze_module
from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.analysis.verdict import AnalyzedVariant, judge, merged
from triton_mutlint.basics import plural
from triton_mutlint.lowering.lower import Lowerer, flat_args
from triton_mutlint.process.watchdog import TooLongError
from triton_mutlint.rules.autotune.rerun import reruns_of
from triton_mutlint.run.doubting import doubted, written_addresses
from triton_mutlint.run.siblings import Siblings
from triton_mutlint.signature.repair import Repair
from triton_mutlint.ttir.ir import ParseError
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    AccessKind,
    ArgType,
    Choices,
    ConstexprValue,
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
    TorchReport,
    UnanalyzableOp,
    Variant,
)

MAX_REPAIRS = 48
MAX_REPAIRS_PER_KERNEL = 96
_CASTS = ("tt.int_to_ptr", "tt.ptr_to_int")
Observe = Callable[[Kernel, Variant, VariantEffects, Target], None]


@dataclass(frozen=True)
class Tools:
    """What the pipeline works with; `observe` is told of each variant that was analysed, as it was lowered.

    `compare` is told of those alone that no siblings told of.
    `may_try` says that other guesses than those of a plan are lowered as well.
    """

    lowerer: Lowerer
    places: Places
    opaque_asm: bool = False
    observe: Observe | None = None
    compare: Observe | None = None
    may_try: bool = True


def analyze_kernel(kernel: Kernel, plan: Plan, targets: Sequence[Target], tools: Tools,
                   elsewhere: Mapping[Target, tuple[Kernel, Plan]] | None = None) -> KernelReport:
    """The verdict on one kernel: the union over the plan's variants and the targets.

    `elsewhere` has the kernel and its plan for targets where they differ, as the file may ask for the device. A failure
    is a result. Variants that the user listed must all lower; of inferred ones, and of autotune configs that Triton
    itself would skip, it is enough that one does.
    """
    work = _Variants(kernel, plan, tools)
    cases = [(elsewhere or {}).get(target, (kernel, plan)) for target in targets]
    plans = [each for _, each in cases]
    for target, (work.kernel, work.plan) in zip(targets, cases, strict=True):
        work.analyze(target, named=len(targets) > 1)
    notes = dict.fromkeys(note for each in plans for note in each.notes)
    base = KernelReport(kernel.name, kernel.location, Status.FAILED, plan.origin,
                        analyzed_variants=len(work.analyzed), total_variants=sum(each.total for each in plans),
                        targets=tuple(targets), notes=(*notes, *work.notes()))
    fatal = work.fatal()
    if fatal is not None:
        place = fatal.location and replace(fatal.location, file=tools.places.display(fatal.location.file))
        return replace(base, failure=replace(fatal, location=place), analyzed_variants=0)
    effects = [a.effects for a in work.analyzed]
    positions = {name: index for index, name in enumerate(plan.variants[0].args)}
    complete = all(len(each.variants) == each.total for each in plans) and not work.stopped
    guessed = frozenset[str]().union(*(each.inferred | each.assumed for each in plans))
    parameters = judge(work.analyzed, guessed, plan.reasons, positions, complete)
    behind = {w.through for e in effects for w in e.indirect_writes}
    hidden = bool(work.failures or work.stopped or work.is_fixed)
    undecided: list[UnanalyzableOp] = []
    for each in {id(one): one for one in plans}.values():
        parameters, found = doubted(parameters, each.doubts, hidden, work.addresses, behind, kernel)
        undecided += found
    return merged(replace(base, status=Status.ANALYZED), effects, parameters, undecided)


def failed(kernel: Kernel, failure: Failure, targets: Sequence[Target] = ()) -> KernelReport:
    """The report of a kernel that did not get as far as a plan."""
    return KernelReport(kernel.name, kernel.location, Status.FAILED, failure=failure, targets=tuple(targets))


def compared(analyze: Callable[[Observe], KernelReport]) -> KernelReport:
    """What `analyze` gives, beside what torch's own pass says of the same kernel and arguments (`--compare torch`).

    `analyze` tells of the variants that no siblings tell of.
    """
    from triton_mutlint.lowering.torch_pass import TorchAnswer, ask  # here: few ask for it, and it imports much

    answers: list[tuple[TorchAnswer, set[str]]] = []  # each with what the variant writes

    def observe(kernel: Kernel, variant: Variant, effects: VariantEffects, target: Target) -> None:
        if (seen := ask(kernel, variant, target)) is not None:  # torch lowers each anew
            answers.append((seen, effects.written))

    report = analyze(observe)
    if report.failure is not None:
        return report
    missed = {name for seen, written in answers for name in written - seen.written}
    taken = {name for seen, _ in answers for name in seen.written}
    names = [parameter.name for parameter in report.parameters]
    fuses = [seen.fuses_epilogue for seen, _ in answers]
    return replace(report, torch=TorchReport(
        len(answers), tuple(n for n in names if n in missed),
        tuple(n for n in names if n in taken and n not in (*report.mutated, *report.unknown)),
        next((seen.gave_up for seen, _ in answers if seen.gave_up), ""),
        None if None in fuses or not fuses else all(fuses)))


_Found = tuple[Variant, VariantEffects, Mapping[str, Rerun]]  # of one variant: what was lowered in the end, and did


class _Variants:
    """The variants of one kernel, and what came of those that were analysed, over all targets."""

    def __init__(self, kernel: Kernel, plan: Plan, tools: Tools) -> None:
        self.kernel, self.plan, self.tools = kernel, plan, tools
        self.analyzed: list[AnalyzedVariant] = []
        self.failures: list[tuple[Variant, Failure]] = []
        self.addresses: set[str] = set()  # parameters that are written if scalars are addresses
        self._repaired: dict[tuple[str, str], ArgType] = {}  # by parameter and first guess
        self._repairs = 0
        self._is_lowered = False  # some variant was
        self.is_fixed = False  # a run-time value was made a constant, to get a variant lowered
        self.stopped = ""  # why not all of them were looked at

    def analyze(self, target: Target, named: bool) -> None:
        """Lowers each variant, but for those that others say all of, until there is no more time."""
        found: dict[int, _Found] = {}
        try:
            self._analyze(target, found)
        except TooLongError as error:
            if not found or self.plan.doubts is None:
                raise
            self.stopped = f"{error}: {len(found)} of {len(self.plan.variants)} variants analysed; --timeout gives more"
        own = (("target", str(target)),) if named else ()
        for variant, effects, reruns in (found[index] for index in sorted(found)):
            if self.tools.observe is not None:
                self.tools.observe(self.kernel, variant, effects, target)
            choices = (*own, *_choices(variant, variant))
            self.analyzed.append(AnalyzedVariant(flat_args(variant.args), choices, effects, reruns))

    def _analyze(self, target: Target, found: dict[int, _Found]) -> None:
        plan, siblings = self.plan, Siblings(self.plan)
        for index in siblings.order():
            variant = plan.variants[index]
            current = self._patched(variant)
            is_planned = _choices(current, variant) == variant.choices
            effects = siblings.told(index) if is_planned else None
            if effects is not None and not (self.kernel.is_tuned and updated_in(effects)):
                found[index] = current, effects, {}
            elif lowered := self._lowered(variant, current, target):
                is_planned = _choices(lowered[0], variant) == variant.choices
                if is_planned:
                    siblings.learn(index, lowered[1])
                found[index if is_planned else index + len(plan.variants)] = lowered  # or repaired into another one
                self._is_lowered = True

    def _lowered(self, variant: Variant, current: Variant, target: Target) -> _Found | None:
        """One variant, begun with the guesses of `current`; None if it failed, which is then noted."""
        plan, tools = self.plan, self.tools
        guessed = plan.inferred | plan.assumed
        search = Repair(self.kernel, current.args, guessed, frozenset(name for name, _ in variant.choices))
        first: Failure | None = None
        for attempt in count():
            try:
                lowered = tools.lowerer.lower(self.kernel, current, target)
                effects = analyze_text(lowered, tools)
                reruns = _reruns(lowered, effects, tools) if self.kernel.is_tuned else {}
                break
            except StageError as error:
                first = first or error.failure
                proposal = None
                if (guessed and tools.may_try and error.failure.stage is Stage.LOWER and attempt < MAX_REPAIRS
                        and self._repairs < MAX_REPAIRS_PER_KERNEL):
                    proposal = search.next(error.failure)
                if proposal is None:
                    self.failures.append((variant, first))
                    return None
                self._repairs += 1
                current = replace(current, args=proposal)
        self.is_fixed |= any(isinstance(new, ConstexprValue) and not isinstance(variant.args[name], ConstexprValue)
                             for name, new in current.args.items())
        self._repaired.update({(name, str(variant.args[name])): new for name, new in current.args.items()
                               if str(variant.args[name]) != str(new)})
        if first is not None and _choices(current, variant) != variant.choices:  # repaired into another variant
            self.failures.append((variant, first))
            if self._is_lowered:
                return None
        if plan.doubts is not None:
            casts = plan.doubts.casts or any(op in lowered.text for op in _CASTS)
            self.addresses |= written_addresses(
                plan.doubts, current, effects, flat_args(current.args), casts, lambda other: self._tried(other, target))
        if tools.compare is not None:
            tools.compare(self.kernel, current, effects, target)
        return current, effects, reruns

    def _tried(self, variant: Variant, target: Target) -> VariantEffects:
        """The effects of a variant that no plan has; raises StageError."""
        if not self.tools.may_try:
            raise StageError(Failure(Stage.LOWER, "not tried", self.kernel.location))
        return analyze_text(self.tools.lowerer.lower(self.kernel, variant, target), self.tools)

    def _patched(self, variant: Variant) -> Variant:
        """The variant with the guesses that made an earlier one lower, where it makes the same guess."""
        names = (self.plan.inferred | self.plan.assumed) & variant.args.keys()
        guessed = {name: (name, str(variant.args[name])) for name in names}
        changed = {name: self._repaired[guess] for name, guess in guessed.items() if guess in self._repaired}
        return replace(variant, args={**variant.args, **changed}) if changed else variant

    def fatal(self) -> Failure | None:
        """The failure that leaves the kernel without a verdict, if any."""
        if self.failures and not self.analyzed:
            return self.failures[0][1]
        for variant, failure in self.failures:
            # A verdict may do without a guess, and without a config that Triton would skip.
            guessed = any(name in self.plan.inferred | self.plan.assumed for name, _ in variant.choices)
            skipped = "static_assert" in failure.message or "static assert" in failure.message.lower()
            if failure.stage is Stage.ANALYZE or not (guessed or skipped):
                label = ", ".join(f"{n}={v}" for n, v in variant.choices)
                return replace(failure, message=f"{failure.message}\n(with {label})" if label else failure.message)
        return None

    def notes(self) -> list[str]:
        found = [self.stopped] if self.stopped else []
        if self.failures and self.analyzed:
            first = self.failures[0][1].message.splitlines()[0]
            lost = plural(len(self.failures), "variant")
            found.append(f"{lost} left out, for which Triton refuses to compile the kernel: {first}")
        return found


def _choices(variant: Variant, planned: Variant) -> Choices:
    """What tells a variant from its siblings, as it was lowered."""
    return tuple((name, str(variant.args[name])) for name, _ in planned.choices)


def analyze_text(lowered: Lowered, tools: Tools) -> VariantEffects:
    """Parse and analyse one lowered variant; raises StageError."""
    with limits():
        module = parse(lowered.text)
        if may_simplify(module):
            module = parse(tools.lowerer.simplify(lowered).text)
        return analyze_module(module, lowered.owners, lowered.target.backend, tools.places, tools.opaque_asm)


def _reruns(lowered: Lowered, effects: VariantEffects, tools: Tools) -> dict[str, Rerun]:
    """What the variant does to the parameters that it updates when it is run again."""
    updated = updated_in(effects)
    if not updated:
        return {}
    with limits():
        module = parse(tools.lowerer.simplify(lowered).text)
        return reruns_of(module, lowered.owners, lowered.target.backend, updated)


def updated_in(effects: VariantEffects) -> frozenset[str]:
    """The parameters that are both read and written, or updated at once."""
    kinds = {name: {access.kind for access in found} for name, found in effects.accesses.items()}
    return frozenset(n for n, k in kinds.items() if AccessKind.ATOMIC in k or {AccessKind.READ, AccessKind.WRITE} <= k)


@contextmanager
def limits() -> Iterator[None]:
    """What the tool cannot read ends the analysis of one variant."""
    try:
        yield
    except (ParseError, LookupError, ValueError, RecursionError) as error:
        message = f"{type(error).__name__}: {error}" if not isinstance(error, ParseError) else str(error)
        hint = "this is a limit of triton-mutlint: please report it with the kernel"
        raise StageError(Failure(Stage.ANALYZE, message, None, hint)) from error
