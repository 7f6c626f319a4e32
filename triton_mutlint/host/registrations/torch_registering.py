"""Torch's functions that register ops, and libraries' own around them: what a call of each means."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.model import Form
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.registrations.known import RealCalls
from triton_mutlint.host.registrations.things import (
    AT_RUN_TIME,
    Event,
    ImplEvent,
    Library,
    OpEvent,
    Step,
    as_text,
    hole,
    is_none,
    is_open,
    is_schema,
    is_unknown,
    op_itself,
    op_name,
    op_named,
    op_of,
    opaque,
    pending,
    snapshot,
    string,
    strings,
    take,
    written,
)
from triton_mutlint.host.state.core import World
from triton_mutlint.host.values.groups import Arguments, Cell, defaults
from triton_mutlint.host.values.values import (
    NO_VALUE,
    NONE,
    PLAIN,
    Attribute,
    FunctionValue,
    Sort,
    Thing,
    Value,
    constant,
    thing,
)

_TORCH = re.compile(r"torch\.(_?library|_custom_op)\b")
_INFERRED = re.compile(hole(r"schema (\d+)"))
UNKNOWN = Value(kind=Sort.OTHER)
_EMPTY = thing(External("inspect.Parameter.empty"))


class TorchRegistering(RealCalls):
    """Notes what registering calls do."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.inferred: list[tuple[Value, Value | None]] = []  # by number, of schemas: the function, what it mutates

    def site(self, node: ast.AST) -> Step:
        """That of a call at `node`."""
        raise NotImplementedError

    def note(self, event: Event) -> None:
        """Something is registered."""
        raise NotImplementedError

    def external(self, name: str, arguments: Arguments, node: ast.AST) -> Value:
        owner, _, last = name.rpartition(".")
        if _TORCH.match(name) and last in _LIBRARY:
            return _LIBRARY[last](self, External(name), arguments, node)
        if op_of(External(owner)) and last in ("register_kernel", "register_fake"):  # `op.register_fake(f)`
            named = {"func" if given == "fn" else given: value for given, value in arguments.named.items()}
            full = replace(arguments.before(thing(External(owner))), named=named)
            return self.kernel(External(f"torch.library.{last}"), full, node)
        if name.startswith(("torch.", "triton.")):
            return self.not_known(NO_VALUE, arguments, node)
        return super().external(name, arguments, node)

    def method(self, attribute: Attribute, arguments: Arguments, node: ast.AST) -> Value:
        """`owner.name(...)` of a library, or of what may be one."""
        library = next((one for one in attribute.owner.things if isinstance(one, Library)), None)
        if library is not None or is_unknown(attribute.owner):
            schema = take(arguments, 0, "schema")
            if attribute.name == "define" and schema is not None and (library is not None or is_schema(schema)):
                self.define(library, schema, node, take(arguments, None, "tags"))
                return NONE
            found = self._impl_of(attribute, library, arguments, node) if attribute.name == "impl" else None
            if found is not None:
                return found
        return super().method(attribute, arguments, node)

    def _impl_of(self, attribute: Attribute, library: Library | None, arguments: Arguments, node: ast.AST
                 ) -> Value | None:
        op, function, keys = (take(arguments, i, name) for i, name in enumerate(("op_name", "fn", "dispatch_key")))
        if op is None and is_open(arguments) and library is not None:  # `lib.impl(*entry)`
            op = function = opaque(AT_RUN_TIME)
        if op is None or not (library is not None or strings(op)):
            return None
        if function is None or string(function) is not None:  # `@lib.impl("op", "CUDA")`
            named = {**arguments.named, "dispatch_key": function or keys or written("")}
            return pending(attribute, replace(arguments, positional=(op,), named=named), "fn")
        self._implemented(op_name(library, op), function, node, keys, "with_keyset" in arguments.named,
                          library is not None)
        return NONE

    def _implemented(self, name: Value, function: Value | None, node: ast.AST, keys: Value | None = None,
                     keyset: bool = False, sure: bool = True) -> None:
        function = function or NO_VALUE
        held = snapshot([function, keys], self.state, self.module_state)
        self.note(ImplEvent(name, self.site(node), held, function, keys, keyset, sure))

    def _defines(self, form: Form, api: str, name: Value, node: ast.AST, function: Value | None = None,
                 mutates: Value | None = None, schema: Value | None = None, **more: object) -> OpEvent:
        held = snapshot([function, mutates, schema, *(v for v in more.values() if isinstance(v, Value))],
                        self.state, self.module_state)
        event = OpEvent(name, self.site(node), held, form, api, function, mutates, schema,
                        **more)  # type: ignore[arg-type]
        self.note(event)
        return event

    def define(self, library: Library | None, schema: Value, node: ast.AST, tags: Value | None = None) -> None:
        """Note `library.define(schema)`."""
        for one in map(written, strings(schema)) if strings(schema) else [schema]:
            self.defined_as("Library.define", op_name(library, _named_by(one)), one, node, tags)

    def defined_as(self, api: str, name: Value, schema: Value, node: ast.AST, tags: Value | None = None) -> None:
        inferred = next((found for text in strings(schema) if (found := _INFERRED.search(text))), None)
        if inferred is None:
            self._defines(Form.DEFINE, api, name, node, schema=schema, tags=tags)
        else:
            before = inferred.string[: inferred.start()].partition("(")[2]
            self._defines(Form.DEFINE, api, name, node, *self.inferred[int(inferred[1])],
                          before=tuple(part.split()[-1] for part in before.split(",") if part.strip()), tags=tags)

    # ------------------------------------------------------------------ torch.library

    def _b_hasattr(self, arguments: Arguments, node: ast.AST) -> Value:
        owner, name = (*arguments.positional, UNKNOWN, UNKNOWN)[:2]
        of_torch = [isinstance(one, External) and _TORCH.match(f"{one.name}.") for one in owner.things]
        return constant(True) if of_torch and all(of_torch) and string(name) in _LIBRARY else PLAIN

    def _f_inspect_signature(self, arguments: Arguments, node: ast.AST) -> Value:
        """The names and annotations of one function, by which registrars make schemas."""
        things = list(arguments.positional[0].things) if arguments.positional else []
        one = things[0] if len(things) == 1 else None
        if not isinstance(one, FunctionValue) or one.owner is not None:
            return opaque(AT_RUN_TIME)

        def meant(annotation: ast.expr | None) -> Value:
            known = annotation is not None and not (
                isinstance(annotation, ast.Constant) and isinstance(annotation.value, str))
            return self.evaluate_in(annotation, self.state, self.top(one.module)) if annotation is not None and known \
                else _EMPTY if annotation is None else opaque(AT_RUN_TIME)

        a, held = one.node.args, dict[object, Value]()
        given = defaults(a)
        for p in (*a.posonlyargs, *a.args, *a.kwonlyargs):
            fields = {"name": written(p.arg), "annotation": meant(p.annotation),
                      "default": opaque(AT_RUN_TIME) if p.arg in given else _EMPTY}
            held[p.arg] = self.make(node, Cell(fields, kind="object"), f"parameter {p.arg}")
        listed = self.make(node, Cell(held, kind="dict"), "parameters")
        gives = meant(getattr(one.node, "returns", None))
        return self.make(node, Cell({"parameters": listed, "return_annotation": gives}, kind="object"), "signature")

    def custom_op(self, callee: External, arguments: Arguments, node: ast.AST) -> Value:
        function = take(arguments, 1, "fn")
        if is_none(function):
            return pending(callee, arguments, "fn")
        last = callee.name.rpartition(".")[2]
        schema = take(arguments, None, "schema")
        event = self._defines(
            Form.TRITON_OP if last == "triton_op" else Form.CUSTOM_OP, f"torch.library.{last}",
            take(arguments, 0, "name") or opaque("it is missing"), node, function,
            take(arguments, None, "mutates_args"), None if is_none(schema) else schema, required=True,
            open=is_open(arguments), tags=take(arguments, None, "tags"))
        return op_itself(as_text(event.name, "name"))

    def library(self, callee: External, arguments: Arguments, node: ast.AST) -> Value:
        return thing(Library(take(arguments, 0, "ns") or UNKNOWN))

    def define_call(self, callee: External, arguments: Arguments, node: ast.AST) -> Value:
        first = take(arguments, 0, "qualname") or UNKNOWN
        schema = take(arguments, 1, "schema") or UNKNOWN
        library = next((one for one in first.things if isinstance(one, Library)), None)
        if library is None:
            self.defined_as("torch.library.define", first, schema, node, take(arguments, None, "tags"))
            return NONE
        function = take(arguments, None, "f")  # `@torch.library.define(lib, "op(Tensor x) -> Tensor")`
        if function is None:
            return pending(callee, arguments, "f")
        self.define(library, schema, node, take(arguments, None, "tags"))
        self._implemented(op_name(library, _named_by(schema)), function, node)
        return function

    def kernel(self, callee: External, arguments: Arguments, node: ast.AST) -> Value:
        """`register_kernel`, `register_fake`, `impl` of an op, and `impl(library, name, key)`."""
        last = callee.name.rpartition(".")[2]
        first = take(arguments, 0, "op") or take(arguments, 0, "qualname") or UNKNOWN
        library = next((one for one in first.things if isinstance(one, Library)), None)
        of_library = last == "impl" and len(arguments.positional) > 1 and (
            library is not None or (not strings(first) and is_unknown(first)))
        order = ("", "name", "dispatch_key", "func") if of_library else _KERNELS[last]
        given = {name: take(arguments, i, name) for i, name in enumerate(order)}
        function = given["func"]
        if function is None or is_none(function):
            return pending(callee, arguments, "func")
        kinds = [given[name] for name in ("dispatch_key", "device_types", "types") if name in given]
        name = op_name(library, given["name"] or UNKNOWN) if of_library else op_named(first)
        self._implemented(name, function, node, (*kinds, written("fake"))[0], "with_keyset" in arguments.named)
        return function

    def infer_schema(self, callee: External, arguments: Arguments, node: ast.AST) -> Value:
        """The schema is a string with holes, which stand for the arguments and the results that are inferred."""
        prefix, function = take(arguments, None, "op_name"), take(arguments, 0, "prototype_function") or UNKNOWN
        self.inferred.append((function, take(arguments, 1, "mutates_args")))
        name = "" if is_none(prefix) else as_text(prefix, "op_name")
        return written(f"{name}({hole(f'schema {len(self.inferred) - 1}')}) -> {hole('results')}")

    # ------------------------------------------------------------------ registrars

    def by_registrar(self, registrar: Registrar, callee: Thing, name: str, arguments: Arguments,
                     node: ast.AST) -> Value:
        """What calling a function that registers ops gives, by what is known of its parameters."""
        parameter = registrar.function or "decorated"
        function = passed(registrar, arguments, registrar.function)
        function = take(arguments, None, parameter) if function is None else function
        if function is None or is_none(function):
            return pending(callee, arguments, parameter)
        called = passed(registrar, arguments, registrar.name)
        if called is None or is_none(called):
            one = next((t for t in function.things if isinstance(t, FunctionValue)), None)
            called = written(hole("name") if one is None else getattr(one.node, "name", "<lambda>"))
        text, spot = as_text(called, "name"), strings(called)[0].spot if strings(called) else None
        if registrar.namespace and "::" not in text:
            text = f"{registrar.namespace}::{text}"
        mutates = passed(registrar, arguments, registrar.mutates)
        event = self._defines(
            Form.REGISTRAR, name, written(text, spot), node, function, None if is_none(mutates) else mutates,
            default=registrar.default, open=is_open(arguments), tags=take(arguments, None, "tags"))
        return op_itself(as_text(event.name, "name"))


def passed(registrar: Registrar, arguments: Arguments, parameter: str) -> Value | None:
    """What is passed for a registrar's parameter."""
    index = registrar.order.index(parameter) if parameter in registrar.order else None
    return take(arguments, index, parameter) if parameter else None


def is_passed(registrar: Registrar, arguments: Arguments) -> bool:
    """Whether the function to register is among the arguments: else the call gives a decorator."""
    function = passed(registrar, arguments, registrar.function)
    return not is_none(take(arguments, None, "decorated") if function is None else function)


def _named_by(schema: Value) -> Value:
    """The name that a schema begins with."""
    texts = strings(schema)
    return written(_INFERRED.split(texts[0])[0].partition("(")[0].strip(), texts[0].spot) if texts else schema


# The parameters of what gives an op a function, in order.
_KERNELS = {
    "register_kernel": ("op", "device_types", "func"), "register_fake": ("op", "func"),
    "impl_abstract": ("qualname", "func"), "impl": ("qualname", "types", "func"),
}
_LIBRARY: Mapping[str, Callable[[TorchRegistering, External, Arguments, ast.AST], Value]] = {
    **dict.fromkeys(_KERNELS, TorchRegistering.kernel), "custom_op": TorchRegistering.custom_op,
    "triton_op": TorchRegistering.custom_op, "Library": TorchRegistering.library,
    "_scoped_library": TorchRegistering.library, "define": TorchRegistering.define_call,
    "infer_schema": TorchRegistering.infer_schema,
}  # fmt: skip
