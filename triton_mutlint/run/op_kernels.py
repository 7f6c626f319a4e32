"""Verdicts on the kernels that host code launches: those of the run, and others analysed when first met."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.source.closures import Differing, differing
from triton_mutlint.types import Beyond, KernelReport, LaunchArgument, Origin, SourceFile

Analyze = Callable[[SourceFile], Iterable[KernelReport]]
Reach = Callable[[SourceFile, KernelReport, Mapping[str, LaunchArgument], Set[str]], "Beyond | None"]
Place = tuple[str, int]


@dataclass
class OpKernels:
    """Kernels by where they stand. `analyze` gives the verdicts on the kernels that a source file names, `reach` what
    a launch with other values than were analysed may store through."""

    reports: Iterable[KernelReport]
    analyze: Analyze
    reach: Reach
    _known: dict[Place, list[KernelReport]] = field(default_factory=dict)
    _met: dict[tuple[Place, frozenset[str]], tuple[KernelReport, ...] | str] = field(default_factory=dict)
    _beyond: dict[tuple[object, ...], Beyond | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for report in self.reports:
            self._known.setdefault((report.location.file, report.location.line), []).append(report)

    def verdicts(self, module: HostModule, node: ast.FunctionDef,
                 names: frozenset[str]) -> tuple[KernelReport, ...] | str:
        """What a jit function made by `node` writes, or why that is not known.

        There are several where it may be any of several jit functions; `names` are its own.
        """
        place = (module.display, node.lineno)
        if (place, names) not in self._met:
            known = self._known.get(place, ())
            found = _launched(known, module, node, names)
            self._met[place, names] = found or self._analyzed(module, node, names) or _untold(known)
        return self._met[place, names]

    def beyond(self, module: HostModule, verdict: KernelReport, given: Mapping[str, LaunchArgument],
               ruled_out: Set[str]) -> Beyond | None:
        """What a launch may do that the verdict does not say: a spec does not give its values.

        What was guessed is no matter: verdicts hold whatever it is, but for the length of a tuple. Of the parameters
        that the launch's values seem to rule out, those are named that it may store through all the same. None where
        it cannot be told.
        """
        asked = {*ruled_out, *_of_other_lengths(verdict, given)}
        if verdict.origin is Origin.INFERRED and not asked:
            return Beyond()
        key = (verdict.location, verdict.name, frozenset(ruled_out), *given.items())
        if key not in self._beyond:
            source = SourceFile(module.path, module.display, module.text)
            self._beyond[key] = self.reach(source, verdict, given, ruled_out)
        found = self._beyond[key]
        if found is None or verdict.origin is not Origin.INFERRED:
            return found
        return replace(found, stores=found.of(asked), behind=False)

    def _analyzed(self, module: HostModule, node: ast.FunctionDef,
                  names: frozenset[str]) -> tuple[KernelReport, ...] | str:
        """The same for a kernel that the run has no verdict on."""
        wanted = names or frozenset([node.name])
        found = list(self.analyze(SourceFile(module.path, module.display, module.text, wanted)))
        here = [r for r in found if r.location.line == node.lineno]
        if launched := _launched(here, module, node, names):
            return launched
        if len(found) == 1 and found[0].failure is not None:
            return found[0].failure.message.splitlines()[0]
        return _untold(here)


def _of_other_lengths(verdict: KernelReport, given: Mapping[str, LaunchArgument]) -> set[str]:
    """The parameters for which a launch passes tuples that may have other elements than the analysed ones."""
    analysed: dict[str, set[str]] = {}
    for parameter in verdict.parameters:
        name, *fields = parameter.name.split(".")
        if fields and fields[0].isdigit():
            analysed.setdefault(name, set()).add(fields[0])
    lengths = {name: len(given[name].items or ()) for name in analysed if name in given}
    return {name for name, length in lengths.items() if length != len(analysed[name])}


def _launched(reports: Iterable[KernelReport], module: HostModule, node: ast.FunctionDef,
              names: frozenset[str]) -> tuple[KernelReport, ...]:
    """Those of the reports on what `node` makes that one of them must hold for the launched one; () if that is open."""
    reports = tuple(reports)
    if own := tuple(r for r in reports if r.name in names):
        return own
    differ = differing(module.tree, node)
    if differ is Differing.NEVER:
        return reports
    general = tuple(r for r in reports if r.name == node.name and node.name not in module.bindings)
    return general if differ is Differing.BY_ARGUMENT else ()


def _untold(reports: Iterable[KernelReport]) -> str:
    """Why it is not known what is launched."""
    if known := ", ".join(f"`{r.name}`" for r in reports):
        return f"its `def` makes kernels that differ ({known}), and which one is launched is not known"
    return "it could not be loaded"
