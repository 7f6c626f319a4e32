"""Launches of Triton kernels from host code: which argument falls to which parameter, and what that does to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from triton_mutlint.host.arguments import Arguments, bind, parameters
from triton_mutlint.host.core import Activation
from triton_mutlint.host.functions import FunctionsMixin
from triton_mutlint.host.state import State
from triton_mutlint.host.values import NONE, UNSEEN, KernelMethod, KernelValue, Value, join
from triton_mutlint.model import Access, AccessKind, KernelReport, Mutation, ParameterReport, Status

_WRITES = (AccessKind.WRITE, AccessKind.ATOMIC)
# Methods that run no kernel.
_IDLE = frozenset({"warmup", "cache_clear", "preload", "add_pre_run_hook", "get_best_config", "prune_configs",
                   "compile", "prepare", "arg_names", "cache", "device_caches", "repr"})  # fmt: skip


class LaunchesMixin(FunctionsMixin):
    """Follows tensors into kernels."""

    def launch(self, method: KernelMethod, arguments: Arguments, node: ast.AST, state: State,
               here: Activation) -> Value:
        """`kernel[grid](...)` and `kernel.run(...)`; other methods launch nothing."""
        kernel = method.kernel
        if method.name in _IDLE or (method.name == "run" and _warms_up(arguments)):
            return UNSEEN
        if method.name not in ("launch", "run"):
            return self.not_known(UNSEEN, arguments, node, state, here)
        verdict = self.world.kernels.verdict(kernel.module, kernel.node)
        name = kernel.node.name if isinstance(verdict, str) else verdict.name
        self.effects.kernels[name] = None
        if not kernel.wrapped:
            self.effects.unwrapped[name, self.place(node, here)] = None
        if isinstance(verdict, str) or verdict.status is Status.FAILED:
            why = verdict if isinstance(verdict, str) else _reason(verdict)
            self.effects.gap(self.effect(f"launch of `{name}`: {why}", node, here, name), state, arguments)
            return NONE
        self._launched(verdict, kernel, arguments, node, state, here)
        return NONE

    def _launched(self, verdict: KernelReport, kernel: KernelValue, arguments: Arguments, node: ast.AST, state: State,
                  here: Activation) -> None:
        names, keyword_only = parameters(kernel.node.args)
        bound = bind(names, keyword_only, arguments)
        for parameter in verdict.parameters:
            base, *fields = parameter.name.split(".")
            value = bound.values.get(base)
            if value is not None and not _switched_off(parameter, bound.values):
                self._passed(verdict, parameter, self._part(value, fields, state), node, state, here)
        if bound.extra_rest is not None or kernel.node.args.vararg is not None:
            spare = [v for v in (*bound.spare, bound.extra_rest) if v is not None]
            what = f"launch of `{kernel.node.name}`: which argument falls to which parameter is not known"
            self.effects.gap(self.effect(what, node, here, kernel.node.name), state, spare)

    def _part(self, value: Value, fields: list[str], state: State) -> Value:
        """The element of a tuple argument that a parameter such as `ptrs.0` stands for."""
        for field in fields:
            value = join(*self._fields(value, field, state)) if value.cells else value
        if value.cells:  # a descriptor or a tuple as a whole
            return join(value, state.elements(value))
        return value

    @staticmethod
    def _fields(value: Value, field: str, state: State) -> Iterator[Value]:
        for content in state.contents(value):
            found = content.get(int(field) if field.isdigit() else field)
            yield content.every() if found is None else found

    def _passed(self, verdict: KernelReport, parameter: ParameterReport, value: Value, node: ast.AST, state: State,
                here: Activation) -> None:
        """One argument of a launch."""
        kernel, name = verdict.name, parameter.name
        if parameter.mutation in (Mutation.WRITTEN, Mutation.CONDITIONAL):
            access = next((a for a in parameter.accesses if a.kind in _WRITES), None)
            self.effects.write(value, self.effect(f"`{kernel}` writes `{name}`", node, here, kernel, access))
        elif parameter.mutation is Mutation.UNKNOWN:
            text = f"`{kernel}` may write `{name}`: its analysis could not tell"
            self.effects.gap(self.effect(text, node, here, kernel), state, [value])
        for indirect in verdict.indirect_writes:
            if indirect.through == name:
                access = Access(AccessKind.WRITE, indirect.op, indirect.location)
                text = f"`{kernel}` writes through the addresses in `{name}`"
                found = self.effect(text, node, here, kernel, access)
                if value.carried:
                    self.effects.write_behind(value, found)
                else:
                    self.effects.gaps[found] = None


def _reason(verdict: KernelReport) -> str:
    message = verdict.failure.message.splitlines()[0] if verdict.failure is not None else "no reason is known"
    return f"it could not be analysed ({message})"


def _switched_off(parameter: ParameterReport, given: Mapping[str, Value]) -> bool:
    """Whether the launch gives a flag the value under which the kernel does not write the parameter."""
    if parameter.mutation is not Mutation.CONDITIONAL:
        return False
    for flag, value in given.items():
        for passed in (True, False):
            needed = f"{flag}={not passed}"
            if value.is_constant(passed) and all(needed in when.split(", ") for when in parameter.when):
                return True
    return False


def _warms_up(arguments: Arguments) -> bool:
    flag = arguments.named.get("warmup")
    return flag is not None and flag.is_constant(True)
