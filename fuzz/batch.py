"""Batches of random kernels, judged, and what became of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import triton.language as tl

from fuzz.generate import Generator
from fuzz.judge import Case, Observation, Verdict, analyzed, observed, pointers, write_file
from fuzz.program import Program
from fuzz.shrink import shrink
from fuzz.truth import TooManyStatesError, truth_of
from triton_mutlint.lowering import triton_api

LAST_WITH_BLOCK_POINTERS = (3, 7)
MISSED, OVER, GENERATOR, NOT_LOWERED, NOT_RUN = "missed", "over", "generator", "not lowered", "not run"


@dataclass(frozen=True)
class Fault:
    """One kernel with which something is wrong; `parameters` are those concerned.

    `missed`: written, by running it or by construction, and called unwritten. `over`: called written or
    unknown, and by construction never written. The other kinds are faults of the generator.
    """

    kind: str
    seed: str
    case: Case
    parameters: tuple[str, ...] = ()
    message: str = ""
    inferred: bool = False


@dataclass
class Tally:
    """Sums over batches; parameters are counted per kernel, pointers and descriptors only."""

    kernels: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.kernels += other.kernels
        self.counts += other.counts
        self.faults += other.faults

    @property
    def over_rate(self) -> float:
        """Over-approximated parameters per parameter that cannot be written."""
        return (self.counts["over"] + self.counts["unknown"]) / max(1, self.counts["unwritable"])

    def lines(self) -> Iterator[str]:
        kinds = Counter(f.kind for f in self.faults)
        yield (f"{self.kernels} kernels: {self.counts['analyzed']} analysed, {self.counts['ran']} run, "
               f"{kinds[NOT_LOWERED]} not lowered, {kinds[NOT_RUN]} not run, {kinds[GENERATOR]} generator faults")
        yield (f"{self.counts['writable']} parameters can be written, {self.counts['observed']} were seen written, "
               f"{self.counts['missed']} missed; {self.counts['unmentioned']} tables of guessed types are written "
               "through without being named")
        unwritable = max(1, self.counts["unwritable"])
        yield (f"{unwritable} parameters cannot be written, of which {self.counts['over']} "
               f"({self.counts['over'] / unwritable:.3%}) are called written, and {self.counts['unknown']} "
               f"({self.counts['unknown'] / unwritable:.3%}) unknown")


def features() -> frozenset[str]:
    """What the installed Triton has of the language."""
    found = {f for f, name in (("map", "map_elementwise"), ("atomic_store", "atomic_store")) if hasattr(tl, name)}
    if triton_api.version() <= LAST_WITH_BLOCK_POINTERS:
        found.add("block_ptr")
    return frozenset(found)


def cases(seed: str, count: int) -> list[tuple[str, Case]]:
    """Programs with their seeds; those with too many states to tell the truth are left out."""
    found = []
    available = features()
    for index in range(count):
        own = f"{seed}:{index}"
        program = Generator(own, available).program()
        try:
            found.append((own, Case(f"k{index}", program, truth_of(program))))
        except TooManyStatesError:
            continue
    return found


def run_batch(seed: str, count: int, folder: Path, *, with_spec: bool, runs: int = 4) -> Tally:
    """Analyse and run `count` kernels; `runs` launches per choice of constexprs (0: none)."""
    seeded = cases(seed, count)
    path = folder / f"fuzz_{seed.replace(':', '_').replace('-', '_')}.py"
    chosen = [case for _, case in seeded]
    write_file(chosen, path)
    verdicts = analyzed(path, chosen, with_spec=with_spec)
    number = sum(map(ord, seed))
    seen = observed(path, chosen, runs, number) if runs else {c.name: Observation() for c in chosen}
    tally = Tally()
    for own, case in seeded:
        tally.kernels += 1
        _count(case, verdicts[case.name], seen[case.name], tally, inferred=not with_spec)
        for kind, names, message in _faults(case, verdicts[case.name], seen[case.name], inferred=not with_spec):
            tally.faults.append(Fault(kind, own, case, tuple(sorted(names)), message, not with_spec))
    return tally


def missed(case: Case, verdict: Verdict, seen: Observation, *, inferred: bool) -> frozenset[str]:
    """Parameters that are written, and of which the verdict says that they are not.

    Whether a table holds addresses is for its element type to say: where that is a guess, it may be one of numbers.
    """
    written = case.truth.written | {w for w in seen.written if not w.endswith(">")}
    return written - verdict.possible | (frozenset() if inferred else _unmentioned(case, verdict, seen))


def _unmentioned(case: Case, verdict: Verdict, seen: Observation) -> frozenset[str]:
    """Parameters through whose loaded addresses memory is written, of which the verdict says nothing."""
    indirect = case.truth.indirect | {w.removesuffix(">") for w in seen.written if w.endswith(">")}
    return indirect - verdict.through - verdict.possible


def _faults(case: Case, verdict: Verdict, seen: Observation, *,
            inferred: bool) -> Iterator[tuple[str, frozenset[str], str]]:
    if seen.error:
        yield NOT_RUN, frozenset(), seen.error
    impossible = {w for w in seen.written if w.removesuffix(">") not in case.truth.written | case.truth.indirect}
    if impossible:
        yield GENERATOR, frozenset(impossible), "seen written, which the truth rules out"
    if verdict.failure:
        yield NOT_LOWERED, frozenset(), verdict.failure
        return
    if names := missed(case, verdict, seen, inferred=inferred):
        yield MISSED, names, "seen written" if names & seen.written else "written by construction"
    if names := verdict.possible - case.truth.written:
        yield OVER, names, "unknown" if names & verdict.unknown else "written"


def _count(case: Case, verdict: Verdict, seen: Observation, tally: Tally, *, inferred: bool) -> None:
    tally.counts["ran"] += not seen.error
    if verdict.failure:
        return
    every = pointers(case.program)
    tally.counts["analyzed"] += 1
    tally.counts["writable"] += len(case.truth.written)
    tally.counts["unwritable"] += len(every - case.truth.written)
    tally.counts["observed"] += len(seen.written & every)
    tally.counts["missed"] += len(missed(case, verdict, seen, inferred=inferred))
    tally.counts["unmentioned"] += len(_unmentioned(case, verdict, seen)) if inferred else 0
    tally.counts["over"] += len(verdict.written - case.truth.written)
    tally.counts["unknown"] += len(verdict.unknown - case.truth.written)


def reduced(fault: Fault, path: Path, attempts: int = 600) -> Program:
    """The smallest program found with the same kind of fault, by construction; `path` is written again and again."""

    def keeps(program: Program) -> bool:
        try:
            case = Case("kernel", program, truth_of(program))
        except (TooManyStatesError, AssertionError, KeyError, IndexError):
            return False  # no program any more: something is used that is not there
        write_file([case], path)
        verdict = analyzed(path, [case], with_spec=not fault.inferred)[case.name]
        if verdict.failure:
            return False
        if fault.kind == MISSED:
            return bool(missed(case, verdict, Observation(), inferred=fault.inferred))
        return bool(verdict.possible - case.truth.written)

    return shrink(fault.case.program, keeps, attempts)
