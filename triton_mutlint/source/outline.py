"""What one pass over a file finds: its functions, its assignments, and what its host code calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from triton_mutlint.source.names import may_be_jit
from triton_mutlint.source.walking import BLOCKS, FIELDS, first_line

Function = ast.FunctionDef | ast.AsyncFunctionDef
Parents = tuple[Function | ast.ClassDef, ...]
# Statements with statements in them → their fields that hold expressions.
_HEADS = {cls: tuple(f for f in FIELDS[cls] if f not in blocks) for cls, blocks in BLOCKS.items()}


@dataclass(frozen=True, eq=False)
class FoundFunction:
    """A `def` anywhere in the file and the functions and classes around it, outermost first."""

    node: Function
    parents: Parents

    @property
    def qualname(self) -> str:
        return ".".join([*(p.name for p in self.parents), self.node.name])

    @property
    def first_line(self) -> int:
        return first_line(self.node)


@dataclass(eq=False)
class Outline:
    """The functions of a file in source order, and what stands outside the bodies of jit functions:
    its assignments and its calls. `jits` are the functions that a decorator may make jit functions.
    """

    functions: list[FoundFunction] = field(default_factory=list)
    jits: list[FoundFunction] = field(default_factory=list)
    assignments: list[tuple[ast.Assign, Parents]] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    tries: list[ast.Try] = field(default_factory=list)


def outline(tree: ast.Module) -> Outline:
    """Read a whole file once."""
    found = Outline()
    _Reader(found).block([*tree.body], (), True)
    return found


class _Reader:
    def __init__(self, found: Outline) -> None:
        self.found = found

    def block(self, body: list[ast.AST], parents: Parents, host: bool) -> None:
        """Read statements; `host` is false inside jit functions, where only functions are of interest."""
        for node in body:
            cls = node.__class__
            if cls in BLOCKS:
                self._compound(node, parents, host)
            elif host:
                if isinstance(node, ast.Assign):
                    self.found.assignments.append((node, parents))
                elif isinstance(node, ast.AnnAssign) and node.value is not None:
                    plain = ast.Assign([node.target], node.value)
                    self.found.assignments.append((ast.copy_location(plain, node), parents))
                self._calls(node)

    def _compound(self, node: ast.AST, parents: Parents, host: bool) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = FoundFunction(node, parents)
            self.found.functions.append(function)
            if may_be_jit(node):
                self.found.jits.append(function)
                host = False
            parents = (*parents, node)
        elif isinstance(node, ast.ClassDef):
            parents = (*parents, node)
        elif isinstance(node, ast.Try):
            self.found.tries.append(node)
        if host:
            for name in _HEADS[node.__class__]:
                value = getattr(node, name, None)
                for part in value if isinstance(value, list) else (value,):
                    if part is not None:
                        self._calls(part)
        for name in BLOCKS[node.__class__]:
            self.block(getattr(node, name), parents, host)

    def _calls(self, node: ast.AST) -> None:
        """Take in every call from `node` down."""
        calls, stack = self.found.calls, [node]
        while stack:
            node = stack.pop()
            cls = node.__class__
            if cls is ast.Call:
                calls.append(node)  # type: ignore[arg-type]  # a call by its class
            for name in FIELDS.get(cls, ()):
                value = getattr(node, name, None)
                if value.__class__ is list:
                    stack.extend(value)
                elif value is not None:
                    stack.append(value)
