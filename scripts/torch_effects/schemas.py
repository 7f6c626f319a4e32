"""Entries of the effect table from the schemas of torch's dispatcher. Needs torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from scripts.torch_effects import reviewed
from triton_mutlint.host.torch.table import Result, TorchEffect

NAMESPACES = ("aten", "_c10d_functional")
_KEYWORD_ONLY = 1000  # a place beyond any positional one


@dataclass(frozen=True)
class Argument:
    """One parameter of one overload, with the marks of the table."""

    name: str
    place: int  # `_KEYWORD_ONLY` where it has none
    marks: frozenset[str]
    is_list: bool
    is_sizes: bool  # a list of numbers, which Python takes as separate arguments too


@dataclass(frozen=True)
class Overload:
    op: str  # "aten.add"
    name: str  # "default", "out"
    arguments: tuple[Argument, ...]
    result: Result
    gives_argument: bool  # no more than what was given by name as a place for the result


def overloads() -> Iterator[Overload]:
    """All overloads that the dispatcher knows, of the namespaces that Python code calls, and that can be trusted."""
    known = set(torch._C._dispatch_get_all_op_names())
    schemas = [s for s in torch._C._jit_get_all_schemas() if _full_name(s) in known]
    annotated = {s.name for s in schemas if any(a.alias_info and not a.kwarg_only for a in s.arguments)}
    for schema in schemas:
        namespace, _, op = schema.name.partition("::")
        if namespace in NAMESPACES and _trusted(op, schema.name in annotated):
            yield _overload(schema, f"{namespace}.{op}", op)


def _full_name(schema: Any) -> str:
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _trusted(op: str, annotated: bool) -> bool:
    """Whether what is known of the op is its schema with the reviewed list, and that is all there is to know."""
    if op in reviewed.REFUSED or op.startswith(reviewed.REFUSED_PREFIXES):
        return False
    if not op.startswith("_") or op.startswith(("__", "_foreach_")):
        return True
    if op in reviewed.PRIVATE or op in reviewed.UNDECLARED:
        return True
    return annotated and not op.startswith(reviewed.UNTRUSTED)


def _overload(schema: Any, path: str, op: str) -> Overload:
    hints = {token.rstrip("!~=?@[]"): token for token in reviewed.UNDECLARED.get(op, "").split()}
    returned = [r.alias_info for r in schema.returns if "Tensor" in str(r.type)]
    arguments = []
    for place, argument in enumerate(schema.arguments):
        marks = _declared(argument, returned, op, schema)
        hint = hints.get(argument.name, "")
        if "Tensor" in str(argument.type):
            marks |= {mark for mark in "!=?" if mark in hint[len(argument.name) :]}
        if "=" in marks and "?" in marks:
            marks.discard("=")
        kind = str(argument.type)
        arguments.append(
            Argument(
                argument.name, _KEYWORD_ONLY if argument.kwarg_only else place, frozenset(marks),
                "List[" in kind and "Tensor" in kind, "List[int]" in kind or "List[SymInt]" in kind,
            )
        )  # fmt: skip
    written = [a for a in arguments if "!" in a.marks]
    by_name = bool(written) and all(a.place == _KEYWORD_ONLY for a in written)
    return Overload(path, schema.overload_name or "default", tuple(arguments), _result(schema), by_name)


def _declared(argument: Any, returned: list[Any], op: str, schema: Any) -> set[str]:
    info = argument.alias_info
    if info is None:
        return set()
    marks: set[str] = set()
    if info.is_write:
        full = f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"
        marks |= {"!"} if op not in reviewed.HARMLESS else set()
        if _is_view_in_place(full) and not op.startswith("resize"):
            marks = {"~"} if op not in reviewed.HARMLESS else set()
        if argument.kwarg_only:
            return marks
    # the sets of a list's annotation are empty: they belong to its elements
    shared = [r is not None and (not r.before_set or bool(r.before_set & info.before_set)) for r in returned]
    if shared and all(shared) and op not in reviewed.PERHAPS_VIEWS:
        marks.add("=")
    elif any(shared):
        marks.add("?")
    return marks


def _is_view_in_place(full: str) -> bool:
    namespace, op, overload = full.split(".")
    return torch.Tag.inplace_view in getattr(getattr(getattr(torch.ops, namespace), op), overload).tags


def _result(schema: Any) -> Result:
    tensors = [str(r.type) for r in schema.returns if "Tensor" in str(r.type)]
    if not tensors:
        return Result.PLAIN
    return Result.TENSORS if len(schema.returns) > 1 or "List[" in tensors[0] else Result.TENSOR


def union(members: Iterable[Overload], python: bool = False) -> str:
    """The text of the entry that holds for any of `members`.

    A function of Python's (`python`) calls `self` `input`, and takes several places for results as one `out`.
    """
    if python:
        members = [replace(o, arguments=tuple(map(_renamed, o.arguments))) for o in members]
    group = sorted(members, key=lambda o: (o.gives_argument, -len(o.arguments), o.name))
    names = _positional_names(group)
    keywords: dict[str, None] = {}
    for overload in group:
        for argument in overload.arguments:
            if argument.name not in names:
                keywords[argument.name] = None
    parameters = [*names, *keywords]
    effect = TorchEffect(tuple(parameters), result=_joined_result(group))
    effect = _placed(effect, group, len(names))
    if python:
        effect = _pythonic(effect, group[0].op)
    return render(_starred(_flagged(effect, group), group), len(names))


def _pythonic(effect: TorchEffect, op: str) -> TorchEffect:
    if op.startswith("aten._foreach_") and effect.writes == (0,):
        effect = replace(effect, same=(0,), result=Result.TENSORS)  # the list itself, where the schema says nothing
    if effect.writes_named and "out" not in effect.parameters:
        return replace(effect, parameters=(*effect.parameters, "out"), writes_named=(*effect.writes_named, "out"))
    return effect


def _renamed(argument: Argument) -> Argument:
    return replace(argument, name="input") if argument.name == "self" else argument


def _positional_names(group: list[Overload]) -> list[str]:
    """By position, the name of a marked argument before others."""
    names: list[str] = []
    for overload in sorted(group, key=lambda o: not any(a.marks for a in o.arguments)):
        for argument in overload.arguments:
            if argument.place == len(names) and argument.name not in names:
                names.append(argument.name)
    return names


def _placed(effect: TorchEffect, group: list[Overload], positional: int) -> TorchEffect:
    """The effect with what the overloads mark.

    An argument with another name elsewhere counts at its place and by its name.
    """
    parameters = effect.parameters
    everywhere = [o for o in group if not o.gives_argument] or group
    found: dict[str, set[int]] = {field: set() for field in ("writes", "metadata", "same", "maybe", "content")}
    named: dict[str, None] = {}

    def stands(argument: Argument) -> set[int]:
        places = {parameters.index(argument.name)}
        return places | {argument.place} if argument.place < positional else places

    for argument in (a for o in group for a in o.arguments if a.marks):
        if argument.place == _KEYWORD_ONLY and "!" in argument.marks:
            named[argument.name] = None
            continue
        places = stands(argument)
        found["writes"] |= places if "!" in argument.marks else set()
        found["metadata"] |= places if "~" in argument.marks else set()
        found["content"] |= places if argument.is_list else set()
        found["maybe"] |= places if argument.marks & {"=", "?"} else set()
    for place in found["maybe"]:
        if all(any(place in stands(a) and "=" in a.marks for a in o.arguments) for o in everywhere):
            found["same"].add(place)
    found["maybe"] -= found["same"]
    places_of = {field: tuple(sorted(places)) for field, places in found.items()}
    return replace(
        effect, writes=places_of["writes"], metadata=places_of["metadata"], same=places_of["same"],
        maybe=places_of["maybe"], content=places_of["content"], writes_named=tuple(named),
    )  # fmt: skip


def _joined_result(group: list[Overload]) -> Result:
    results = {o.result for o in group if not o.gives_argument} or {o.result for o in group}
    return Result.TENSORS if Result.TENSORS in results else Result.TENSOR if Result.TENSOR in results else Result.PLAIN


def _flagged(effect: TorchEffect, group: list[Overload]) -> TorchEffect:
    flag = reviewed.FLAGS.get(group[0].op.partition(".")[2], "")
    return replace(effect, only_if=flag) if flag else effect


def _starred(effect: TorchEffect, group: list[Overload]) -> TorchEffect:
    """Sizes, where they come first, can be given one by one."""
    first = 1 if effect.parameters[:1] in {("self",), ("input",)} else 0
    if not any(a.is_sizes and a.place == first for o in group for a in o.arguments):
        return effect
    marked = [*effect.writes, *effect.same, *effect.maybe, *effect.metadata]
    if any(first <= place for place in marked):
        return effect
    names = list(effect.parameters)
    names[first] = "*" + names[first]
    return replace(effect, parameters=tuple(names))


def render(effect: TorchEffect, positional: int) -> str:
    """The text of an entry, of whose parameters the first `positional` can be given by position."""
    marks = {"[]": effect.content, "!": effect.writes, "~": effect.metadata, "=": effect.same,
             "?": effect.maybe, "@": effect.carries}  # fmt: skip
    tokens = []
    for place, name in enumerate(effect.parameters):
        if place == positional:
            tokens.append("*")
        found = "".join(mark for mark, places in marks.items() if place in places)
        tokens.append(name + found + ("!" if name in effect.writes_named else ""))
    tokens += ["->", effect.result.value]
    if effect.inplace:
        tokens.append(f"inplace={effect.inplace}")
    if effect.only_if:
        tokens += ["if", "+" * effect.only_if_default + effect.only_if]
    return " ".join(tokens)
