"""Reports to render: built by hand, so that every shape of a report has its sample."""

from __future__ import annotations

from dataclasses import replace

from triton_mutlint.types import (
    Access,
    AccessKind,
    Environment,
    Failure,
    Finding,
    Frame,
    IndirectWrite,
    KernelReport,
    Location,
    Mutation,
    OpaqueOp,
    Origin,
    ParameterKind,
    ParameterReport,
    Related,
    Report,
    Severity,
    Stage,
    Status,
    Target,
    UnanalyzableOp,
)

ADD = """\
import triton
import triton.language as tl


# Adds two vectors.


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)
"""

NORM = """\
import triton
import triton.language as tl
from helpers import store_row


@triton.jit
def norm_kernel(X, Y, Mean, Locks, table, stride, N, eps, STORE_MEAN: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(X + row * stride + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    if STORE_MEAN:
        tl.store(Mean + row, mean)
    while tl.atomic_cas(Locks + row, 0, 1) == 1:
        pass
    store_row(Y, row, stride, cols, (x - mean) / tl.sqrt(tl.sum((x - mean) * (x - mean), axis=0) / N + eps), N)
    tl.atomic_xchg(Locks + row, 0)
    target = tl.load(table + row).to(tl.pointer_type(tl.float32))
    tl.store(target + cols, x)
    smid = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.inline_asm_elementwise("frob.global.b32 [$1], 7;", "=r,l", [X + row], dtype=tl.int32, is_pure=False, pack=1)
"""

HELPERS = """\
import triton
import triton.language as tl


@triton.jit
def store_row(out, row, stride, cols, value, N):
\tstore_masked(out + row * stride, cols, value, N)


@triton.jit
def store_masked(out, cols, value, N):
    größe = cols < N; tl.store(out + cols, value, mask=größe)
"""

TEXTS = {"kernels.py": ADD, "nn/norm.py": NORM, "nn/helpers.py": HELPERS}

TARGET = Target("cuda", "90", 32, "default")
POINTER, SCALAR, CONSTEXPR = ParameterKind.POINTER, ParameterKind.SCALAR, ParameterKind.CONSTEXPR


def parameter(
    name: str,
    index: int,
    type: str,  # noqa: A002 - the field's own name
    mutation: Mutation = Mutation.UNWRITTEN,
    *accesses: Access,
    kind: ParameterKind = POINTER,
    **more: object,
) -> ParameterReport:
    kinds = {access.kind for access in accesses}
    return ParameterReport(
        name,
        index,
        kind,
        type,
        inferred=bool(more.pop("inferred", False)),
        mutation=mutation,
        reads=AccessKind.READ in kinds or AccessKind.ATOMIC in kinds,
        writes=AccessKind.WRITE in kinds,
        atomics=AccessKind.ATOMIC in kinds,
        accesses=accesses,
        **more,  # type: ignore[arg-type]
    )


def access(kind: AccessKind, op: str, file: str, line: int, column: int, *path: tuple[str, str, int]) -> Access:
    return Access(kind, op, Location(file, line, column), tuple(Frame(*frame) for frame in path))


def read(line: int, column: int) -> Access:
    path = ("add_kernel", "kernels.py", line)
    return access(AccessKind.READ, "tt.load", "kernels.py", line, column, path)


ADD_KERNEL = KernelReport(
    "add_kernel",
    Location("kernels.py", 9),
    Status.ANALYZED,
    Origin.SPEC,
    2,
    2,
    (
        parameter("x_ptr", 0, "*fp32:16", Mutation.UNWRITTEN, read(13, 17)),
        parameter("y_ptr", 1, "*fp32:16", Mutation.UNWRITTEN, read(14, 17)),
        parameter(
            "output_ptr",
            2,
            "*fp32:16",
            Mutation.WRITTEN,
            access(AccessKind.WRITE, "tt.store", "kernels.py", 16, 5, ("add_kernel", "kernels.py", 16)),
        ),
        parameter("n_elements", 3, "i32", kind=SCALAR),
        parameter("BLOCK_SIZE", 4, "128 | 1024", kind=CONSTEXPR),
    ),
    targets=(TARGET,),
)

_N = "nn/norm.py"
_H = "nn/helpers.py"
_ASM = "frob.global.b32 [$1], 7;"
NORM_KERNEL = KernelReport(
    "norm_kernel",
    Location(_N, 7),
    Status.ANALYZED,
    Origin.MIXED,
    64,
    200,
    (
        parameter(
            "X",
            0,
            "*fp16",
            Mutation.UNKNOWN,
            access(AccessKind.READ, "tt.load", _N, 10, 17, ("norm_kernel", _N, 10)),
        ),
        parameter(
            "Y",
            1,
            "*fp16",
            Mutation.WRITTEN,
            access(
                AccessKind.WRITE,
                "tt.store",
                _H,
                12,
                25,
                ("norm_kernel", _N, 16),
                ("store_row", _H, 7),
                ("store_masked", _H, 12),
            ),
            inferred=True,
            reason="the base of a store",
        ),
        parameter(
            "Mean",
            2,
            "*fp32",
            Mutation.CONDITIONAL,
            access(AccessKind.WRITE, "tt.store", _N, 13, 18, ("norm_kernel", _N, 13)),
            when=("STORE_MEAN=True",),
        ),
        parameter(
            "Locks",
            3,
            "*i32",
            Mutation.WRITTEN,
            access(AccessKind.ATOMIC, "tt.atomic_cas", _N, 14, 25, ("norm_kernel", _N, 14)),
            access(AccessKind.ATOMIC, "tt.atomic_rmw", _N, 17, 20, ("norm_kernel", _N, 17)),
        ),
        parameter(
            "table",
            4,
            "*i64",
            Mutation.UNWRITTEN,
            access(AccessKind.READ, "tt.load", _N, 18, 22, ("norm_kernel", _N, 18)),
        ),
        parameter("stride", 5, "i32", kind=SCALAR),
        parameter("N", 6, "i32", kind=SCALAR),
        parameter("eps", 7, "fp32", kind=SCALAR),
        parameter("bias", 8, "", kind=ParameterKind.NONE),
        parameter("STORE_MEAN", 9, "False | True", kind=CONSTEXPR),
        parameter("BLOCK", 10, "1024", kind=CONSTEXPR),
    ),
    (IndirectWrite("table", "loaded", "tt.store", Location(_N, 19, 14)),),
    (
        OpaqueOp("tt.elementwise_inline_asm", "mov.u32 $0, %smid;", True, "none", (), Location(_N, 20, 12)),
        OpaqueOp("tt.elementwise_inline_asm", _ASM, False, "unanalyzable", ("X",), Location(_N, 21, 5)),
        OpaqueOp("tt.extern_elementwise", "__nv_expf", True, "none", (), Location(_N, 16, 5)),
    ),
    (
        UnanalyzableOp(
            "tt.elementwise_inline_asm",
            _ASM,
            "the instruction `frob.global.b32` is not known",
            ("X",),
            Location(_N, 21, 5),
        ),
    ),
    targets=(TARGET, Target("hip", "gfx942", 64, "option")),
    notes=("64 of 200 variants were analysed; raise the limit with --max-variants",),
)

BROKEN_KERNEL = KernelReport(
    "broken_kernel",
    Location("kernels.py", 20),
    Status.FAILED,
    failure=Failure(
        Stage.LOWER,
        "at 3:11:\ndef broken_kernel(x_ptr, BLOCK: tl.constexpr):\n    offs = tl.arange(0, BLOCK)\n"
        "    return offs + x_ptr[0]\n           ^\narange's range must be a power of 2",
        Location("kernels.py", 22, 12),
        "give BLOCK a power of two in the spec",
    ),
    targets=(TARGET,),
)

UNREADABLE = KernelReport(
    "",
    Location("broken.py", 1),
    Status.FAILED,
    failure=Failure(Stage.LOAD, "invalid syntax: expected ':'", Location("broken.py", 3, 9)),
)

FINDINGS = (
    Finding(
        "TML902",
        "lowering-failed",
        Severity.ERROR,
        "broken_kernel: arange's range must be a power of 2",
        Location("kernels.py", 22, 12),
        kernel="broken_kernel",
    ),
    Finding(
        "TML101",
        "undeclared-mutation",
        Severity.ERROR,
        "add_kernel writes output_ptr, which its `mutates` leaves out",
        Location("kernels.py", 16, 5),
        kernel="add_kernel",
        parameter="output_ptr",
        related=(Related("declared here: mutates=[]", Location("triton-mutlint.yaml", 4, 5)),),
        help="add output_ptr to `mutates`, or store to a copy of it if the caller must not see a change",
    ),
    Finding(
        "TML201",
        "unanalyzable-op",
        Severity.WARNING,
        "X may be written: the inline asm was not understood",
        Location(_N, 21, 5),
        kernel="norm_kernel",
        parameter="X",
    ),
    Finding(
        "TML202",
        "indirect-write",
        Severity.WARNING,
        "a store through an address loaded from table",
        Location(_N, 19, 14),
        kernel="norm_kernel",
        parameter="table",
        suppressed=True,
    ),
)

ENVIRONMENT = Environment("3.9.0", (TARGET,))
CAPPED = "1 file was left out: more than 1 MB of text"

SIMPLE = Report(ENVIRONMENT, (ADD_KERNEL,), files=1)
FULL = Report(ENVIRONMENT, (ADD_KERNEL, BROKEN_KERNEL, NORM_KERNEL), tuple(sorted(FINDINGS, key=lambda f: f.location)),
              2, 3, (CAPPED,))
EMPTY_REPORT = Report(Environment(None))
FILE_FAILURE = Report(Environment(None), (UNREADABLE,), files=1)


def many(count: int) -> Report:
    """`count` kernels of one file with a finding on two of every three."""
    kernels = tuple(replace(ADD_KERNEL, name=f"k{i}", location=Location("big.py", 10 * i + 1)) for i in range(count))
    findings = tuple(
        replace(FINDINGS[1], kernel=k.name, location=replace(k.location, column=5), related=())
        for i, k in enumerate(kernels)
        if i % 3
    )
    return Report(ENVIRONMENT, kernels, findings, 1)


SAMPLES = {"simple": SIMPLE, "full": FULL, "empty": EMPTY_REPORT, "file_failure": FILE_FAILURE}

# Everything that some format has to escape.
EVIL = Finding(
    "TML201",
    "unanalyzable-op",
    Severity.WARNING,
    "100% of a|b, <b>*x*</b>:\r\n::error::`no`\x00\x1b[2J ]]>",
    Location("a,b:c%/größe \udcff|.py", 3, 2),
    kernel="k<T>",
    help="do, this: & that",
)
