"""What import statements of sliced code bind."""

from __future__ import annotations

import ast
import contextlib
import importlib
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from triton_mutlint.source.finder import is_real
from triton_mutlint.source.slicing.spaces import Space
from triton_mutlint.source.slicing.stubs import Missing, is_stand_in

_FIXED = (int, float, complex, str, bytes, type(None), FunctionType, BuiltinFunctionType, ModuleType, Missing)
# What Triton's own modules are commonly called wherever they are imported from.
_TRITON_NAMES = {
    "triton": "triton",
    "tl": "triton.language",
    "tldevice": "triton.language.extra.libdevice",
    "libdevice": "triton.language.extra.libdevice",
}


def import_value(space: Space, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Any:
    """The value that one name of an import statement is bound to."""
    if isinstance(node, ast.Import):
        module = _find(space, alias.name)
        return module if alias.asname else _find(space, alias.name.partition(".")[0])
    wanted = _TRITON_NAMES.get(alias.name) or _TRITON_NAMES.get(alias.asname or "")
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
    return is_stand_in(module) or not any(
        isinstance(_member(space, module, alias.name), Missing) for alias in node.names if alias.name != "*")


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
