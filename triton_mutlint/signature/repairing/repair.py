"""Read a lowering error to decide which guess to change, and how.

Triton's message says what is wrong; the line it gives says where; the parameters behind the
expressions of that line are the ones whose guesses are changed, one change at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from triton_mutlint.signature.repairing.probe import Probed, probe
from triton_mutlint.signature.repairing.repair_names import undefined
from triton_mutlint.signature.repairing.repair_rules import RULES, fallback
from triton_mutlint.signature.repairing.scene import Change, Scene
from triton_mutlint.types import ArgType, Failure, Kernel, TupleType

_MLIR_PLACE = re.compile(r"(\S+\.py):(\d+):\d+: error:")
# No other guess helps: the installed Triton, the loader or the kernel itself is the reason.
HOPELESS = ("have been removed", "is not in the installed triton", "unsupported AST node type", "not installed",
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
    if any(text in failure.message for text in HOPELESS):
        return None
    location = failure.location
    inside = _MLIR_PLACE.search(failure.message)
    file, line = (inside[1], int(inside[2])) if inside else (location.file, location.line) if location else ("", 0)
    scene = Scene(args, inferred, *probe(kernel, file, line))
    missing = _UNDEFINED.search(failure.message)
    changes = undefined(kernel, scene, missing[1], line) if missing else _changes(scene, failure.message)
    for change in changes:
        proposal = _applied(args, change, inferred)
        if proposal is None or _key(proposal) in tried:
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


def _applied(
    args: Mapping[str, ArgType], change: Change, inferred: frozenset[str]
) -> Mapping[str, ArgType] | None:
    changed = dict(args)
    for target, type_ in change.items():
        if target.name not in inferred:
            return None
        changed[target.name] = _placed(changed[target.name], target, type_)
    return changed


def _placed(whole: ArgType, target: Probed, type_: ArgType) -> ArgType:
    if not target.path or not isinstance(whole, TupleType):
        return type_
    elements = list(whole.elements)
    for index in _positions(whole, target.path[0]):
        inner = Probed(target.name, target.path[1:], target.element)
        elements[index] = _placed(elements[index], inner, type_)
    return replace(whole, elements=tuple(elements))


def _positions(whole: TupleType, key: Any) -> list[int]:
    if key == "*":
        return list(range(len(whole.elements)))
    if isinstance(key, str):
        return [whole.fields.index(key)] if key in whole.fields else []
    return [key] if 0 <= key < len(whole.elements) else []
