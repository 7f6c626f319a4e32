"""The arguments of a compiled kernel: what the IR calls them, else what the `def` does that it was compiled from."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from triton_mutlint.compiled.model import CompiledKernel
from triton_mutlint.process.inputs import read
from triton_mutlint.ttir.ir import Function
from triton_mutlint.ttir.lexer import unescape
from triton_mutlint.types import (
    ArgOwner,
    ArgRole,
    ArgType,
    ConstexprValue,
    DescriptorType,
    PointerType,
    ScalarType,
    split_lines,
)

_ARGUMENT = re.compile(r"%[\w.$-]+: [^%]*")
_NAMED = re.compile(r'loc\("((?:[^"\\]|\\.)*)"\(')
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_POINTER = re.compile(r"!tt\.ptr<(.*?)(?:, \d+)?>$")
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<(?:tensor<)?((?:\d+x)*)([^,>]*)")
_NUMBER = re.compile(r"(?:i|f|bf)\d+\w*$|index$")  # all else may be an address, such as what no dialect of Triton's has
_METADATA = re.compile(r"(.*)\.(?:shape|stride|padding)(?:\.\d+)?$")
_ELEMENTS = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "f8E5M2": "fp8e5", "f8E4M3FN": "fp8e4nv",
             "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16"}  # as Triton writes them in signatures
COMPILED_IN = "compiled in"  # what is shown of a value that the IR no longer tells


@dataclass(frozen=True)
class Signature:
    """The arguments of one compiled kernel by reported name, and the owner of each argument in the IR.

    `positions` are those of the parameters. `is_named` says that the names are those of the source; `name` is what the
    source calls the kernel.
    """

    arguments: Mapping[str, ArgType]
    owners: tuple[ArgOwner, ...]
    positions: Mapping[str, int]
    is_named: bool
    name: str


def signature_of(kernel: CompiledKernel, text: str, function: Function) -> Signature:
    """How the arguments of `function`, the entry of the IR `text`, belong to the parameters of its source."""
    types = function.types[:function.n_args]
    node = _definition(kernel, function)
    parameters = _parameters(node) if node is not None else {}
    printed = _printed_names(text, function)
    names = _names(kernel, types, printed, parameters)
    if names is None:
        node, names = None, printed or [f"arg{i}" for i in range(len(types))]
    owners, arguments = [], dict[str, ArgType]()
    for name, type_, role in _roles(names, types):
        owners.append(ArgOwner(name, role))
        if role is not ArgRole.META:
            arguments[name] = argument_type(type_)
    bases = dict.fromkeys(name.partition(".")[0] for name in arguments)
    if node is None or not bases.keys() <= parameters.keys():  # another `def` stands there by now
        positions = {name: index for index, name in enumerate(bases)}
        return Signature(arguments, tuple(owners), positions, False, function.name)
    for index, name in enumerate(parameters):
        if name not in bases:
            value = kernel.values.get(name) or kernel.values.get(f"({index},)") or COMPILED_IN
            arguments[name] = ConstexprValue("", value)
    return Signature(arguments, tuple(owners), {n: i for i, n in enumerate(parameters)}, True, node.name)


def _names(kernel: CompiledKernel, types: Sequence[str], printed: list[str],
           parameters: Mapping[str, bool]) -> list[str] | None:
    """What the `def` calls the arguments; None where that cannot be told.

    The IR names values by the variable that they were assigned to last, so what it says (`printed`) counts only as far
    as it fits the parameters of the `def`, in their order.
    """
    order = {name: index for index, name in enumerate(parameters)}
    at = [order.get(name.partition(".")[0], -1) for name in printed]
    if printed and min(at) >= 0 and at == sorted(at):
        return printed
    return _from_def(kernel, parameters, types)


def _printed_names(text: str, function: Function) -> list[str]:
    """The names that the locations of the arguments have; none where there are no such (before Triton 3.5)."""
    start = text.find(f"@{function.name}(")
    header = text[start:text.find("\n", start)]
    pieces = _ARGUMENT.findall(header)[:function.n_args]
    found = [match[1] for piece in pieces if (match := _NAMED.search(piece))]
    aliases = [unescape(name) for name in found]
    return aliases if len(aliases) == function.n_args and all(map(_NAME.fullmatch, aliases)) else []


def _from_def(kernel: CompiledKernel, parameters: Mapping[str, bool], types: Sequence[str]) -> list[str] | None:
    """The parameters that were not compiled in, where these are as many as there are arguments.

    Triton compiles in what is a constexpr, and whole numbers that are 1 (without being told otherwise).
    """
    names = [name for index, (name, is_constexpr) in enumerate(parameters.items())
             if not is_constexpr and f"({index},)" not in kernel.values]
    if len(names) != len(types):
        names = [name for name in names if kernel.values.get(name) != "1"]
    return names if len(names) == len(types) else None


def _roles(names: Sequence[str], types: Sequence[str]) -> list[tuple[str, str, ArgRole]]:
    """Each argument with its reported name and role. Elements of a tuple that share its name are counted."""
    found: list[tuple[str, str, ArgRole]] = []
    descriptors = {name for name, type_ in zip(names, types, strict=True) if _DESCRIPTOR.match(type_)}
    repeated = {name for name in names if list(names).count(name) > 1} - descriptors
    seen: dict[str, int] = {}
    for name, type_ in zip(names, types, strict=True):
        of = _METADATA.match(name)
        if (of and of[1] in descriptors) or (name in descriptors and not _DESCRIPTOR.match(type_)):
            found.append((of[1] if of else name, type_, ArgRole.META))
            continue
        full = f"{name}.{seen.get(name, 0)}" if name in repeated else name
        seen[name] = seen.get(name, 0) + 1
        found.append((full, type_, ArgRole.SCALAR if _NUMBER.match(type_) else ArgRole.ADDRESS))
    return found


def argument_type(text: str) -> ArgType:
    """A type of the IR in Triton's notation for signatures."""
    if match := _POINTER.match(text):
        return PointerType(_element(match[1]))
    if match := _DESCRIPTOR.match(text):
        return DescriptorType(_element(match[2]), tuple(int(n) for n in match[1].split("x") if n))
    return ScalarType(_element(text))


def _element(text: str) -> str:
    return _ELEMENTS.get(text, text)


def place_of(function: Function) -> tuple[str, int]:
    """The file and the line of the `def` that a kernel was compiled from; line 0 where its IR does not say."""
    chain = function.loc.chain
    return (chain[0][0], max(chain[0][1], 1)) if chain else ("", 0)


def _definition(kernel: CompiledKernel, function: Function) -> ast.FunctionDef | None:
    """The `def` that the kernel was compiled from, if it can be had."""
    if kernel.python is not None:
        return next(iter(_functions(kernel.python.text).values()), None)
    file, line = place_of(function)
    return _functions(_source(file)).get(line) if line else None


def _parameters(node: ast.FunctionDef) -> dict[str, bool]:
    """The parameters of a kernel in order, each with whether it is a constexpr."""
    args = node.args
    return {a.arg: a.annotation is not None and "constexpr" in ast.unparse(a.annotation)
            for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


@lru_cache(maxsize=256)
def _source(file: str) -> str:
    try:
        return read(file).decode("utf-8")
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=256)
def _functions(text: str) -> dict[int, ast.FunctionDef]:
    """The functions of a source by the line of their `def`; none of one that is no Python."""
    try:
        tree = ast.parse("".join(split_lines(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
