"""Notes on a file: what looks like a kernel and is not analysed, and signatures that Triton reads otherwise."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from triton_mutlint.source.jit.kernels import Candidate, in_aggregate
from triton_mutlint.source.outline import Function, Outline
from triton_mutlint.source.slicing.jitdefs import is_of_triton
from triton_mutlint.types import SourceFile

POSITIONAL_ONLY = "Triton drops positional-only parameters"


def notes_on(source: SourceFile, file: Outline, found: Sequence[Candidate]) -> tuple[str, ...]:
    """Notes on functions that nothing makes jit functions, and on positional-only parameters."""
    known = [c.node.lineno for c in found if not c.ignorable
             or is_of_triton(c.definition.namespace, c.node.name)]  # such as a `constexpr_function`
    shifted = dict.fromkeys(c.node for c in found if c.jit is not None and c.node.args.posonlyargs)
    return (*not_jit(source, file, known),
            *_note(f"{POSITIONAL_ONLY}, and gives the arguments for them to those that follow", source, [*shifted]))


def not_jit(source: SourceFile, file: Outline, lines: Collection[int]) -> tuple[str, ...]:
    """A note on the functions in Triton's language other than the jit functions, whose `def`s stand on `lines`."""
    others = [f.node for f in file.speaking if f.node.lineno not in lines and not in_aggregate(f.parents)]
    if source.kernels:
        others = []  # some were asked for by name
    what = "functions that call Triton's language, but that nothing is seen to make jit functions, are not analysed"
    return _note(what, source, others)


def _note(what: str, source: SourceFile, nodes: Sequence[Function]) -> tuple[str, ...]:
    """A note on functions of the file."""
    if not nodes:
        return ()
    return (f"{what}: {source.display}: {', '.join(f'{node.name} (line {node.lineno})' for node in nodes)}",)
