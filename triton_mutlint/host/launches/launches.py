"""Launches of Triton kernels from host code: which argument falls to which parameter, and what that does to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from triton_mutlint.host.calls.calls import Calling
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments, bind, defaults, parameters
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import NONE, UNSEEN, FunctionValue, KernelValue, Sort, Value, join
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import (
    Access,
    AccessKind,
    Beyond,
    ConstexprValue,
    HostEffect,
    KernelReport,
    LaunchArgument,
    Mutation,
    ParameterKind,
    ParameterReport,
    Status,
)

_WRITTEN = (Mutation.WRITTEN, Mutation.CONDITIONAL)
_WRITES = (AccessKind.WRITE, AccessKind.ATOMIC)
# Methods that run no kernel.
_IDLE = frozenset({"warmup", "cache_clear", "preload", "add_pre_run_hook", "get_best_config", "prune_configs",
                   "compile", "prepare", "arg_names", "cache", "device_caches", "repr"})  # fmt: skip


class Launching(Calling):
    """Follows tensors into kernels."""

    def launch(self, kernel: KernelValue, name: str, arguments: Arguments, node: ast.AST) -> Value:
        """`kernel[grid](...)` and `kernel.run(...)`; other methods launch nothing."""
        if name in _IDLE or (name == "run" and _warms_up(arguments)):
            return UNSEEN
        if name not in ("launch", "run"):
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
        bound = bind(names, keyword_only, without_what_heuristics_set(kernel.node, arguments))
        self._tuning(kernel, bound.values, node)
        held = fixed(verdict, bound.values, lambda name: self.module_name(kernel.module, name, settled=True))
        off = {p.name for p in verdict.parameters if switched_off(p, held)}
        ruled_out = off
        if bound.extra_rest is None and bound.spare_rest is None and fixes_a_branch(kernel.node, bound.values):
            ruled_out = {*ruled_out, *(p.name for p in verdict.parameters if p.mutation in _WRITTEN)}
        found = self._beyond(verdict, kernel, bound.values, ruled_out)
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
        self._otherwise(verdict, bound.values, found, written, node)
        if bound.extra_rest is not None or kernel.node.args.vararg is not None:
            spare = [v for v in (*bound.spare, bound.extra_rest) if v is not None]
            what = f"launch of `{kernel.node.name}`: which argument falls to which parameter is not known"
            self.effects.gap(self.effect(what, node, kernel.node.name), self.state, spare)

    def _beyond(self, verdict: KernelReport, kernel: KernelValue, given: Mapping[str, Value],
                ruled_out: Set[str]) -> Beyond | None:
        """What a launch may do that the verdict does not say, and what of `ruled_out` it may write all the same."""
        if not any(self.state.reach(given.values())):
            return Beyond(stores=frozenset(ruled_out))
        arguments = {name: told(value, self.state) for name, value in given.items()}
        return self.world.kernels.beyond(kernel.module, verdict, arguments, ruled_out)

    def _otherwise(self, verdict: KernelReport, given: Mapping[str, Value], found: Beyond | None, written: Set[str],
                   node: ast.AST) -> None:
        """Note what a launch may do that no analysed variant does."""
        if found is None:
            text = f"launch of `{verdict.name}`: with which of the analysed variants it goes is not known"
            self.effects.gap(self.effect(text, node, verdict.name), self.state, given.values())
            return
        as_here = f"when it is launched with {found.values}" if found.values else "as it is launched here"
        for label in sorted(found.stores - written):
            base, *fields = label.split(".")
            if base in given:
                text = f"`{verdict.name}` may write `{label}` {as_here}: no analysed variant has that"
                value = self._part(given[base], fields) if fields else given[base]
                self.effects.gap(self.effect(text, node, verdict.name), self.state, [value])
        if found.behind and not verdict.indirect_writes:
            text = f"`{verdict.name}` may write through addresses in memory {as_here}: no analysed variant has that"
            self.effects.lost(self.effect(text, node, verdict.name))

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

    # ------------------------------------------------------------------ what tuning does

    def _tuning(self, kernel: KernelValue, given: Mapping[str, Value], node: ast.AST) -> None:
        """Autotuning zeroes what `reset_to_zero` names, and calls hooks with the kernel's arguments; so do heuristics.

        Of functions that are not first-party it is taken that they write nothing.
        """
        for decorator in kernel.node.decorator_list:
            if isinstance(decorator, ast.Call) and dotted(decorator.func)[-1:] in (("autotune",), ("heuristics",)):
                for keyword in decorator.keywords:
                    if keyword.arg == "reset_to_zero":
                        self._reset(keyword.value, given, kernel.node.name, node)
                hooks = self._hooks(decorator, kernel)
                if hooks != Value():
                    content = Cell(dict(given), kind="dict")
                    arguments = self.make(node, content, "nargs")
                    self.call(hooks, Arguments((arguments, UNSEEN)), node)

    def _reset(self, names: ast.expr, given: Mapping[str, Value], kernel: str, node: ast.AST) -> None:
        listed = {n.value for n in ast.walk(names) if isinstance(n, ast.Constant)}
        for name, value in given.items():
            if name in listed:
                text = f"tuning `{kernel}` sets `{name}` to zero"
                self.effects.write(value, self.effect(text, node, kernel))

    def _hooks(self, decorator: ast.Call, kernel: KernelValue) -> Value:
        """The functions that autotuning calls: its own hooks, and those of its configs; and heuristics."""
        known = self.world.shared.hooks
        if id(decorator) not in known:
            known[id(decorator)], _ = self.apart(lambda: join(*self.hooks_of(decorator)), self.top(kernel.module))
        return known[id(decorator)]

    def hooks_of(self, decorator: ast.Call) -> tuple[Value, Value]:
        """The functions that a decorator has called around a launch, and those that configs of it have."""
        if dotted(decorator.func)[-1:] == ("heuristics",):
            written = (*decorator.args, *(k.value for k in decorator.keywords))
            things = self.state.elements(join(*map(self.evaluate, written))).things
            return Value(things=frozenset(t for t in things if isinstance(t, FunctionValue))), Value()
        given = {k.arg: self.evaluate(k.value) for k in decorator.keywords
                 if k.arg in ("configs", "pre_hook", "post_hook")}
        configs = self.evaluate(decorator.args[0]) if decorator.args else given.get("configs", Value())
        made = self.state.contents(self.iterate(configs, decorator) if configs.cells else configs)
        own = join(*(given.get(name, Value()) for name in ("pre_hook", "post_hook")))
        return _called(own), _called(join(*(content.get("pre_hook") or Value() for content in made)))


def _called(hooks: Value) -> Value:
    """The functions among values that may be None."""
    return replace(hooks, kind=hooks.kind & ~(Sort.PLAIN | Sort.NONE), constant=None)




def _reason(verdict: KernelReport) -> str:
    message = verdict.failure.message.splitlines()[0] if verdict.failure is not None else "no reason is known"
    return f"it could not be analysed ({message})"


def _warms_up(arguments: Arguments) -> bool:
    flag = arguments.named.get("warmup")
    return flag is not None and flag.is_constant(True)


def fixed(verdict: KernelReport, given: Mapping[str, Value], meaning: Callable[[str], Value]) -> dict[str, str]:
    """The compile-time values that the launch itself fixes, as reports print them, where they were analysed.

    `meaning` says what a name stands for in the kernel's file.
    """
    values = {p.name: p.type.split(" | ") for p in verdict.parameters if p.kind is ParameterKind.CONSTEXPR}
    if any(", " in value for several in values.values() if len(several) > 1 for value in several):
        return {}  # conditions are not told apart then
    texts = {name: _text(given[name], several, meaning) for name, several in values.items() if name in given}
    return {name: text for name, text in texts.items() if text in values[name]}


def _text(value: Value, several: Sequence[str], meaning: Callable[[str], Value]) -> str:
    """How reports print a value, if it is one of several: a jit function by a name of it."""
    if value.constant is not None:
        return str(ConstexprValue(value.constant[1]))
    is_function = len(value.things) == 1 and all(isinstance(t, KernelValue) for t in value.things)
    return next((text for text in several if is_function and meaning(text) == value), "")


def switched_off(parameter: ParameterReport, fixed: Mapping[str, str]) -> bool:
    """Whether no analysed variant with the values that the launch fixes writes the parameter."""
    if parameter.mutation is not Mutation.CONDITIONAL:
        return False
    conditions = [dict(part.split("=", 1) for part in when.split(", ") if "=" in part) for when in parameter.when]
    return all(any(needed.get(name, text) != text for name, text in fixed.items()) for needed in conditions)


def fixes_a_branch(kernel: ast.FunctionDef, given: Mapping[str, Value]) -> bool:
    """Whether a launch passes, or leaves at its default, a flag or number that the kernel tests."""
    left = {name: default.value for name, default in defaults(kernel.args).items()
            if name not in given and isinstance(default, ast.Constant)}
    passed = {name: value.constant[1] for name, value in given.items() if value.constant is not None}
    known = {name for name, value in {**left, **passed}.items() if isinstance(value, (bool, int))}
    constexpr = {a.arg for a in ast.walk(kernel.args) if isinstance(a, ast.arg) and a.annotation is not None
                 and "constexpr" in ast.unparse(a.annotation)}
    run_time = known - constexpr
    tests = (node.test for node in ast.walk(kernel) if isinstance(node, (ast.If, ast.IfExp)))
    return bool(run_time) and any(
        isinstance(name, ast.Name) and name.id in run_time for test in tests for name in ast.walk(test))


def without_what_heuristics_set(kernel: ast.FunctionDef, arguments: Arguments) -> Arguments:
    """The arguments of a launch without those by name that a heuristic gives another value."""
    written = (e for d in kernel.decorator_list if isinstance(d, ast.Call) and dotted(d.func)[-1:] == ("heuristics",)
               for e in (*d.args, *(k.value for k in d.keywords)) if isinstance(e, ast.Dict))
    names = {key.value for values in written for key in values.keys if isinstance(key, ast.Constant)}
    return replace(arguments, named={n: v for n, v in arguments.named.items() if n not in names})


def told(value: Value, state: State) -> LaunchArgument:
    """What is known of an argument."""
    if value.constant is not None:
        return LaunchArgument(constant=value.constant)
    alone = not value.kind and not value.roots
    if alone and not value.cells and len(value.things) == 1:
        (one,) = value.things
        if isinstance(one, KernelValue) and one.node in one.module.tree.body:  # a factory's products share a `def`
            return LaunchArgument(function=(str(one.module.path), one.node.name, one.node.lineno))
    contents = state.contents(value)
    if alone and not value.things and len(value.cells) == len(contents) == 1 and contents[0].kind == "tuple":
        listed = contents[0].listed() if contents[0].owner is None else None
        if listed is not None:
            return LaunchArgument(items=tuple(told(element, state) for element in listed))
    simple = not value.things and not value.cells
    return LaunchArgument(
        is_tensor=simple and value.kind == Sort.TENSOR, is_present=simple and value.some,
        is_number=simple and value.kind == Sort.PLAIN and not value.roots,
    )
