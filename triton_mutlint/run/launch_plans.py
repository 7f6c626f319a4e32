"""The plans of the kernels that ops launch, asked again for launches that the verdicts do not speak for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from triton_mutlint.process.harmless import harmless
from triton_mutlint.run.plan import Specs, plan_kernel
from triton_mutlint.signature.beyond_variants import beyond
from triton_mutlint.source.slicing.tracing import traced
from triton_mutlint.types import Beyond, FileResult, Kernel, KernelReport, LaunchArgument, Plan, SourceFile


@dataclass
class LaunchPlans:
    """Kernels and their plans by where they stand; reports, which may come from a cache, do not hold them."""

    load: Callable[[SourceFile], FileResult]
    specs: Specs
    max_variants: int
    _files: dict[Path, FileResult] = field(default_factory=dict)
    _plans: dict[tuple[Path, int, str], tuple[Kernel, Plan]] = field(default_factory=dict)

    def beyond(self, source: SourceFile, verdict: KernelReport, given: Mapping[str, LaunchArgument],
               asked: Set[str]) -> Beyond | None:
        """What a launch may do that no variant in the kernel's plan does, and to the parameters that are asked for.

        None where it cannot be told.
        """
        try:
            kernel, plan = self._planned(source, verdict)
            helpers = {k.name: k for k in self._files[source.path].functions}
            found = beyond(kernel, plan, helpers, given)
            if found.like_variant and verdict.analyzed_variants == verdict.total_variants:
                return Beyond(found.of(asked))
            return found
        except Exception:  # the kernel's own heuristics and globals run in there
            return None

    def _planned(self, source: SourceFile, verdict: KernelReport) -> tuple[Kernel, Plan]:
        if source.path not in self._files:
            self._files[source.path] = self.load(source)
        file = self._files[source.path]
        place = source.path, verdict.location.line, verdict.name
        if place not in self._plans:
            kernel = next(k for k in file.kernels if (k.location.line, k.name) == place[1:])
            with harmless(), traced():
                plan = plan_kernel(kernel, self.specs.entry(kernel), self.specs.of(source), file, self.max_variants)
            self._plans[place] = kernel, plan
        return self._plans[place]
