"""What the hooks of a tuned kernel may set back: they are followed like an op, with the kernel's arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.state.core import Kernels, World
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell
from triton_mutlint.host.values.values import UNSEEN, FunctionValue, KernelValue, Sort, Thing, Value, thing
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.types import Autotune, Kernel, SourceFile

_SECONDS = 10.0  # for the hooks of one kernel


def untouched(kernel: Kernel, autotune: Autotune, sources: Iterable[SourceFile]) -> frozenset[str]:
    """The parameters that some config is tuned without any hook that may write them; none where hooks are not known."""
    modules = HostModules(Path(), {source.path: source for source in sources})
    module = modules.module(kernel.path)
    if module is None:
        return frozenset()
    host = Interpreter(World(modules, Kernels(), {}))
    host.state, host.here = State(base=host.module_state.heap, scopes=host.scopes), host.top(module)
    try:
        with watched(_SECONDS):
            return _untouched(host, KernelValue(module, kernel.node), autotune)
    except TooLongError:
        return frozenset()


def _untouched(host: Interpreter, kernel: KernelValue, autotune: Autotune) -> frozenset[str]:
    tuner = next((tuner for tuner in host.tuners(kernel) if not tuner.overrides), None)
    by_config = [config.has_pre_hook for config in autotune.configs]
    if tuner is None or bool(tuner.hooks.things) is not (autotune.has_pre_hook or autotune.has_post_hook) or \
            bool(tuner.config_hooks.things) is not any(by_config) or \
            (tuner.hooks.kind | tuner.config_hooks.kind) & Sort.OTHER:
        return frozenset()
    names = frozenset(a.arg for a in ast.walk(kernel.node.args) if isinstance(a, ast.arg))
    touched = frozenset[str]().union(*(_touched(host, hook, names) for hook in tuner.hooks.things))
    if all(by_config):
        touched |= names.intersection(*(_touched(host, hook, names) for hook in tuner.config_hooks.things))
    return names - touched


def _touched(host: Interpreter, hook: Thing, names: frozenset[str]) -> frozenset[str]:
    """The arguments that a hook may write; all of them where it is too large to be followed."""
    node, done = hook.node if isinstance(hook, FunctionValue) else ast.Name("hook"), [False]

    def call() -> Value:
        held = {name: Value(same=frozenset([name]), kind=Sort.TENSOR | Sort.OTHER) for name in names}
        passed = host.make(node, Cell(held, kind="dict"), "nargs")
        result = host.call(thing(hook), Arguments((passed, UNSEEN)), node)
        done[0] = True
        return result

    _, effects = host.apart(call, host.here)
    effects.settle()
    return frozenset((*effects.written, *effects.maybe, *effects.unknown)) if done[0] else names
