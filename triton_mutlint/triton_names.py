"""Public names of Triton, and which versions have them; `make triton-names` asks each version."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

ANOTHER = "analyse it with the Triton version (or vendor's Triton) that it is written for"
_LIBDEVICE = "triton.language.extra.libdevice"
_OF_MODULE = re.compile(r"module ['\"](triton[\w.]*)['\"] has no attribute ['\"](\w+)")
_OF_OBJECT = re.compile(r"'(?:_experimental_)?(\w+)' object has no attribute '(\w+)'")


def hint(module: str, name: str, written: str = "") -> str:
    """What to do about a name that a module or class of the installed Triton lacks."""
    have = _versions(f"{module}.{name}")
    if have:
        return f"analyse it with a Triton version that has it: {have}"
    there = sys.modules.get(module)
    close = get_close_matches(name, [n for n in dir(there) if not n.startswith("_")], 1, 0.75) if there else []
    if close:
        return f"did you mean `{'.'.join([*(written or module + '.' + name).split('.')[:-1], *close])}`?"
    if hasattr(importlib.import_module(_LIBDEVICE), name):
        return f"did you mean `{_LIBDEVICE}.{name}`?"
    return ANOTHER


def hint_of(message: str) -> str | None:
    """The hint on a missing name that an error's message tells of; None if it tells of none that is known."""
    found = _OF_MODULE.search(message)
    if found:
        return hint(found[1], found[2])
    found = _OF_OBJECT.search(message)
    if found is None:
        return None
    have = _versions(f"{found[1]}.{found[2]}")
    return f"analyse it with a Triton version that has it: {have}" if have else None


def _versions(name: str) -> str:
    """The versions that have a name, for people; "" where all or none of those that were asked do."""
    table = _table()
    have, every = table["names"].get(name, []), table["versions"]
    if not have:
        return ""
    if have == every[every.index(have[0]):]:
        return f"{have[0]} or newer"
    return have[0] if len(have) == 1 else f"{have[0]} to {have[-1]}"


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(Path(__file__).with_name("triton_names.json").read_text(encoding="utf-8"))
    return table
