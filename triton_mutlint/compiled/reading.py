"""From the IR of a compiled kernel to what it may do to memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from triton_mutlint.analysis import Places, analyze_module
from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.analysis.verdict import AnalyzedVariant
from triton_mutlint.compiled.model import STAGES, CompiledKernel
from triton_mutlint.source.python_text import read_source
from triton_mutlint.ttir.ir import Function, Module, ParseError
from triton_mutlint.ttir.lexer import unescape
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import (
    ArgOwner,
    ArgRole,
    ArgType,
    Choices,
    ConstexprValue,
    DescriptorType,
    Failure,
    Location,
    PointerType,
    ScalarType,
    SourceFile,
    Stage,
    StageError,
    Target,
    UsageError,
    parse_target,
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
    args = node.args if node is not None else None
    parameters = {a.arg: a.annotation is not None and "constexpr" in ast.unparse(a.annotation)
                  for a in ((*args.posonlyargs, *args.args, *args.kwonlyargs) if args else ())}
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
    file, line = place_of(function)
    try:
        functions = (SourceFile(Path(file), file, kernel.python) if kernel.python else _source(file)).functions
    except StageError:
        return None
    return next((node for (at, _), node in functions.items() if kernel.python or at == line), None)


@lru_cache(maxsize=256)
def _source(file: str) -> SourceFile:
    return SourceFile(Path(file), file, read_source(Path(file), file))


_TARGET = re.compile(r'ttg\.target = "([\w:]+)"')
_FIRST_COLUMN = 1  # of a line, in locations of Triton 3.8 and later; 0 before


@dataclass(frozen=True)
class ReadKernel:
    """What the IR of one kernel says: the `def` it was compiled from (`file` is empty where that is not told), and its
    arguments and effects as a variant. `module` is the IR that was analysed last, which has the fewest ops."""

    file: str
    line: int
    signature: Signature
    variant: AnalyzedVariant
    target: Target | None
    module: Module


def read_effects(kernel: CompiledKernel, places: Callable[[int], Places], opaque_asm: bool = False) -> ReadKernel:
    """Parse and analyse; `places` takes the number of the first column.

    Raises StageError for IR that cannot be read.
    """
    stages = [stage for stage in STAGES if stage in kernel.texts]
    if not stages:
        raise _unreadable(kernel, "it holds no IR of Triton", 1)
    try:
        text = kernel.texts[stages[0]]
        module = parse(text)
        if stages[0] == "source" and "ttir" in stages and may_simplify(module):
            text = kernel.texts["ttir"]
            module = parse(text)
        entry = module.entry()
        signature = signature_of(kernel, text, entry)
        target = kernel.target or _target_in(kernel)
        chain = entry.loc.chain
        base = chain[0][2] if chain and chain[0][2] in (0, 1) else _FIRST_COLUMN
        effects = analyze_module(module, signature.owners, target.backend if target else "", places(base), opaque_asm)
    except ParseError as error:
        raise _unreadable(kernel, str(error), error.line) from error
    except (LookupError, ValueError, RecursionError) as error:
        raise _unreadable(kernel, str(error), 1) from error
    file, line = place_of(entry)
    return ReadKernel(file, line, signature, AnalyzedVariant(signature.arguments, (), effects), target, module)


def choices_of(kernel: CompiledKernel, read: ReadKernel) -> Choices:
    """What tells a compilation of a kernel from others: types and values of its arguments, and compile options."""
    arguments = [(name, str(type_)) for name, type_ in read.variant.arguments.items()]
    return (*arguments, *sorted(kernel.options.items()), *([("target", str(read.target))] if read.target else []))


def _target_in(kernel: CompiledKernel) -> Target | None:
    """The target that the IR of the GPU stage names."""
    match = _TARGET.search(kernel.texts.get("ttgir", ""))
    try:
        return parse_target(match[1], "compiled") if match else None
    except UsageError:
        return None


def _unreadable(kernel: CompiledKernel, why: str, line: int) -> StageError:
    label, _, number = kernel.label.rpartition(":")
    place = Location(label, int(number)) if number.isdigit() and label else Location(kernel.label, line)
    hint = "what Triton keeps in its cache is read, and what it prints; a file that was cut or edited may not be"
    return StageError(Failure(Stage.ANALYZE, f"cannot read the IR: {why}", place, hint))
