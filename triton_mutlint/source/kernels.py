"""The jit functions of a sliced file: decorated ones anywhere in it, and `name = triton.jit(fn)`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from triton_mutlint.model import Parameter
from triton_mutlint.source import jitdefs
from triton_mutlint.source.jitdefs import JitDefinition, NotJitError, PlaceholderError
from triton_mutlint.source.outline import Function, Outline, Parents
from triton_mutlint.source.sliced import SlicedModule
from triton_mutlint.source.stubs import Missing, find_missing
from triton_mutlint.source.tuning import Tuning
from triton_mutlint.source.walking import dotted

_SHIM = "make the file import triton itself, or run with the real triton first in the path"


@dataclass(eq=False)
class Candidate:
    """A jit function of the file, or why it is none; `ignorable` problems are not reported unasked."""

    name: str
    qualname: str
    definition: JitDefinition
    jit: Any = None
    problem: str = ""
    hint: str = ""
    ignorable: bool = False
    aliases: set[str] = field(default_factory=set)
    objects: list[tuple[Any, int]] = field(default_factory=list)  # autotuners made of it by assignment

    @property
    def node(self) -> ast.FunctionDef:
        return self.definition.node

    def tuning(self, with_decorators: bool) -> Tuning:
        tuning = Tuning()
        if with_decorators:
            tuning.read(self.definition)
            for value, line in self.objects:
                tuning.read_object(value, line)
        return tuning

    def parameters(self) -> tuple[Parameter, ...]:
        args = self.node.args
        every = (*args.posonlyargs, *args.args, *filter(None, (args.vararg, args.kwarg)), *args.kwonlyargs)
        written = {a.arg: a.annotation for a in every}
        signature = self.jit.signature.parameters
        result = []
        for i, param in enumerate(self.jit.params):
            annotation = written.get(param.name)
            default = signature[param.name].default
            has_default = default is not inspect.Parameter.empty and find_missing(default) is None
            result.append(
                Parameter(
                    name=param.name,
                    index=i,
                    is_constexpr=bool(param.is_constexpr),
                    is_const=bool(param.is_const),
                    annotation=_written(annotation),
                    has_default=has_default,
                    default=default if has_default else None,
                )
            )
        return tuple(result)


def _written(annotation: ast.expr | None) -> str:
    """The text of an annotation, which is a dotted name nearly always."""
    if annotation is None:
        return ""
    return ".".join(dotted(annotation)) or ast.unparse(annotation)


def has_candidates(file: Outline) -> bool:
    """Whether anything in the file looks like a jit function; nothing is evaluated."""
    return bool(file.jits) or any(True for _ in _assignments(file))


def candidates(module: SlicedModule) -> list[Candidate]:
    """Every jit function of the file in line order, those nested or sharing a name included."""
    found: dict[ast.AST, Candidate] = {}
    for function in module.outline.jits:
        node = function.node
        if isinstance(node, ast.FunctionDef) and not _in_aggregate(function.parents):
            definition = jitdefs.define(module.inner(function.parents), node)
            found[node] = _candidate(node.name, function.qualname, definition)
    for assignment, parents in _assignments(module.outline):
        _assigned(module, assignment, parents, found)
    return sorted(found.values(), key=lambda c: (c.node.lineno, c.name))


def _candidate(name: str, qualname: str, definition: JitDefinition) -> Candidate:
    error = definition.error
    if error is None:
        return Candidate(name, qualname, definition, definition.jit)
    if isinstance(error, NotJitError):
        problem = f"`{name}` is not a Triton kernel"
        problem += ": gluon kernels are not analysed" if definition.gluon else f" ({error})"
        return Candidate(name, qualname, definition, problem=problem, ignorable=True)
    if isinstance(error, PlaceholderError):
        return Candidate(name, qualname, definition, problem=str(error), hint=_SHIM)
    text = f"{type(error).__name__}: {error}".split("\n")[0]
    return Candidate(name, qualname, definition, problem=f"kernel {name} cannot be defined: {text}")


def _in_aggregate(parents: tuple[Function | ast.ClassDef, ...]) -> bool:
    """Methods of aggregates are part of a type, never kernels."""
    if not parents or not isinstance(parents[-1], ast.ClassDef):
        return False
    decorators = (d.func if isinstance(d, ast.Call) else d for d in parents[-1].decorator_list)
    return any("aggregate" in (dotted(d) or ("",))[-1] for d in decorators)


def _assignments(file: Outline) -> Iterator[tuple[ast.Assign, Parents]]:
    """`name = …jit(…)…` and `name = autotune(…)(…)` anywhere in the file."""
    for node, parents in file.assignments:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _makes_jit(node.value):
            yield node, parents


def _makes_jit(node: ast.expr) -> bool:
    """Calls such as `triton.jit(f)`, `triton.jit(noinline=True)(f)`, `triton.autotune(…)(k)`."""
    while isinstance(node, ast.Call):
        chain = dotted(node.func)
        if chain and len(node.args) + len(node.keywords) > 0:
            known = chain[-1] in {"jit", "autotune", "heuristics"} and chain[0] != "torch"
            return known and bool(node.args)
        if not isinstance(node.func, ast.Call) or not node.args:
            return False
        inner = dotted(node.func.func)
        return bool(inner) and inner[-1] in {"jit", "autotune", "heuristics"}
    return False


def _assigned(
    module: SlicedModule, node: ast.Assign, parents: Parents, found: dict[ast.AST, Candidate]
) -> None:
    """Take in a jit function made by assignment: a new one, or a tuned alias of a known one."""
    target = node.targets[0]
    assert isinstance(target, ast.Name)
    namespace = module.inner(parents)
    try:
        value = namespace[target.id]
        if isinstance(value, Missing):
            value = namespace.evaluate(node.value)  # the name is bound elsewhere too
    except KeyboardInterrupt:
        raise
    except BaseException:  # linted code; a name that gives no jit function is no kernel
        return
    jit = jitdefs.unwrap(value)
    code = getattr(getattr(jit, "fn", None), "__code__", None)
    if code is None or code.co_filename != str(module.path):
        return
    origin = module.function_at(code.co_firstlineno)
    if origin is None:
        return
    known = found.get(origin)
    if known is None:
        qualname = ".".join([*(p.name for p in parents), target.id])
        definition = JitDefinition(origin, namespace, jit, jit)
        known = found[origin] = Candidate(target.id, qualname, definition, jit)
    known.aliases.add(target.id)
    if value is not jit:
        known.objects.append((value, node.lineno))
