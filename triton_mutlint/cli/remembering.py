"""Answering `check` from what an earlier run wrote, and keeping what this one writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cache.runs import KeptRun, Runs, name_of
from triton_mutlint.cache.store import Store, default_folder
from triton_mutlint.config.request import Request
from triton_mutlint.process.inputs import recording

_UNKEPT = ("fix", "diff", "update_baseline", "true_import", "debug", "no_cache")  # they change files, or run any code


def store_for(request: Request, options: dict[str, Any]) -> Store | None:
    """The cache that a run of `check` may use."""
    if any(options[name] for name in _UNKEPT):
        return None
    return Store(cache_folder(request.config.cache_dir))


def cache_folder(given: Path | None) -> Path:
    """The folder of the cache: as given, else where the platform keeps caches."""
    return (given or default_folder()).expanduser().absolute()


def remembered(store: Store | None, request: Request, looks: Sequence[object],
               compute: Callable[[], KeptRun]) -> KeptRun:
    """What the run gives: from the store where nothing it reads has changed, else computed, and kept."""
    if store is None:
        return compute()
    runs = Runs(store)
    name = name_of(request, looks)
    found = runs.find(name)
    if found is not None:
        return found
    with recording() as inputs:
        found = compute()
    runs.keep(name, found, inputs)
    store.trim()
    if store.problem:
        click.echo(f"triton-mutlint: warning: the next run will take as long as this one: cannot write the cache in "
                   f"{store.folder}: {store.problem} (--cache-dir names another folder, --no-cache does without)",
                   err=True)
    return found
