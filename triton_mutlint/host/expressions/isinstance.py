"""What `isinstance(x, T)` says of a value: containers that Python made are no tensors, nor is a dict a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from triton_mutlint.host.expressions.iteration import IterationMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import ClassValue, Thing, Value, given_tensor

# By the kind of a container, the builtin classes that it may be of. A "list" may be a set or a deque, too.
_CLASSES = {
    "tuple": ("builtins.tuple",),
    "dict": ("builtins.dict",),
    "list": ("builtins.list", "builtins.set", "builtins.frozenset"),
}
# Classes of which no builtin container is.
_OTHERS = frozenset({
    "builtins.str", "builtins.bytes", "builtins.int", "builtins.float", "builtins.bool", "builtins.complex",
    "torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Module", "torch.dtype",
    "torch.device", "numpy.ndarray",
})  # fmt: skip


class InstancesMixin(IterationMixin):
    """Tells containers from other objects."""

    def is_given(self, value: Value) -> bool:
        """Whether it is an argument that is a tensor in every call."""
        return any(value == given_tensor(name) for name in value.same & self.given)

    def never(self, value: Value, classes: Value) -> bool:
        """Whether `isinstance(value, classes)` is certainly false."""
        names = self._listed_classes(classes)
        if names is None or not value.cells or value.roots or value.kind or value.things:
            return False
        return all(_excluded(content, names) for content in self.state.contents(value))

    def narrowed(self, value: Value, classes: Value, holds: bool) -> Value:
        """The value where `isinstance(value, classes)` is true, or is not."""
        names = self._listed_classes(classes)
        if names is None or not value.cells:
            return value
        kept = set(value.cells)
        for cell in value.cells:
            content = self.state.cell(cell)
            if content is not None and (_excluded(content, names) if holds else _certain(content, names)):
                kept.discard(cell)
        return replace(value, cells=frozenset(kept))

    def _listed_classes(self, classes: Value) -> list[str] | None:
        """The classes by name, where all are known; first-party ones are ""."""
        found = list(self._names(classes))
        return None if None in found or not found else [name for name in found if name is not None]

    def _names(self, classes: Value) -> Iterator[str | None]:
        if classes.kind or classes.roots:
            yield None
        for content in self.state.contents(classes):
            listed = content.listed()
            if listed is None:
                yield None
            for one in listed or ():
                yield from self._names(one)
        yield from map(_class_name, classes.things)

    def narrows(self, test: ast.expr) -> bool:
        """Whether a test asks `isinstance` of a name."""
        return (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
                and len(test.args) == 2 and isinstance(test.args[0], ast.Name))


def _class_name(item: Thing) -> str | None:
    if isinstance(item, ClassValue):
        return None if item.node.bases or item.node.keywords else ""  # it may be an abstract class of containers
    if isinstance(item, External) and (item.name in _OTHERS or any(item.name in names for names in _CLASSES.values())):
        return item.name
    return None


def _excluded(content: Cell, names: list[str]) -> bool:
    """Whether a container is of none of the classes."""
    possible = _CLASSES.get(content.kind)
    if possible is None or content.owner is not None:
        return False
    return not any(name in possible for name in names)


def _certain(content: Cell, names: list[str]) -> bool:
    """Whether a container is of one of the classes."""
    return content.owner is None and content.kind in ("tuple", "dict") and any(
        name in _CLASSES[content.kind] for name in names)
