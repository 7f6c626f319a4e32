"""The frozen types that cross module borders.

The data flows one way: discover -> load -> signature -> lower -> parse -> analyse -> judge -> report.
Each stage takes and returns the types below; only the command line prints and exits. Everybody imports them from here.
Nothing here imports triton or torch.
"""

from triton_mutlint.basics import EMPTY, MutlintError, Severity, UsageError
from triton_mutlint.types.finding import Change, Environment, Finding, ListKind, Related, Report
from triton_mutlint.types.kernel import Autotune, AutotuneConfig, FileResult, Kernel, Parameter
from triton_mutlint.types.op import Declaration, HostEffect, OpArgument, OpMutation, OpReport, Problem
from triton_mutlint.types.plan import (
    ArgType,
    Choices,
    ConstexprValue,
    DescriptorType,
    Doubts,
    Footprint,
    LaunchArgument,
    Origin,
    OtherLaunch,
    Plan,
    PointerType,
    ScalarType,
    Site,
    TupleType,
    Variant,
    unwrap_constexpr,
)
from triton_mutlint.types.report import (
    Access,
    AccessKind,
    IndirectWrite,
    KernelReport,
    Mutation,
    OpaqueOp,
    ParameterKind,
    ParameterReport,
    Rerun,
    Status,
    TorchReport,
    UnanalyzableOp,
)
from triton_mutlint.types.source import (
    Failure,
    Frame,
    Location,
    SourceFile,
    Stage,
    StageError,
    parse_source,
    split_lines,
)
from triton_mutlint.types.target import ArgOwner, ArgRole, Lowered, Target, parse_target
