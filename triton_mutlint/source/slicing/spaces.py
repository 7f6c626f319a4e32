"""The globals of sliced code, and running code in them."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from triton_mutlint.basics import error_text
from triton_mutlint.process.inputs import current, spoil, spoil_if_short
from triton_mutlint.source.slicing.stubs import Missing, MissingValueError, UndecidedError
from triton_mutlint.source.slicing.tracing import is_traced
from triton_mutlint.source.walking import dotted

if TYPE_CHECKING:
    from triton_mutlint.source.slicing.sliced import SlicedModule


class Space(dict[str, Any]):
    """The globals of sliced code: a `Namespace`, which knows how to find and evaluate its names."""

    def __init__(self, module: SlicedModule) -> None:
        super().__init__()
        self.module = module

    def missing(self, name: str, reason: str) -> Missing:
        return self.module.modules.stand_ins.missing(name, reason)

    def execute(self, body: list[ast.stmt], local: dict[str, Any] | None = None) -> None:
        """Execute statements with their own file name and lines; `local` catches what they bind."""
        self._trace(body)
        tree = ast.Module(body=body, type_ignores=[])
        code = compile(tree, str(self.module.path), "exec", self.module.flags, True)
        self._prepare_classes(code)
        exec(code, self, self if local is None else local)  # noqa: S102 - the slice is the input

    def _trace(self, body: Sequence[ast.AST]) -> None:
        if current() is not None and not is_traced(body):
            self.module.place.is_traced = False
            spoil()

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression here. Raises what the linted code raises."""
        chain = dotted(node)
        if chain:  # the usual case, without compiling
            value = self.lookup(chain[0])
            for attribute in chain[1:]:
                value = getattr(value, attribute)
            return value
        self._trace([node])
        tree = ast.Expression(body=node)
        with self.module.modules.session:
            stand_ins = self.module.modules.stand_ins
            lenient, stand_ins.lenient = stand_ins.lenient, True
            try:
                code = compile(tree, str(self.module.path), "eval", self.module.flags, True)
                return eval(code, self, self)  # noqa: S307 - the slice is the input
            finally:
                stand_ins.lenient = lenient

    def attempt(self, node: ast.expr) -> Any:
        """The value of an expression here; a missing one where the linted code raises."""
        try:
            return self.evaluate(node)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # linted code: it may raise anything, SystemExit included
            return self.missing(ast.unparse(node), reason(error))

    def lookup(self, name: str) -> Any:
        """A global or builtin. Raises `NameError`."""
        try:
            return self[name]
        except KeyError:
            pass
        try:
            return self["__builtins__"][name]
        except KeyError:
            raise NameError(f"name '{name}' is not defined") from None

    def _prepare_classes(self, code: CodeType) -> None:
        """Bind the globals that class bodies read: they look them up without `__missing__`."""
        for inner in code.co_consts:
            if isinstance(inner, CodeType) and not inner.co_flags & inspect.CO_OPTIMIZED:
                bound = set()
                for step in dis.get_instructions(inner):
                    if step.opname == "STORE_NAME":
                        bound.add(step.argval)
                    elif step.opname == "LOAD_NAME" and step.argval not in bound:
                        with contextlib.suppress(KeyError):  # a builtin, or a name of the class itself
                            self[step.argval]
                self._prepare_classes(inner)


def reason(error: BaseException) -> str:
    """Why a value is not there, in words that follow its name."""
    spoil_if_short(error)
    if isinstance(error, (MissingValueError, UndecidedError)):
        return f"is computed from `{error.value.mutlint_root}`, which {error.value.mutlint_reason}"
    text = error_text(error).split("\n")[0].rstrip(": ")
    return f"could not be computed ({text[:160]})"
