"""What running a kernel again does to a parameter: the question that autotuning asks.

Triton's autotuner runs every config many times on the caller's own tensors before the launch that
counts (`triton/runtime/autotuner.py`, `Autotuner._bench`). A parameter that is only overwritten
comes out right; one that the kernel reads or updates does not.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from triton_mutlint.rules.access_calls import AccessCall, AccessCalls, literal
from triton_mutlint.rules.access_order import precedes
from triton_mutlint.types import Access, AccessKind, ParameterReport, VariantUse

_IDEMPOTENT = frozenset({"atomic_max", "atomic_min", "atomic_and", "atomic_or"})
_STORES = frozenset({"atomic_xchg", "atomic_store"})
_DESCRIPTORS = frozenset({"tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_reduce"})


class Rerun(Enum):
    """What becomes of a parameter when the kernel runs again on what the last run left."""

    SAFE = "safe"
    ACCUMULATED = "accumulated"  # right if it starts from zero (or is restored)
    IN_PLACE = "in place"  # right only if the caller's values are restored
    POLLED = "polled"  # a signal between programs: right if nobody has signalled before
    RESET_BY_KERNEL = "reset by the kernel"  # updated, but the kernel also stores zero to it
    READ_BACK = "read back"  # written first, in every program, then read, but elsewhere
    APART = "apart"  # read here, written there


_MILDEST_FIRST = (Rerun.SAFE, Rerun.APART, Rerun.READ_BACK, Rerun.RESET_BY_KERNEL, Rerun.ACCUMULATED, Rerun.POLLED,
                  Rerun.IN_PLACE)


@dataclass
class _Uses:
    """The accesses of one parameter by what they do."""

    reads: list[Access] = field(default_factory=list)
    stores: list[Access] = field(default_factory=list)
    updates: list[Access] = field(default_factory=list)
    locks: set[object] = field(default_factory=set)  # the free values of compare-and-swap locks
    monotone: bool = False


def rerun_of(parameter: ParameterReport, calls: AccessCalls, tuned: Collection[str] | None = None) -> Rerun:
    """How `parameter` fares; what is not known counts against it.

    `tuned` names the parameters that may differ between the runs of one tuning. What the variants do counts
    together only if they agree in all others; with None, all of it does.
    """
    found = {_of_one_call(uses, calls) for uses in _calls(parameter, tuned)}
    return max(found, key=_MILDEST_FIRST.index, default=Rerun.SAFE)


def _calls(parameter: ParameterReport, tuned: Collection[str] | None) -> Iterator[Sequence[VariantUse]]:
    """The variants that one call may tune over, for each kind of call."""
    if not parameter.uses:
        yield (VariantUse((), parameter.accesses),)
        return
    groups: dict[object, list[VariantUse]] = {}
    for use in parameter.uses:
        # A descriptor's block shape follows the config: its hook sets it.
        given = () if tuned is None else tuple(
            c for c in use.choices if c[0] not in tuned and not c[1].startswith("tensordesc<"))
        groups.setdefault(given, []).append(use)
    yield from groups.values()


def _of_one_call(variants: Sequence[VariantUse], calls: AccessCalls) -> Rerun:
    accesses = tuple(dict.fromkeys(a for use in variants for a in use.accesses))
    found = _of_accesses(accesses, calls)
    reading = [use for use in variants if any(a.kind is not AccessKind.WRITE for a in use.accesses)]
    if found in (Rerun.SAFE, Rerun.POLLED) or not all(use.settled or use.apart for use in reading):
        return found
    if all(use.settled for use in reading):
        return Rerun.SAFE
    return min(found, Rerun.APART, key=_MILDEST_FIRST.index)


def _of_accesses(accesses: Sequence[Access], calls: AccessCalls) -> Rerun:
    uses = _uses(accesses, calls)
    if uses.locks and _is_released(uses, calls):
        return Rerun.SAFE
    if uses.stores and not uses.locks and any((call := calls.at(a)) and call.is_polled for a in uses.reads):
        return Rerun.POLLED
    if uses.stores and (uses.reads or uses.updates) and not uses.locks:
        first = _written_first(uses, calls)
        if first is not None:
            return first
    if uses.updates or uses.locks:
        return Rerun.RESET_BY_KERNEL if _is_reset(uses, calls) else Rerun.ACCUMULATED
    if uses.reads and (uses.stores or uses.monotone):
        return Rerun.ACCUMULATED if _adds_up(uses, calls) else Rerun.IN_PLACE
    return Rerun.SAFE


def _uses(accesses: Sequence[Access], calls: AccessCalls) -> _Uses:
    uses = _Uses()
    for access in accesses:
        call = calls.at(access)
        if access.kind is AccessKind.READ:
            uses.reads.append(access)
        elif access.kind is AccessKind.WRITE or (call and call.name in _STORES and call.is_discarded):
            uses.stores.append(access)
        elif call and call.name in _IDEMPOTENT and call.is_discarded:
            uses.monotone = True
        elif call and call.name == "atomic_cas" and literal(call.argument(0, "cmp")) is not ...:
            uses.locks.add(literal(call.argument(0, "cmp")))
        else:
            uses.updates.append(access)
    return uses


def _value(access: Access, calls: AccessCalls) -> ast.expr | None:
    """What a store stores; a descriptor's offsets come before it."""
    call = calls.at(access)
    if call is None:
        return None
    return call.argument(1 if access.op in _DESCRIPTORS else 0, "value") or call.keywords.get("val")


def _stored(access: Access, calls: AccessCalls) -> object:
    return literal(_value(access, calls))


def _is_released(uses: _Uses, calls: AccessCalls) -> bool:
    """A lock that is taken by compare-and-swap from one value and always set back to it."""
    stored = {_stored(access, calls) for access in uses.stores}
    return not uses.updates and len(uses.locks) == 1 and stored == uses.locks


def _is_reset(uses: _Uses, calls: AccessCalls) -> bool:
    return bool(uses.stores) and all(_stored(access, calls) == 0 for access in uses.stores)


def _written_first(uses: _Uses, calls: AccessCalls) -> Rerun | None:
    """SAFE if before every read or update the kernel stores to the same address as written in the
    source, READ_BACK if it stores somewhere in the parameter, None if it may store nothing.
    """
    stores = [(chain, _address(a, calls)) for a in uses.stores if (chain := calls.chain(a)) is not None]
    outcome = Rerun.SAFE
    for access in (*uses.reads, *uses.updates):
        chain = calls.chain(access)
        before = {address for first, address in stores if chain is not None and precedes(first, chain)}
        if not before:
            return None
        if _address(access, calls) not in before - {""}:
            outcome = Rerun.READ_BACK
    return outcome


def _address(access: Access, calls: AccessCalls) -> str:
    """The source text of where an access goes; a descriptor's offsets are part of that."""
    call = calls.at(access)
    if call is None or call.address is None:
        return ""
    offsets = call.argument(0, "offsets") if access.op in _DESCRIPTORS else None
    return ast.unparse(call.address) + (f" @ {ast.unparse(offsets)}" if offsets else "")


def _adds_up(uses: _Uses, calls: AccessCalls) -> bool:
    """Whether every store puts back what was loaded there plus something: `c = tl.load(p); c += x; tl.store(p, c)`."""
    reads = [(_address(a, calls), calls.at(a)) for a in uses.reads]
    if not uses.stores or uses.monotone or any(call is None for _, call in reads):
        return False
    for store in uses.stores:
        place = _address(store, calls)
        loads = {id(call.call) for address, call in reads if call and place and address == place}
        if not _is_sum(_value(store, calls), calls.at(store), loads):
            return False
    return True


def _is_sum(value: ast.expr | None, store: AccessCall | None, loads: set[int]) -> bool:
    if value is None or store is None:
        return False
    function = next((s for s in reversed(store.enclosing) if isinstance(s, ast.FunctionDef)), None)
    return function is not None and _Sums(function, loads).holds(value, store.call.lineno)


class _Sums:
    """Follows names to what they were last assigned, line by line, within one function."""

    def __init__(self, function: ast.FunctionDef, loads: set[int]) -> None:
        self._loads = loads
        self._assigned: dict[str, list[tuple[int, ast.expr]]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
                self._assigned.setdefault(node.target.id, []).append((node.lineno, value))

    def holds(self, value: ast.expr, line: int) -> bool:
        """Whether `value`, read on `line`, is a loaded value plus (or minus) something."""
        if id(value) in self._loads:
            return True
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            return self.holds(value.left, line) or self.holds(value.right, line)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub):
            return self.holds(value.left, line)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
            return self.holds(value.func.value, line)
        if isinstance(value, ast.Name):
            before = [(at, assigned) for at, assigned in self._assigned.get(value.id, ()) if at < line]
            if before:
                at, assigned = max(before, key=lambda item: item[0])
                return self.holds(assigned, at)
        return False
