"""What import statements of sliced code bind."""

from __future__ import annotations

import ast
import importlib
from types import ModuleType
from typing import Any

from triton_mutlint.source.finder import is_real
from triton_mutlint.source.slicing.spaces import Space
from triton_mutlint.source.slicing.stubs import Missing, is_stand_in

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


def star_value(space: Space, name: str) -> Any:
    """A name that a star import brings. Raises `KeyError`."""
    if name.startswith("__") or name == "annotations":
        raise KeyError(name)
    stood_in: list[ModuleType] = []
    for node in reversed(space.stars):
        module = origin(space, node)
        if is_stand_in(module):
            stood_in.append(module)
        elif name in star_names(space, node) or is_real(module.__name__):
            try:
                return getattr(module, name)
            except AttributeError:
                continue
    if stood_in:
        return getattr(stood_in[0], name)
    raise KeyError(name)


def star_names(space: Space, node: ast.ImportFrom) -> frozenset[str]:
    """The names that a star import may bind, by the text of the module; none for a stand-in."""
    module = origin(space, node)
    inner = getattr(vars(module).get("__getattr__"), "__self__", None)
    if not isinstance(inner, Space):
        return frozenset(vars(module)) if is_real(module.__name__) else frozenset()
    found = {name for name in inner.scope.by_name if not name.startswith("__")}
    for star in inner.scope.stars:
        if origin(inner, star) is not module:
            found |= star_names(inner, star)
    return frozenset(found)


def installed(dotted: str) -> str:
    """What a really imported module belongs to, with its version."""
    top = dotted.partition(".")[0]
    version = getattr(importlib.import_module(top), "__version__", "") if is_real(top) else ""
    return f"the installed {top} {version}".rstrip()


def is_triton_module(value: object) -> bool:
    return type(value) is ModuleType and value.__name__.partition(".")[0] == "triton" and not is_stand_in(value)
