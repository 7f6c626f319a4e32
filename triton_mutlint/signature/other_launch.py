"""What a launch may store through whose values no analysed variant had.

A verdict speaks for the variants that were analysed: those of a spec, say, which holds one launch of several. A launch
that passes another flag, None in place of a pointer, or a tuple of another length, is asked about here: what may the
source store through, given what is known of the launch's own values? Sizes differ in nearly every
launch, and decide nothing then.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from triton_mutlint.kernel_source.footprint import elements
from triton_mutlint.kernel_source.helpers import Helper, Program
from triton_mutlint.kernel_source.objects import UNKNOWN
from triton_mutlint.kernel_source.values import NOTHING, NOWHERE, MayBe, of_global
from triton_mutlint.kernel_source.walk import Walk
from triton_mutlint.signature.evidence import Evidence, gather
from triton_mutlint.signature.variants import types_of
from triton_mutlint.spec.bind import value_parameters
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Kernel,
    LaunchArgument,
    OtherLaunch,
    Parameter,
    Plan,
    PointerType,
    ScalarType,
    TupleType,
    unwrap_constexpr,
)

Given = Mapping[str, LaunchArgument]
_SHOWN = 3  # values that messages name
_SMALL = 1 << 16  # below it a number is the same in all types of 32 bits, with a sign or without


def other_launch(kernel: Kernel, plan: Plan, helpers: Mapping[str, Kernel], given: Given,
                 unsettled: Set[str] = frozenset()) -> OtherLaunch:
    """What a launch may store through, whatever names in `unsettled` hold, and whether it is a variant of `plan`."""
    return _Launch(kernel, plan, gather(kernel, helpers), given).effects(unsettled)


class _Launch:
    """One launch, compared with the variants of a plan."""

    def __init__(self, kernel: Kernel, plan: Plan, evidence: Evidence, given: Given) -> None:
        self._kernel, self._plan, self._evidence, self._given = kernel, plan, evidence, given
        self._types = {name: types_of(plan, name) for name in kernel.parameter_names}
        self._values = value_parameters(kernel)
        self._tuned = {name for config in kernel.configs for name in config.kwargs}

    def effects(self, unsettled: Set[str]) -> OtherLaunch:
        fitting = {p.name: frozenset(n for n, v in enumerate(self._plan.variants) if self._fits(v.args[p.name], p))
               for p in self._kernel.parameters}
        shared = frozenset(range(len(self._plan.variants))).intersection(*fitting.values())
        told = not self._plan.inferred | self._plan.assumed and not self._evidence.learnt.typed
        held = {p.name: self._held(p) for p in self._kernel.parameters}
        possible = Walk(self._evidence.program, unsettled).of(Helper.of(self._kernel), held)
        odd = [_shown(name, self._given[name]) for name, found in fitting.items() if not found and name in self._given]
        behind, values = self._behind(bool(possible.indirect)), ", ".join(odd[:_SHOWN])
        return OtherLaunch(possible.stores - {NOWHERE}, behind, values, like_variant=bool(shared) and told)

    def _behind(self, loaded: bool) -> bool:
        """Whether what is stored through is an address that was in memory, if it is made of what was there."""
        types = (type_ for several in self._types.values() for type_ in several)
        addresses = any(isinstance(type_, PointerType) and "*" in type_.element for type_ in types)
        return loaded and bool(addresses or self._evidence.learnt.indirect)

    # ----------------------------------------------------------------- whether a variant is the launch's

    def _fits(self, type_: ArgType, parameter: Parameter) -> bool:
        given = self._given.get(parameter.name)
        if given is not None:
            slot = self._evidence.dossiers[parameter.name].slot
            return _is_of(type_, given, self._evidence.program, bool(slot.none_test or slot.branch))
        if parameter.name in self._kernel.heuristics:
            return False
        if parameter.name in self._tuned:  # any of its values, then
            return self._has_all_configs(parameter.name)
        if not parameter.has_default:
            return False
        default = unwrap_constexpr(parameter.default)
        return _is_of(type_, LaunchArgument((type(default), default)), self._evidence.program)

    def _has_all_configs(self, name: str) -> bool:
        analysed = {value_key(type_) for type_ in self._types[name]}
        given = (config.kwargs[name] for config in self._kernel.configs if name in config.kwargs)
        return {value_key(ConstexprValue(unwrap_constexpr(value))) for value in given} <= analysed

    # ----------------------------------------------------------------- what the launch's parameters hold

    def _held(self, parameter: Parameter) -> MayBe:
        name, given = parameter.name, self._given.get(parameter.name)
        open_ = name in self._tuned or name in self._kernel.heuristics or not parameter.has_default
        if given is None and open_:
            return MayBe(is_open=True)
        if given is None:
            default = unwrap_constexpr(parameter.default)
            return of_global(default) if name in self._values or self._decides(name, default) else NOTHING
        named = [t for t in self._types[name] if isinstance(t, TupleType) and t.fields]
        if named and given.constant is None and given.items is None:
            return elements(name, named[0], False)
        return self._of(name, given, name in self._values)

    def _decides(self, label: str, value: object) -> bool:
        """Whether a run-time argument that is this value decides as it does in the source.

        Others may be rounded, wrapped or compared without their sign, by their annotated type or by what they meet.
        """
        annotated = any(p.annotation for p in self._kernel.parameters if p.name == label.partition(".")[0])
        return value is None or (isinstance(value, bool | int) and 0 <= value < _SMALL and not annotated)

    def _of(self, label: str, given: LaunchArgument, is_value: bool) -> MayBe:
        if given.items is not None:
            return MayBe(items=tuple(self._of(f"{label}.{i}", g, is_value) for i, g in enumerate(given.items)))
        if given.constant is not None and (is_value or self._decides(label, given.constant[1])):
            return of_global(given.constant[1])
        functions = [t for t in self._types.get(label, ()) if _is_of(t, given, self._evidence.program)]
        if given.function is not None and functions and isinstance(functions[0], ConstexprValue):
            return of_global(functions[0].value)
        may_be_address = any(isinstance(t, PointerType) for t in self._types.get(label, ()))
        if given.constant is not None or (given.is_number and not may_be_address):
            return NOTHING
        root = frozenset[str]() if is_value else frozenset((label,))
        return MayBe(root, is_open=not given.is_tensor)


def _is_of(type_: ArgType, given: LaunchArgument, program: Program, may_be_none: bool = False) -> bool:
    """Whether a launch that passes `given` is, as far as that goes, one of a variant with this type.

    `may_be_none` says that the kernel asks whether it is None.
    """
    if isinstance(type_, ConstexprValue):
        return _is_value(type_, given, program)
    if isinstance(type_, TupleType):
        if type_.fields:
            values = any(isinstance(element, ConstexprValue) for element in type_.elements)  # it may have others
            return not values and given.constant is None and given.items is None and not given.is_tensor
        return given.items is not None and len(given.items) == len(type_.elements) and all(
            _is_of(t, item, program, may_be_none) for t, item in zip(type_.elements, given.items, strict=True))
    if isinstance(type_, ScalarType):
        return given.is_number or (given.constant is not None and isinstance(given.constant[1], bool | int | float))
    return isinstance(type_, PointerType) and given.is_tensor and (given.is_present or not may_be_none)


def _is_value(type_: ConstexprValue, given: LaunchArgument, program: Program) -> bool:
    if given.function is not None:
        helper = program.helper(type_.value)
        return helper is not None and (helper.file, helper.node.name, helper.node.lineno) == given.function
    value = _constant(given)
    return value is not UNKNOWN and value_key(ConstexprValue(value)) == value_key(type_)


def _constant(given: LaunchArgument) -> object:
    """The value of an argument, where it is known."""
    if given.items is not None:
        values = tuple(map(_constant, given.items))
        return UNKNOWN if UNKNOWN in values else values
    return UNKNOWN if given.constant is None else given.constant[1]


def _shown(name: str, given: LaunchArgument) -> str:
    """An argument that no variant has, as messages name it."""
    value = _constant(given)
    if value is not UNKNOWN:
        return f"`{name}={value!r}`"
    if given.items is not None:
        return f"{len(given.items)} elements for `{name}`"
    if given.function is not None:
        return f"`{name}={given.function[1]}`"
    return f"a tensor for `{name}`" if given.is_tensor else f"a value of `{name}` that is not known"
