"""The output of whole runs: where nothing that a run read has changed, what it wrote is written again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_mutlint.cache.identity import identity
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import Inputs, Noted
from triton_mutlint.process.stamps import Stamp, digest_of

_KIND = "runs"
_FORM = 2


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
        if entry["form"] != _FORM:
            return None
        noted = Noted({path: Stamp(digest, tuple(signature)) for path, (digest, signature) in entry["files"].items()},
                      {(folder, name): found for folder, name, found in entry["looks"]}, entry["variables"])
        today = noted.now()
        if today is None:
            return None
        run = KeptRun(tuple(entry["outputs"]), entry["failed"])
        if today != noted:  # nothing that matters has changed
            self._put(name, run, today)
        return run

    def keep(self, name: str, run: KeptRun, inputs: Inputs) -> None:
        """Keep what a run gave, with what it read; not where that changed while it was read."""
        if not inputs.torn and not inputs.spoiled:
            self._put(name, run, inputs)

    def _put(self, name: str, run: KeptRun, noted: Noted) -> None:
        self._store.put(_KIND, name, json.dumps({
            "form": _FORM, "outputs": run.outputs, "failed": run.failed, "variables": noted.variables,
            "files": {path: [stamp.digest, stamp.signature] for path, stamp in noted.files.items()},
            "looks": [[*look, found] for look, found in noted.looks.items()],
        }).encode())


def name_of(request: Request, looks: Sequence[object]) -> str:
    """The name of the run that `request` asks for, written as `looks` say.

    How many processes take part and how long they may take does not matter: a run that ran out of time
    is not kept.
    """
    config = replace(request.config, jobs=1, cache_dir=None, origins={})
    asked = replace(request, jobs=1, timeout=0.0, cache_dir=None, config=config)
    return digest_of(repr((identity(), asked, tuple(looks))).encode("utf-8", "surrogateescape"))
