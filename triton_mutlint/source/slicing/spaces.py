"""The globals of sliced code, evaluating code in them, and what import statements bind in them."""

from __future__ import annotations

import ast
import contextlib
import dis
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.process.inputs import spoil_if_short
from triton_mutlint.process.watchdog import TooLongError
from triton_mutlint.source.finder import ModulePlace, is_real
from triton_mutlint.source.function_text import TRITON_NAMES
from triton_mutlint.source.outline import Function
from triton_mutlint.source.slicing.module_text import ModuleText
from triton_mutlint.source.slicing.sandbox import Session
from triton_mutlint.source.slicing.scopes import Binding, Scope
from triton_mutlint.source.slicing.stubs import Missing, MissingValueError, StandIns, UndecidedError, is_stand_in
from triton_mutlint.source.walking import dotted

_FIXED = (int, float, complex, str, bytes, type(None), FunctionType, BuiltinFunctionType, ModuleType, Missing)


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


class Space(dict[str, Any]):
    """The globals of sliced code: of a module, or of code nested in a function or class (`owner`).

    `waiting` holds the statements that bind a name only when it is asked for, `stars` the star imports so far,
    `notes` what was assumed for names, `definitions` what decorated functions gave, `assumed` the parameters of `owner`
    that have their defaults, though other files may call it with something else.
    """

    def __init__(self, module: ModuleText, shared: Surroundings, scope: Scope, parent: Space | None = None,
                 owner: Function | ast.ClassDef | None = None) -> None:
        super().__init__()
        self.module, self.shared, self.scope, self.parent, self.owner = module, shared, scope, parent, owner
        self.waiting: dict[str, Binding] = {}
        self.stars: list[ast.ImportFrom] = []
        self.notes: dict[str, str] = {}
        self.assumed = set[str]()
        self.definitions: dict[ast.AST, Any] = {}
        self.has_run = self.is_refused = False  # the latter: it ends with an error of its own

    def missing(self, name: str, reason: str) -> Missing:
        return self.shared.stand_ins.missing(name, reason)

    def given_as(self, name: str) -> str:
        """What a spec calls `name` where it gives it a value, else nothing."""
        given = self.shared.given
        keys = (name if self.module.linted else "", f"{self.module.dotted}.{name}") if given else ()
        return next((key for key in keys if key in given), "")

    def execute(self, body: list[ast.stmt], local: Mapping[str, Any] | None = None) -> None:
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
        with self.shared.session:
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
    text = str(error) if isinstance(error, TooLongError) else error_text(error).split("\n")[0].rstrip(": ")
    return f"could not be computed ({text[:160]})"


def import_value(space: Space, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Any:
    """The value that one name of an import statement is bound to."""
    if isinstance(node, ast.Import):
        module = _find(space, alias.name)
        return module if alias.asname else _find(space, alias.name.partition(".")[0])
    wanted = TRITON_NAMES.get(alias.name) or TRITON_NAMES.get(alias.asname or "")
    if alias.name == "triton" and wanted:
        return importlib.import_module(wanted)
    full = f"{node.module}.{alias.name}"
    if full in space.shared.given:
        return space.shared.given[full]
    module = origin(space, node)
    if is_stand_in(module) and not node.level and not is_stand_in(inner := _find(space, full)):
        return inner  # a file of torch's that is read
    value = _member(space, module, alias.name)
    if wanted and not (type(value) is ModuleType and (is_triton_module(value) or not is_stand_in(value))):
        return importlib.import_module(wanted)
    return value


def origin(space: Space, node: ast.ImportFrom) -> ModuleType:
    """The module after `from`."""
    return _find(space, node.module or "", node.level)


def _find(space: Space, name: str, level: int = 0) -> ModuleType:
    return space.shared.find(name, level, space.module.place)


def _member(space: Space, module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        pass
    dotted = module.__name__
    if not is_real(dotted):
        return space.missing(f"{dotted}.{name}", f"is not defined by `{dotted}`")
    try:
        return importlib.import_module(f"{dotted}.{name}")
    except Exception:  # not a submodule, or one that cannot be imported here
        return space.missing(f"{dotted}.{name}", f"is not in {installed(dotted)}")


def is_available(space: Space, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import statement would succeed (torch and its kind count as installed)."""
    if isinstance(node, ast.Import):
        return all(is_there(_find(space, alias.name)) for alias in node.names)
    module = origin(space, node)
    if not is_there(module):
        return any(alias.name == "triton" for alias in node.names)
    lacks = not is_stand_in(module) and any(
        isinstance(_member(space, module, alias.name), Missing) for alias in node.names if alias.name != "*")
    inner = space_of(module)
    return not (lacks or (inner is not None and inner.is_refused))


def is_there(module: ModuleType) -> bool:
    return not is_stand_in(module) or module.__name__.partition(".")[0] in {"torch", "numpy", "packaging"}


def star_value(space: Space, name: str, stars: Iterable[ast.ImportFrom] = ()) -> Any:
    """A name that a star import brings, the last first. Raises `KeyError`."""
    stood_in: list[ModuleType] = []
    for node in reversed([*(stars or space.stars)]):
        module = origin(space, node)
        if is_stand_in(module):
            stood_in.append(module)
        elif _gives(module, name):
            with contextlib.suppress(AttributeError):
                return getattr(module, name)
    if stood_in and not name.startswith("__"):
        return getattr(stood_in[0], name)
    raise KeyError(name)


def _gives(module: ModuleType, name: str) -> bool:
    """Whether a star import of the module may bring a name."""
    inner = space_of(module)
    listed = getattr(module, "__all__", None) if inner is None or "__all__" in inner.scope.by_name else None
    return name in listed if isinstance(listed, (list, tuple)) else not name.startswith("_") and name != "annotations"


def star_names(space: Space, node: ast.ImportFrom) -> set[str]:
    """The names that a star import may bind; none for a stand-in."""
    module = origin(space, node)
    if is_stand_in(module):
        return set()
    inner = space_of(module)
    if inner is None or inner.scope.is_open:
        found = {*dir(module)}
    else:
        found = {*inner.scope.by_name}
        for star in inner.scope.stars:
            found |= star_names(inner, star) if origin(inner, star) is not module else set()
    return {name for name in found if _gives(module, name)}


def space_of(module: ModuleType) -> Space | None:
    """The names of a sliced module."""
    inner = getattr(vars(module).get("__getattr__"), "__self__", None)
    return inner if isinstance(inner, Space) else None


def installed(dotted: str) -> str:
    """What a really imported module belongs to, with its version."""
    top = dotted.partition(".")[0]
    version = getattr(importlib.import_module(top), "__version__", "") if is_real(top) else ""
    return f"the installed {top} {version}".rstrip()


def is_triton_module(value: object) -> bool:
    return type(value) is ModuleType and value.__name__.partition(".")[0] == "triton" and not is_stand_in(value)


def is_fixed(value: object) -> bool:
    """Whether nothing can change a value, other than by giving its name another one."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_fixed, value))
    if isinstance(value, ModuleType) and space_of(value) is not None:
        return False  # its attributes may be changed
    return isinstance(value, _FIXED) or type(value).__name__ in ("constexpr", "dtype", "JITFunction", "Dtype")
