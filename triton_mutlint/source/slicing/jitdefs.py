"""Making the `JITFunction` of one `def`: its `jit` decorator for real, the others only where they matter."""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
from collections import ChainMap
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from triton_mutlint.basics import error_text
from triton_mutlint.source.function_text import LANGUAGES, TRITON, may_be_jit, returns_value
from triton_mutlint.source.slicing.spaces import Space
from triton_mutlint.source.slicing.stubs import Missing, UndecidedError
from triton_mutlint.source.walking import called, dotted, walk

_HOLLOW = ast.parse('raise RuntimeError("the body of a jit function is not run while a file is loaded")').body
_ANNOTATIONS = __future__.annotations.compiler_flag


class NotJitError(Exception):
    """The decorators do not make a Triton kernel: another library's `jit`."""


class PlaceholderError(Exception):
    """The decorator is called `triton.jit` but is not Triton's."""


@dataclass(eq=False)
class JitDefinition:
    """What a decorated `def` gave. `bound` is what its name is bound to; `made` what jit's own decorator gave, which
    may tune as well; `outer` the decorators above that, innermost first. `namespace` are its globals: a `Space`, but
    for a function that exists already.
    """

    node: ast.FunctionDef
    namespace: Any
    jit: Any = None
    bound: Any = None
    made: Any = None
    outer: list[ast.expr] = field(default_factory=list)
    error: BaseException | None = None


def define(namespace: Space, node: ast.FunctionDef) -> JitDefinition:
    """The definition of `node`, made once. Its `error` is set when there is no jit function."""
    known: JitDefinition | None = namespace.definitions.get(node)
    if known is not None:
        return known
    definition = namespace.definitions[node] = JitDefinition(node, namespace)
    decorators = list(reversed(node.decorator_list))
    try:
        index = _index(namespace, node, decorators)
        definition.outer = decorators[index + 1 :]
        maker = _maker(namespace, decorators[index], node)
        function = plain_function(namespace, node, hollow=not index)
        for below in decorators[:index]:
            function = namespace.evaluate(below)(function)
        definition.bound = function
        definition.made, definition.jit = _jit(namespace, decorators[index], maker, function)
        definition.bound = _decorated(definition)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # linted code: decorators and defaults may raise anything
        if not isinstance(error, NotJitError) and not _is_of_triton(namespace, node):
            error = NotJitError(ast.unparse(decorators[0]))
        definition.error = error
        if definition.bound is not None:  # it may be called as the plain function it is
            with contextlib.suppress(Exception, UndecidedError):
                definition.bound = plain_function(namespace, node)
        if definition.bound is None:
            definition.bound = namespace.missing(node.name, f"could not be defined ({error_text(error)})")
    return definition


def bound(space: Space, node: ast.FunctionDef) -> Any:
    """What the name of a decorated function is bound to."""
    definition = define(space, node)
    if isinstance(definition.error, NotJitError) and not may_be_jit(node):
        space.execute([node])
        return dict.get(space, node.name)
    return definition.bound


def _index(namespace: Space, node: ast.FunctionDef, decorators: list[ast.expr]) -> int:
    """Which decorator, of those from the innermost out, makes the jit function.

    It is the first whose names lead to a `jit`; else the first that makes one when it is applied; else, as the body
    is in Triton's language, the first that is not at hand. Raises `NotJitError`.
    """
    for index, decorator in enumerate(decorators):
        if namespace.module.outline.leads_to_jit(decorator):
            return index
    missing = []
    value: Any = plain_function(namespace, node)
    for index, decorator in enumerate(decorators):
        maker = namespace.evaluate(decorator)
        if isinstance(maker, Missing):
            missing.append(index)
        elif unwrap(value := maker(value)) is not None:
            return index
    if missing:
        return missing[0]
    raise NotJitError(ast.unparse(decorators[0]))


def _is_of_triton(namespace: Space, node: ast.FunctionDef) -> bool:
    """Whether it would be a jit function of Triton's if all went well."""
    jit = [d for d in node.decorator_list if namespace.module.outline.leads_to_jit(d)]
    if not jit or speaks_triton(namespace, node):
        return speaks_triton(namespace, node)
    target = jit[-1].func if isinstance(jit[-1], ast.Call) else jit[-1]
    whole = f"{ast.unparse(jit[-1])} {namespace.module.outline.full(dotted(target) or ('',))}"
    return "triton" in whole.lower()


def plain_function(namespace: Space, node: ast.FunctionDef, hollow: bool = False) -> Any:
    """The function without its decorators, at its own lines, with a qualified name of its own.

    A `hollow` one cannot be run: Triton compiles a jit function from its source, so that compiling
    its body for Python would be wasted.
    """
    bare = copy.copy(node)
    bare.decorator_list = []
    if hollow:
        docstring = [node.body[0]] if ast.get_docstring(node, clean=False) is not None else []
        bare.body = [*docstring, *_HOLLOW]
    caught = ChainMap[str, Any]({}, namespace)  # what the statement binds; it reads names from the namespace
    try:
        namespace.execute([bare], caught)
    except (Exception, UndecidedError):  # an annotation that cannot be evaluated: its text will do
        flags, namespace.module.flags = namespace.module.flags, namespace.module.flags | _ANNOTATIONS
        try:
            namespace.execute([bare], caught)
        finally:
            namespace.module.flags = flags
    function = caught.maps[0][node.name]
    for name, annotation in dict(function.__annotations__).items():
        if isinstance(annotation, Missing):  # Triton asks for an annotation's truth; its text will do
            function.__annotations__[name] = annotation.mutlint_path
    owner = "" if namespace.owner is None else f"{namespace.owner.name}_{namespace.owner.lineno}_"
    if owner or len(namespace.scope.by_name.get(node.name, ())) > 1:
        # Triton names helper symbols by module and qualified name: two helpers must not share one.
        function.__qualname__ = f"{owner}{node.name}_{node.lineno}"
    return function


def _maker(namespace: Space, decorator: ast.expr, node: ast.FunctionDef) -> Any:
    """What the jit decorator's name stands for; Triton's own where a wrapper of it is not installed.

    Raises `NotJitError` for another library's, and whatever the linted code raises.
    """
    maker = namespace.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if isinstance(maker, Missing):
        if maker.mutlint_path.startswith("triton."):
            raise ImportError(f"`{maker.mutlint_path}` {maker.mutlint_reason}")
        if not speaks_triton(namespace, node):
            raise NotJitError(maker.mutlint_path)
        import triton

        return triton.jit
    return maker


def _jit(namespace: Space, decorator: ast.expr, maker: Any, function: Any) -> tuple[Any, Any]:
    """What the jit decorator makes of a function, and the jit function in that.

    Raises `PlaceholderError`, or what Triton raises.
    """
    if isinstance(decorator, ast.Call):
        # `repr=` only names the compiled kernel, and would run the project's code while it is lowered.
        needed = [keyword for keyword in decorator.keywords if keyword.arg != "repr"]
        made = namespace.evaluate(ast.copy_location(ast.Call(decorator.func, decorator.args, needed), decorator))
        maker = maker if isinstance(made, Missing) else made
    value = maker(function)
    jit = unwrap(value)
    if jit is None:
        name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        raise PlaceholderError(f"`{name}` is not Triton's here: it makes no jit function")
    return value, jit


def speaks_triton(namespace: Space, node: ast.FunctionDef) -> bool:
    """Whether the function mentions Triton's language, or a jit function."""
    return any(is_of_triton(namespace, inner.id) for inner in walk(node)
               if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load))


def is_of_triton(namespace: Space, name: str) -> bool:
    """Whether a name is Triton's language, something of it, or what Triton makes of functions."""
    try:
        value = namespace.lookup(name)
    except (Exception, UndecidedError):  # linted code is evaluated
        return name == "tl"
    if isinstance(value, Missing):
        return value.mutlint_root.partition(".")[0] in TRITON - {"triton"}
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return str(module).startswith(LANGUAGES) or type(value).__module__.startswith("triton.runtime")


def _decorated(definition: JitDefinition) -> Any:
    """What the name is bound to: the jit function, unless a project decorator turns a helper into another.

    The wrappers of a kernel launch it, and change nothing of what it does. They are left out, but where they change
    something else, or another statement changes the wrapper.
    """
    node, namespace, bound = definition.node, definition.namespace, definition.jit
    is_changed = namespace.scope.is_changed(node.name, node)
    for decorator in definition.outer if is_changed or namespace.scope.touched(node) or returns_value(node) else ():
        if is_changed or not is_tuning(decorator):
            with contextlib.suppress(Exception, UndecidedError):  # a wrapper that wants a device
                result = namespace.evaluate(decorator)(bound)
                if not isinstance(result, Missing):
                    bound = result if is_changed else unwrap(result) or result
    return bound


def is_tuning(decorator: ast.expr) -> bool:
    chain = called(decorator)
    return bool(chain) and ("autotune" in chain[-1] or "heuristics" in chain[-1] or "tuner" in chain[-1])


def unwrap(value: Any) -> Any:
    """The Triton `JITFunction` under wrappers (`.fn`, `__wrapped__`), or None."""
    from triton.runtime.jit import JITFunction

    for _ in range(16):
        if isinstance(value, JITFunction):
            return value
        if isinstance(value, Missing) or value is None:
            return None
        inner = getattr(value, "fn", None)
        value = inner if inner is not None else getattr(value, "__wrapped__", None)
    return None
