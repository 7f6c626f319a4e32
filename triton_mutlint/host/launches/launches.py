"""Launches of Triton kernels from host code: which argument falls to which parameter, and what that does to it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from triton_mutlint.host.calls.calls import Calling
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments, bind, defaults, parameters
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import NONE, UNSEEN, FunctionValue, KernelValue, Sort, Tuner, Value, join
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
    Origin,
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
        tuners = self._tuners(kernel)
        overridden = {name for tuner in tuners if tuner.overrides for name, _ in tuner.values}
        bound = bind(names, keyword_only, without(overridden, arguments))
        tuned = {name: values for tuner in tuners for name, values in tuner.values}
        given = self._with_defaults(kernel, {n: v for n, v in bound.values.items() if n not in tuned},
                                    tuned.keys(), arguments.optional)
        self._tuning(kernel, tuners, bound.values, node)
        held = possible(verdict, given, tuned, lambda name: self.module_name(kernel.module, name, settled=True))
        off = {p.name for p in verdict.parameters if switched_off(p, held)}
        inferred = verdict.origin is Origin.INFERRED
        odd = [p.name for p in verdict.parameters if inferred and p.name in given and is_odd(p, given[p.name])]
        ruled_out = off
        if odd:  # its variants hold for launches of what tunes it
            ruled_out = {p.name for p in verdict.parameters if p.kind is not ParameterKind.CONSTEXPR}
        elif bound.extra_rest is None and bound.spare_rest is None and fixes_a_branch(kernel.node, bound.values):
            ruled_out = {*ruled_out, *(p.name for p in verdict.parameters if p.mutation in _WRITTEN)}
        passed = {**bound.values, **{n: v[0] for n, v in tuned.items() if v is not None and len(v) == 1}}
        found = self._beyond(verdict, kernel, passed, ruled_out)
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
        told = bool(odd) and all(given[name].constant is not None for name in odd)
        self._otherwise(verdict, passed, found, written, node, told)
        self._otherwise_set(verdict, kernel, passed, written, node)
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
                   node: ast.AST, told: bool) -> None:
        """Note what a launch may do that no analysed variant does; `told` if the values that none has are known."""
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
                effect = self.effect(text, node, verdict.name)
                if told:
                    self.effects.write(value, effect)
                else:
                    self.effects.gap(effect, self.state, [value])
        if found.behind and not verdict.indirect_writes:
            text = f"`{verdict.name}` may write through addresses in memory {as_here}: no analysed variant has that"
            self.effects.lost(self.effect(text, node, verdict.name))

    def _otherwise_set(self, verdict: KernelReport, kernel: KernelValue, given: Mapping[str, Value],
                       written: Set[str], node: ast.AST) -> None:
        """Note what a launch may do where names that the kernel reads have other values: of the machine, or set since."""
        names = self._unsettled(kernel)
        asked = {p.name for p in verdict.parameters if p.kind is not ParameterKind.CONSTEXPR} - written
        if not names or not any(self.state.reach(given.values())):
            return
        arguments = {name: told(value, self.state) for name, value in given.items()}
        found = self.world.kernels.beyond(kernel.module, verdict, arguments, asked, names)
        for label in sorted(found.of(asked) - written if found is not None else ()):
            base, *fields = label.split(".")
            if base in given:
                text = f"`{verdict.name}` may write `{label}` where {', '.join(sorted(names))} have other values"
                self.effects.gap(self.effect(text, node, verdict.name), self.state, [self._part(given[base], fields)])

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

    # ------------------------------------------------------------------ what tuning does

    def _tuning(self, kernel: KernelValue, tuners: Sequence[Tuner], given: Mapping[str, Value], node: ast.AST) -> None:
        """Autotuning zeroes what `reset_to_zero` names, and calls hooks with the kernel's arguments; so do heuristics.

        Of functions that are not first-party it is taken that they write nothing.
        """
        for tuner in tuners:
            for name in sorted(tuner.zeroed & given.keys()):
                text = f"tuning `{kernel.node.name}` sets `{name}` to zero"
                self.effects.write(given[name], self.effect(text, node, kernel.node.name))
            if tuner.hooks != Value():
                arguments = self.make(node, Cell(dict(given), kind="dict"), "nargs")
                self.call(tuner.hooks, Arguments((arguments, UNSEEN)), node)

    def _tuners(self, kernel: KernelValue) -> list[Tuner]:
        """What is around a kernel: of its decorators, and put there by calls."""
        found: list[Tuner] = []
        known = self.world.shared.tuners
        for decorator in kernel.node.decorator_list:
            if isinstance(decorator, ast.Call) and dotted(decorator.func)[-1:] in (("autotune",), ("heuristics",)):
                if id(decorator) not in known:
                    made, _ = self.apart(partial(self.evaluate, decorator), self.top(kernel.module))
                    known[id(decorator)] = next((t for t in made.things if isinstance(t, Tuner)), None)
                found.append(known[id(decorator)] or Tuner(overrides=False))
        return [*kernel.tuners[::-1], *found[kernel.taken :]]

    @staticmethod
    def tuned(tuner: Tuner, arguments: Arguments) -> Value:
        """`triton.autotune(...)(kernel)`."""
        kernel = arguments.get(0) or UNSEEN
        things = frozenset(replace(t, tuners=(*t.tuners, tuner)) if isinstance(t, KernelValue) else t
                           for t in kernel.things)
        return replace(kernel, things=things)

    def tuner(self, kind: str, arguments: Arguments, node: ast.AST) -> Tuner:
        """What `triton.autotune(...)` and `triton.heuristics(...)` give."""
        if kind == "heuristics":
            values: list[tuple[str, tuple[Value, ...] | None]] = []
            functions = arguments.get(0, "values") or UNSEEN
            for content in self.state.contents(functions):
                for name, function in content.fields.items():
                    own = replace(function, things=frozenset(t for t in function.things if _is_own(t)))
                    got = self.call(own, Arguments((UNSEEN,)), node) if own.things else UNSEEN
                    values.append((str(name), _known([got])))
            things = self.state.elements(functions).things
            return Tuner(True, tuple(values), Value(things=frozenset(filter(_is_own, things))))
        configs = arguments.get(0, "configs") or UNSEEN
        listed = self.state.contents(self.iterate(configs, node) if configs.cells else configs)
        pruned = "prune_configs_by" in arguments.named or self.state.listed(configs) is None
        called = join(*(arguments.named.get(name, Value()) for name in ("pre_hook", "post_hook")),
                      *(content.get("pre_hook") or Value() for content in listed))
        zeroed = self.state.elements(arguments.get(2, "reset_to_zero") or Value())
        named = self.state.contents(arguments.get(2, "reset_to_zero") or Value())
        return Tuner(
            False, tuple(self._of_configs(listed, pruned)),
            replace(called, kind=called.kind & ~(Sort.PLAIN | Sort.NONE), constant=None),
            frozenset(str(v.constant[1]) for c in named for v in c.fields.values() if v.constant is not None)
            | frozenset(map(str, zeroed.texts)),
        )

    def _of_configs(self, configs: Sequence[Cell],
                    pruned: bool) -> Iterator[tuple[str, tuple[Value, ...] | None]]:
        """What configs give to parameters: any of their values, if it is known which configs there are."""
        given = [held for config in configs for held in self.state.contents(config.get("kwargs") or Value())]
        for name in dict.fromkeys(str(key) for held in given for key in held.fields):
            values = [held.fields.get(name, held.rest) for held in given]
            yield name, None if pruned else _known(values)

    def _with_defaults(self, kernel: KernelValue, given: Mapping[str, Value], others: Set[str],
                       optional: Set[str]) -> dict[str, Value]:
        """What parameters hold: what a launch passes, or leaves at its default."""
        found = dict(given)
        for name, default in defaults(kernel.node.args).items():
            if name not in others and (name not in given or name in optional):
                value = self.evaluate_in(default, self.module_state, self.top(kernel.module))
                found[name] = join(value, given[name]) if name in given else value
        return found


def _reason(verdict: KernelReport) -> str:
    message = verdict.failure.message.splitlines()[0] if verdict.failure is not None else "no reason is known"
    return f"it could not be analysed ({message})"


def _warms_up(arguments: Arguments) -> bool:
    flag = arguments.named.get("warmup")
    return flag is not None and flag.is_constant(True)


def possible(verdict: KernelReport, given: Mapping[str, Value], tuned: Mapping[str, tuple[Value, ...] | None],
             meaning: Callable[[str], Value]) -> dict[str, frozenset[str]]:
    """Of the analysed values and types, those that a launch may have, for the parameters of which something is known.

    `meaning` says what a name stands for in the kernel's file.
    """
    analysed = {p.name: p.type.split(" | ") for p in verdict.parameters}
    constexpr = {p.name for p in verdict.parameters if p.kind is ParameterKind.CONSTEXPR}
    if any(", " in value for name in constexpr if len(analysed[name]) > 1 for value in analysed[name]):
        return {}  # conditions are not told apart then
    found: dict[str, frozenset[str]] = {}
    for name, several in analysed.items():
        values = tuned.get(name)
        if values is not None:
            found[name] = frozenset(_text(value, several, meaning) for value in values) & frozenset(several)
        elif name in tuned:
            continue
        elif name in given and name in constexpr:
            found[name] = frozenset([_text(given[name], several, meaning)]) & frozenset(several)
        elif name in given and given[name].is_constant(None):
            found[name] = frozenset(["None"]) & frozenset(several)
        elif name in given and given[name].some:
            found[name] = frozenset(several) - {"None"}
    return {name: texts for name, texts in found.items() if texts}


def is_odd(parameter: ParameterReport, value: Value) -> bool:
    """Whether a launch passes another value than those that were analysed, which are not guessed."""
    if parameter.kind is not ParameterKind.CONSTEXPR or parameter.inferred or value.things:
        return False
    return value.constant is None or str(ConstexprValue(value.constant[1])) not in parameter.type.split(" | ")


def _known(values: Sequence[Value]) -> tuple[Value, ...] | None:
    """The different ones of some values, if all are known."""
    return tuple(dict.fromkeys(values)) if all(value.constant is not None for value in values) else None


def _is_own(item: object) -> bool:
    return isinstance(item, FunctionValue)


def _text(value: Value, several: Sequence[str], meaning: Callable[[str], Value]) -> str:
    """How reports print a value, if it is one of several: a jit function by a name of it."""
    if value.constant is not None:
        return str(ConstexprValue(value.constant[1]))
    is_function = len(value.things) == 1 and all(isinstance(t, KernelValue) for t in value.things)
    return next((text for text in several if is_function and meaning(text) == value), "")


def switched_off(parameter: ParameterReport, held: Mapping[str, frozenset[str]]) -> bool:
    """Whether no analysed variant with the values that a launch may have writes the parameter."""
    if parameter.mutation is not Mutation.CONDITIONAL:
        return False
    conditions = [dict(part.split("=", 1) for part in when.split(", ") if "=" in part) for when in parameter.when]
    return all(any(name in held and text not in held[name] for name, text in needed.items()) for needed in conditions)


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


def without(names: Set[str], arguments: Arguments) -> Arguments:
    """The arguments of a launch without some of those by name."""
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
