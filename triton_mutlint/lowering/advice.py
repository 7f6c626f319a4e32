"""Triton's compilation errors as `Failure`s: its message, the file, the line, and what the user can do about it."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from traceback import extract_tb
from typing import Any

from triton_mutlint.kernel_source.reaching import conditions, leading_to, names_of, reaching
from triton_mutlint.lowering import triton_api
from triton_mutlint.source.load import POSITIONAL_ONLY
from triton_mutlint.source.slicing.stubs import MissingValueError, UndecidedError
from triton_mutlint.triton_names import hint_of
from triton_mutlint.types import ArgType, ConstexprValue, Failure, Kernel, Location, Stage

_ASSERTED = "static_assert failed"
_SHOWN = 4  # parameters named in one piece of advice
_OTHER_TRITON = re.compile(
    r"ha(s|ve) been removed"
    r"|cannot import name .* from ['\"]triton|__init__ cannot be a @triton.jit function"
    r"|^(TypeError: )?\w+\(\) got an unexpected keyword argument"  # an option that was taken away, or is newer
)
_UNDEFINED = re.compile(r"^NameError: (\w+) is not defined")
_KNOWS_PYTHON = (3, 5)  # versions before read nothing of a function that makes kernels, have no aggregates, ...
_OTHERS = "give other arguments"
_NONE = "no argument changes that: the line depends on none"
_CONSTANT = "make it a `tl.constexpr` where it is defined, or give it in the spec under `globals:`"
_DOUBTFUL = (_OTHERS, _NONE, _CONSTANT)  # hints that are beside the point where Triton is too old for such Python
_HINTS = (
    (_OTHER_TRITON, "analyse it with the Triton version that it is written for"),
    (re.compile(r"Cannot access global variable"), _CONSTANT),
    (re.compile(r"^RecursionError"),
     "Triton compiles calls by recursion, and Python ended it: fewer calls must stand in one another"),
    (re.compile(r"invalid function identifier"), "rename it: Triton compiles functions with ASCII names only"),
)
# What is refused by its form, other than by an error of Triton's that says so; and how such an error tells of types.
_CALLED = "object is not callable"
_REFUSED = re.compile(f"{_CALLED}|calls itself")
_REFERRED = (("layout", "Layout"), ("function", _CALLED))  # what a spec names, and the words that tell of it
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
    undefined = _UNDEFINED.search(message)
    if undefined and undefined[1] in {a.arg for a in kernel.node.args.posonlyargs}:
        return f"{POSITIONAL_ONLY}: take the `/` out of the signature"
    said = next((hint for pattern, hint in _HINTS if pattern.search(message)), None)
    if said is not None or (line is not None and leading_to(kernel, conditions(kernel.node, line))):
        return said  # or a condition may leave the statement out
    is_computed = node is not None and leading_to(kernel, [n.id for n in ast.walk(node) if isinstance(n, ast.Name)])
    is_refused = _REFUSED.search(message) and not (is_computed and _CALLED in message)
    if is_refused or (is_unsupported and not _BY_TYPE.search(message)):
        return "no argument changes that: the installed Triton does not compile such a statement"
    if node is None:
        return None
    if not is_computed:
        return _NONE
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
    referred = [what for what, words in _REFERRED if words in message]
    return (f"{_OTHERS} {place}; it was lowered with {', '.join(shown)}"
            + (f"; a {referred[0]} is given as `{{ref: name}}`, by what the file calls it" if referred else ""))


_RAISED = re.compile(r"(\w+(?:Error|Exception))\((['\"])(.*)\2\)", re.DOTALL)
_RECURSION = re.compile(r"KeyError\('(?:[\w<>]+\.)*(\w+?)__[\w]*'\)")  # the callee is looked up while being compiled
_MISSING = re.compile(r"<missing ([^<>]+)>")  # how a missing value prints in Triton's own messages
_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-f]+")  # differs from run to run


def failure(error: BaseException, kernel: Kernel, printed: str, args: Mapping[str, ArgType]) -> Failure:
    """What to report for `error`, raised while lowering `kernel` with `args`; `printed` is MLIR's own output."""
    message = said(error, printed)
    location = _place(error) or kernel.location
    missing = _missing_value(kernel.name, _chain(error), location)
    if missing is not None:
        return missing
    node, line = _kernel_node(error)
    kind = type(_raised(error)[0]).__name__
    vain = no_argument_helps(kernel, message, node, line, kind == "UnsupportedLanguageConstruct")
    hint = _cautious(other_arguments(kernel, message, line, args) if vain is None else vain, message)
    return Failure(Stage.LOWER, message, location, hint, lacks="" if vain else "arguments", line=line or 0)


def _missing_value(kernel: str, errors: Iterable[BaseException], location: Location) -> Failure | None:
    """A failure to load, if lowering `kernel` ended for want of a value; `errors` from outermost to cause."""
    for error in errors:
        shown = _MISSING.search(str(error))
        name, reason = shown[1] if shown else "", "could not be had"
        if isinstance(error, (MissingValueError, UndecidedError)):
            name, reason = error.value.mutlint_root, error.value.mutlint_reason
        if name:
            return Failure(Stage.LOAD, f"kernel {kernel} needs `{name}`, which {reason}", location,
                           f"give `{name}` in the spec under `globals:`", lacks="globals")
    return None


def _cautious(hint: str, message: str) -> str:
    """The hint, and where Triton is newer than any that was tested, or too old for such Python, that it may be why."""
    if newer := triton_api.newer_than_tested():
        return f"{hint}; or the cause may be that {newer}"
    is_old = triton_api.version() < _KNOWS_PYTHON and hint.startswith(_DOUBTFUL) and not message.startswith(_ASSERTED)
    return hint + ("; or analyse it with Triton 3.5 or newer, which compiles more of Python" if is_old else "")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _raised(error: BaseException) -> list[BaseException]:
    """The CompilationErrors, the one nearest to the cause first: a helper's, when a helper failed."""
    kind = triton_api.compilation_error()
    found: list[BaseException] = [e for e in _chain(error) if isinstance(e, kind)]
    return found[::-1] or [error]


def _place(error: BaseException) -> Location | None:
    """The innermost place, if any not in Triton's own library (`tl.cdiv`, `tl.softmax` are jit functions too)."""
    library = str(Path(str(sys.modules["triton"].__file__)).parent) + os.sep
    places = [place for raised in _raised(error) if (place := _location(raised)) is not None]
    return next((place for place in places if not place.file.startswith(library)), next(iter(places), None))


def said(error: BaseException, printed: str) -> str:
    """What Triton says is wrong; `printed` is MLIR's own output."""
    error = _raised(error)[0]
    own = str(getattr(error, "error_message", None) or "").strip()
    if type(error).__name__ == "CompileTimeAssertionFailure":  # the autotuner skips a config that raises it
        own = f"{_ASSERTED}: {own}" if own else _ASSERTED
    if not own:
        cause = next((e for e in list(_chain(error))[1:] if str(e)), None)
        own = str(cause or "").strip() if hasattr(error, "error_message") else str(error).strip()
    own = own or _unsaid(error)
    if type(error).__module__ == "builtins" and not isinstance(error, RuntimeError):
        own = f"{type(error).__name__}: {own}"
    own = _readable(_ADDRESS.sub("", own))
    diagnostics = [line for line in printed.splitlines() if "error:" in line]
    return "\n".join([own, *diagnostics[:3]]) if diagnostics else own


def _unsaid(error: BaseException) -> str:
    """What an error without a message is about: a name that Triton refuses, or an assertion of its code."""
    if isinstance(getattr(error, "node", None), str):
        return str(getattr(error, "src", "")).strip()
    last = list(_chain(error))[-1]
    frames = extract_tb(last.__traceback__)
    if isinstance(last, AssertionError) and frames and frames[-1].line:
        return f"a check in Triton does not hold: {frames[-1].line}"
    return f"Triton gives no reason ({type(last).__name__})"


def _readable(message: str) -> str:
    """`TypeError('...')` as people write it, and a helper that calls itself by its name."""
    recursive = _RECURSION.fullmatch(message)
    if recursive:
        return f"`{recursive[1]}` calls itself: Triton compiles no recursive functions"
    raised = _RAISED.fullmatch(message)
    return f"{raised[1]}: {raised[3]}" if raised else message


def _location(error: BaseException) -> Location | None:
    """File, line and column from the code generator that was at work when `error` was raised."""
    generator = next(iter([*_generators(error)][::-1]), None)
    node = getattr(error, "node", None)
    node = node if node is not None else getattr(generator, "cur_node", None)
    line = getattr(node, "lineno", None)
    if generator is None or line is None:
        return None
    first_column = int(getattr(generator, "begin_col", 1))  # from 3.8 on: of a nested function's def
    column = first_column + int(getattr(node, "col_offset", 0))
    return Location(str(generator.file_name), int(generator.begin_line) + line, column)


def _kernel_node(error: BaseException) -> tuple[ast.AST | None, int | None]:
    """What of the kernel's own body was being compiled when `error` was raised, there or in a helper, and its line."""
    for raised in _chain(error):
        for generator in _generators(raised):
            node = generator.cur_node
            line = getattr(node, "lineno", None)
            return (None, None) if line is None else (node, int(generator.begin_line) + int(line))
    return None, None


def _generators(error: BaseException) -> Iterator[Any]:
    """The CodeGenerators on the error's traceback, the kernel's own first: Triton keeps no other link to the file."""
    traceback = error.__traceback__
    while traceback is not None:
        owner = traceback.tb_frame.f_locals.get("self")
        # Not `hasattr`: the frames of the kernel's own Python hold objects that refuse to be asked.
        if {"cur_node", "file_name", "begin_line"} <= getattr(owner, "__dict__", {}).keys():
            yield owner
        traceback = traceback.tb_next
