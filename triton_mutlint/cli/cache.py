"""`triton-mutlint cache`: where kept results are, how many, and removing them."""

from __future__ import annotations

import os
from typing import Any

import click

from triton_mutlint.basics import UsageError, plural
from triton_mutlint.cache.store import LIMIT, Store
from triton_mutlint.cli.shell.asked import CONTEXT, cache_folder, config_in_force, shared
from triton_mutlint.cli.shell.output import write_stdout


@click.group(context_settings=CONTEXT)
def command() -> None:
    """Say where results are kept between runs, how much is there, or remove it."""


@command.command(context_settings=CONTEXT)
@shared("cache_dir", "config_file", "isolated")
def path(**options: Any) -> int:
    """Print the folder of the cache."""
    click.echo(os.fsencode(_store(options).folder))  # whatever its bytes are
    return 0


@command.command(context_settings=CONTEXT)
@shared("cache_dir", "config_file", "isolated")
def info(**options: Any) -> int:
    """Print the folder, what it holds, and the limit."""
    store = _store(options)
    entries = store.entries()
    kinds = [path.parent.name for path in entries]
    held = f"{plural(kinds.count('runs'), 'run')}, {plural(kinds.count('files'), 'file')}"
    size = sum(about.st_size for about in entries.values()) / (1 << 20)
    write_stdout(f"{store.folder}\n{held}: {size:.1f} MiB of at most {LIMIT / (1 << 20):.1f} MiB\n")
    return 0


@command.command(context_settings=CONTEXT)
@shared("cache_dir", "config_file", "isolated")
def clear(**options: Any) -> int:
    """Remove everything that is kept."""
    store = _store(options)
    if store.folder.exists() and not store.is_own() and any(store.folder.iterdir()):
        raise UsageError(f"{store.folder} is no cache of triton-mutlint: nothing was removed")
    try:
        count = store.clear()
    except OSError as error:
        raise UsageError(f"cannot remove {error.filename}: {error.strerror}") from error
    write_stdout(f"{store.folder}: {'1 entry' if count == 1 else f'{count} entries'} removed\n")
    return 0


def _store(options: dict[str, Any]) -> Store:
    folder = cache_folder(config_in_force(options).cache_dir)
    try:
        is_other = folder.exists() and not (folder.is_dir() and os.access(folder, os.X_OK))
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from error
    if is_other:
        raise UsageError(f"{folder} is no folder, or not to be searched: it cannot hold a cache")
    return Store(folder)
