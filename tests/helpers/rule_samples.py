"""Kernels for the rules' tests, built from source text alone: no Triton, no analysis.

`subject_of` finds accesses where a simple kernel makes them plainly: `tl.store(x + i, ...)`.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from triton_mutlint.contracts.declarations import KernelDeclaration, declaration_of
from triton_mutlint.rules.rule import KernelSubject, RunSubject
from triton_mutlint.spec.model import Declared
from triton_mutlint.types import (
    Access,
    AccessKind,
    Autotune,
    AutotuneConfig,
    Finding,
    Frame,
    Kernel,
    KernelReport,
    Location,
    Mutation,
    Origin,
    Parameter,
    ParameterKind,
    ParameterReport,
    SourceFile,
    Status,
)

FILE = "kernels.py"
TWO = (AutotuneConfig({"BLOCK": 128}), AutotuneConfig({"BLOCK": 256}))
_OPS = {
    "load": (AccessKind.READ, "tt.load"),
    "store": (AccessKind.WRITE, "tt.store"),
    "atomic_cas": (AccessKind.ATOMIC, "tt.atomic_cas"),
}


def source_of(text: str, file: str = FILE) -> SourceFile:
    return SourceFile(Path("/project") / file, file, textwrap.dedent(text))


def subject_of(text: str, autotune: Autotune | None = None, allow: Iterable[str] = (),
               declaration: KernelDeclaration | None = None, **changes: object) -> KernelSubject:
    """The first kernel of `text`; `changes` replace fields of its report."""
    source = source_of(text)
    node = next(iter(source.functions.values()))
    parameters = tuple(_parameter(a, i) for i, a in enumerate(node.args.args))
    location = Location(source.display, node.lineno, node.col_offset + 1)
    kernel = Kernel(node.name, location, None, parameters, source, autotune=autotune)
    reported = tuple(_report(p, node) for p in parameters)
    report = KernelReport(node.name, location, Status.ANALYZED, Origin.SPEC, 1, 1, reported)
    declared = declaration or declaration_of(kernel, source, None)
    allowed = tuple(Declared(code, Location("spec.yaml", 1), ("kernels", node.name, "allow")) for code in allow)
    return KernelSubject(replace(report, **changes), kernel, declared, declaration is not None, allowed)


def run_of(text: str, *subjects: KernelSubject) -> RunSubject:
    return RunSubject(subjects, (source_of(text),), cwd=Path("/project"))


def codes(findings: tuple[Finding, ...]) -> list[str]:
    return [f.rule for f in findings if not f.suppressed]


def _parameter(argument: ast.arg, index: int) -> Parameter:
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    return Parameter(argument.arg, index, annotation == "tl.constexpr", annotation == "tl.const", annotation)


def _report(parameter: Parameter, node: ast.FunctionDef) -> ParameterReport:
    accesses = tuple(_accesses(parameter.name, node))
    kinds = {a.kind for a in accesses}
    pointer = bool(kinds) or parameter.name.endswith("_ptr")
    plain = ParameterKind.POINTER if pointer else ParameterKind.SCALAR
    kind = ParameterKind.CONSTEXPR if parameter.is_constexpr else plain
    written = kinds - {AccessKind.READ}
    return ParameterReport(
        parameter.name, parameter.index, kind, "*fp32" if pointer else "i32", False,
        Mutation.WRITTEN if written else Mutation.UNWRITTEN, reads=bool(kinds - {AccessKind.WRITE}),
        writes=AccessKind.WRITE in kinds, atomics=AccessKind.ATOMIC in kinds, accesses=accesses,
    )


def _accesses(name: str, node: ast.FunctionDef) -> list[Access]:
    found = []
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if not call.args or not (method in _OPS or method.startswith("atomic_")):
            continue
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(call.args[0])):
            kind, op = _OPS.get(method, (AccessKind.ATOMIC, "tt.atomic_rmw"))
            place = Location(FILE, call.lineno, call.col_offset + 1)
            found.append(Access(kind, op, place, (Frame(node.name, FILE, call.lineno),)))
    return found
