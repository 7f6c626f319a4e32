"""The jit functions of a sliced file: decorated ones anywhere in it, and `name = triton.jit(fn)`, `name = make(…)`."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.source.jit.tuning import Tuning
from triton_mutlint.source.outline import Function, Making, Outline, makings
from triton_mutlint.source.slicing import jitdefs
from triton_mutlint.source.slicing.jitdefs import JitDefinition, NotJitError, PlaceholderError
from triton_mutlint.source.slicing.namespace import Namespace, closed
from triton_mutlint.source.slicing.stubs import Missing, find_missing
from triton_mutlint.source.walking import called, dotted
from triton_mutlint.types import Kernel, Location, Parameter, SourceFile

_WORD = re.compile(r"(?!\d)[\w-]+")
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
    unmade: str = ""  # why a call that makes one, under a name of the file, gave none
    is_product: bool = False  # what a factory's call gave, under the name that it is bound to
    aliases: set[str] = field(default_factory=set)
    objects: list[tuple[Any, int]] = field(default_factory=list)  # autotuners made of it by assignment

    @property
    def names(self) -> set[str]:
        """The names by which a user may ask for it: each alone, and with its line (`kernel:12`)."""
        names = {self.name, self.qualname, self.node.name, *self.aliases}
        return names | {f"{name}:{self.node.lineno}" for name in names}

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

    def kernel(self, source: SourceFile, namespace: Mapping[str, Any], tuning: Tuning, *, is_helper: bool = False,
               notes: Iterable[str] = ()) -> Kernel:
        """The candidate as a loaded kernel; `namespace` are its globals."""
        return Kernel(
            name=self.name,
            location=Location(source.display, self.node.lineno, self.node.col_offset + 1),
            jit=self.jit,
            parameters=self.parameters(),
            source=source,
            namespace=namespace,
            autotune=tuning.autotune,
            heuristics=tuning.heuristics,
            is_helper=is_helper,
            qualname=self.qualname,
            notes=tuple(dict.fromkeys(notes)),
        )

    def parameters(self) -> tuple[Parameter, ...]:
        args = self.node.args
        every = (*args.posonlyargs, *args.args, *filter(None, (args.vararg, args.kwarg)), *args.kwonlyargs)
        written = {a.arg: a.annotation for a in every}
        signature = self.jit.signature.parameters
        result = []
        for i, param in enumerate(self.jit.params):
            default = signature[param.name].default
            has_default = default is not inspect.Parameter.empty and find_missing(default) is None
            result.append(Parameter(
                param.name, i, bool(param.is_constexpr), bool(param.is_const), _written(written.get(param.name)),
                has_default, default if has_default else None))
        return tuple(result)


def _written(annotation: ast.expr | None) -> str:
    """The text of an annotation, which is a dotted name nearly always."""
    if annotation is None:
        return ""
    return ".".join(dotted(annotation)) or ast.unparse(annotation)


def has_candidates(file: Outline) -> bool:
    """Whether anything in the file looks like a jit function; nothing is evaluated."""
    return bool(file.jits) or any(True for _ in makings(file))


def candidates(names: Namespace) -> list[Candidate]:
    """Every jit function of the file in line order, those nested or sharing a name included.

    The `def` in a factory stands for itself where it makes more than what calls of the factory give names to.
    """
    decorated = []
    for function in names.module.outline.jits:
        node = function.node
        if isinstance(node, ast.FunctionDef) and not in_aggregate(function.parents):
            space = names.inner(function.parents)
            space.ensure_run()
            definition = jitdefs.define(space, node)
            decorated.append(_candidate(node.name, function.qualname, definition))
    made, factories = _made_by_calls(names, decorated)
    calls = Counter(c.func.id for c in names.module.outline.calls if isinstance(c.func, ast.Name))
    calls.subtract(factories.elements())
    makers = {c.node: c.qualname.partition(".")[0] for c in made if c.is_product}
    stand = [c for c in decorated if c.node not in makers or calls[makers[c.node]]]
    return sorted([*stand, *made], key=lambda c: (c.node.lineno, c.name))


def _made_by_calls(names: Namespace, decorated: list[Candidate]) -> tuple[list[Candidate], Counter[str]]:
    """What calls make where their results get names, or are elements of what gets one, and the factories that were
    called for that; what is `decorated` gets other names by it, or is tuned.
    """
    inner = {function.node: function for function in names.module.outline.functions if function.parents}
    foreign = {c.qualname.partition(".")[0] for c in decorated if c.ignorable}  # what others' `jit` makes is not run
    found: list[Candidate] = []
    factories: Counter[str] = Counter()
    for making in makings(names.module.outline):
        if foreign.intersection(making.makers):
            continue
        space, outer = names.inner(making.parents), "".join(f"{p.name}." for p in making.parents)
        values = [pair for name in making.names for pair in _elements(name, _value(name, making.node, space))]
        given = [(label, *made) for label, value in values if (made := _made(names, value)) is not None]
        if making.makers and not given:
            _unmade(decorated, making, values)
        if any(origin in inner for *_, origin in given):
            factories.update(making.makers)
        for label, value, jit, origin in given:
            factory = inner.get(origin) if making.makers else None
            known = next((c for c in (*decorated, *found) if c.jit is not None and c.jit.fn is jit.fn), None)
            if known is None:
                space_of = space if factory is None else closed(names, jit.fn, factory.parents[-1])
                known = Candidate(label if factory is None else outer + label, outer + label if factory is None
                                  else factory.qualname, JitDefinition(origin, space_of, jit, jit), jit,
                                  is_product=factory is not None)
                found.append(known)
            known.aliases.add(label)
            if value is not jit and all(value is not other for other, _ in known.objects):
                tuned = [d.lineno for d in origin.decorator_list if jitdefs.is_tuning(d)] or [origin.lineno]
                known.objects.append((value, making.node.lineno if factory is None else tuned[0]))
    return found, factories


def _candidate(name: str, qualname: str, definition: JitDefinition) -> Candidate:
    error = definition.error
    if error is None:
        return Candidate(name, qualname, definition, definition.jit)
    if isinstance(error, NotJitError):
        problem = f"`{name}` is not a Triton kernel ({error})"
        return Candidate(name, qualname, definition, problem=problem, ignorable=True)
    if isinstance(error, PlaceholderError):
        return Candidate(name, qualname, definition, problem=str(error), hint=_SHIM)
    text = error_text(error).split("\n")[0]
    return Candidate(name, qualname, definition, problem=f"kernel {name} cannot be defined: {text}")


def in_aggregate(parents: tuple[Function | ast.ClassDef, ...]) -> bool:
    """Methods of aggregates are part of a type, never kernels."""
    if not parents or not isinstance(parents[-1], ast.ClassDef):
        return False
    return any("aggregate" in (called(d) or ("",))[-1] for d in parents[-1].decorator_list)


def _unmade(decorated: list[Candidate], making: Making, values: list[tuple[str, Any]]) -> None:
    """Note why the calls of factories gave no jit function."""
    why = next((f"`{name}` {missing.mutlint_reason}" for name, value in values
                if (missing := find_missing(value)) is not None), "")
    for candidate in decorated:
        if candidate.qualname.partition(".")[0] in making.makers:
            candidate.unmade = candidate.unmade or why


def _made(names: Namespace, value: Any) -> tuple[Any, Any, ast.FunctionDef] | None:
    """A value, the jit function in it, and the `def` of the file that made it; None if there is none."""
    jit = jitdefs.unwrap(value)
    code = getattr(getattr(jit, "fn", None), "__code__", None)
    if code is None or code.co_filename != str(names.module.path):
        return None
    origin = names.module.outline.function_at(code.co_firstlineno)
    return None if origin is None else (value, jit, origin)


def _value(name: str, node: ast.Assign, namespace: Namespace) -> Any:
    """What an assignment gives a name."""
    value = namespace.attempt(ast.copy_location(ast.Name(name, ast.Load()), node))
    if isinstance(value, Missing) and isinstance(node.targets[0], ast.Name):
        return namespace.attempt(node.value)  # the name is bound elsewhere too
    return value


def _elements(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value, or what a container of that name holds: `KERNELS.relu`, `KERNELS.0`."""
    if issubclass(type(value), dict):
        items = zip(_labels([*value]), value.values(), strict=True)
    elif issubclass(type(value), (list, tuple)):
        items = zip(map(str, range(len(value))), value, strict=True)
    else:
        yield name, value
        return
    for label, element in items:
        yield from _elements(f"{name}.{label}", element)


def _labels(keys: list[Any]) -> list[str]:
    """What the elements of a dict are called: by their keys, if all are words or whole numbers, else by place."""
    words = [str(key) for key in keys if isinstance(key, int) or (isinstance(key, str) and _WORD.fullmatch(key))]
    return words if len({*words}) == len(keys) else [str(place) for place in range(len(keys))]
