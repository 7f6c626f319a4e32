"""The frozen types that cross module borders.

The data flows one way: discover -> load -> signature -> lower -> parse -> analyse -> judge -> report.
Each stage takes and returns the types below; only the command line prints and exits.
Nothing here imports triton or torch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, Union

from triton_mutlint.basics import EMPTY as EMPTY
from triton_mutlint.basics import MutlintError as MutlintError
from triton_mutlint.basics import Severity as Severity
from triton_mutlint.basics import UsageError as UsageError

# --------------------------------------------------------------------------- places


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file; `file` is as given to the tool.

    `line` and `column` are 1-based; the column counts bytes of UTF-8, as those of Triton and `ast` do.
    """

    file: str
    line: int
    column: int = 1


@dataclass(frozen=True, order=True)
class Frame:
    """One step of a call chain: inside `function`, at `file`:`line`."""

    function: str
    file: str
    line: int


# --------------------------------------------------------------------------- failures


class Stage(str, Enum):
    """The stage at which a kernel (or file) failed."""

    LOAD = "load"
    SIGNATURE = "signature"
    LOWER = "lower"
    ANALYZE = "analyze"


@dataclass(frozen=True)
class Failure:
    """Why one file or kernel has no verdict; a result, not an exception.

    `crashed` says that it ended the process that was at work on it.
    """

    stage: Stage
    message: str
    location: Location | None = None
    hint: str = ""  # what the user can add or change to fix it
    crashed: bool = False


class StageError(MutlintError):
    """A stage could not finish for one kernel or file; carries the `Failure` to report."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


# --------------------------------------------------------------------------- argument types


@dataclass(frozen=True)
class PointerType:
    """A pointer argument, Triton notation `*fp32`, `*fp32:16`, `*kfp32` (const)."""

    element: str
    const: bool = False
    divisibility: int = 1

    def __str__(self) -> str:
        suffix = f":{self.divisibility}" if self.divisibility != 1 else ""
        return f"*{'k' if self.const else ''}{self.element}{suffix}"


@dataclass(frozen=True)
class ScalarType:
    """A scalar argument, `i32`, `u64`, `fp32`, `i1`; `i32:16` means divisible by 16."""

    name: str
    divisibility: int = 1

    def __str__(self) -> str:
        return f"{self.name}:{self.divisibility}" if self.divisibility != 1 else self.name


@dataclass(frozen=True)
class DescriptorType:
    """A host tensor descriptor, `tensordesc<fp16[64, 64]>`; `block_shape` in elements."""

    element: str
    block_shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"tensordesc<{self.element}[{', '.join(map(str, self.block_shape))}]>"


@dataclass(frozen=True)
class ConstexprValue:
    """A compile-time value; `None` stands for an absent optional argument too.

    `text` is how the value is shown in reports (`relu`, `tl.float16`, `128`).
    """

    value: Any
    text: str = ""

    def __str__(self) -> str:
        return self.text or repr(self.value)


@dataclass(frozen=True)
class TupleType:
    """A tuple argument; `cls` is the namedtuple class when its fields have names."""

    elements: tuple[ArgType, ...]
    fields: tuple[str, ...] = ()
    cls: type | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """What each element is called after the tuple's name: `name.field`, `name.0`."""
        return self.fields or tuple(map(str, range(len(self.elements))))

    def __str__(self) -> str:
        if self.fields:
            name = self.cls.__name__ if self.cls else ""
            inner = ", ".join(f"{f}={e}" for f, e in zip(self.fields, self.elements, strict=True))
            return f"{name}({inner})"
        return f"({', '.join(map(str, self.elements))}{',' if len(self.elements) == 1 else ''})"


# Union, not `|`: evaluated at run time, where a forward reference is a string.
ArgType = Union[PointerType, ScalarType, DescriptorType, ConstexprValue, TupleType]  # noqa: UP007


# --------------------------------------------------------------------------- loaded kernels


@dataclass(frozen=True)
class SourceFile:
    """A file to lint: its path, the name shown in reports, its text and the kernels asked for.

    `kernels` is empty when all of them are wanted (`path.py::name` and `module:name` name some).
    """

    path: Path
    display: str
    text: str
    kernels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a jit function as written: annotation text and default, if any."""

    name: str
    index: int
    is_constexpr: bool = False
    is_const: bool = False  # annotated tl.const
    annotation: str = ""
    has_default: bool = False
    default: Any = None


@dataclass(frozen=True)
class AutotuneConfig:
    """One `triton.Config`: its constexpr values, its launch options and whether it has a pre_hook."""

    kwargs: Mapping[str, Any] = EMPTY
    options: Mapping[str, Any] = EMPTY  # num_warps, num_stages, num_ctas, maxnreg, ...
    has_pre_hook: bool = False
    pre_hook: Any = field(default=None, repr=False, compare=False)  # the hook itself, where it is known


@dataclass(frozen=True)
class Autotune:
    """What `@triton.autotune` declares on a kernel.

    `undecided` names those of `restore_value` and `reset_to_zero` that may hold more than is listed,
    because they could not be evaluated.
    """

    configs: tuple[AutotuneConfig, ...]
    restore_value: tuple[str, ...] = ()
    reset_to_zero: tuple[str, ...] = ()
    has_pre_hook: bool = False
    has_post_hook: bool = False
    line: int = 0
    undecided: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A jit function that was loaded from its slice.

    `jit` is the `triton.runtime.JITFunction`; `namespace` the globals it was defined in;
    `node` its `def` in the file's own AST (line numbers are the file's).
    """

    name: str
    location: Location  # of the `def` line
    jit: Any
    parameters: tuple[Parameter, ...]
    node: ast.FunctionDef
    tree: ast.Module  # the whole file it stands in
    path: Path  # absolute path of that file
    namespace: Mapping[str, Any] = field(default=EMPTY, repr=False)
    autotune: Autotune | None = None
    heuristics: Mapping[str, Any] = EMPTY  # parameter -> callable(args mapping) -> value
    is_helper: bool = False
    qualname: str = ""  # "outer.kernel" for a nested one
    notes: tuple[str, ...] = ()  # what the loader had to assume or could not give

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters)


@dataclass(frozen=True)
class LoadResult:
    """What loading one file gave: kernels and helpers in line order, and failures by name.

    `sources` are the files whose text took part (the file itself first); `reads` gives the files that
    were read so far, where names were looked for, and whether that is all that the result depends on;
    `notes` say what else of the file is not analysed.
    """

    kernels: tuple[LoadedKernel, ...] = ()
    helpers: tuple[LoadedKernel, ...] = ()
    failures: tuple[tuple[str, Failure], ...] = ()  # (kernel name or "", why)
    sources: tuple[Path, ...] = ()
    reads: Callable[[], tuple[tuple[str, ...], tuple[tuple[str, str], ...], bool]] | None = field(
        default=None, compare=False)
    notes: tuple[str, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()  # jit functions of other files that its own reach: file, line
    launched: frozenset[str] = frozenset()  # names that its host code may launch, as they are defined


# --------------------------------------------------------------------------- signatures


@dataclass(frozen=True)
class Variant:
    """One concrete set of arguments under which a kernel is lowered.

    `args` names every parameter, in order. `choices` are the values that tell this variant from
    its siblings, as printed (`("BLOCK", "128")`); `options` are compile options (`num_warps`, ...).
    """

    args: Mapping[str, ArgType]
    choices: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, Any] = EMPTY


class Origin(str, Enum):
    """Where a kernel's signature came from."""

    SPEC = "spec"
    INFERRED = "inferred"
    MIXED = "mixed"


@dataclass(frozen=True)
class Doubts:
    """Where guessed arguments may hide a write; parameters are by their reported names.

    `stores` holds the parameters that the body, as written, may store through, each with the line;
    `open` says that guesses decide which of those stores are compiled. `addresses` holds the scalars
    that may be addresses for all that is known, each with the line where they are used as such (0: nowhere).
    `narrow` holds those that are guessed too narrow to carry an address to where one is made of a number, and
    `kept` those that are put into memory as wide integers, each with the line. `casts` says that the source makes
    pointers of numbers.
    `numbers` holds those that cannot be addresses, by what is done with them.
    `handed` holds the parameters that go to a function which is itself a parameter, and a guessed one.
    `untyped` holds scalars that `stores` has for what they may be: nothing says that they are numbers.
    `values` names the parameters whose compile-time values are guesses.
    `loads` holds the parameters that the body, as written, may read from.
    """

    stores: Mapping[str, int] = EMPTY
    addresses: Mapping[str, int] = EMPTY
    open: bool = True
    narrow: frozenset[str] = frozenset()
    kept: Mapping[str, int] = EMPTY
    casts: bool = False
    numbers: frozenset[str] = frozenset()
    handed: Mapping[str, int] = EMPTY
    untyped: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    loads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Site:
    """A place in a kernel's source at which something is done, and what: "store", "load", "keep" and the like.

    `path` has the places of the calls that lead there, from the kernel's own body on; `line` is a line of that body.
    """

    kind: str
    path: tuple[tuple[int, ...], ...]

    @property
    def line(self) -> int:
        return self.path[0][0]


@dataclass(frozen=True)
class Footprint:
    """What the source of a kernel may touch, under what is given of its compile-time values.

    `sites` are the places at which something may be done to the memory of a parameter: `ptrs.1` is an element of a
    tuple, `*` stands for addresses in memory, and "" for what is no parameter. What is kept is an address that may be
    put into memory.
    """

    sites: Mapping[str, frozenset[Site]]

    def lines(self, kind: str) -> dict[str, int]:
        """The parameters to which something of a kind may be done, each with the first line of the kernel's body."""
        found = {name: [s.line for s in sites if s.kind == kind] for name, sites in self.sites.items()}
        return {name: min(lines) for name, lines in found.items() if lines}

    def asks(self, kind: str) -> bool:
        """Whether the source asks for the "type" or the "size" of a value."""
        return any(site.kind == kind for site in self.sites.get("", ()))

    @cached_property
    def stores(self) -> frozenset[str]:
        """The parameters that may be stored through, also by way of memory."""
        stored = self.lines("store").keys()
        return frozenset({*stored, *(self.lines("keep") if "*" in stored else ())}) - {"*"}

    def at(self, parameter: str) -> frozenset[Site]:
        """What is done to a parameter of the kernel, or to an element of it."""
        names = [n for n in self.sites if n.partition(".")[0] == parameter or (n == "*" and not parameter)]
        return frozenset[Site]().union(*(self.sites[name] for name in names))


@dataclass(frozen=True)
class SignaturePlan:
    """The variants to analyse for one kernel, and where the types came from.

    `total` counts the variants that exist; `variants` may be fewer when a cap bites.
    `inferred` holds the parameters that the spec did not give; `reasons` says, per parameter, why. `assumed` holds
    those of which nobody said that the value is meant: the default of the source, where no spec entry gives the rest
    of a launch, and what a heuristic gave for arguments that are not known. `partial` holds those of `inferred` that
    the source takes other values of, too. `footprints` has that of each variant, where there
    are several.
    """

    variants: tuple[Variant, ...]
    total: int
    origin: Origin
    inferred: frozenset[str] = frozenset()
    assumed: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = EMPTY
    notes: tuple[str, ...] = ()
    doubts: Doubts | None = None
    footprints: tuple[Footprint, ...] = ()  # as `variants`


@dataclass(frozen=True)
class LaunchArgument:
    """What a launch in host code passes for one parameter, as far as that is known.

    `constant` is (type, value); `items` are the elements of a tuple of known length; `function` is a jit function by
    the file, the name and the line of its `def`. `is_tensor` says that it is a tensor, or None unless it `is_present`,
    `is_number` that it is a number, a text or the like, and carries no address.
    """

    constant: tuple[type, object] | None = None
    items: tuple[LaunchArgument, ...] | None = None
    function: tuple[str, str, int] | None = None
    is_tensor: bool = False
    is_present: bool = False
    is_number: bool = False


@dataclass(frozen=True)
class Beyond:
    """What a launch may do that no analysed variant does: its values are those of none of them.

    `stores` are the parameters that the source may store through then (`ptrs.2` is an element of a tuple), `behind`
    says that it may through addresses in memory. `values` names the values that no variant has; `like_variant` says
    that it is the launch of one after all.
    """

    stores: frozenset[str] = frozenset()
    behind: bool = False
    values: str = ""
    like_variant: bool = False

    def of(self, parameters: Set[str]) -> frozenset[str]:
        """What it may store through of some parameters; an element of a tuple counts as any of its."""
        owners = {name.partition(".")[0] for name in parameters}
        return frozenset(name for name in self.stores if name.partition(".")[0] in owners)


# --------------------------------------------------------------------------- targets and modules


@dataclass(frozen=True)
class Target:
    """A GPU target: backend `cuda` or `hip`, `arch` as text (`90`, `gfx942`), where it came from."""

    backend: str
    arch: str
    warp_size: int
    origin: str  # "active" | "option" | "spec" | "default"

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"


class ArgRole(str, Enum):
    """What a TTIR argument carries for its parameter."""

    ADDRESS = "address"  # the pointer or descriptor itself
    SCALAR = "scalar"
    META = "meta"  # a shape or stride that a host descriptor expands to


@dataclass(frozen=True)
class ArgOwner:
    """The Python parameter that one argument of the lowered entry function came from."""

    parameter: str  # flattened name: "x", "ptrs.0", "state.x"
    role: ArgRole


@dataclass(frozen=True)
class LoweredKernel:
    """The TTIR text of one variant and the owner of each argument of its entry function."""

    text: str
    entry: str
    owners: tuple[ArgOwner, ...]
    target: Target
    handle: Any = field(default=None, repr=False, compare=False)  # the MLIR module, for `Lowerer.simplify`


# --------------------------------------------------------------------------- the report


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
    effect: str  # "none" | "reads" | "writes" | "unanalyzable"
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


@dataclass(frozen=True)
class VariantUse:
    """What one variant of a tuned kernel does to a parameter; for the rules alone, in no report.

    `settled`: run again on what it left, it leaves the same. `apart`: what it reads and what it writes
    look as if they never met.
    """

    choices: tuple[tuple[str, str], ...]
    accesses: tuple[Access, ...]
    settled: bool = False
    apart: bool = False


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
    uses: tuple[VariantUse, ...] = ()  # by variant, of kernels with several autotune configs
    may_read: bool = False  # no analysed variant reads it, and one with other values than those guessed may


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

    @property
    def mutated(self) -> tuple[str, ...]:
        """Parameters written in some or all variants, in signature order."""
        wanted = (Mutation.WRITTEN, Mutation.CONDITIONAL)
        return tuple(p.name for p in self.parameters if p.mutation in wanted)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.parameters if p.mutation is Mutation.UNKNOWN)


# --------------------------------------------------------------------------- torch ops


@dataclass(frozen=True)
class Problem:
    """What is wrong with a declaration as written (TML105)."""

    message: str
    location: Location
    help: str = ""


@dataclass(frozen=True)
class Declaration:
    """What an op says it mutates.

    `names` are the arguments it declares, in the order written, or None where that is not known:
    computed at run time, or `"unknown"`, which declares that any may be (`any_may`). `stated` is false
    where the declaration was left out and a default holds. `place` is that of the list, the schema
    or, where it was left out, the registration. `span` is the list's (line, column, end line, end
    column) in its file as `ast` counts, None where there is no literal list to edit.
    """

    names: tuple[str, ...] | None
    place: Location
    any_may: bool = False
    stated: bool = True
    span: tuple[int, int, int, int] | None = None
    problems: tuple[Problem, ...] = ()
    reason: str = ""  # why `names` is None
    of_torch: bool = False  # the op is torch's own, and so is its schema: `place` is where it gets another body


class OpMutation(str, Enum):
    WRITTEN = "written"  # by way of a value that is the argument's own storage
    MAYBE = "maybe"  # by way of one that may be a copy (`reshape`, `contiguous`, `to`)
    UNWRITTEN = "unwritten"
    UNKNOWN = "unknown"  # it reaches code whose effect is not known


@dataclass(frozen=True, order=True)
class HostEffect:
    """One place at which an op's argument is written, or may be for want of knowledge.

    `text` says what happens there ("`add_kernel` writes `out_ptr`", "`x.copy_`"). `path` are the host
    calls from the op's function to `location`; `kernel` and `access` tell of the kernel launched there.
    """

    location: Location
    text: str
    path: tuple[Frame, ...] = ()
    kernel: str = ""
    access: Access | None = field(default=None, compare=False)


@dataclass(frozen=True)
class OpArgument:
    """The verdict on one argument of an op; `effects` are what it rests on."""

    name: str
    index: int
    mutation: OpMutation
    effects: tuple[HostEffect, ...] = ()
    returned: bool = False  # a result of the op is the argument or a view of it


@dataclass(frozen=True)
class OpReport:
    """The verdict on one torch op, the union over its implementations.

    `form` is how it is registered ("custom_op", "triton_op", "define", "registrar"). `complete` says
    that everything its code does with the arguments was understood; `gaps` are what was not.
    `unwrapped` are launches of a triton_op that do without `wrap_triton`, by kernel. `unmarked` are the
    inputs that an `autograd.Function` writes without `mark_dirty`.
    """

    name: str
    form: str
    location: Location
    declaration: Declaration
    arguments: tuple[OpArgument, ...] = ()
    kernels: tuple[str, ...] = ()
    complete: bool = False
    gaps: tuple[HostEffect, ...] = ()
    unwrapped: tuple[tuple[str, Location], ...] = ()
    unmarked: tuple[tuple[str, Location], ...] = ()

    @property
    def mutated(self) -> tuple[str, ...]:
        """Arguments written for certain on some path, in signature order."""
        return tuple(a.name for a in self.arguments if a.mutation is OpMutation.WRITTEN)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Arguments that may be written: through what may be a copy, or by code that is not known."""
        wanted = (OpMutation.MAYBE, OpMutation.UNKNOWN)
        return tuple(a.name for a in self.arguments if a.mutation in wanted)


@dataclass(frozen=True)
class Related:
    """A second place that explains a finding (the declaration, each write)."""

    message: str
    location: Location


class ListKind(str, Enum):
    """The lists in users' files that a fix can edit."""

    SPEC_MUTATES = "the spec's `mutates`"
    COMMENT_MUTATES = "the `mutates` comment"
    RESTORE_VALUE = "`restore_value`"
    RESET_TO_ZERO = "`reset_to_zero`"
    IGNORE = "the `ignore` comment"
    MUTATES_ARGS = "`mutates_args`"


@dataclass(frozen=True)
class Change:
    """One name to put into a list of the user's, or to take out: what would settle a finding.

    `location` is that of the list (the spec's key, the comment) or of the decorator it belongs to;
    an empty `name` stands for the whole list. `order` are the names of the kernel's parameters.
    """

    kind: ListKind
    name: str
    add: bool
    location: Location
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a rule says of one place.

    `subject` is the place of the declaration, decorator or signature that the finding is about, where it is one of
    several parameters: text tells of those of one subject together.
    """

    rule: str  # "TML101"
    name: str  # "undeclared-mutation"
    severity: Severity
    message: str
    location: Location
    kernel: str | None = None
    op: str | None = None
    parameter: str | None = None
    suppressed: bool = False
    related: tuple[Related, ...] = ()
    help: str = ""
    suppressed_by: str = ""  # "comment", "spec" or "baseline"
    changes: tuple[Change, ...] = ()  # what would settle it
    unfixed: str = ""  # why `--fix` leaves it, where one might expect that it does not
    subject: Location | None = None


@dataclass(frozen=True)
class Environment:
    triton: str | None  # None when no kernel needed it
    targets: tuple[Target, ...] = ()


@dataclass(frozen=True)
class Report:
    """Everything one run found; equal inputs give equal reports."""

    environment: Environment
    kernels: tuple[KernelReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: int = 0  # files that hold kernels
    helpers: int = 0
    notes: tuple[str, ...] = ()
    ops: tuple[OpReport, ...] = ()
