"""Calls of what is not first-party: Python's builtins, its standard library, Triton, and what is not known."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from dataclasses import replace

from triton_mutlint.host.calls.calls import launched
from triton_mutlint.host.classes.classes import MADE
from triton_mutlint.host.classes.names import is_tuner
from triton_mutlint.host.launches.launches import Launching
from triton_mutlint.host.library.builtin_calls import Builtins
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.modules.modules import in_python
from triton_mutlint.host.values.groups import Arguments, Cell
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
    is_plain,
    join,
    picked,
    thing,
    weakened,
)
from triton_mutlint.source.torch_facts import WRAPPERS

# A view of a tensor, or a copy of it.
_REARRANGE = ("einops.rearrange", "einops.repeat", "einops.reduce")
# Methods that do nothing to a tensor among their arguments, whatever they are called on.
_HARMLESS = frozenset({
    "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "warning_once", "info_once",
    "isEnabledFor", "synchronize",
})  # fmt: skip
# Methods of strings that run on those that are known: of the others, some give a long one for a short one.
_OF_TEXTS = frozenset(dir(str)) - {"format", "format_map", "center", "ljust", "rjust", "zfill", "expandtabs", "replace",
                                   "translate", "encode", *dir(object)}
# What the functions of Python's standard library do with what they are given, by the beginnings of their names.
_NOT_UNDERSTOOD = ("ctypes.", "_ctypes.", "mmap.", "multiprocessing.", "pickle.", "gc.", "sys.", "builtins.",
                   "contextlib.", "operator.", "functools.cmp_to_key")
# Modules whose functions give numbers, strings and the like, and keep nothing.
_PLAIN_MODULES = ("math.", "os.", "warnings.", "time.", "logging.", "re.", "string.", "json.", "pprint.")
# Those that neither call nor change what they are given, and those that call it and make something new.
_LOOKS = ("inspect.", "typing.", "types.", "abc.", "dataclasses.", "copy.", "enum.", "numbers.")
_MAKES = ("itertools.", "functools.")
_PLACEHOLDER = External("functools.Placeholder")  # what the next call gives takes its place
# Decorators that leave a function what it is.
_SAME = frozenset({
    "functools.lru_cache", "functools.cache", "functools.wraps", "functools.update_wrapper",
    "functools.total_ordering", "contextlib.contextmanager", "contextlib.asynccontextmanager",
    "abc.abstractmethod", "typing.final", "typing.no_type_check", "dataclasses.dataclass",
})  # fmt: skip


class Interpreter(Builtins, Launching):
    """Interprets host functions abstractly; `effects` holds what they were seen to do."""

    def external(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """Call something by its full dotted name."""
        name = name.removesuffix(".__call__")
        top, _, rest = name.partition(".")
        last = name.rpartition(".")[2]
        if top != "builtins" and name not in _SAME and in_python(name) is None:
            arguments = self._drained(arguments, node)
        if name in MADE:
            return thing(Partial(thing(External(name)), arguments.positional, tuple(sorted(arguments.named.items()))))
        if last in WRAPPERS and arguments.positional:
            return self._wrapped(arguments.positional[0])
        if top == "torch":
            return self._in_python(name, arguments, node) or self.torch_function(name, arguments, node)
        if top == "builtins":
            return self.builtin(rest, arguments, node)
        if top == "triton":
            return self._triton(name, arguments, node)
        if top == "typing_extensions":
            return self.external(f"typing.{rest}", arguments, node)
        if name in _REARRANGE and arguments.positional:
            return replace(weakened(self.within(arguments.positional[0])), cells=frozenset(), kind=Sort.TENSOR)
        if top in sys.stdlib_module_names:
            return self.standard(name, arguments, node)
        return self.not_known(thing(External(name)), arguments, node)

    def _drained(self, arguments: Arguments, node: ast.AST) -> Arguments:
        """What is not of the project runs a generator that it is given to its end."""
        def drained(value: Value) -> Value:
            return self.gathered(value, node) if any(map(self.is_generator, value.cells)) else value

        if not any(self.is_generator(cell) for value in arguments for cell in value.cells):
            return arguments
        named = {name: drained(value) for name, value in arguments.named.items()}
        return replace(arguments, positional=tuple(map(drained, arguments.positional)), named=named)

    @staticmethod
    def _wrapped(value: Value) -> Value:
        found = [replace(t, wrapped=True) if isinstance(t, KernelValue) else t for t in value.things]
        return replace(value, things=frozenset(found))

    @staticmethod
    def _jitted(arguments: Arguments) -> Value:
        """`triton.jit(f)`; `triton.jit(...)` is what takes the function next."""
        found = [KernelValue(k.module, k.node) if isinstance(k, FunctionValue) and isinstance(k.node, ast.FunctionDef)
                 else k for k in _kernels(arguments)]
        return Value(things=frozenset(found)) if found else thing(External("triton.jit"))

    def _triton(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        last = name.rpartition(".")[2]
        if is_tuner(External(name)):
            return self._jitted(arguments) if last == "jit" else thing(self.tuner(last, arguments, node))
        if last in ("TensorDescriptor", "from_tensor", "TensorWrapper", "reinterpret"):
            tensor = next((v for k in ("base", "tensor") if (v := arguments.get(0, k)) is not None), UNSEEN)
            return replace(tensor, kind=Sort.TENSOR, constant=None)
        if last == "Config":
            hook = arguments.get(5, "pre_hook")
            fields = {"pre_hook": hook} if hook is not None else {}
            return self.make(node, Cell({**fields, "kwargs": arguments.get(0, "kwargs") or UNSEEN}, kind="object"))
        if last == "set_allocator" and arguments.positional:
            self.call(arguments.positional[0], Arguments((PLAIN, PLAIN, UNSEEN)), node)
            return NONE
        if last == "constexpr" and arguments.positional:
            return arguments.positional[0]
        if name.startswith("triton.language.") or last in ("cdiv", "next_power_of_2"):
            return PLAIN
        same, maybe = self.state.reach(arguments)
        return self.not_known(UNSEEN, arguments, node) if same or maybe else PLAIN

    # ------------------------------------------------------------------ methods

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`owner.name(...)` of a container, a tensor, a class or something unknown."""
        owner, name = attribute.owner, attribute.name
        kernel = launched(attribute)
        if kernel is not None:
            return self.launch(kernel, name, arguments, node)
        contents = self.state.contents(owner) if name in ("_replace", "_asdict") else []
        if contents and all(content.owner is not None for content in contents):  # named tuples
            if name == "_replace":
                return self._f_dataclasses_replace(arguments.before(owner), node)
            named = {key: self.state.element(owner, key) for c in contents for key in c.fields if isinstance(key, str)}
            return self.make(node, Cell(named, size=len(named), kind="dict"))
        classes = [t for t in owner.things if isinstance(t, ClassValue)]
        if name == "apply" and classes and self.is_autograd(classes[0]):
            return self.apply_autograd(classes[0], arguments, node)
        if name == "<base init>":
            if owner.cells and tuple(arguments):
                self.state.change(owner, None, join(*arguments))
            return NONE
        if name == "__call__" and classes:
            return self.made(classes[0], arguments, node)
        if name == "__new__" and classes:
            return self.make(node, Cell(owner=classes[0], kind="object"), "new")
        if owner.cells:
            return self._of_objects(owner, name, arguments, node)
        self.handed(arguments, node, deep=name in ("format", "format_map"))
        if name in _HARMLESS or (is_plain(owner) and not owner.roots):
            told = owner.constant is not None and isinstance(owner.constant[1], str) and name in _OF_TEXTS
            made = self.on_constants(getattr(str, name), arguments.before(owner), node) if told else None
            return PLAIN if made is None else made
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
        got = [self.outside(Value(cells=frozenset([cell])), content.owner, [name], arguments, node)
               for cell in sorted(owner.cells, key=repr) if (content := self.state.cell(cell)) and content.owner]
        found = [one for one in got if one is not None]
        return join(*found) if found and len(found) == len(owner.cells) else self.not_known(owner, arguments, node)

    def standard(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        special: Callable[..., Value] | None = getattr(self, f"_f_{name.replace('.', '_')}", None)
        if special is not None:
            return special(arguments, node)
        followed = self._in_python(name, arguments, node)
        if followed is not None:
            return followed
        module, _, last = name.rpartition(".")
        first = arguments.positional[0] if arguments.positional else arguments.star
        if name in _SAME:
            if first is None or last == "wraps" or not (first.things or first.cells or first.roots):
                return thing(External("functools.update_wrapper"))
            return first
        if module == "operator" and first is not None and hasattr(operator, f"__{last}__"):
            method = self.attribute(first, f"__{last}__", node)
            return self.call(method, replace(arguments, positional=arguments.positional[1:]), node)
        given = [v for v in arguments if v.roots or v.cells or v.things]
        if name.startswith(_NOT_UNDERSTOOD):
            return self.not_known(UNSEEN, arguments, node)
        self.handed(arguments, node, deep=True)
        if not given or name.startswith(_LOOKS):
            return self._handed_on(given, node) if given else PLAIN if name.startswith(_PLAIN_MODULES) else UNSEEN
        return self._may_call(name, arguments, given, node)

    def _may_call(self, name: str, arguments: Arguments, given: list[Value], node: ast.AST) -> Value:
        """A function of which nothing is known but that it does nothing to tensors itself."""
        called = [v for v in given if self.is_called(v)]
        others = [v for v in given if v not in called]
        every = join(UNSEEN, self.one_of([*others, *(self.iterate(v, node) for v in others)]))
        results = [self.call(v, Arguments((), {}, every), node) for v in called]
        if name.startswith(_MAKES):
            made = self.make(node, Cell(rest=picked(join(every, *results)), kind="given"), "given")
            self.lazily(made, name, arguments)
            return join(made, *results)
        if name.startswith(_PLAIN_MODULES):
            return PLAIN
        for value in others:  # `heapq.heappush(heap, x)`, `random.shuffle(items)`
            self.state.mix(value, join(*(v for v in (*others, *results) if v is not value), Value()))
        return join(self._handed_on(given, node), *results)

    # ------------------------------------------------------------------ single functions

    def _f_functools_partial(self, arguments: Arguments, node: ast.AST) -> Value:
        if not arguments.positional or arguments.star is not None or arguments.double_star is not None:
            function = arguments.positional[0] if arguments.positional else UNSEEN
            rest = join(*(v for v in arguments if v is not function), UNSEEN)
            return join(thing(Partial(function, tuple([rest] * len(arguments.positional[1:])), ())), rest)
        first, *others = arguments.positional
        named = tuple(sorted(arguments.named.items()))
        if any(_PLACEHOLDER in value.things for value in others):
            return thing(Partial(first, (), named, picked(join(*others))))
        return thing(Partial(first, tuple(others), named))

    def _f_enum_auto(self, arguments: Arguments, node: ast.AST) -> Value:
        return thing(External("enum.auto()"))

    def _f_functools_singledispatchmethod(self, arguments: Arguments, node: ast.AST) -> Value:
        """What is registered for other classes is not followed: it may do anything."""
        return join(*arguments, UNSEEN)

    _f_functools_singledispatch = _f_functools_singledispatchmethod

    def _f_copy_copy(self, arguments: Arguments, node: ast.AST) -> Value:
        self.handed(arguments, node)
        every = join(*arguments)
        contents = self.state.contents(every)
        if len(contents) != 1 or every.roots or every.things:
            return self._handed_on(list(arguments), node)
        return self.make(node, contents[0])

    def _f_copy_deepcopy(self, arguments: Arguments, node: ast.AST) -> Value:
        self.handed(arguments, node, deep=True)
        every = join(*(self.within(v) for v in arguments))
        fresh = replace(every, same=frozenset(), maybe=frozenset(), cells=frozenset(), constant=None)
        return join(fresh, self.make(node, Cell(rest=fresh, kind="given")))


def _key(value: Value) -> object | None:
    return value.constant[1] if value.constant is not None else None


def _kernels(arguments: Arguments) -> list[KernelValue | FunctionValue]:
    """The kernels and functions among the first argument."""
    return [t for v in arguments.positional[:1] for t in v.things if isinstance(t, (KernelValue, FunctionValue))]
