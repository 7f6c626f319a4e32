"""Which ops are run, and with what: from the report of an analysis to jobs."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triton_mutlint.basics import UsageError
from triton_mutlint.config.request import Request
from triton_mutlint.host.registrations.functions import LOCAL
from triton_mutlint.run.plan import Specs
from triton_mutlint.source.discover import find_module
from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.python_text import read_source
from triton_mutlint.types import (
    EMPTY,
    KernelReport,
    Mutation,
    OpMutation,
    OpReport,
    ParameterKind,
    SourceFile,
    StageError,
)
from triton_mutlint.verify.model import Subject
from triton_mutlint.verify.wire import EAGER, FAKE, Case, OpJob, Settings, Words

_DTYPES = frozenset({"float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
                     "float8_e4m3fn", "float8_e5m2"})
_EXTENDED = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
_ADDRESSED = (ParameterKind.POINTER, ParameterKind.DESCRIPTOR)
_MOST = 64  # calls that a spec's lists make


def named(argument: str, cwd: Path) -> tuple[str, str]:
    """The path in `FILE`, `FOLDER`, `FILE:op` or `module:op`, and the op ("" for all). Raises UsageError."""
    place, _, op = argument.partition(":")
    if (cwd / argument).exists() or (not op and "/" in argument):
        return argument, ""
    if (cwd / place).exists():
        return place, op.lstrip(":")
    try:
        return str(find_module(place, cwd, argument)), op.lstrip(":")
    except StageError as error:
        raise UsageError(f"{argument}: there is neither a file nor a module {place!r}; "
                         "write FILE, FOLDER or module:op") from error


def subject_of(op: OpReport, source: SourceFile, request: Request, specs: Specs, settings: Settings,
               paths: Sequence[str], kernels: Sequence[KernelReport] = ()) -> Subject[OpReport, OpJob]:
    """How to run one analysed op; `kernels` are those that it may launch."""
    if op.form == "function":
        paths = [path for path in paths if path != FAKE]
    if LOCAL in op.name:
        return Subject(op, refused="it is defined in a function, which nothing here calls; --model runs a program "
                                   "that uses it")
    if op.form == "jax":
        return Subject(op, refused="it is a call of jax-triton, not an op of torch")
    spec = specs.of(source)
    entry: Mapping[str, Any] = (spec.ops if spec else EMPTY).get(op.name) or EMPTY
    verify = entry.get("verify") or EMPTY
    if verify.get("skip"):
        return Subject(op, refused=f"the spec skips it: {verify['skip']}")
    places = [(str(request.cwd / effect.location.file), effect.location.line) for argument in op.arguments
              for effect in argument.effects if argument.mutation in (OpMutation.WRITTEN, OpMutation.MAYBE)]
    inside = [(str(source.path), op.location.line), *places,
              *((str(request.cwd / f.file), f.line) for a in op.arguments for e in a.effects for f in e.path)]
    addressed = [(k.name, p) for k in kernels for p in k.parameters if p.kind in _ADDRESSED]
    pointers = {f"{name}.{p.name}": p.mutation is not Mutation.UNWRITTEN for name, p in addressed}
    root, module = importable(source.path)
    often = [path for path in paths if path not in ("inductor", "aoti", "dynamic")]
    return Subject(op, OpJob(
        name=op.name, display=source.display, line=op.location.line, module=module, roots=(str(root), str(request.cwd)),
        runs=(*[EAGER] * settings.runs, *sorted((*paths, *often), key=paths.index)),
        places=tuple(dict.fromkeys(places)),
        words=words(inside), pointers=tuple(pointers), written=tuple(name for name, may in pointers.items() if may),
        given=tuple(_given(entry)), values=verify.get("values") or EMPTY, settings=settings))


def importable(path: Path) -> tuple[Path, str]:
    """The folder from which a file is imported, and its dotted name from there."""
    place = ModulePlace(path)
    return place.around.roots[0], place.dotted


def _given(entry: Mapping[str, Any]) -> Iterator[Case]:
    """The calls that a spec gives: every combination of its lists, with the sizes under `shapes`."""
    args, shapes = entry.get("args") or {}, (entry.get("verify") or {}).get("shapes") or {}
    columns = [[_text(v, shapes.get(n)) for v in (given if isinstance(given, list) else [given])]
               for n, given in args.items()]
    for call in (entry.get("verify") or {}).get("calls") or ():
        yield {n: _text(v, None) for n, v in call.items()}
    for values in itertools.islice(itertools.product(*columns), _MOST if args else 0):
        yield dict(zip(args, values, strict=True))


def _text(value: Any, shape: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    sizes = shape if isinstance(shape, list) else [shape]
    return f"{value}[{', '.join(map(str, sizes))}]" if shape is not None and "[" not in value else value


# --------------------------------------------------------------------------- what the code compares with


def words(places: Iterable[tuple[str, int]]) -> Words:
    """The constants that the functions around these places compare with, in the order of the code."""
    lines: dict[str, set[int]] = {}
    for file, line in places:
        lines.setdefault(file, set()).add(line)
    found: list[object] = []
    for file, wanted in lines.items():
        try:
            tree = ast.parse(read_source(Path(file), file))
        except (StageError, SyntaxError, ValueError):
            continue
        constants = {t.id: s.value for s in tree.body if isinstance(s, ast.Assign) for t in s.targets
                     if isinstance(t, ast.Name)}
        for function in ast.walk(tree):
            if isinstance(function, _EXTENDED):
                first = min([function.lineno, *(d.lineno for d in getattr(function, "decorator_list", ()))])
                if any(first <= line <= (function.end_lineno or first) for line in wanted):
                    found += _compared(function, constants)
    plain = [f for f in dict.fromkeys(found) if not isinstance(f, bool)]
    return Words(tuple(f for f in plain if isinstance(f, (int, float)))[:12],
                 tuple(f for f in plain if isinstance(f, str) and f not in _DTYPES)[:12],
                 tuple(f for f in plain if isinstance(f, str) and f in _DTYPES))


def _compared(function: ast.AST, constants: Mapping[str, ast.expr]) -> Iterator[object]:
    compared: list[ast.AST] = [n for n in ast.walk(function) if isinstance(n, (ast.Compare, ast.MatchValue))]
    for node in (inner for one in compared for inner in ast.walk(one)):
        node = constants.get(node.id, node) if isinstance(node, ast.Name) else node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            yield -node.operand.value if isinstance(node.operand.value, (int, float)) else None
        elif isinstance(node, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Attribute) and node.attr in _DTYPES:
            yield node.attr
