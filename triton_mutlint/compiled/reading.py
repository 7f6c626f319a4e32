"""From the IR of a compiled kernel to what it may do to memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from triton_mutlint.analysis import Places, analyze_module
from triton_mutlint.analysis.static import may_simplify
from triton_mutlint.analysis.verdict import AnalyzedVariant
from triton_mutlint.compiled.model import STAGES, CompiledKernel
from triton_mutlint.compiled.signature import place_of, signature_of
from triton_mutlint.ttir.ir import Module, ParseError
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import ArgOwner, Failure, Location, Stage, StageError, Target, UsageError, parse_target

_TARGET = re.compile(r'ttg\.target = "([\w:]+)"')
_FIRST_COLUMN = 1  # of a line, in locations of Triton 3.8 and later; 0 before


@dataclass(frozen=True)
class ReadKernel:
    """What the IR of one kernel says: the `def` it was compiled from (`file` is empty where that is not told), its
    arguments and effects as a variant, and the position of each parameter. `module` is the IR that was analysed last,
    which has the fewest ops; `owners` belong to the arguments of its entry."""

    file: str
    line: int
    name: str
    variant: AnalyzedVariant
    positions: dict[str, int]
    is_named: bool
    target: Target | None
    module: Module
    owners: tuple[ArgOwner, ...]


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
    return ReadKernel(file, line, signature.name, AnalyzedVariant(signature.arguments, (), effects),
                      dict(signature.positions), signature.is_named, target, module, signature.owners)


def choices_of(kernel: CompiledKernel, read: ReadKernel) -> tuple[tuple[str, str], ...]:
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

