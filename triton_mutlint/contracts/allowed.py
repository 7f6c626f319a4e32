"""The `allow` lists of a spec: rules that need not hold for a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_mutlint.basics import nearest_rule
from triton_mutlint.types import Location

if TYPE_CHECKING:  # reading YAML is slow to import, and rules need no spec
    from triton_mutlint.spec.model import KernelSpec, Spec


@dataclass(frozen=True)
class Allowed:
    """One code of one entry's `allow`; `pattern` is the entry's, `key_path` how people write the place."""

    code: str
    location: Location
    pattern: str
    key_path: str


def allowed_by(entry: KernelSpec | None) -> tuple[Allowed, ...]:
    """What a spec entry allows, in file order."""
    if entry is None:
        return ()
    from triton_mutlint.spec.errors import show_path

    return tuple(Allowed(d.name, d.location, entry.pattern, show_path(d.path)) for d in entry.allow)


def check_allowed(spec: Spec, rules: Mapping[str, str]) -> None:
    """Raises SpecError, with the nearest rule, for codes in `allow` that are no `rules`, which give their names."""
    from triton_mutlint.spec.errors import SpecError, SpecProblem

    problems = []
    for unknown in (d for entry in spec.kernels for d in entry.allow if d.name not in rules):
        meant = nearest_rule(unknown.name, rules)
        message = f"there is no rule {unknown.name}" + (f"; did you mean {meant!r}?" if meant else "")
        problems.append(SpecProblem(unknown.location, unknown.path, message))
    if problems:
        raise SpecError(problems)
