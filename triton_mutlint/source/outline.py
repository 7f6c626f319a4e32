"""What one pass over a file finds: its functions, its assignments, and what its host code calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from triton_mutlint.source.function_text import LANGUAGES, may_be_jit, mentions_jit
from triton_mutlint.source.walking import BLOCKS, FIELDS, called, dotted, first_line, walk

_ANYWHERE = frozenset({"constexpr", "dtype", "pointer_type", "block_type"})  # may be called outside of jit functions
_BUILTIN = frozenset({"_semantic", "_builder", "_generator"})  # what Triton passes to its own builtins
_MAKERS = frozenset({"jit", "autotune", "heuristics"})
_ELEMENTS: dict[type, tuple[str, ...]] = {ast.Tuple: ("elts",), ast.List: ("elts",), ast.Dict: ("values",),
                                          ast.ListComp: ("elt",), ast.DictComp: ("value",)}
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
    imports: dict[str, str] = field(default_factory=dict)  # name → what it is called where it comes from

    def leads_to_jit(self, decorator: ast.expr) -> bool:
        """Whether a decorator mentions a `jit`, by its own name or by that of what it is imported as."""
        chain = called(decorator)
        return mentions_jit(decorator) or (bool(chain) and "jit" in self.full(chain).rpartition(".")[2].lower())

    def full(self, chain: tuple[str, ...]) -> str:
        """A dotted name with its first part as it is called where it is imported from."""
        return ".".join((self.imports.get(chain[0], chain[0]), *chain[1:]))

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The names that Triton's language may be reached by: `tl` by itself, unless it is something else."""
        names = {"tl": "tl", "triton": "triton", **self.imports}
        return frozenset(n for n, full in names.items() if "tl" in (parts := full.split(".")) or parts[0] == "triton")

    def calls_language(self, call: ast.Call) -> bool:
        """Whether a call is one of Triton's language, such as `tl.load(…)`, which only jit functions can make."""
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id not in self._roots:
            return False
        chain = dotted(call.func)
        name = self.full(chain)
        return chain[-1] not in _ANYWHERE and (name.startswith(LANGUAGES) or "tl" in name.split(".")[:-1])

    @cached_property
    def _by_line(self) -> dict[int, Function]:
        lines = {found.first_line: found.node for found in self.functions}
        return lines | {found.node.lineno: found.node for found in self.functions}

    def function_at(self, line: int) -> ast.FunctionDef | None:
        """The function that starts on a line, at its `def` or first decorator."""
        node = self._by_line.get(line)
        return node if isinstance(node, ast.FunctionDef) else None


@lru_cache(maxsize=64)
def outline(tree: ast.Module) -> Outline:
    """Read a whole file once (keyed by the tree's identity)."""
    found = Outline()
    _Reader(found).block([*tree.body], (), found.calls)
    for function in found.functions:
        node = function.node
        speaks = any(map(found.calls_language, function.calls)) and not _is_builtin(node)
        if speaks:
            found.speaking.append(function)
        else:
            found.calls.extend(function.calls)
        if (speaks and node.decorator_list) or any(map(found.leads_to_jit, node.decorator_list)):
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
        calls.extend(inner for inner in walk(node) if isinstance(inner, ast.Call))

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
        if calls is not None:
            for name in _HEADS[node.__class__]:
                value = getattr(node, name, None)
                parts = value if isinstance(value, list) else [] if value is None else [value]
                calls.extend(n for part in parts for n in walk(part) if isinstance(n, ast.Call))
        for name in BLOCKS[node.__class__]:
            self.block(getattr(node, name), parents, inside)


def _is_builtin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is made like Triton's own builtins, which are no jit functions."""
    return not _BUILTIN.isdisjoint(a.arg for a in (*node.args.args, *node.args.kwonlyargs))


@dataclass(frozen=True)
class Making:
    """`name = make(…)`, `name, other = make(…)` or `names = {"a": make(…)}`, where `make` is Triton's `jit` or the
    like, anywhere in the file, or a function of the file in which jit functions are made, outside of functions.
    """

    node: ast.Assign
    parents: Parents
    names: tuple[str, ...]
    makers: tuple[str, ...]  # for each call of a function of the file, its name


def makings(file: Outline) -> Iterator[Making]:
    """The assignments of jit functions that calls make."""
    jits = {found.node for found in file.jits}
    giving = {(found.parents or (found.node,))[0] for found in file.functions
              if (found.parents and found.node in jits) or any(_makes_jit(call, file) for call in found.calls)}
    top = {node.name for node in giving if not isinstance(node, ast.ClassDef)}
    for node, parents in file.assignments:
        if len(node.targets) > 1:
            continue
        calls = list(_calls(node.value))
        called = [call.func.id for call in calls if isinstance(call.func, ast.Name)]
        makers = [name for name in called if name in top and all(isinstance(p, ast.ClassDef) for p in parents)]
        if makers or any(_makes_jit(call, file) for call in calls):
            target = node.targets[0]
            targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            named = (t.value if isinstance(t, ast.Subscript) else t for t in targets)  # `TABLE["a"] = make(…)`
            names = dict.fromkeys(n.id for n in named if isinstance(n, ast.Name))
            yield Making(node, parents, tuple(names), tuple(makers))


def _makes_jit(node: ast.expr, file: Outline) -> bool:
    """Calls such as `triton.jit(f)`, `triton.jit(noinline=True)(f)`, `triton.autotune(…)(k)`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    chain = dotted(node.func.func if isinstance(node.func, ast.Call) else node.func)
    return bool(chain) and chain[0] != "torch" and file.full(chain).rpartition(".")[2] in _MAKERS


def _calls(value: ast.expr) -> Iterator[ast.Call]:
    """The calls that give a value, or the elements of one."""
    parts = [getattr(value, name) for name in _ELEMENTS.get(value.__class__, ())]
    if isinstance(value, ast.Call):
        yield value
        is_dict = isinstance(value.func, ast.Name) and value.func.id == "dict"
        parts = [keyword.value for keyword in value.keywords] if is_dict else []
    for part in parts:
        for element in part if isinstance(part, list) else [part]:
            yield from _calls(element)
