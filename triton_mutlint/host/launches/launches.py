"""Launches of Triton kernels from host code: which argument falls to which parameter, and what that does to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from triton_mutlint.host.launches.tuners import (
    FollowsTuners,
    fixes_a_branch,
    is_written_by_none,
    passes_another_value,
    told,
    values_at_launch,
)
from triton_mutlint.host.values.groups import Arguments, bind, parameters
from triton_mutlint.host.values.values import NONE, ON_GRID, UNSEEN, KernelValue, Sort, Value, join
from triton_mutlint.types import (
    Access,
    AccessKind,
    HostEffect,
    KernelReport,
    Mutation,
    Origin,
    OtherLaunch,
    ParameterKind,
    ParameterReport,
    Status,
)

_WRITTEN = (Mutation.WRITTEN, Mutation.CONDITIONAL)
_WRITES = (AccessKind.WRITE, AccessKind.ATOMIC)
# Methods that run no kernel.
_IDLE = frozenset({"warmup", "cache_clear", "preload", "add_pre_run_hook", "get_best_config", "prune_configs",
                   "compile", "prepare", "arg_names", "cache", "device_caches", "repr"})  # fmt: skip


class Launching(FollowsTuners):
    """Follows tensors into kernels."""

    def launch(self, kernel: KernelValue, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """`kernel[grid](...)` and `kernel.run(...)`; other methods launch nothing."""
        if name in _IDLE or (name == "run" and _warms_up(arguments)):
            return UNSEEN
        if name not in (ON_GRID, "run"):
            return self.not_known(UNSEEN, arguments, node)
        self.grid(arguments.named.get("grid", Value()) if name == "run" else Value(), node)
        verdicts = self.world.kernels.verdicts(kernel.module, kernel.node, kernel.names)
        if isinstance(verdicts, str):
            name = min(kernel.names, default=kernel.node.name)
            self._any_launch(name, kernel, arguments, node)
            self.effects.gap(self.effect(f"launch of `{name}`: {verdicts}", node, name), self.state, arguments)
            return NONE
        for verdict in verdicts:  # it may be any of these
            name = verdict.name
            self._any_launch(name, kernel, arguments, node)
            if verdict.status is Status.FAILED:
                text = f"launch of `{name}`: {_reason(verdict)}"
                self.effects.gap(self.effect(text, node, name), self.state, arguments)
                continue
            self._launched(verdict, kernel, arguments, node)
        return NONE

    def _any_launch(self, name: str, kernel: KernelValue, arguments: Arguments, node: ast.AST) -> None:
        """What is noted of a launch whatever the kernel does."""
        self.effects.kernels[name] = None
        if not kernel.wrapped and not (self.untraced and not any(self.state.reach(arguments))):
            self.effects.unwrapped[name, self.place(node)] = None

    def _launched(self, verdict: KernelReport, kernel: KernelValue, arguments: Arguments, node: ast.AST) -> None:
        names, keyword_only = parameters(kernel.node.args)
        tuners = self.tuners(kernel)
        overridden = {name for tuner in tuners if tuner.overrides for name, _ in tuner.values}
        bound = bind(names, keyword_only, replace(arguments, named={
            name: value for name, value in arguments.named.items() if name not in overridden}))
        tuned = {name: values for tuner in tuners for name, values in tuner.values}
        given = self._with_defaults(kernel, {n: v for n, v in bound.values.items() if n not in tuned},
                                    tuned.keys(), arguments.optional)
        self._tuning(kernel, tuners, bound.values, node)
        held = values_at_launch(verdict, given, tuned, lambda name: self.module_name(kernel.module, name, settled=True))
        off = {p.name for p in verdict.parameters if is_written_by_none(p, held)}
        others = [p.name for p in verdict.parameters if verdict.origin is Origin.INFERRED and p.name in given
                  and passes_another_value(p, given[p.name])]
        ruled_out = off
        if others:  # its variants hold for launches of what tunes it
            ruled_out = {p.name for p in verdict.parameters if p.kind is not ParameterKind.CONSTEXPR}
        elif bound.extra_rest is None and bound.spare_rest is None and fixes_a_branch(
                kernel.node, bound.values, held.keys()):
            ruled_out = {*ruled_out, *(p.name for p in verdict.parameters if p.mutation in _WRITTEN)}
        passed = {**bound.values, **{n: v[0] for n, v in tuned.items() if v is not None and len(v) == 1}}
        found = self._other_launch(verdict, kernel, passed, ruled_out)
        written = set[str]()
        for parameter in verdict.parameters:
            base, *fields = parameter.name.split(".")
            if base not in bound.values:
                continue
            value = self._part(bound.values[base], fields)
            is_left = found is None or parameter.name not in ruled_out or found.of({base})
            if parameter.name not in off and is_left:
                self._passed(verdict, parameter, value, node)
                written |= {parameter.name} if parameter.mutation in _WRITTEN else set()
            self._behind(verdict, parameter, value, node)
        told = bool(others) and all(given[name].constant is not None for name in others)
        self._otherwise(verdict, passed, found, written, node, told)
        self._otherwise_set(verdict, kernel, passed, written, node)
        if bound.extra_rest is not None or kernel.node.args.vararg is not None:
            spare = [v for v in (*bound.spare, bound.extra_rest) if v is not None]
            what = f"launch of `{kernel.node.name}`: which argument falls to which parameter is not known"
            self.effects.gap(self.effect(what, node, kernel.node.name), self.state, spare)

    def _other_launch(self, verdict: KernelReport, kernel: KernelValue, given: Mapping[str, Value],
                      ruled_out: Set[str], unsettled: frozenset[str] = frozenset()) -> OtherLaunch | None:
        """What a launch may do that the verdict does not say, and what of `ruled_out` it may write all the same."""
        if not any(self.state.reach(given.values())):
            return OtherLaunch(stores=frozenset() if unsettled else frozenset(ruled_out))
        arguments = {name: told(value, self.state) for name, value in given.items()}
        return self.world.kernels.other_launch(kernel.module, verdict, arguments, ruled_out, unsettled)

    def _otherwise(self, verdict: KernelReport, given: Mapping[str, Value], found: OtherLaunch | None,
                   written: Set[str], node: ast.AST, told: bool) -> None:
        """Note what a launch may do that no analysed variant does; `told` if the values that none has are known."""
        if found is None:
            text = f"launch of `{verdict.name}`: with which of the analysed variants it goes is not known"
            self.effects.gap(self.effect(text, node, verdict.name), self.state, given.values())
            return
        as_here = f"when it is launched with {found.values}" if found.values else "as it is launched here"
        self._may_store(verdict, found.stores - written, given, f"{as_here}: no analysed variant has that", node, told)
        if found.behind and not verdict.indirect_writes:
            text = f"`{verdict.name}` may write through addresses in memory {as_here}: no analysed variant has that"
            self.effects.lost(self.effect(text, node, verdict.name))

    def _otherwise_set(self, verdict: KernelReport, kernel: KernelValue, given: Mapping[str, Value],
                       written: Set[str], node: ast.AST) -> None:
        """Note what a launch may do where names that the kernel reads have other values, as on another machine."""
        names = self._unsettled(kernel)
        asked = {p.name for p in verdict.parameters if p.kind is not ParameterKind.CONSTEXPR} - written
        found = self._other_launch(verdict, kernel, given, asked, names) if names else None
        if found is not None:
            when = f"where {', '.join(sorted(names))} have other values"
            self._may_store(verdict, found.of(asked) - written, given, when, node, False)

    def _may_store(self, verdict: KernelReport, labels: Set[str], given: Mapping[str, Value], when: str, node: ast.AST,
                   surely: bool) -> None:
        for label in sorted(labels):
            base, *fields = label.split(".")
            if base in given:
                effect = self.effect(f"`{verdict.name}` may write `{label}` {when}", node, verdict.name)
                value = self._part(given[base], fields) if fields else given[base]
                if surely:
                    self.effects.write(value, effect)
                else:
                    self.effects.gap(effect, self.state, [value])

    def _unsettled(self, kernel: KernelValue) -> frozenset[str]:
        """The names outside that a kernel and its helpers read and that are not set to a value in the source."""
        known = self.world.shared.unsettled
        if id(kernel.node) not in known:
            known[id(kernel.node)] = frozenset()
            found = set[str]()
            for name in {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)}:
                value = self.module_name(kernel.module, name, settled=True) if name in kernel.module.bindings else NONE
                for one in value.things:
                    found |= self._unsettled(one) if isinstance(one, KernelValue) else frozenset()
                plain = value.kind and not value.kind & Sort.TENSOR and not value.things and not value.cells
                found |= {name} if plain and value.constant is None else set()
            known[id(kernel.node)] = frozenset(found)
        return known[id(kernel.node)]

    def _part(self, value: Value, fields: list[str]) -> Value:
        """The element of a tuple argument that a parameter such as `ptrs.0` stands for."""
        for field in fields:
            value = join(*self._fields(value, field)) if value.cells else value
        if value.cells:  # a descriptor or a tuple as a whole
            return join(value, self.state.elements(value))
        return value

    def _fields(self, value: Value, field: str) -> Iterator[Value]:
        for content in self.state.contents(value):
            found = content.get(int(field) if field.isdigit() else field)
            yield content.every() if found is None else found

    def _passed(self, verdict: KernelReport, parameter: ParameterReport, value: Value, node: ast.AST) -> None:
        """One argument of a launch."""
        kernel, name = verdict.name, parameter.name
        if parameter.mutation in _WRITTEN:
            access = next((a for a in parameter.accesses if a.kind in _WRITES), None)
            found = self.effect(f"`{kernel}` writes `{name}`", node, kernel, access)
            self.effects.write(value, found)
            if parameter.kind is ParameterKind.POINTER:
                self._by_address(value, Sort.PLAIN, found)
        elif parameter.mutation is Mutation.UNKNOWN:
            text = f"`{kernel}` may write `{name}`: its analysis could not tell"
            self.effects.gap(self.effect(text, node, kernel), self.state, [value])

    def _behind(self, verdict: KernelReport, parameter: ParameterReport, value: Value, node: ast.AST) -> None:
        """What the kernel writes through the addresses in one argument."""
        kernel, name = verdict.name, parameter.name
        for indirect in verdict.indirect_writes:
            if indirect.through == name:
                access = Access(AccessKind.WRITE, indirect.op, indirect.location)
                text = f"`{kernel}` writes through the addresses in `{name}`"
                found = self.effect(text, node, kernel, access)
                if indirect.via == "integer":  # which may as well be passed the tensor whose address it is to be
                    self.effects.write(value, found)
                    self._by_address(value, Sort.PLAIN | Sort.OTHER, found)
                elif value.carried:
                    self.effects.write_behind(value, found)
                else:
                    self.effects.lost(found)

    def _by_address(self, value: Value, numbers: Sort, effect: HostEffect) -> None:
        """A write through the address that a value is, where it is a number: as those of `numbers` are taken to be."""
        if value.carried and value.kind & numbers:
            self.effects.write_behind(value, effect)
        elif value.kind and not value.kind & ~numbers and value.constant is None and not value.roots:
            self.effects.lost(effect)


def _reason(verdict: KernelReport) -> str:
    message = verdict.failure.message.splitlines()[0] if verdict.failure is not None else "no reason is known"
    return f"it could not be analysed ({message})"


def _warms_up(arguments: Arguments) -> bool:
    flag = arguments.named.get("warmup")
    return flag is not None and flag.is_constant(True)
