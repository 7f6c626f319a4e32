"""What the user can add to the spec when a kernel does not lower: the arguments that the error hangs on."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from triton_mutlint.kernel_source.reaching import conditions, leading_to, names_of, reaching
from triton_mutlint.lowering import triton_api
from triton_mutlint.source.load import POSITIONAL_ONLY
from triton_mutlint.triton_names import hint_of
from triton_mutlint.types import ArgType, ConstexprValue, Kernel

_SHOWN = 4  # parameters named in one piece of advice
_OTHER_TRITON = re.compile(
    r"ha(s|ve) been removed"
    r"|cannot import name .* from ['\"]triton|__init__ cannot be a @triton.jit function"
    r"|^(TypeError: )?\w+\(\) got an unexpected keyword argument"  # an option that was taken away, or is newer
)
# By what a function refuses: 3.3 passes `_builder` to those that build a call's ops, later versions `_semantic`.
_WANTED = {"_builder": "3.4 or newer", "_semantic": "3.3, or a later version than this"}
_KEYWORD = re.compile(r"^(?:TypeError: )?\w+\(\) got an unexpected keyword argument '(_builder|_semantic)'")
_UNDEFINED = re.compile(r"^NameError: (\w+) is not defined")
_FOREIGN = re.compile(r"Cannot access global variable (\w+)")
# What Python raised in Triton's code, not what Triton says.
_PYTHON = re.compile(r"^(?:AttributeError|TypeError): |NotImplementedType")
_HINTS = (
    (_OTHER_TRITON, "analyse it with the Triton version that it is written for"),
    (re.compile(r"Cannot access global variable"),
     "make it a `tl.constexpr` where it is defined, or give it in the spec under `globals:`"),
    (re.compile(r"^RecursionError"),
     "Triton compiles calls by recursion, and Python ended it: fewer calls must stand in one another"),
    (re.compile(r"invalid function identifier"), "rename it: Triton compiles functions with ASCII names only"),
)
# What is refused by its form, other than by an error of Triton's that says so; and how such an error tells of types.
_REFUSED = re.compile(r"object is not callable|calls itself")
_POWER = re.compile(r"power of (2|two)")
_BY_TYPE = re.compile(r"operand type|\b(of|on) type\b|^Boolean value")
_COMPILE_TIME = re.compile(r"'constexpr' object has no attribute '(?:handle|type)'")  # what tensors alone have


def no_argument_helps(kernel: Kernel, message: str, node: ast.AST | None, line: int | None,
                      is_unsupported: bool = False) -> str | None:
    """The `hint` of a failure that other arguments cannot prevent; None for one that they may.

    The failure stands at `line` of the kernel's own file, at what is `node` there (None: not known). Triton's errors
    for what it does not support are about the form of a statement, or about the types in it.
    """
    lacking = hint_of(message)
    if lacking is not None:
        return lacking
    keyword = _KEYWORD.search(message)
    if keyword:
        wanted = _WANTED[keyword[1]]
        return f"analyse it with Triton {wanted}: the function is written for what that passes to it"
    undefined = _UNDEFINED.search(message)
    if undefined and undefined[1] in {a.arg for a in kernel.node.args.posonlyargs}:
        return f"{POSITIONAL_ONLY}: take the `/` out of the signature"
    older = _older(kernel, message)
    if older is not None:
        return older
    said = next((hint for pattern, hint in _HINTS if pattern.search(message)), None)
    if said is not None or (line is not None and leading_to(kernel, conditions(kernel.node, line))):
        return said  # or a condition may leave the statement out
    if _REFUSED.search(message) or (is_unsupported and not _BY_TYPE.search(message)):
        return "no argument changes that: the installed Triton does not compile such a statement"
    if node is None:
        return None
    if not leading_to(kernel, [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]):
        return "no argument changes that: what fails is computed from none"
    head = leading_to(kernel, list(names_of(ast.Expr(node) if isinstance(node, ast.expr) else node)))
    if _COMPILE_TIME.search(message) and all(p.is_constexpr for p in kernel.parameters if p.name in head):
        return "no argument changes that: a constexpr stands where Triton needs a value of run time"
    return None


def other_arguments(kernel: Kernel, message: str, line: int | None, args: Mapping[str, ArgType]) -> str:
    """The `hint` of a failure at `line` of the kernel's own file (None: not known) that other arguments may prevent.

    It names the arguments that the statement there is computed from, as they were lowered: the
    nearest first, or all that a type could be given for when none is found.
    """
    names = reaching(kernel, line) if line is not None else []
    shown = [f"{name}: {args[name]}" for name in names if name in args][:_SHOWN]
    place = f"in the spec under `kernels: {kernel.name}: args:`"
    if not shown:
        return f"give the argument types {place} (`triton-mutlint init` writes a first version)"
    for name, arg in ((name, args.get(name)) for name in names if _POWER.search(message)):
        if isinstance(arg, ConstexprValue) and type(arg.value) is int and arg.value & (arg.value - 1):
            larger = 1 << arg.value.bit_length()
            return f"give a power of two {place}, such as `{name}: {larger}`; it was lowered with {', '.join(shown)}"
    newer = _PYTHON.search(message) and triton_api.version() < (3, 4)
    return (f"give other arguments {place}; it was lowered with {', '.join(shown)}"
            + ("; a layout is given as `{ref: name}`, by what the file calls it" if "Layout" in message else "")
            + ("; or analyse it with Triton 3.4 or newer, which compiles more of Python" if newer else ""))


def _older(kernel: Kernel, message: str) -> str | None:
    """What to do where an old Triton does not know a value that the kernel's file gives."""
    have, undefined = triton_api.version(), _UNDEFINED.search(message)
    if have < (3, 4) and undefined and undefined[1] in kernel.namespace:
        return "analyse it with Triton 3.4 or newer: before, kernels read nothing of the function that makes them"
    foreign = _FOREIGN.search(message)
    if have < (3, 5) and foreign and isinstance(kernel.namespace.get(foreign[1]), type):
        return "analyse it with Triton 3.5 or newer, which has aggregates: before, a kernel cannot use a class"
    return None
