"""Plans of hand-made kernels, with stand-ins for inference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton_mutlint.signature.planning import Inferred, build_plan
from triton_mutlint.spec.read import parse_spec
from triton_mutlint.types import ArgType, ConstexprValue, Kernel, Plan

FLAG = (ConstexprValue(False), ConstexprValue(True))


def nothing(kernel: Kernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
    return {}


def guess(**alternatives: tuple[ArgType, ...]) -> Any:
    """An inference that says this of the parameters, whatever is known."""

    def infer(kernel: Kernel, known: Mapping[str, ArgType]) -> Mapping[str, Inferred]:
        return {name: Inferred(values, f"guessed {name}") for name, values in alternatives.items()}

    return infer


def plan(
    kernel: Kernel, spec_text: str = "", *, inferred: Any = nothing, **options: Any
) -> Plan:
    spec = parse_spec(f"version: 1\n{spec_text}", "spec.yaml") if spec_text else None
    entry = spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line) if spec else None
    return build_plan(kernel, entry, spec, inferred=inferred, **options)


def values(found: Plan, *names: str) -> list[tuple[str, ...]]:
    """Per variant, the arguments of `names` as printed."""
    return [tuple(str(variant.args[name]) for name in names) for variant in found.variants]
