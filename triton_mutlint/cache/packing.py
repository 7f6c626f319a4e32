"""Turning reports into bytes and back, making nothing but this tool's own records on the way."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

_RECORDS = ("triton_mutlint.types.", "triton_mutlint.basics", "triton_mutlint.cache.files",
            "triton_mutlint.process.stamps", "triton_mutlint.process.inputs")
_PATHS = frozenset({"PosixPath", "WindowsPath"})


def pack(value: object) -> bytes:
    return pickle.dumps(value, protocol=5)


def unpack(data: bytes) -> Any:
    """What was packed. Raises pickle.UnpicklingError for bytes that would make anything else."""
    return _Unpickler(BytesIO(data)).load()


class _Unpickler(pickle.Unpickler):
    """Pickle can call whatever it names; here that is the classes of records and of paths."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = module.startswith(_RECORDS) or (module in ("pathlib", "pathlib._local") and name in _PATHS)
        found = super().find_class(module, name) if allowed else None
        if not isinstance(found, type):
            raise pickle.UnpicklingError(f"{module}.{name} is no record of this tool")
        return found
