"""Calls of what is not first-party: Python's builtins, its standard library, Triton, and what is not known."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

from triton_mutlint.host.classes.classes import MADE
from triton_mutlint.host.classes.names import is_tuner
from triton_mutlint.host.library.standard import StandardMixin
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import (
    NONE,
    PLAIN,
    UNSEEN,
    Attribute,
    ClassValue,
    FunctionValue,
    KernelValue,
    Partial,
    Sort,
    Value,
    constant,
    is_plain,
    join,
    thing,
    weakened,
)
from triton_mutlint.source.finder import HEAVY

# A view of a tensor, or a copy of it.
_REARRANGE = ("einops.rearrange", "einops.repeat", "einops.reduce")
_WRAPPERS = ("wrap_triton", "capture_triton")
# Methods that do nothing to a tensor among their arguments, whatever they are called on.
_HARMLESS = frozenset({
    "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "warning_once", "info_once",
    "isEnabledFor", "synchronize",
})  # fmt: skip


class LibraryMixin(StandardMixin):
    """Calls of what is not first-party."""

    def external(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """Call something by its full dotted name."""
        top, _, rest = name.partition(".")
        last = name.rpartition(".")[2]
        if last in _WRAPPERS and arguments.positional:
            return self._wrapped(arguments.positional[0])
        if self.tracing and last in ("is_compiling", "is_dynamo_compiling", "is_exporting"):
            return constant(True)
        if top == "torch":
            return self.torch_function(name, arguments, node)
        if top == "builtins":
            return self.builtin(rest, arguments, node)
        if is_tuner(External(name)):
            return self._tuned(last, arguments, _kernels(arguments))
        if top == "triton":
            return self._triton(name, arguments, node)
        if name in ("typing.cast", "typing_extensions.cast") and len(arguments.positional) == 2:
            return arguments.positional[1]
        if name in MADE:
            return thing(Partial(thing(External(name)), arguments.positional, tuple(sorted(arguments.named.items()))))
        if name in _REARRANGE and arguments.positional:
            return replace(weakened(self.within(arguments.positional[0])), cells=frozenset(), kind=Sort.TENSOR)
        if top in sys.stdlib_module_names:
            return self.standard(name, arguments, node)
        if top in HEAVY and not any(v.roots or v.cells for v in arguments):
            return UNSEEN
        return self.not_known(UNSEEN, arguments, node)

    @staticmethod
    def _wrapped(value: Value) -> Value:
        found = [replace(t, wrapped=True) if isinstance(t, KernelValue) else t for t in value.things]
        return replace(value, things=frozenset(found))

    @staticmethod
    def _tuned(last: str, arguments: Arguments, kernels: list[KernelValue | FunctionValue]) -> Value:
        """`triton.jit(f)`; `triton.autotune(...)` is what takes the kernel next."""
        found = [
            KernelValue(k.module, k.node) if isinstance(k, FunctionValue) and isinstance(k.node, ast.FunctionDef) else k
            for k in kernels
        ]
        if found and (last == "jit" or isinstance(found[0], KernelValue)):
            return Value(things=frozenset(found))
        return thing(Attribute(PLAIN, "<tuner>"))

    def _triton(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        last = name.rpartition(".")[2]
        if last in ("TensorDescriptor", "from_tensor", "TensorWrapper", "reinterpret"):
            tensor = next((v for k in ("base", "tensor") if (v := arguments.get(0, k)) is not None), UNSEEN)
            return replace(tensor, kind=Sort.TENSOR, constant=None)
        if last == "Config":
            hook = arguments.get(5, "pre_hook")
            fields = {"pre_hook": hook} if hook is not None else {}
            return self.make(node, Cell(fields, kind="object"))
        if last == "set_allocator" and arguments.positional:
            self.call(arguments.positional[0], Arguments((PLAIN, PLAIN, UNSEEN)), node)
            return NONE
        if name.startswith("triton.language.") or last in ("cdiv", "next_power_of_2"):
            return PLAIN
        same, maybe = self.state.reach(arguments)
        return self.not_known(UNSEEN, arguments, node) if same or maybe else PLAIN

    # ------------------------------------------------------------------ methods

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`owner.name(...)` of a container, a tensor, a class or something unknown."""
        owner, name = attribute.owner, attribute.name
        if name == "<tuner>":
            return self._tuned("autotune", arguments, _kernels(arguments))
        classes = [t for t in owner.things if isinstance(t, ClassValue)]
        if name == "apply" and classes and self.is_autograd(classes[0]):
            return self.apply_autograd(classes[0], arguments, node)
        if name == "<base init>":
            if owner.cells and tuple(arguments):
                self.state.change(owner, None, join(*arguments))
            return NONE
        if name == "__new__" and classes:
            return self.make(node, Cell(owner=classes[0], kind="object"), "new")
        if owner.cells:
            return self._of_objects(owner, name, arguments, node)
        if name in _HARMLESS or (is_plain(owner) and not owner.roots):
            return PLAIN
        return self.tensor_method(attribute, arguments, node)

    def _of_objects(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        kinds = {content.kind for content in self.state.contents(owner)}
        if kinds <= {"context"}:
            return self._context_method(owner, name, arguments, node)
        if kinds <= {"object"}:
            return self._object_method(owner, name, arguments, node)
        return self.container_method(owner, name, arguments, node)

    def _context_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """Methods of the context that `autograd.Function.forward` is given."""
        if name in ("save_for_backward", "save_for_forward"):
            saved = Cell(dict(enumerate(arguments.positional)), arguments.star or Value(), kind="tuple")
            self.state.change(owner, "saved_tensors", self.make(node, saved))
        elif name == "mark_dirty":
            self.state.change(owner, "<dirty>", join(*arguments.positional) if arguments.positional else Value())
        elif name not in ("mark_non_differentiable", "set_materialize_grads", "needs_input_grad"):
            return PLAIN
        return NONE

    def _object_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """A method that the object's class does not define: of a base that is not first-party."""
        if name == "__setattr__" and len(arguments.positional) == 2:
            self.state.change(owner, _key(arguments.positional[0]), arguments.positional[1])
            return NONE
        if name in ("__getattr__", "__getattribute__") and len(arguments.positional) == 1:
            key = _key(arguments.positional[0])
            return self.state.elements(owner) if key is None else self.state.element(owner, key)
        callers = [content.owner for content in self.state.contents(owner) if content.owner is not None]
        for called in ("forward", "__call__"):
            members = [self.class_member(c, called) for c in callers] if name == "__call__" else []
            if any(members):
                bound = join(*(self._bind_all(owner, m) for m in members if m is not None))
                return self.call(bound, arguments, node)
        return self.not_known(owner, arguments, node)


def _key(value: Value) -> object | None:
    return value.constant[1] if value.constant is not None else None


def _kernels(arguments: Arguments) -> list[KernelValue | FunctionValue]:
    """The kernels and functions among the first argument."""
    return [t for v in arguments.positional[:1] for t in v.things if isinstance(t, (KernelValue, FunctionValue))]
