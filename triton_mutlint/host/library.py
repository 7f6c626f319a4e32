"""Calls of what is not first-party: Python's builtins, its standard library, Triton, and what is not known."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.arguments import Arguments
from triton_mutlint.host.core import Activation
from triton_mutlint.host.state import State
from triton_mutlint.host.torch_calls import TorchCallsMixin
from triton_mutlint.host.values import (
    NONE,
    PLAIN,
    UNSEEN,
    Attribute,
    Cell,
    ClassValue,
    FunctionValue,
    KernelMethod,
    KernelValue,
    Kind,
    Partial,
    Value,
    constant,
    join,
    thing,
    weakened,
)
from triton_mutlint.source.finder import HEAVY

_WRAPPERS = ("wrap_triton", "capture_triton")
_TUNERS = frozenset({"jit", "autotune", "heuristics"})
# Builtins that give one of what they are given, or a container of it.
_ELEMENTS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter"})
_EITHER = frozenset({"min", "max", "next"})
# Methods that do nothing to a tensor among their arguments, whatever they are called on.
_HARMLESS = frozenset({
    "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "warning_once", "info_once",
    "isEnabledFor", "format", "join", "startswith", "endswith", "split", "strip", "lower", "upper", "replace", "record",
    "synchronize",
})  # fmt: skip


_IN_PLACE = re.compile(
    r"setitem|delitem|i(?:add|and|concat|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor)"
)


class LibraryMixin(TorchCallsMixin):
    """Calls of what is not first-party."""

    def external(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """Call something by its full dotted name."""
        top, _, rest = name.partition(".")
        last = name.rpartition(".")[2]
        if last in _WRAPPERS and arguments.positional:
            return self._wrapped(arguments.positional[0])
        if top == "torch":
            return self.torch_function(name, arguments, node, state, here)
        if top == "builtins":
            return self._builtin(rest, arguments, node, state, here)
        if last in _TUNERS and top == "triton":
            return self._tuned(last, arguments, _kernels(arguments))
        if top == "triton":
            return self._triton(name, arguments, node, state, here)
        if name in ("functools.partial", "functools.partialmethod") and arguments.positional:
            first, *others = arguments.positional
            return thing(Partial(first, tuple(others), tuple(sorted(arguments.named.items()))))
        if name in ("typing.cast", "typing_extensions.cast") and len(arguments.positional) == 2:
            return arguments.positional[1]
        if top in sys.stdlib_module_names:
            return self._standard(name, arguments, node, state, here)
        if top in HEAVY and not any(v.roots or v.cells for v in arguments):
            return UNSEEN
        return self.not_known(UNSEEN, arguments, node, state, here)

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

    def _triton(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        if ("TensorDescriptor" in name and arguments.positional) or "base" in arguments.named:
            tensor = arguments.get(0, "base") or UNSEEN
            return replace(tensor, kind=Kind.TENSOR, constant=None)
        if name.endswith("reinterpret") and arguments.positional:
            return arguments.positional[0]
        if name.endswith("do_bench") or "testing" in name:
            return self.not_known(UNSEEN, arguments, node, state, here)
        return PLAIN

    def _standard(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        """The standard library writes to no tensor, but may hand on what it is given, or call it."""
        for value in arguments:
            if any(isinstance(t, (FunctionValue, KernelMethod, Partial)) for t in value.things):
                others = tuple(v for v in arguments if v is not value)
                return self.call(value, Arguments(others), node, state, here)
        given = [v for v in arguments if v.roots or v.cells]
        if name == "types.SimpleNamespace":
            return self.make(node, Cell(dict(arguments.named), kind="object"), state, here)
        if name.startswith("operator.") and arguments.positional and _IN_PLACE.fullmatch(name.partition(".")[2]):
            first = arguments.positional[0]
            self.effects.write(first, self.effect(f"`{name}`", node, here))
            if first.cells:
                state.change(first, None, join(*arguments.positional[1:]))
            return first
        if name == "copy.deepcopy":
            return replace(join(*given), same=frozenset(), maybe=frozenset(), cells=frozenset()) if given else PLAIN
        if name.startswith(("ctypes.", "_ctypes.", "mmap.", "multiprocessing.", "pickle.")):
            return self.not_known(UNSEEN, arguments, node, state, here)
        if not given:
            return PLAIN if name.partition(".")[0] in ("math", "os", "warnings", "time", "logging") else UNSEEN
        if name.startswith(("warnings.", "logging.", "math.", "os.")):
            return PLAIN
        elements = [self.iterate(v, node, state, here) for v in given]
        if name.startswith("itertools."):
            pairs = self.make(node, Cell(rest=join(*elements), kind="tuple"), state, here, "pairs")
            return self.make(node, Cell(rest=join(pairs, *elements)), state, here)
        return weakened(join(*given))

    # ------------------------------------------------------------------ builtins

    def _builtin(self, name: str, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        first = arguments.positional[0] if arguments.positional else None
        special: Callable[..., Value] | None = getattr(self, f"_b_{name}", None)
        if special is not None:
            return special(arguments, node, state, here)
        if name in _ELEMENTS and first is not None:
            source = arguments.positional[-1]
            contents = state.contents(source)
            if name in ("list", "tuple") and len(contents) == 1 and contents[0].kind != "dict" and not source.roots:
                return self.make(node, replace(contents[0], kind=name, many=False), state, here)
            return self.make(node, Cell(rest=self.iterate(source, node, state, here)), state, here)
        if name in _EITHER and first is not None:
            parts = arguments.positional if len(arguments.positional) > 1 and name != "next" else ()
            return join(*parts) if parts else self.iterate(first, node, state, here)
        if name in ("list", "dict", "set", "tuple"):
            kind = "dict" if name == "dict" else "list"
            return self.make(node, Cell(dict(arguments.named), kind=kind, size=None), state, here)
        if name in ("staticmethod", "classmethod", "property") and first is not None:
            return first
        if name == "sum" and first is not None and (first.roots or first.cells):
            return Value(kind=Kind.TENSOR | Kind.PLAIN)
        if name == "abs" and first is not None and first.roots:
            return Value(kind=Kind.TENSOR)
        if name in ("exec", "eval", "vars", "locals", "globals", "__import__"):
            return self.not_known(UNSEEN, arguments, node, state, here)
        return PLAIN

    def _b_dict(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        content = Cell(kind="dict")
        for value in arguments.positional:
            for other in state.contents(value):
                fields = other.fields if other.kind == "dict" else {}
                rest = other.rest if other.kind == "dict" else self.iterate(other.every(), node, state, here)
                content = replace(content, fields={**content.fields, **fields}, rest=join(content.rest, rest))
        content = replace(content, fields={**content.fields, **arguments.named})
        if arguments.double_star is not None:
            content = content.add(arguments.double_star)
        return self.make(node, content, state, here)

    def _b_zip(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        parts = [self.iterate(value, node, state, here) for value in arguments.positional]
        content = Cell(dict(enumerate(parts)), arguments.star or Value(), kind="tuple")
        content = replace(content, size=len(parts) if arguments.star is None else None)
        return self.make(node, Cell(rest=self.make(node, content, state, here, "row")), state, here)

    def _b_enumerate(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        element = self.iterate(arguments.positional[0], node, state, here) if arguments.positional else UNSEEN
        row = self.make(node, Cell({0: PLAIN, 1: element}, size=2, kind="tuple"), state, here, "row")
        return self.make(node, Cell(rest=row), state, here)

    def _b_map(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        function, *sources = arguments.positional or (UNSEEN,)
        given = tuple(self.iterate(source, node, state, here) for source in sources)
        return self.make(node, Cell(rest=self.call(function, Arguments(given), node, state, here)), state, here)

    def _b_getattr(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        owner, name, *default = (*arguments.positional, UNSEEN, UNSEEN)[: max(2, len(arguments.positional))]
        if name.constant is not None and isinstance(name.constant[1], str):
            return join(self.attribute(owner, name.constant[1], node, state, here), *default)
        return join(weakened(owner), *default)

    def _b_setattr(self, arguments: Arguments, node: ast.AST, state: State, here: Activation) -> Value:
        if len(arguments.positional) == 3:
            owner, name, value = arguments.positional
            if owner.cells:
                state.change(owner, name.constant[1] if name.constant is not None else None, value)
            if name.is_constant("data"):
                self.effects.write(owner, self.effect("`setattr(…, 'data', …)`", node, here))
        return NONE

    # ------------------------------------------------------------------ methods

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST, state: State,
               here: Activation) -> Value:
        """`owner.name(...)` of a container, a tensor, a class or something unknown."""
        owner, name = attribute.owner, attribute.name
        if name == "<tuner>":
            return self._tuned("autotune", arguments, _kernels(arguments))
        classes = [t for t in owner.things if isinstance(t, ClassValue)]
        if name == "apply" and classes and self.is_autograd(classes[0]):
            return self.apply_autograd(classes[0], arguments, node, state, here)
        if owner.cells:
            return self._container_method(owner, name, arguments, node, state, here)
        if name in _HARMLESS or (owner.kind == Kind.PLAIN and not owner.roots):
            return PLAIN
        return self.tensor_method(attribute, arguments, node, state, here)

    def _container_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST, state: State,
                          here: Activation) -> Value:
        contents = state.contents(owner)
        kinds = {content.kind for content in contents}
        if kinds <= {"context"}:
            return self._context_method(owner, name, arguments, node, state, here)
        if kinds <= {"object"}:
            return self._object_method(owner, name, arguments, node, state, here)
        last = arguments.positional[-1] if arguments.positional else None
        if name in ("append", "add", "appendleft", "insert") and last is not None:
            self._appended(owner, last, name, state)
            return NONE
        if name in ("extend", "update") and (last is not None or arguments.named):
            self._extended(owner, last, arguments, node, state, here)
            return NONE
        if name == "pop" and len(contents) == 1 and contents[0].kind != "dict" and not arguments.positional:
            return self._popped(owner, contents[0], state)
        if name in ("get", "pop", "setdefault", "popleft", "popitem", "__getitem__"):
            return self._taken(owner, name, arguments, state)
        if name == "items":
            row = Cell({0: PLAIN, 1: state.elements(owner)}, size=2, kind="tuple")
            return self.make(node, Cell(rest=self.make(node, row, state, here, "row")), state, here)
        if name in ("values", "copy", "_replace", "_asdict", "union"):
            kind = "dict" if "dict" in kinds and name != "values" else "list"
            content = replace(contents[0], kind=kind, many=False) if contents else Cell()
            for value in arguments:
                content = content.add(value)
            return self.make(node, content, state, here)
        return PLAIN

    @staticmethod
    def _appended(owner: Value, value: Value, name: str, state: State) -> None:
        contents = state.contents(owner)
        if name == "append" and len(contents) == 1 and contents[0].size is not None and not contents[0].many:
            content = contents[0]
            (cell,) = owner.cells
            grown = replace(content.put(content.size, value), size=(content.size or 0) + 1)
            state.heap[cell] = grown
            return
        state.change(owner, None, value)

    @staticmethod
    def _popped(owner: Value, content: Cell, state: State) -> Value:
        """The last element of a list, which becomes shorter."""
        if not content.size or content.many:
            return content.every()
        (cell,) = owner.cells
        last = content.size - 1
        fields = {key: value for key, value in content.fields.items() if key != last}
        state.heap[cell] = replace(content, fields=fields, size=last)
        return content.get(last) or content.rest

    def _extended(self, owner: Value, last: Value | None, arguments: Arguments, node: ast.AST, state: State,
                  here: Activation) -> None:
        for name, value in arguments.named.items():
            state.change(owner, name, value)
        if last is None:
            return
        contents = state.contents(last)
        if len(contents) == 1 and contents[0].size is not None and contents[0].kind != "dict":
            for i in range(contents[0].size):
                self._appended(owner, contents[0].get(i) or contents[0].rest, "append", state)
            return
        for content in contents:
            if content.kind == "dict":
                for key, value in content.fields.items():
                    state.change(owner, key, value)
                state.change(owner, None, content.rest)
            else:
                state.change(owner, None, content.every())
        if not last.cells:
            state.change(owner, None, self.iterate(last, node, state, here))

    @staticmethod
    def _taken(owner: Value, name: str, arguments: Arguments, state: State) -> Value:
        key = arguments.positional[0] if arguments.positional else None
        default = arguments.positional[1] if len(arguments.positional) > 1 else None
        if key is not None and key.constant is not None and (name != "pop" or isinstance(key.constant[1], str)):
            value = state.element(owner, key.constant[1])
        else:
            value = state.elements(owner)
        if name == "setdefault" and default is not None:
            state.change(owner, key.constant[1] if key is not None and key.constant is not None else None,
                         join(value, default) if value != Value() else default)
        extra = [default] if default is not None else [constant(None)] if name == "get" else []
        return join(value, *extra) if value != Value() else (join(*extra) if extra else UNSEEN)

    def _context_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST, state: State,
                        here: Activation) -> Value:
        """Methods of the context that `autograd.Function.forward` is given."""
        if name in ("save_for_backward", "save_for_forward"):
            saved = Cell(dict(enumerate(arguments.positional)), arguments.star or Value(), kind="tuple")
            state.change(owner, "saved_tensors", self.make(node, saved, state, here))
        elif name == "mark_dirty":
            state.change(owner, "<dirty>", join(*arguments.positional) if arguments.positional else Value())
        elif name not in ("mark_non_differentiable", "set_materialize_grads", "needs_input_grad"):
            return PLAIN
        return NONE

    def _object_method(self, owner: Value, name: str, arguments: Arguments, node: ast.AST, state: State,
                       here: Activation) -> Value:
        """A method that the object's class does not define: of a base that is not first-party."""
        callers = [content.owner for content in state.contents(owner) if content.owner is not None]
        for called in ("forward", "__call__"):
            members = [self.class_member(c, called) for c in callers] if name == "__call__" else []
            if any(members):
                bound = join(*(self._bind_all(owner, m) for m in members if m is not None))
                return self.call(bound, arguments, node, state, here)
        return self.not_known(owner, arguments, node, state, here)


def _kernels(arguments: Arguments) -> list[KernelValue | FunctionValue]:
    """The kernels and functions among the first argument."""
    return [t for v in arguments.positional[:1] for t in v.things if isinstance(t, (KernelValue, FunctionValue))]
