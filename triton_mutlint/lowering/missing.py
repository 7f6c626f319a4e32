"""Errors that come from a value which the loader could not give, told as such."""

from __future__ import annotations

import re
from collections.abc import Iterable

from triton_mutlint.source.stubs import MissingValueError, UndecidedError
from triton_mutlint.types import Failure, Location, Stage

_SHOWN = re.compile(r"<missing ([^<>]+)>")  # how a missing value prints in Triton's own messages


def missing_value(kernel: str, errors: Iterable[BaseException], location: Location) -> Failure | None:
    """A failure to load, if lowering `kernel` ended for want of a value; `errors` from outermost to cause."""
    for error in errors:
        if isinstance(error, (MissingValueError, UndecidedError)):
            return _failure(kernel, error.value.mutlint_root, error.value.mutlint_reason, location)
        shown = _SHOWN.search(str(error))
        if shown:
            return _failure(kernel, shown[1], "could not be had", location)
    return None


def _failure(kernel: str, name: str, reason: str, location: Location) -> Failure:
    hint = f"give `{name}` in the spec under `globals:`"
    return Failure(Stage.LOAD, f"kernel {kernel} needs `{name}`, which {reason}", location, hint, lacks="globals")
