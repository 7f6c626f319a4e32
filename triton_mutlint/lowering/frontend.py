"""Triton's frontend without what it does twice: the same module, sooner.

Triton parses a helper anew in every kernel that calls it, and walks the body of a loop twice: once only to learn
which variables the body changes. Here a text is parsed once, and those variables are guessed to be the names that the
body assigns. A guess is held against what the body did; where one does not hold, or anything is raised, the kernel is
lowered again, at last as Triton does it by itself.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_PARSED = 1024  # texts of functions kept
_GUESSES = 2  # lowerings that guess before one that does not
_KNOWN = "_mutlint_assigned"  # where a loop keeps what `_assigned` says of it
_ASSIGNS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.ExceptHandler,
            ast.Global, ast.Nonlocal)  # they bind, or redirect, names that no ast.Name tells

Loop = ast.For | ast.While
Values = Mapping[str, Any]

_trees: dict[str, ast.Module] = {}  # by text


@contextlib.contextmanager
def parsing_once() -> Iterator[None]:
    """In this block, functions with the same text share one syntax tree, which code generation only reads."""
    from triton.runtime.jit import JITCallable

    plain = JITCallable.parse

    def parse(function: Any) -> ast.Module:
        tree = _trees.get(function._src)
        if tree is None:
            tree = _trees[function._src] = plain(function)
        return tree

    JITCallable.parse = parse
    try:
        yield
    finally:
        JITCallable.parse = plain
        if len(_trees) > _PARSED:
            _trees.clear()


def guessed(make: Callable[[], Any]) -> Any | None:
    """The module that `make` lowers with the loops' variables guessed; None if not all guesses held.

    Raises what `make` raises: what a guess decides shows only once its loop is done.
    """
    from triton.compiler import code_generator

    plain, guessing = code_generator.CodeGenerator, _guessing_generator()
    if guessing is None:
        return None
    code_generator.CodeGenerator = guessing
    try:
        for _ in range(_GUESSES):
            guessing.is_right = True
            module = make()
            if guessing.is_right:
                return module
    except Exception:
        if guessing.is_right:
            raise
    finally:
        code_generator.CodeGenerator = plain
    return None


@dataclass(frozen=True, eq=False)
class _Guess:
    """What is expected of a loop: that its body changes `names`, which held `before`, and nothing else."""

    loop: Loop
    names: tuple[str, ...]
    before: Values


@lru_cache(maxsize=1)
def _guessing_generator() -> Any | None:
    """Triton's code generator, but for how it learns which variables a loop changes; None if it has changed."""
    from triton.compiler import code_generator as triton

    if not {"_find_carries", "visit_compound_statement"} <= vars(triton.CodeGenerator).keys():
        return None

    class Guessing(triton.CodeGenerator):  # type: ignore[misc]
        is_right = True  # whether all guesses held

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._guesses: list[_Guess] = []

        def _find_carries(self, node: Loop, liveins: dict[str, Any], ignore: Set[str] = frozenset()) -> Any:
            assigned = _assigned(node)
            if assigned is None or getattr(self, "pending_annotations", None):
                return super()._find_carries(node, liveins, ignore)
            values = {name: value for name, value in liveins.items() if name in assigned and name not in ignore}
            if not all(isinstance(value, triton.base_value) for value in values.values()):
                return super()._find_carries(node, liveins, ignore)
            handles = {name: triton.flatten_values_to_ir([value]) for name, value in values.items()}
            names = tuple(name for name in values if handles[name])
            self._guesses.append(_Guess(node, names, values))
            self.lscope, self.local_defs = liveins.copy(), dict[str, Any]()
            return list(names), [h for name in names for h in handles[name]], [values[name].type for name in names]

        def visit_compound_statement(self, stmts: Any) -> None:
            guess = self._guesses[-1] if self._guesses and self._guesses[-1].loop.body is stmts else None
            if guess is None:
                super().visit_compound_statement(stmts)
                return
            around = self._guesses[:-1]
            begin = {name: self.lscope[name] for name in guess.before}
            super().visit_compound_statement(stmts)
            self._guesses = around  # nor any loop whose body Triton left out of a first walk
            if not _holds(self, guess, begin):
                Guessing.is_right = False
                for wrong in (guess, *around):  # what changes in a loop is what changes in those in it
                    _walk_twice(wrong.loop)

    return Guessing


def _holds(generator: Any, guess: _Guess, begin: Values) -> bool:
    """Whether walking the body first would have found the same variables; they held `begin` where it begins."""
    from triton.compiler.code_generator import flatten_values_to_ir as flat

    outside = [(inner, outer) for name in guess.names
               for inner, outer in zip(flat([begin[name]]), flat([guess.before[name]]), strict=True)]
    for name, before in guess.before.items():
        after = generator.lscope[name]
        generator._verify_loop_carried_variable(name, after, before)
        # What the first walk has instead of the loop's own value of a variable.
        seen = [next((outer for inner, outer in outside if inner == h), h) for h in flat([after])]
        if (seen != flat([before])) != (name in guess.names):
            return False
    return True


def _assigned(loop: Loop) -> frozenset[str] | None:
    """The names that the body of `loop` assigns; None where that does not tell what it changes."""
    if not hasattr(loop, _KNOWN):
        setattr(loop, _KNOWN, _names_assigned(loop))
    known: frozenset[str] | None = getattr(loop, _KNOWN)
    return known


def _names_assigned(loop: Loop) -> frozenset[str] | None:
    names = set()
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, _ASSIGNS):
                return None
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                if not isinstance(node, ast.Name):
                    return None  # may change a value in place
                names.add(node.id)
    return frozenset(names)


def _walk_twice(loop: Loop) -> None:
    """From now on, let Triton find the variables of `loop` itself."""
    setattr(loop, _KNOWN, None)
