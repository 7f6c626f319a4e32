"""The globals of sliced code, and evaluating code in them."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.process.inputs import spoil_if_short
from triton_mutlint.source.finder import ModulePlace
from triton_mutlint.source.outline import Function
from triton_mutlint.source.slicing.module_text import ModuleText
from triton_mutlint.source.slicing.sandbox import Session
from triton_mutlint.source.slicing.scopes import Binding, Scope
from triton_mutlint.source.slicing.stubs import Missing, MissingValueError, StandIns, UndecidedError
from triton_mutlint.source.walking import dotted


@dataclass(frozen=True)
class Surroundings:
    """What all sliced modules of a run share. `given` are values for names that files cannot give.

    `find` gives the module of a name and a level, as an import statement in a file at a place means it; `adopt` lets
    each module see what others have bound to its attributes.
    """

    given: Mapping[str, object]
    session: Session
    stand_ins: StandIns
    builtins: Mapping[str, Any]
    find: Callable[[str, int, ModulePlace], ModuleType]
    adopt: Callable[[], None]

    @contextlib.contextmanager
    def loading(self) -> Iterator[None]:
        """In this block sliced code is run, and a stand-in may be called."""
        with self.session:
            lenient, self.stand_ins.lenient = self.stand_ins.lenient, True
            try:
                yield
            finally:
                self.stand_ins.lenient = lenient


class Space(dict[str, Any]):
    """The globals of sliced code: of a module, or of code nested in a function or class (`owner`).

    `waiting` holds the statements that bind a name only when it is asked for, `stars` the star imports so far,
    `notes` what was assumed for names, `definitions` what decorated functions gave.
    """

    def __init__(self, module: ModuleText, shared: Surroundings, scope: Scope, parent: Space | None = None,
                 owner: Function | ast.ClassDef | None = None) -> None:
        super().__init__()
        self.module, self.shared, self.scope, self.parent, self.owner = module, shared, scope, parent, owner
        self.waiting: dict[str, Binding] = {}
        self.stars: list[ast.ImportFrom] = []
        self.notes: dict[str, str] = {}
        self.definitions: dict[ast.AST, Any] = {}
        self.has_run = False

    def missing(self, name: str, reason: str) -> Missing:
        return self.shared.stand_ins.missing(name, reason)

    def given_as(self, name: str) -> str:
        """What a spec calls `name` where it gives it a value, else nothing."""
        given = self.shared.given
        keys = (name if self.module.linted else "", f"{self.module.dotted}.{name}") if given else ()
        return next((key for key in keys if key in given), "")

    def execute(self, body: list[ast.stmt], local: dict[str, Any] | None = None) -> None:
        """Execute statements with their own file name and lines; `local` catches what they bind."""
        tree = ast.Module(body=body, type_ignores=[])
        code = compile(tree, str(self.module.path), "exec", self.module.flags, True)
        self._prepare_classes(code)
        exec(code, self, self if local is None else local)  # noqa: S102 - the slice is the input

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression here. Raises what the linted code raises."""
        chain = dotted(node)
        if chain:  # the usual case, without compiling
            value = self.lookup(chain[0])
            for attribute in chain[1:]:
                value = getattr(value, attribute)
            return value
        tree = ast.Expression(body=node)
        with self.shared.loading():
            code = compile(tree, str(self.module.path), "eval", self.module.flags, True)
            return eval(code, self, self)  # noqa: S307 - the slice is the input

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


def node_of(function: Any) -> ast.FunctionDef | None:
    """The `def` of a function, or of one that a jit function was made of, in the tree of its sliced file."""
    space, code = getattr(function, "__globals__", None), getattr(getattr(function, "fn", function), "__code__", None)
    if not isinstance(space, Space) or code is None or code.co_filename != str(space.module.path):
        return None
    return space.module.outline.function_at(code.co_firstlineno)


def reason(error: BaseException) -> str:
    """Why a value is not there, in words that follow its name."""
    spoil_if_short(error)
    if isinstance(error, (MissingValueError, UndecidedError)):
        return f"is computed from `{error.value.mutlint_root}`, which {error.value.mutlint_reason}"
    text = error_text(error).split("\n")[0].rstrip(": ")
    return f"could not be computed ({text[:160]})"
