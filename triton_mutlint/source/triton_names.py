"""What the names of a file have to do with Triton, by its imports, its assignments and its functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

from triton_mutlint.source.names import mentions_jit
from triton_mutlint.source.walking import dotted, walk

_LANGUAGES = ("triton.language", "triton.experimental.gluon.language")
_ANYWHERE = frozenset({"constexpr", "dtype", "pointer_type", "block_type"})  # may be called outside of jit functions
_BUILTIN = frozenset({"_semantic", "_builder", "_generator"})  # what Triton passes to its own builtins


class TritonNames:
    """Answers for one file.

    `imports` gives what an imported name is called where it comes from (`{"J": "triton.jit"}`); `bound` the values
    that are assigned to a name, and the functions of that name.
    """

    def __init__(self, imports: Mapping[str, str], bound: Mapping[str, list[ast.AST]]) -> None:
        self._imports, self._bound = imports, bound
        self._known: dict[str, bool] = {}

    def leads_to_jit(self, decorator: ast.expr) -> bool:
        """Whether the text of a decorator, or that of what its names are bound to in the file, mentions a `jit`."""
        if mentions_jit(decorator):
            return True
        parts = [decorator]
        if isinstance(decorator, ast.Call):
            parts = [decorator.func, *(decorator.args if dotted(decorator.func)[-1:] == ("partial",) else ())]
        return any(self._names_jit(dotted(part)) for part in parts)

    def _names_jit(self, chain: tuple[str, ...]) -> bool:
        if not chain:
            return False
        if len(chain) > 1 or chain[0] in self._imports:
            return "jit" in self.full(chain).rpartition(".")[2].lower()
        name = chain[0]
        if name not in self._known:
            self._known[name] = False  # until it is known: it may be bound to itself
            self._known[name] = any(map(self._reads_jit, self._bound.get(name, ())))
        return self._known[name]

    def _reads_jit(self, node: ast.AST) -> bool:
        chains = (dotted(n) for n in walk(node) if isinstance(n, (ast.Name, ast.Attribute)))
        return any("jit" in chain[-1].lower() or self._names_jit(chain) for chain in chains if chain)

    def full(self, chain: tuple[str, ...]) -> str:
        """A dotted name with its first part as it is called where it is imported from."""
        return ".".join((self._imports.get(chain[0], chain[0]), *chain[1:]))

    @cached_property
    def _roots(self) -> frozenset[str]:
        """The names that Triton's language may be reached by: `tl` by itself, unless it is something else."""
        names = {"tl": "tl", "triton": "triton", **self._imports}
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
        return chain[-1] not in _ANYWHERE and (name.startswith(_LANGUAGES) or "tl" in name.split(".")[:-1])


def is_builtin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is made like Triton's own builtins, which are no jit functions."""
    return not _BUILTIN.isdisjoint(a.arg for a in (*node.args.args, *node.args.kwonlyargs))
