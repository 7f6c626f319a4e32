"""The output of whole runs: where nothing that a run read has changed, what it wrote is written again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_mutlint.cache.identity import identity
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import Inputs, Stamp, digest_of, looks_still, still, variable_digest

_KIND = "runs"
_FORM = 1


@dataclass(frozen=True)
class KeptRun:
    """What a run wrote, one text per output, and whether its findings fail it."""

    outputs: tuple[str, ...]
    failed: bool


class Runs:
    """Kept runs of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, name: str) -> KeptRun | None:
        """The run kept under `name` if it would come out the same today."""
        data = self._store.get(_KIND, name)
        if data is None:
            return None
        entry: dict[str, Any] = json.loads(data)
        if entry["form"] != _FORM or not all(variable_digest(n) == d for n, d in entry["variables"].items()):
            return None
        files = _held(entry["files"])
        looks = {(folder, name): found for folder, name, found in entry["looks"]}
        stamps = looks_still(looks, {path: _stamp(row) for path, row in entry["folders"].items()})
        if files is None or stamps is None:
            return None
        folders = {path: _row(stamp) for path, stamp in stamps.items()}
        if files != entry["files"] or folders != entry["folders"]:  # nothing that matters has changed
            self._put(name, {**entry, "files": files, "folders": folders})
        return KeptRun(tuple(entry["outputs"]), entry["failed"])

    def keep(self, name: str, run: KeptRun, inputs: Inputs) -> None:
        """Keep what a run gave, with what it read; not where that changed while it was read."""
        if inputs.torn or inputs.spoiled:
            return
        self._put(name, {
            "form": _FORM, "outputs": run.outputs, "failed": run.failed, "variables": inputs.variables,
            "files": {path: _row(stamp) for path, stamp in inputs.files.items()},
            "folders": {path: _row(stamp) for path, stamp in inputs.folders.items()},
            "looks": [[*look, found] for look, found in inputs.looks.items()],
        })

    def _put(self, name: str, entry: Mapping[str, Any]) -> None:
        self._store.put(_KIND, name, json.dumps(entry).encode())


def name_of(request: Request, looks: Sequence[object]) -> str:
    """The name of the run that `request` asks for, written as `looks` say.

    How many processes take part and how long they may take does not matter: a run that ran out of time
    is not kept.
    """
    config = replace(request.config, jobs=1, cache_dir=None, origins={})
    asked = replace(request, jobs=1, timeout=0.0, cache_dir=None, config=config)
    return digest_of(repr((identity(), asked, tuple(looks))).encode("utf-8", "surrogateescape"))


def _row(stamp: Stamp) -> list[Any]:
    return [stamp.digest, list(stamp.signature)]


def _stamp(row: Sequence[Any]) -> Stamp:
    return Stamp(row[0], tuple(row[1]))


def _held(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]] | None:
    """The rows as they would be written today; None if one of them holds something else now."""
    today = {}
    for path, row in rows.items():
        stamp = still(path, _stamp(row))
        if stamp is None:
            return None
        today[path] = _row(stamp)
    return today
