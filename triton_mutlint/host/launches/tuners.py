"""What `triton.autotune` and `triton.heuristics` put around kernels, and what they do when one is launched."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from triton_mutlint.host.calls.calls import Calling
from triton_mutlint.host.values.arguments import Arguments, defaults
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import UNSEEN, FunctionValue, KernelValue, Sort, Tuner, Value, join
from triton_mutlint.source.walking import dotted


class FollowsTuners(Calling):
    """Follows what tunes kernels."""

    def _tuning(self, kernel: KernelValue, tuners: Sequence[Tuner], given: Mapping[str, Value], node: ast.AST) -> None:
        """Autotuning zeroes what `reset_to_zero` names, and calls hooks with the kernel's arguments; so do heuristics.

        Of functions that are not first-party it is taken that they write nothing.
        """
        for tuner in tuners:
            for name in sorted(tuner.zeroed & given.keys()):
                text = f"tuning `{kernel.node.name}` sets `{name}` to zero"
                self.effects.write(given[name], self.effect(text, node, kernel.node.name))
            hooks = join(tuner.hooks, tuner.config_hooks)
            if hooks != Value():
                arguments = self.make(node, Cell(dict(given), kind="dict"), "nargs")
                self.call(hooks, Arguments((arguments, UNSEEN)), node)

    def tuners(self, kernel: KernelValue) -> list[Tuner]:
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
        own = join(*(arguments.named.get(name, Value()) for name in ("pre_hook", "post_hook")))
        of_configs = join(*(content.get("pre_hook") or Value() for content in listed))
        zeroed = self.state.elements(arguments.get(2, "reset_to_zero") or Value())
        named = self.state.contents(arguments.get(2, "reset_to_zero") or Value())
        return Tuner(
            False, tuple(self._of_configs(listed, pruned)),
            _called(own), _called(of_configs),
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


def _called(hooks: Value) -> Value:
    """The functions among values that may be None."""
    return replace(hooks, kind=hooks.kind & ~(Sort.PLAIN | Sort.NONE), constant=None)


def _known(values: Sequence[Value]) -> tuple[Value, ...] | None:
    """The different ones of some values, if all are known."""
    return tuple(dict.fromkeys(values)) if all(value.constant is not None for value in values) else None


def _is_own(item: object) -> bool:
    return isinstance(item, FunctionValue)
