"""The verdict on one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from triton_mutlint.types.plan import Choices, Origin
from triton_mutlint.types.source import Failure, Frame, Location
from triton_mutlint.types.target import Target


class ParameterKind(str, Enum):
    POINTER = "pointer"
    DESCRIPTOR = "descriptor"
    SCALAR = "scalar"
    CONSTEXPR = "constexpr"
    NONE = "none"


class Mutation(str, Enum):
    WRITTEN = "written"  # in every analysed variant
    CONDITIONAL = "conditional"  # in some of them
    UNWRITTEN = "unwritten"
    UNKNOWN = "unknown"


class AccessKind(str, Enum):
    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"


@dataclass(frozen=True)
class Access:
    """One memory access to a parameter; `path` runs from the kernel to the access itself."""

    kind: AccessKind
    op: str
    location: Location
    path: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class IndirectWrite:
    """A write through an address that was loaded from, or given as, the parameter `through`."""

    through: str
    via: str  # "loaded" | "integer"
    op: str
    location: Location


@dataclass(frozen=True)
class OpaqueOp:
    """An inline asm or extern call and how it was read."""

    op: str
    detail: str
    pure: bool
    effect: str  # "none" | "reads" | "shares" (stores to shared memory) | "writes" | "unanalyzable"
    parameters: tuple[str, ...]
    location: Location


@dataclass(frozen=True)
class UnanalyzableOp:
    """An op whose memory effects could not be decided, and the parameters that reach it.

    `advice` says what would decide them, where that is something else than another op.
    """

    op: str
    detail: str
    reason: str
    parameters: tuple[str, ...]
    location: Location
    advice: str = ""


class Rerun(IntEnum):
    """What becomes of a parameter when a kernel runs again on what the last run left; the worst comes last."""

    SAFE = 0
    ACCUMULATES = 1  # right if it starts from zero, or is restored
    UPDATES = 2  # right only if the caller's values are restored


@dataclass(frozen=True)
class ParameterReport:
    name: str
    index: int
    kind: ParameterKind
    type: str
    inferred: bool
    mutation: Mutation
    when: tuple[str, ...] = ()
    reads: bool = False
    writes: bool = False
    atomics: bool = False
    accesses: tuple[Access, ...] = ()
    reason: str = ""  # why the type was inferred as it was
    reruns: tuple[tuple[Choices, Rerun], ...] = ()  # by the choices of a variant; in no report
    may_read: bool = False  # no analysed variant reads it, and one with other values than those guessed may

    @property
    def rerun(self) -> Rerun:
        """What a second run does to it, in the worst of all variants, of kernels that are tuned."""
        return max((rerun for _, rerun in self.reruns), default=Rerun.SAFE)

    @property
    def condition(self) -> str:
        """The compile-time values under which it is written, any one of which suffices."""
        return " or ".join(self.when).replace(" or and ", " and ")  # the last may be `and 9 more`


@dataclass(frozen=True)
class TorchReport:
    """What torch's own pass takes for written of a kernel, where that differs from the verdict.

    `missed`: written in one of the `variants` that were compared, and taken for untouched there. `pessimistic`: taken
    for written, though no variant writes it. `gave_up` says why everything was taken for written, if it was;
    `fuses_epilogue` whether torch.compile may fuse what follows into the kernel (None: this torch does not say).
    """

    variants: int
    missed: tuple[str, ...] = ()
    pessimistic: tuple[str, ...] = ()
    gave_up: str = ""
    fuses_epilogue: bool | None = None


class Status(str, Enum):
    ANALYZED = "analyzed"
    FAILED = "failed"


@dataclass(frozen=True)
class KernelReport:
    """The verdict on one kernel; `failure` is set exactly when `status` is failed."""

    name: str
    location: Location
    status: Status
    origin: Origin | None = None
    analyzed_variants: int = 0
    total_variants: int = 0
    parameters: tuple[ParameterReport, ...] = ()
    indirect_writes: tuple[IndirectWrite, ...] = ()
    opaque_ops: tuple[OpaqueOp, ...] = ()
    unanalyzable_ops: tuple[UnanalyzableOp, ...] = ()
    failure: Failure | None = None
    targets: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()
    torch: TorchReport | None = None  # where that was asked for

    @property
    def mutated(self) -> tuple[str, ...]:
        """Parameters written in some or all variants, in signature order."""
        wanted = (Mutation.WRITTEN, Mutation.CONDITIONAL)
        return tuple(p.name for p in self.parameters if p.mutation in wanted)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters if p.mutation is Mutation.UNKNOWN)
