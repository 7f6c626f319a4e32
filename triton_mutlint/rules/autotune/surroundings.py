"""What the files of a run show around a tuned kernel: whether a launch passes None, and what is set back while tuning.

Of launches only what the text of the launching function shows counts: None written out, one side of a choice, or a
parameter of that function that may be None. A name that the function tests before it launches is left alone. Hooks are
followed like an op, with the kernel's arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.contracts.comments import tree_of
from triton_mutlint.host.library.library import Interpreter
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.jax import NAME, jax_calls
from triton_mutlint.host.state.core import Kernels, World
from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.groups import Arguments, Cell, defaults
from triton_mutlint.host.values.values import UNSEEN, FunctionValue, KernelValue, Sort, Thing, Value, thing
from triton_mutlint.process.watchdog import TooLongError, watched
from triton_mutlint.rules.rule import KernelSubject
from triton_mutlint.signature.launch_sites import Launch, LaunchIndex, assignments, bound, index
from triton_mutlint.source.outline import Function
from triton_mutlint.types import Autotune, AutotuneConfig, Kernel, Location, ParameterReport, SourceFile

NOT_TAKEN = "the argument may be None, which `restore_value` and `reset_to_zero` do not take before Triton 3.8"
_MAX_STEPS = 8


@dataclass(frozen=True)
class Absence:
    """A launch that passes None for a parameter, or one that leaves it to its default, which is None."""

    place: Location
    is_left_out: bool


def may_be_none(subject: KernelSubject, parameter: ParameterReport) -> bool:
    """Whether an analysed variant has None for a parameter, or a launch shows that it may be None."""
    return "None" in parameter.type.split(" | ") or absence(subject, parameter.name) is not None


def absence(subject: KernelSubject, parameter: str) -> Absence | None:
    """The first launch that shows that `parameter` may be None."""
    kernel = subject.kernel
    if kernel is None or parameter not in kernel.parameter_names:
        return None
    declared = kernel.parameters[kernel.parameter_names.index(parameter)]
    defaults_to_none = declared.has_default and declared.default is None
    for file, place, launch in _launches(kernel, subject):
        passed = dict(bound(launch.call, kernel.parameter_names)).get(parameter)
        left_out = passed is None and defaults_to_none and not _is_open(launch.call)
        if left_out or (passed is not None and _is_none(passed, launch, file)):
            return Absence(place, left_out)
    return None


def lacks_arguments(subject: KernelSubject, kernel: Kernel) -> bool:
    """Whether a launch leaves out what no config gives either: then the kernel is tuned over other configs."""
    configured = (name for config in kernel.configs for name in config.kwargs)
    wanted = {p.name for p in kernel.parameters if not p.has_default}.difference(kernel.heuristics, configured)
    return any(not _is_open(launch.call) and not wanted <= dict(bound(launch.call, kernel.parameter_names)).keys()
               for _, _, launch in _launches(kernel, subject))


def _is_open(call: ast.Call) -> bool:
    """Whether a call passes on arguments that it does not name."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def kept_by_jax(subject: KernelSubject, kernel: Kernel) -> frozenset[str] | None:
    """The parameters that jax-triton puts back or clears when it tunes, if it alone is seen to launch the kernel."""
    if not any(NAME in source.text for source in subject.sources) or any(_launches(kernel, subject)):
        return None
    modules = HostModules(Path(), {source.path: source for source in subject.sources})
    found = [module for source in subject.sources if (module := modules.module(source.path)) is not None]
    calls = [call for module in found for call in jax_calls(module, modules)
             if (call.of.module.path, call.of.node.lineno) == (kernel.path, kernel.node.lineno)]
    kept = [call.cleared.union(call.inputs if call.aliased is None else call.aliased) for call in calls]
    return kept[0].intersection(*kept[1:]) if kept else None


def _launches(kernel: Kernel, subject: KernelSubject) -> Iterator[tuple[LaunchIndex, Location, Launch]]:
    """The launches in the kernel's own file, and in the files of the run that import it by its name."""
    others = (s for s in subject.sources if s.path != kernel.path and _imports(s, kernel))
    trees = [(subject.report.location.file, kernel.tree), *((s.display, tree_of(s)) for s in others)]
    for display, tree in trees:
        for launch in index(tree).launches.get(kernel.name, ()):
            if not (isinstance(launch.call.func, ast.Attribute) and launch.call.func.attr == "warmup"):
                place = Location(display, launch.call.lineno, launch.call.col_offset + 1)
                yield index(tree), place, launch


def _imports(source: SourceFile, kernel: Kernel) -> bool:
    if f"{kernel.name}[" not in source.text:
        return False
    module = kernel.path.stem
    return any(isinstance(n, ast.ImportFrom) and (n.module or "").rpartition(".")[2] == module
               and any(a.name == kernel.name and not a.asname for a in n.names) for n in ast.walk(tree_of(source)))


def _is_none(node: ast.expr, launch: Launch, file: LaunchIndex, steps: int = 0) -> bool:
    """Whether an expression in a launching function may be None."""
    if isinstance(node, ast.Constant):
        return node.value is None
    if isinstance(node, ast.IfExp):
        sides = (side for side in (node.body, node.orelse) if not (isinstance(side, ast.Name) and
                                                                   _mentions(node.test, side.id)))
        return any(_is_none(side, launch, file, steps + 1) for side in sides)
    if not isinstance(node, ast.Name) or steps > _MAX_STEPS or _is_tested(node.id, launch):
        return False
    body = launch.function.body if launch.function else []
    values, _ = _reaching(body, node.id, launch.call)
    if launch.function is not None and node.id not in assignments(body):
        given = _parameter(launch.function, node.id)
        if given is not None:
            return given
        values = [file.constants.get(node.id)]
    return any(value is not None and not _mentions(value, node.id) and _is_none(value, launch, file, steps + 1)
               for value in values)


def _reaching(body: Sequence[ast.stmt], name: str, call: ast.Call) -> tuple[list[ast.expr | None], bool]:
    """What a name may have been assigned before a call, and whether nothing else than that."""
    at = next((i for i, statement in enumerate(body) if any(n is call for n in ast.walk(statement))), len(body))
    found: list[ast.expr | None] = []
    for part in ("body", "orelse", "handlers", "finalbody") if at < len(body) else ():
        found, is_settled = _reaching(getattr(body[at], part, ()), name, call)
        if is_settled:
            return found, True
    for statement in reversed(body[:at]):
        if name in (assigned := assignments([statement])):
            found.append(assigned[name])
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                return found, True
    return found, False


def _parameter(function: Function, name: str) -> bool | None:
    """Whether a parameter of a function may be None; None where it has no parameter of that name."""
    given = function.args
    argument = next((a for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg == name), None)
    if argument is None:
        return None
    default = defaults(given).get(name)
    text = ast.unparse(argument.annotation).strip("'\"") if argument.annotation else ""
    absent = isinstance(default, ast.Constant) and default.value is None
    return absent or "Optional[" in text or text.endswith("| None")


def _is_tested(name: str, launch: Launch) -> bool:
    """Whether the function asks about a name before it launches."""
    nodes = ast.walk(launch.function) if launch.function else ()
    return any(isinstance(node, (ast.If, ast.While, ast.Assert)) and node.lineno <= launch.call.lineno
               and _mentions(node.test, name) for node in nodes)


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


_SECONDS = 10.0  # for the hooks of one kernel


def untouched(kernel: Kernel, autotune: Autotune, sources: Iterable[SourceFile],
              tuned: Iterable[AutotuneConfig]) -> frozenset[str]:
    """The parameters that one of the configs `tuned` runs without any hook that may write them.

    There are none where hooks are not known.
    """
    modules = HostModules(Path(), {source.path: source for source in sources})
    module = modules.module(kernel.path)
    if module is None:
        return frozenset()
    host = Interpreter(World(modules, Kernels(), {}))
    host.state, host.here = State(base=host.module_state.heap, scopes=host.scopes), host.top(module)
    try:
        with watched(_SECONDS):
            return _untouched(host, KernelValue(module, kernel.node), autotune, tuned)
    except TooLongError:
        return frozenset()


def _untouched(host: Interpreter, kernel: KernelValue, autotune: Autotune,
               tuned: Iterable[AutotuneConfig]) -> frozenset[str]:
    tuner = next((tuner for tuner in host.tuners(kernel) if not tuner.overrides), None)
    if tuner is None or bool(tuner.hooks.things) is not (autotune.has_pre_hook or autotune.has_post_hook) or \
            bool(tuner.config_hooks.things) is not any(c.has_pre_hook for c in autotune.configs) or \
            (tuner.hooks.kind | tuner.config_hooks.kind) & Sort.OTHER:
        return frozenset()
    names = frozenset(a.arg for a in ast.walk(kernel.node.args) if isinstance(a, ast.arg))
    touched = frozenset[str]().union(*(_touched(host, hook, names) for hook in tuner.hooks.things))
    if all(config.has_pre_hook for config in tuned):
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
