"""What comes before lowering: the spec of a file, its kernels, and each kernel's signature plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from triton_mutlint.basics import error_text
from triton_mutlint.config.request import Request
from triton_mutlint.kernel_source.footprint import footprints
from triton_mutlint.kernel_source.helpers import Helper
from triton_mutlint.process.inputs import current, spoil_if_short
from triton_mutlint.signature.doubts import doubts, with_unsettled
from triton_mutlint.signature.evidence import Inferred, gather
from triton_mutlint.signature.infer import infer
from triton_mutlint.signature.planning import build_plan
from triton_mutlint.signature.variants import differ_in_options
from triton_mutlint.source.discover import Excluded, display_path, searched
from triton_mutlint.source.load import DEFAULT_TARGET, load
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.read import find_spec, load_spec, parse_spec
from triton_mutlint.types import ArgType, Failure, FileResult, Kernel, Location, Plan, SourceFile, Stage, parse_target


@dataclass
class Specs:
    """Finds the spec of each file, reading every spec once."""

    request: Request
    read: dict[Path, Spec] = field(default_factory=dict)
    _paths: dict[Path, Path | None] = field(default_factory=dict)  # by linted file

    def path_of(self, source: SourceFile) -> Path | None:
        """The spec file that holds for `source`, if any."""
        if not self.request.use_spec:
            return None
        if source.path not in self._paths:
            self._paths[source.path] = self.request.spec or find_spec(source.path)
        return self._paths[source.path]

    def digest_of(self, source: SourceFile) -> str:
        """What tells the text of the spec file that holds for `source` from any other; "" where nothing is noted.

        The file must have been read: a text of the request that stands in its place has no digest.
        """
        path, inputs = self.path_of(source), current()
        return "" if path is None or inputs is None else inputs.files[os.path.abspath(path)].digest  # noqa: PTH100

    def of(self, source: SourceFile) -> Spec | None:
        """Raises SpecError for a spec that cannot be used."""
        path = self.path_of(source)
        if path is None:
            return None
        if path not in self.read:
            display = display_path(path, self.request.cwd)
            text = self.request.texts.get(display)
            self.read[path] = load_spec(path, display) if text is None else parse_spec(text, display)
        return self.read[path]

    def entry(self, kernel: Kernel) -> KernelSpec | None:
        """The entry that holds for a kernel, if any."""
        spec = self.of(kernel.source)
        if spec is None:
            return None
        return spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line)


def given_files(request: Request) -> Iterable[Path]:
    """The Python files that a run was given, whether they hold kernels or not."""
    config = request.config
    excluded = Excluded(config.exclude, config.root or request.cwd, config.force_exclude)
    return searched([argument for argument in request.arguments if argument != "-"], request.cwd, excluded)


def load_file(source: SourceFile, spec: Spec | None, request: Request) -> FileResult:
    """What the file holds; whatever its own Python does wrong is a failure in the result.

    Raises UsageError where there is no Triton that can be used.
    """
    try:
        result = load(source, globals_=spec.globals if spec else {}, true_import=request.true_import,
                      target=device_of(spec, request), stubs=request.config.stub_modules)
        return replace(result, failures=tuple((name, shown(failure, request.cwd)) for name, failure in result.failures))
    except Exception as error:  # the file's own Python runs in there; one file must not end the run
        from triton_mutlint.lowering.triton_api import triton

        triton()  # else the file is not to blame
        failure = unexpected(Stage.LOAD, error, Location(source.display, 1))
        return FileResult.failed(source, failure)


def device_of(spec: Spec | None, request: Request) -> str:
    """The target that constants of a file are told where they ask for the device.

    The first that is named on the command line, or the one that a spec names for all the kernels it names one for.
    """
    entries = spec.kernels if spec else ()
    named = list(request.targets[:1]) or list({target.name for entry in entries for target in entry.targets})
    if len(named) != 1:
        return DEFAULT_TARGET
    target = parse_target(named[0])
    return f"{target.backend}:{target.arch}"


def shown(failure: Failure, cwd: Path) -> Failure:
    """The failure with its file as reports show it: other files than those linted are known by their absolute paths."""
    place = failure.location
    if place is None or not os.path.isabs(place.file):  # noqa: PTH117
        return failure
    return replace(failure, location=replace(place, file=display_path(Path(place.file), cwd)))


def plan_kernel(
    kernel: Kernel, entry: KernelSpec | None, spec: Spec | None, file: FileResult, max_variants: int
) -> Plan:
    """The variants to analyse of a kernel of `file`; raises StageError, as `build_plan` does."""
    helpers = {k.name: k for k in file.functions}

    def guess(asked: Kernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        return infer(asked, known, helpers=helpers) if len(known) < len(asked.parameters) else {}

    def asks_kinds() -> bool:
        return gather(kernel, helpers).walk.of(Helper.of(kernel), {}).asks("type")

    plan = build_plan(kernel, entry, spec, inferred=guess, max_variants=max_variants, asks_kinds=asks_kinds)
    if len(plan.variants) > 1:
        evidence = gather(kernel, helpers)
        if not evidence.learnt.pointers:  # else numbers become addresses, which no name tells apart
            plan = replace(plan, footprints=footprints(kernel, evidence.walk, plan.variants))
    plan = with_unsettled(kernel, plan, helpers)
    told = not plan.inferred | plan.assumed and len(plan.variants) == plan.total
    if told and not plan.unsettled and not differ_in_options(kernel):
        return plan
    return replace(plan, doubts=doubts(kernel, plan, helpers))


def unexpected(stage: Stage, error: BaseException, location: Location) -> Failure:
    """An exception that no stage expected, as a failure of the one kernel or file it happened in."""
    spoil_if_short(error)
    if os.environ.get("TRITON_MUTLINT_DEBUG"):
        raise error
    from triton_mutlint.lowering.triton_api import newer_than_tested

    newer = newer_than_tested()
    cause = f"the cause may be that {newer}; " if newer else ""
    hint = f"{cause}if the source is sound, please report this; TRITON_MUTLINT_DEBUG=1 shows the traceback"
    return Failure(stage, error_text(error), location, hint)
