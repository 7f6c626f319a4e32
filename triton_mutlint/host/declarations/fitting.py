"""What an op's functions say of its schema and of each other: what torch infers from one, and whether they fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_mutlint.basics import plural
from triton_mutlint.host.declarations.functions import is_plain_scalar, parameters
from triton_mutlint.host.model import Form, Implementation
from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.host.registrations.things import OpEvent, each_in
from triton_mutlint.host.torch.schema import Schema, SchemaArgument
from triton_mutlint.host.values.values import Value
from triton_mutlint.source.walking import dotted, own_nodes
from triton_mutlint.types import Declaration, Location, Problem


def returned_by(event: OpEvent, declared: Declaration, functions: Sequence[Implementation]
              ) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The arguments that an op may return, by its tags, and those that it has to; its schema is made for it."""
    if event.tags is None or event.tags.is_constant(None):
        return None if event.open else (), ()
    listed = [each_in(content) for content in event.state.contents(event.tags)] or [[event.tags]]
    held = [value for items in listed for value in items or [Value()]]
    tags = {getattr(one, "name", "") for value in held for one in value.things or [None]}
    if "torch.Tag.inplace" in tags and functions:
        first = parameters(functions[0].node)[:1]
        return tuple(p.arg for p in first), tuple(p.arg for p in first)
    if "torch.Tag.out" in tags and functions:
        by_name = tuple(p.arg for p in functions[0].node.args.kwonlyargs)
        outs = tuple(name for name in by_name if declared.names is None or name in declared.names)
        return outs, outs if declared.names is not None else ()
    return (() if all(tag.startswith("torch.Tag.") for tag in tags) or not any(listed) else None), ()


def inferred_arguments(event: OpEvent, functions: Sequence[Implementation], positional: Sequence[Implementation]
              ) -> tuple[SchemaArgument, ...]:
    """The arguments of a schema that is made from one function, where others implement the op."""
    if event.form is not Form.DEFINE or len(functions) != 1 or (
            not event.before and all(one.node is functions[0].node for one in positional)):
        return ()
    (one,) = functions
    by_name = {p.arg for p in one.node.args.kwonlyargs}
    types = {p.arg: "Scalar" if is_plain_scalar(one.module, p) else "Tensor?" for p in parameters(one.node)}
    return (*(SchemaArgument(name, "Tensor") for name in event.before),
            *(SchemaArgument(name, kind, kwarg_only=name in by_name) for name, kind in types.items()))


def mismatches(schema: Schema, place: Location, functions: Sequence[Implementation]) -> Iterator[Problem]:
    """What is wrong with `schema`, by itself and against each of `functions`."""
    seen: set[str] = set()
    for argument in schema.arguments:
        if argument.name in seen:
            yield Problem(f"the schema names the argument `{argument.name}` twice", place, "rename one of the two")
        seen.add(argument.name)
        if argument.mutated and not argument.is_tensor:
            yield Problem(f"the schema marks `{argument.name}` as mutated, which holds no tensor (`{argument.type}`)",
                          place, "only tensors and lists of tensors can be mutated")
    for function in functions:
        yield from _against(schema, place, function.module, function.node)


def _against(schema: Schema, place: Location, module: HostModule, function: HostFunction) -> Iterator[Problem]:
    a = function.args
    shown = f"`{getattr(function, 'name', 'the lambda')}` (line {function.lineno})"
    ordered = [p.arg for p in (*a.posonlyargs, *a.args)]
    positional = [s.name for s in schema.arguments if not s.kwarg_only]
    by_name = [s.name for s in schema.arguments if s.kwarg_only]
    needed = len(ordered) - len(a.defaults)
    wanted = [name for name in ordered[:needed] if name not in by_name]
    counted = plural(len(positional), "positional argument")
    if len(positional) > len(ordered) and a.vararg is None:
        yield Problem(f"the schema has {counted}, {shown} takes {len(ordered)}", place,
                      f"its parameters are {', '.join(ordered) or 'none'}")
    elif len(positional) < len(wanted):
        yield Problem(f"the schema has {counted}, {shown} needs {len(wanted)}", place,
                      f"its parameters are {', '.join(ordered)}")
    elif sorted(positional) == sorted(ordered[: len(positional)]):
        yield from _order(positional, ordered, place, shown)
    named = {p.arg for p in (*a.args, *a.kwonlyargs)}
    if a.kwarg is None:
        for name in by_name:
            if name not in named:
                yield Problem(f"the schema passes `{name}` by name, and {shown} has no parameter of that name", place,
                              f"its parameters are {', '.join(p.arg for p in parameters(function))}")
    yield from _kinds(schema, place, module, function, shown)


def _order(positional: Sequence[str], ordered: Sequence[str], place: Location, shown: str) -> Iterator[Problem]:
    for index, (said, found) in enumerate(zip(positional, ordered, strict=False)):
        if said != found:
            yield Problem(f"argument {index + 1} of the schema is `{said}`, of {shown} it is `{found}`", place,
                          "the arguments are passed by position: bring them into the same order")
            return


def _kinds(schema: Schema, place: Location, module: HostModule, function: HostFunction,
           shown: str) -> Iterator[Problem]:
    by_name = {p.arg: p for p in parameters(function)}
    for argument in schema.arguments:
        parameter = by_name.get(argument.name)
        if parameter is not None and argument.mutated and argument.is_tensor and is_plain_scalar(module, parameter):
            yield Problem(f"the schema marks `{argument.name}` as a mutated tensor; for {shown} it is none", place,
                          "correct the schema or the annotation")


_MAKERS = frozenset({"empty", "zeros", "ones", "full", "rand", "randn"})
_NEW = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
_LIKE = frozenset({f"{name}_like" for name in _MAKERS})

_DTYPES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32",
           "long": "int64"}  # fmt: skip


def fake_problems(functions: Sequence[Implementation], fakes: Sequence[Implementation]) -> Iterator[Problem]:
    """Where a fake function surely differs from the implementations."""
    for fake in fakes:
        for one in functions:
            ours, theirs = _results(one), _results(fake)
            if ours is None or theirs is None:
                continue
            place = Location(fake.module.display, fake.node.lineno, fake.node.col_offset + 1)
            if len(ours) != len(theirs):
                counted = f"gives {plural(len(theirs), 'result')}, the op {plural(len(ours), 'result')}"
                yield Problem(f"the fake function {counted}", place, "let both return as many tensors")
            for i, (held, said) in enumerate(zip(ours, theirs, strict=False)):
                if held and said and held != said:
                    yield Problem(f"result {i + 1} of the fake function is `torch.{said}`, of the op `torch.{held}`",
                                  place, "give both the same dtype")


def _results(one: Implementation) -> list[str] | None:
    """The dtypes of a function's results, "" where one is not known; None where their number is not."""
    node = one.node
    if not one.is_plain:
        return None
    own = list(own_nodes(node))
    returned = [node.body] if isinstance(node, ast.Lambda) else [n.value for n in own if isinstance(n, ast.Return)]
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own) or (
            not returned and any(isinstance(n, ast.Raise) for n in own)):
        return None
    found = [_listed(value, node) for value in returned] or [[]]
    if None in found or len({len(held or ()) for held in found}) != 1:
        return None
    columns = [set(column) for column in zip(*(held or () for held in found), strict=True)]
    return [column.pop() if len(column) == 1 else "" for column in columns]


def _listed(value: ast.expr | None, function: ast.AST) -> list[str] | None:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return []
    if isinstance(value, (ast.Tuple, ast.List)):
        return None if any(isinstance(e, ast.Starred) for e in value.elts) else [
            _dtype(e, function) for e in value.elts]
    made = _assigned(value, function)
    return [_dtype(made, function)] if _is_made(made) else None


def _assigned(value: ast.expr, function: ast.AST) -> ast.expr:
    """What a name of a function stands for, if it is bound just once."""
    if not isinstance(value, ast.Name):
        return value
    own = list(own_nodes(function))
    stores = [n for n in own if isinstance(n, ast.Name) and n.id == value.id and isinstance(n.ctx, ast.Store)]
    bound = [n.value for n in own if isinstance(n, ast.Assign) and len(n.targets) == 1 and n.targets[0] in stores]
    return bound[0] if len(stores) == len(bound) == 1 else value


def _is_made(value: ast.expr) -> bool:
    """Whether an expression makes one new tensor."""
    chain = dotted(value.func) if isinstance(value, ast.Call) else ()
    return len(chain) > 1 and (chain[-1] in _NEW or (chain[0] == "torch" and chain[-1] in _MAKERS | _LIKE))


def _dtype(value: ast.expr, function: ast.AST) -> str:
    made = _assigned(value, function)
    if not isinstance(made, ast.Call) or not _is_made(made):
        return ""
    given = next((dotted(k.value) for k in made.keywords if k.arg == "dtype"), ())
    return _DTYPES.get(given[1], given[1]) if len(given) == 2 and given[0] == "torch" else ""
