"""Loading one file: its jit functions, made from a slice of it (or by a true import)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triton_mutlint.basics import nearest
from triton_mutlint.process.watchdog import TooLongError
from triton_mutlint.source.function_text import called_from_outside
from triton_mutlint.source.jit.kernels import Candidate, candidates, has_candidates, in_aggregate
from triton_mutlint.source.jit.launched import called_elsewhere, is_declared, launched_from, launches
from triton_mutlint.source.jit.live import imported, last_line
from triton_mutlint.source.outline import Outline, outline
from triton_mutlint.source.slicing.jitdefs import is_of_triton
from triton_mutlint.source.slicing.loaded_modules import Modules
from triton_mutlint.source.slicing.namespace import Namespace
from triton_mutlint.source.slicing.needs import UNDEFINED, Need, Needs
from triton_mutlint.source.slicing.spaces import Space
from triton_mutlint.source.walking import walk
from triton_mutlint.types import EMPTY, Failure, FileResult, Kernel, Location, SourceFile, Stage, StageError

NamedFailure = tuple[str, Failure]
DEFAULT_TARGET = "cuda:90"
POSITIONAL_ONLY = "Triton drops positional-only parameters"


def load(
    source: SourceFile,
    *,
    globals_: Mapping[str, object] = EMPTY,
    true_import: bool = False,
    target: str = DEFAULT_TARGET,
    stubs: tuple[str, ...] = (),
) -> FileResult:
    """The kernels and helpers of one file, in line order, and why others are missing.

    Only what the file's jit functions need is run: their imports, constants and decorators, in this
    file and in those it imports from. `globals_` gives values for names that the files cannot give
    (`ROWS`, `vllm.envs.MAX_LANES`). `target` is what module-level questions about the device are
    answered for. `true_import` imports the file instead, with all its side effects. `stubs` are modules to
    stand in for although they are at hand.
    """
    try:
        tree = source.tree
    except StageError as error:
        return FileResult.failed(source, error.failure)
    file = outline(tree)
    if not has_candidates(file):
        return FileResult(source, failures=tuple(_unknown(source, [])), sources=(source.path,),
                          notes=_notes(source, file, []), launched=launched_from(file, launches(file)))
    modules = _modules(globals_, target, stubs)
    try:
        load = _Load(modules, source, modules.linted(source))
        return load.result(imported(source, file) if true_import else [])
    except StageError as error:
        return FileResult.failed(source, error.failure)
    except TooLongError as error:
        place = Location(source.display, last_line(error, source.path))
        failure = Failure(Stage.LOAD, f"loading {source.display}: line {place.line} is {error}", place)
        return FileResult.failed(source, failure)


_known: dict[tuple[str, str, tuple[str, ...]], Modules] = {}


def _modules(given: Mapping[str, object], target: str, stubs: tuple[str, ...]) -> Modules:
    """The modules shared by every file of a run: first-party helpers are run once."""
    key = (repr(sorted(given.items())), target, stubs)
    if key not in _known:
        backend, _, arch = target.partition(":")
        _known[key] = Modules(given, backend, arch, stubs)
    return _known[key]


def reset() -> None:
    """Forget every sliced module, for a process that outlives the files it read."""
    _known.clear()


class _Load:
    """One file being loaded."""

    def __init__(self, modules: Modules, source: SourceFile, names: Namespace) -> None:
        self.modules, self.source, self.names, self.module = modules, source, names, names.module
        self.failures: list[NamedFailure] = []
        self.needs = Needs()
        self.launches = launches(self.module.outline)

    def result(self, imported: list[Candidate]) -> FileResult:
        """What the file gives; of what was `imported`, only what stands in functions and classes is made from a slice,
        as an import does not show it.
        """
        with self.modules.shared.session:
            found = candidates(self.names)
            if imported:
                lines = {c.node.lineno for c in imported}
                found = [*imported, *(c for c in found if "." in c.qualname and c.node.lineno not in lines)]
            kernels, helpers = self._sorted(found)
        file = self.module.outline
        self.failures.extend(_unknown(self.source, found))
        return FileResult(self.source, tuple(kernels), tuple(helpers), tuple(self.failures),
                          self.modules.sources(self.module), _notes(self.source, file, found),
                          called_elsewhere(self.needs.reached, self.source.path),
                          launched_from(file, self.launches))

    def _sorted(self, found: list[Candidate]) -> tuple[list[Kernel], list[Kernel]]:
        calls: dict[str, frozenset[str]] = {}
        for candidate in found:
            for name in {candidate.node.name, candidate.name}:
                calls[name] = calls.get(name, frozenset()) | self.module.body(candidate.node).called
        called = called_from_outside(calls)
        kernels: list[Kernel] = []
        helpers: list[Kernel] = []
        for candidate in found:
            looks_like_one = is_declared(self.source.text, candidate.node) or self.launches.is_kernel(
                {candidate.name, *candidate.aliases}, candidate.node, called)
            asked = self.source.kernels
            is_kernel = bool(asked & candidate.names) if asked else looks_like_one
            if asked and not is_kernel and candidate.jit is None:
                continue
            if (failure := self._failure(candidate, is_kernel)) is not None:
                self.failures.append((candidate.name, failure))
            elif candidate.jit is not None:
                (kernels if is_kernel else helpers).append(
                    self._loaded(candidate, is_kernel, is_helper=not is_kernel and not looks_like_one))
        return kernels, helpers

    def _failure(self, candidate: Candidate, is_kernel: bool) -> Failure | None:
        here = Location(self.source.display, candidate.node.lineno, candidate.node.col_offset + 1)
        if candidate.problem:
            named = bool(self.source.kernels & candidate.names)
            if candidate.ignorable and not named:
                return None
            return Failure(Stage.LOAD, candidate.problem, here, candidate.hint)
        if candidate.jit is None or not is_kernel:
            return None
        for need in self.needs.of(candidate.jit):
            if not need.guarded:
                return _needed(candidate, need, self._place(need))
        return None

    def _place(self, need: Need) -> Location:
        same = Path(need.file) == self.source.path
        return Location(self.source.display if same else need.file, need.line, need.column)

    def _loaded(self, candidate: Candidate, is_kernel: bool, is_helper: bool) -> Kernel:
        tuning, space = candidate.tuning(with_decorators=is_kernel), candidate.definition.namespace
        is_sliced = isinstance(space, Space)
        notes = [*tuning.notes, *(space.notes.values() if is_sliced else ())]
        parameters, configs = candidate.parameters(), tuning.autotune.configs if tuning.autotune is not None else ()
        if is_kernel or not self.source.kernels:  # else nobody asked for it
            for value in (*(p.default for p in parameters), *(v for config in configs for v in config.kwargs.values())):
                self.needs.of_value(value)
            for need in self.needs.of(candidate.jit):
                notes.append(f"`{need.name}` {need.reason}; it is used where a branch may leave it out")
        return candidate.kernel(self.source, Globals(space, self.needs) if is_sliced else space, tuning, notes=notes,
                                is_helper=is_helper)


class Globals(Mapping[str, Any]):
    """A kernel's globals: every name its file binds, evaluated when it is asked for."""

    def __init__(self, namespace: Any, needs: Needs) -> None:
        self._namespace, self._needs = namespace, needs

    def __getitem__(self, name: str) -> Any:
        value = self._namespace[name]
        self._needs.of_value(value)
        return value

    def __bool__(self) -> bool:
        return True  # a file with a kernel binds names; there is no need to count them

    def __iter__(self) -> Iterator[str]:
        yield from self._namespace.names()

    def __len__(self) -> int:
        return len(list(self._namespace.names()))


_AROUND = re.compile("enclosing function `([^`]+)`")


def _needed(candidate: Candidate, need: Need, location: Location) -> Failure:
    message = f"kernel {candidate.name} needs `{need.name}`, which {need.reason}"
    hint, lacks = f"give `{need.name}` in the spec under `globals:`", "globals"
    if around := _AROUND.search(need.reason):
        maker = around[1]
        message += f"; {candidate.unmade}" if candidate.unmade else ""
        hint += " (a function of the file as `{ref: name}`)"
        if not candidate.unmade:
            hint += f", or give what `{maker}` makes a name at the top level of this file: `kernel = {maker}(…)`"
    elif need.reason == UNDEFINED:  # as it would be where the kernel is launched
        own = {n.id for n in walk(candidate.node) if isinstance(n, ast.Name)}
        bound = candidate.definition.namespace.scope.by_name
        close = nearest(need.name, {*own, *bound} - {need.name}, 0.75)
        hint, lacks = f"did you mean `{close}`?" if close else f"bind it in the file, or {hint}", ""
    another = _another_triton(need)
    return Failure(Stage.LOAD, message, location, another or hint, lacks="" if another else lacks)


def _another_triton(need: Need) -> str | None:
    """What to do about a value if only another Triton gives it."""
    if "triton" not in need.reason:
        return None
    from triton_mutlint.triton_names import hint, hint_of

    if "in the installed triton" not in need.reason:
        return hint_of(need.reason)
    module, _, name = need.name.rpartition(".")
    return hint(module, name, need.name)


def _notes(source: SourceFile, file: Outline, found: Sequence[Candidate]) -> tuple[str, ...]:
    """Notes on functions in Triton's language that nothing makes jit functions, and on positional-only parameters."""
    known = {c.node.lineno for c in found if not c.ignorable
             or is_of_triton(c.definition.namespace, c.node.name)}  # such as a `constexpr_function`
    others = [] if source.kernels else [  # else some were asked for by name
        f.node for f in file.speaking if f.node.lineno not in known and not in_aggregate(f.parents)]
    shifted = list(dict.fromkeys(c.node for c in found if c.jit is not None and c.node.args.posonlyargs))
    said = (("functions that call Triton's language, but that nothing is seen to make jit functions, are not analysed",
             others),
            (f"{POSITIONAL_ONLY}, and gives the arguments for them to those that follow", shifted))
    return tuple(f"{what}: {source.display}: {', '.join(f'{node.name} (line {node.lineno})' for node in nodes)}"
                 for what, nodes in said if nodes)


def _unknown(source: SourceFile, found: Sequence[Candidate]) -> Iterator[NamedFailure]:
    """A failure of the file for each kernel asked for by name that it does not define."""
    often = Counter(c.name for c in found)
    names = [f"{name}:{c.node.lineno}" if often[c.name] > 1 else name for c in found for name in (c.name, c.qualname)]
    for wanted in sorted(source.kernels.difference(*(c.names for c in found))):
        close = nearest(wanted, names)
        known = ", ".join(sorted(set(names))[:8])
        hint = f"did you mean {close}?" if close else (f"it defines {known}" if known else "")
        message = f"{source.display} defines no kernel `{wanted}`"
        yield "", Failure(Stage.LOAD, message, Location(source.display, 1), hint, wanted=wanted)
