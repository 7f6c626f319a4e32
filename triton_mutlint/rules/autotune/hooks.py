"""What the hooks of a tuned kernel may set back: they are followed like an op, with the kernel's arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from pathlib import Path

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.state.core import NO_KERNELS, World
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.cells import Cell
from triton_mutlint.host.values.values import UNSEEN, FunctionValue, Sort, Thing, Tuner, Value, thing
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.types import Autotune, Kernel, SourceFile

_SECONDS = 10.0  # for the hooks of one kernel


def untouched(kernel: Kernel, autotune: Autotune, sources: Iterable[SourceFile]) -> frozenset[str]:
    """The parameters that some config is tuned without any hook that may write them; none where hooks are not known."""
    decorator = next((d for d in kernel.node.decorator_list if d.lineno == autotune.line), None)
    if not isinstance(decorator, ast.Call):
        return frozenset()
    try:
        with watched(_SECONDS):
            return _Hooks(kernel, sources).untouched(decorator, autotune)
    except TooLongError:
        return frozenset()


class _Hooks:
    """The code around one kernel."""

    def __init__(self, kernel: Kernel, sources: Iterable[SourceFile]) -> None:
        self._names = frozenset(kernel.parameter_names)
        modules = HostModules(Path(), {source.path: source for source in sources})
        self._module = modules.module(kernel.path)
        self._host = Interpreter(World(modules, NO_KERNELS, {}))
        self._host.state = State(base=self._host.module_state.heap, scopes=self._host.scopes)
        self._found = (Value(), Value())

    def untouched(self, decorator: ast.Call, autotune: Autotune) -> frozenset[str]:
        if self._module is None or self._work(lambda: self._look(decorator)) is None:
            return frozenset()
        own, of_configs = self._found
        by_config = [config.has_pre_hook for config in autotune.configs]
        seen = bool(own.things) is (autotune.has_pre_hook or autotune.has_post_hook) and \
            bool(of_configs.things) is any(by_config) and not (own.kind | of_configs.kind) & Sort.OTHER
        touched = frozenset[str]().union(*map(self._touched, own.things))
        if all(by_config):
            touched |= self._names.intersection(*map(self._touched, of_configs.things))
        return self._names - touched if seen else frozenset()

    def _look(self, decorator: ast.Call) -> None:
        made = self._host.evaluate(decorator)
        self._found = next(((t.hooks, t.config_hooks) for t in made.things if isinstance(t, Tuner)), self._found)

    def _touched(self, hook: Thing) -> frozenset[str]:
        """The arguments that a hook may write."""
        node = hook.node if isinstance(hook, FunctionValue) else ast.Name("hook")

        def call() -> None:
            held = {name: Value(same=frozenset([name]), kind=Sort.TENSOR | Sort.OTHER) for name in self._names}
            passed = self._host.make(node, Cell(held, kind="dict"), "nargs")
            self._host.call(thing(hook), Arguments((passed, UNSEEN)), node)

        effects = self._work(call)
        if effects is None:
            return self._names
        effects.settle()
        return frozenset((*effects.written, *effects.maybe, *effects.unknown))

    def _work(self, work: Callable[[], None]) -> Effects | None:
        """What code of the kernel's file does; None where it is too large to be followed."""
        assert self._module is not None, "there is code to follow"
        done: list[Value] = []

        def whole() -> Value:
            work()
            done.append(UNSEEN)
            return UNSEEN

        self._host.here = self._host.top(self._module)
        _, effects = self._host.apart(whole, self._host.here)
        return effects if done else None
