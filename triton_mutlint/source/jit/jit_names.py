"""What the names of a file have to do with Triton, by its imports, its assignments and its functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property

from triton_mutlint.source.function_text import LANGUAGES, mentions_jit
from triton_mutlint.source.walking import dotted

_ANYWHERE = frozenset({"constexpr", "dtype", "pointer_type", "block_type"})  # may be called outside of jit functions
_BUILTIN = frozenset({"_semantic", "_builder", "_generator"})  # what Triton passes to its own builtins


class TritonNames:
    """Answers for one file.

    `imports` gives what an imported name is called where it comes from (`{"J": "triton.jit"}`).
    """

    def __init__(self, imports: Mapping[str, str]) -> None:
        self._imports = imports

    def leads_to_jit(self, decorator: ast.expr) -> bool:
        """Whether a decorator mentions a `jit`, by its own name or by that of what it is imported as."""
        chain = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        return mentions_jit(decorator) or (bool(chain) and "jit" in self.full(chain).rpartition(".")[2].lower())

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
        return chain[-1] not in _ANYWHERE and (name.startswith(LANGUAGES) or "tl" in name.split(".")[:-1])


def is_builtin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is made like Triton's own builtins, which are no jit functions."""
    return not _BUILTIN.isdisjoint(a.arg for a in (*node.args.args, *node.args.kwonlyargs))
