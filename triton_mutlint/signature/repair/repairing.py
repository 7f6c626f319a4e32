"""Read a lowering error to decide which guess to change, and how.

Triton's message says what is wrong; the line it gives says where; the parameters behind the
expressions of that line are the ones whose guesses are changed, one change at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triton_mutlint.signature.repair.branches import undefined
from triton_mutlint.signature.repair.rules import RULES, fallback
from triton_mutlint.signature.repair.scene import Change, Scene, read_line
from triton_mutlint.types import ArgType, Failure, Kernel

_MLIR_PLACE = re.compile(r"(\S+\.py):(\d+):\d+: error:")
# No other guess helps: the installed Triton, the loader or the kernel itself is the reason.
_HOPELESS = ("have been removed", "is not in the installed triton", "unsupported AST node type", "not installed",
             "forget to add @triton.jit")
_UNDEFINED = re.compile(r"(\w+) is not defined")


def repair(
    kernel: Kernel,
    args: Mapping[str, ArgType],
    inferred: frozenset[str],
    failure: Failure,
    tried: set[str],
) -> Mapping[str, ArgType] | None:
    """The next arguments to try after `failure`, or None when nothing is left to try.

    Only parameters in `inferred` change. `tried` is the caller's memory of one repair: every set of
    arguments that was proposed or has failed is kept in it, so that none is proposed twice.
    """
    tried.update((_key(args), *(f"{name}={type_}" for name, type_ in args.items())))
    if any(text in failure.message for text in _HOPELESS):
        return None
    location = failure.location
    inside = _MLIR_PLACE.search(failure.message)
    file, line = (inside[1], int(inside[2])) if inside else (location.file, location.line) if location else ("", 0)
    scene = Scene(args, inferred, read_line(kernel, file, line))
    missing = _UNDEFINED.search(failure.message)
    for change in undefined(kernel, scene, missing[1], line) if missing else _changes(scene, failure.message):
        proposal = {**args, **{target.name: type_ for target, type_ in change.items()}}
        if _key(proposal) in tried or not all(target.name in inferred for target in change):
            continue
        if any(f"{name}={type_}" not in tried for name, type_ in proposal.items()):  # never back and forth
            tried.add(_key(proposal))
            return proposal
    return None


def _changes(scene: Scene, message: str) -> Iterator[Change]:
    for pattern, rule in RULES:
        match = pattern.search(message)
        if match is not None:
            yield from rule(scene, match)
    yield from fallback(scene)


def _key(args: Mapping[str, ArgType]) -> str:
    return "; ".join(f"{name}={type_}" for name, type_ in args.items())
