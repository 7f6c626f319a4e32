"""What the fake function of an op says of the op's results, against what its implementations give.

Only what both plainly say is compared: how many results each `return` lists, and the dtypes of tensors that are made on
the spot. What is computed, unpacked or handed on by another function is not known, and agrees with anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from triton_mutlint.host.model import Implementation
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import Location, Problem

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
                yield Problem(f"the fake function gives {_counted(theirs)}, the op {_counted(ours)}", place,
                              "let both return as many tensors")
            for i, (held, said) in enumerate(zip(ours, theirs, strict=False)):
                if held and said and held != said:
                    yield Problem(f"result {i + 1} of the fake function is `torch.{said}`, of the op `torch.{held}`",
                                  place, "give both the same dtype")


def _counted(results: Sequence[str]) -> str:
    return f"{len(results)} result{'' if len(results) == 1 else 's'}"


def _results(one: Implementation) -> list[str] | None:
    """The dtypes of a function's results, "" where one is not known; None where their number is not."""
    node = one.node
    if not one.is_plain:
        return None
    own = list(_own(node))
    returned = [node.body] if isinstance(node, ast.Lambda) else [n.value for n in own if isinstance(n, ast.Return)]
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own) or (
            not returned and any(isinstance(n, ast.Raise) for n in own)):
        return None
    found = [_listed(value, node) for value in returned] or [[]]
    if None in found or len({len(held or ()) for held in found}) != 1:
        return _annotated(getattr(node, "returns", None))
    columns = [set(column) for column in zip(*(held or () for held in found), strict=True)]
    return [column.pop() if len(column) == 1 else "" for column in columns]


def _annotated(annotation: ast.expr | None) -> list[str] | None:
    """The results that a function's annotation promises."""
    if isinstance(annotation, ast.Subscript) and dotted(annotation.value)[-1:] in (("tuple",), ("Tuple",)):
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return [""] * len(parts) if all(dotted(part)[-1:] == ("Tensor",) for part in parts) else None
    return [""] if annotation is not None and dotted(annotation)[-1:] == ("Tensor",) else None


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        inner = pending.pop()
        yield inner
        if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(inner))


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
    own = list(_own(function))
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
