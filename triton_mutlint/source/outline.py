"""What one pass over a file finds: its functions, its assignments, and what its host code calls."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from triton_mutlint.source.function_text import may_be_jit
from triton_mutlint.source.jit.jit_names import TritonNames, is_builtin
from triton_mutlint.source.walking import BLOCKS, FIELDS, first_line

Function = ast.FunctionDef | ast.AsyncFunctionDef
Parents = tuple[Function | ast.ClassDef, ...]
# Statements with statements in them → their fields that hold expressions.
_HEADS = {cls: tuple(f for f in FIELDS[cls] if f not in blocks) for cls, blocks in BLOCKS.items()}


@dataclass(frozen=True, eq=False)
class FoundFunction:
    """A `def` anywhere in the file, the functions and classes around it, outermost first, and the calls in its own
    body, where its text does not say that it is a jit function.
    """

    node: Function
    parents: Parents
    calls: list[ast.Call] = field(default_factory=list)

    @property
    def qualname(self) -> str:
        return ".".join([*(p.name for p in self.parents), self.node.name])

    @property
    def first_line(self) -> int:
        return first_line(self.node)


@dataclass(eq=False)
class Outline:
    """The functions of a file in source order, and what stands outside the bodies of jit functions:
    its assignments and its calls. `jits` are the functions that a decorator may make jit functions; `speaking`
    those whose decorators' text does not say so and which call Triton's language (`tl.load(…)`).
    """

    functions: list[FoundFunction] = field(default_factory=list)
    jits: list[FoundFunction] = field(default_factory=list)
    speaking: list[FoundFunction] = field(default_factory=list)
    assignments: list[tuple[ast.Assign, Parents]] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    tries: list[ast.Try] = field(default_factory=list)
    imports: dict[str, str] = field(default_factory=dict)  # name → what it is called where it comes from

    @cached_property
    def names(self) -> TritonNames:
        return TritonNames(self.imports)

    @cached_property
    def _by_line(self) -> dict[int, Function]:
        lines = {found.first_line: found.node for found in self.functions}
        return lines | {found.node.lineno: found.node for found in self.functions}

    def function_at(self, line: int) -> ast.FunctionDef | None:
        """The function that starts on a line, at its `def` or first decorator."""
        node = self._by_line.get(line)
        return node if isinstance(node, ast.FunctionDef) else None


def outline(tree: ast.Module) -> Outline:
    """Read a whole file once."""
    found = Outline()
    _Reader(found).block([*tree.body], (), found.calls)
    for function in found.functions:
        node = function.node
        speaks = any(map(found.names.calls_language, function.calls)) and not is_builtin(node)
        if speaks:
            found.speaking.append(function)
        else:
            found.calls.extend(function.calls)
        if (speaks and node.decorator_list) or any(map(found.names.leads_to_jit, node.decorator_list)):
            found.jits.append(function)
    return found


class _Reader:
    def __init__(self, found: Outline) -> None:
        self.found = found

    def block(self, body: list[ast.AST], parents: Parents, calls: list[ast.Call] | None) -> None:
        """Read statements, adding to `calls`, which is None in jit functions: only functions are of interest there."""
        for node in body:
            cls = node.__class__
            if cls in BLOCKS:
                self._compound(node, parents, calls)
            elif calls is not None:
                self._simple(node, parents, calls)

    def _simple(self, node: ast.AST, parents: Parents, calls: list[ast.Call]) -> None:
        if isinstance(node, ast.Assign):
            self.found.assignments.append((node, parents))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            plain = ast.Assign([node.target], node.value)
            self.found.assignments.append((ast.copy_location(plain, node), parents))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self.found.imports[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            self.found.imports.update({alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names})
        _take_calls(node, calls)

    def _compound(self, node: ast.AST, parents: Parents, calls: list[ast.Call] | None) -> None:
        inside = calls
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = FoundFunction(node, parents)
            self.found.functions.append(function)
            calls = None if may_be_jit(node) else calls
            inside = None if calls is None else function.calls
            parents = (*parents, node)
        elif isinstance(node, ast.ClassDef):
            parents = (*parents, node)
        elif isinstance(node, ast.Try):
            self.found.tries.append(node)
        if calls is not None:
            for name in _HEADS[node.__class__]:
                value = getattr(node, name, None)
                for part in value if isinstance(value, list) else (value,):
                    if part is not None:
                        _take_calls(part, calls)
        for name in BLOCKS[node.__class__]:
            self.block(getattr(node, name), parents, inside)


def _take_calls(node: ast.AST, calls: list[ast.Call]) -> None:
    """Take in every call from `node` down."""
    stack = [node]
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
