"""The frozen types that cross module borders.

The data flows one way: discover -> load -> signature -> lower -> parse -> analyse -> judge -> report.
Each stage takes and returns the types below; only the command line prints and exits.
Nothing here imports triton or torch.
"""

from triton_mutlint.basics import EMPTY, MutlintError, Severity, UsageError
from triton_mutlint.types.arguments import (
    ArgType,
    ConstexprValue,
    DescriptorType,
    PointerType,
    ScalarType,
    TupleType,
)
from triton_mutlint.types.failure import (
    Failure,
    Stage,
    StageError,
)
from triton_mutlint.types.finding import (
    Change,
    Environment,
    Finding,
    ListKind,
    Related,
    Report,
)
from triton_mutlint.types.kernel import (
    Autotune,
    AutotuneConfig,
    Kernel,
    Parameter,
)
from triton_mutlint.types.lowered import (
    ArgOwner,
    ArgRole,
    Lowered,
)
from triton_mutlint.types.op import (
    Declaration,
    HostEffect,
    OpArgument,
    OpMutation,
    OpReport,
    Problem,
)
from triton_mutlint.types.place import (
    Frame,
    Location,
)
from triton_mutlint.types.plan import (
    Beyond,
    Doubts,
    Footprint,
    LaunchArgument,
    Origin,
    Plan,
    Site,
    Variant,
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
    UnanalyzableOp,
)
from triton_mutlint.types.result import FileResult
from triton_mutlint.types.source import SourceFile, parse_source, split_lines
from triton_mutlint.types.target import Target, parse_target

__all__ = [
    "EMPTY",
    "Access",
    "AccessKind",
    "ArgOwner",
    "ArgRole",
    "ArgType",
    "Autotune",
    "AutotuneConfig",
    "Beyond",
    "Change",
    "ConstexprValue",
    "Declaration",
    "DescriptorType",
    "Doubts",
    "Environment",
    "Failure",
    "FileResult",
    "Finding",
    "Footprint",
    "Frame",
    "HostEffect",
    "IndirectWrite",
    "Kernel",
    "KernelReport",
    "LaunchArgument",
    "ListKind",
    "Location",
    "Lowered",
    "Mutation",
    "MutlintError",
    "OpArgument",
    "OpMutation",
    "OpReport",
    "OpaqueOp",
    "Origin",
    "Parameter",
    "ParameterKind",
    "ParameterReport",
    "Plan",
    "PointerType",
    "Problem",
    "Related",
    "Report",
    "Rerun",
    "ScalarType",
    "Severity",
    "Site",
    "SourceFile",
    "Stage",
    "StageError",
    "Status",
    "Target",
    "TupleType",
    "UnanalyzableOp",
    "UsageError",
    "Variant",
    "parse_source",
    "parse_target",
    "split_lines",
]
