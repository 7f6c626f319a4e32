"""Functions that a kernel is passed: what they do with the arguments that the kernel hands to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.evaluate import own
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.kernel_source.learned.facts import teach
from triton_mutlint.kernel_source.slots import Slot
from triton_mutlint.kernel_source.values import MayBe
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.signature.evidence import Dossier, Evidence
from triton_mutlint.types import ArgType, ConstexprValue, Plan


def learn(evidence: Evidence, args: Mapping[str, ArgType]) -> None:
    """Say of the parameters that are handed to functions what the functions among `args` do with them."""
    for dossier in evidence.dossiers.values():
        for slot in (dossier.slot, *dossier.slot.children.values()):
            for (function, key), line in tuple(slot.handed.items()):
                guess = args.get(function.name)
                helper, formal = _formal(evidence, getattr(guess, "value", None), key)
                if helper is not None and formal and not function.path:
                    teach(evidence.program, helper, {formal: slot}, line)


def _formal(evidence: Evidence, value: Any, key: int | str) -> tuple[Helper | None, str]:
    """A jit function, and the parameter of it that is given by position or name."""
    helper = None if value is None else evidence.program.helper(value)
    if helper is None:
        return None, ""
    names = [a.arg for a in (*helper.node.args.posonlyargs, *helper.node.args.args, *helper.node.args.kwonlyargs)]
    found = key if isinstance(key, str) else names[key] if key < len(names) else ""
    return helper, found if found in names else ""


@dataclass(frozen=True)
class Functions:
    """The functions that a kernel is passed, as far as they are known."""

    evidence: Evidence
    plan: Plan

    def stores(self, function: Slot, key: int | str, scalar: bool) -> bool | None:
        """Whether those passed as `function` may store through their argument `key`; None if that is a guess.

        Other launches than those seen may pass other functions; for a `scalar`, that is not assumed.
        """
        values = [v.args.get(function.name) for v in self.plan.variants]
        chosen = scalar and _chosen(self.evidence.dossiers.get(function.name))
        told = function.name not in self.plan.inferred or chosen
        if not told or function.path:
            return None
        found = [self._stores(v.value, key) for v in values if isinstance(v, ConstexprValue) and v.value is not None]
        return None if None in found or not found else any(found)

    def _stores(self, value: Any, key: int | str) -> bool | None:
        helper, formal = _formal(self.evidence, value, key)
        if helper is None or not formal:
            return None
        names = (*helper.node.args.posonlyargs, *helper.node.args.args, *helper.node.args.kwonlyargs)
        env = {a.arg: MayBe(frozenset((a.arg,)), is_open=True) for a in names}
        return formal in Walk(self.evidence.program).of(helper, env).stores


def _chosen(dossier: Dossier | None) -> bool:
    """Whether a launch, or a default, says which function a parameter is."""
    if dossier is None:
        return False
    default = getattr(dossier.parameter.default, "value", dossier.parameter.default)
    return any(own(p.value, "arg_names") for p in dossier.launches) or default is not None


def handed_over(label: str, slot: Slot, guessed: bool, functions: Functions, stores: dict[str, int],
                handed: dict[str, int]) -> None:
    """Notes a parameter that goes to functions; a scalar that is `guessed`, unless its uses say what it is."""
    if guessed and is_number(slot):
        return
    for (function, key), line in slot.handed.items():
        found = functions.stores(function, key, guessed)
        if found is None:
            handed[label] = line
        elif found:
            stores.setdefault(label, line)


def is_number(slot: Slot, may_be_address: bool = False) -> bool:
    """Whether the uses of a parameter leave no doubt that it is no pointer: nor an address, if it may be one."""
    certain = bool(slot.floating or slot.number or slot.shape)
    return certain or (bool(slot.integer or slot.scalar) and not may_be_address)
