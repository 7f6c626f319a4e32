"""`triton-mutlint cache`: where kept results are, how many, and removing them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.output import write_stdout
from triton_mutlint.types import UsageError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _where(command: Callable[..., int]) -> Callable[..., int]:
    """The options that say which cache is meant, as `check` takes them."""
    for option in (
        click.option("--isolated", is_flag=True, help="Use no configuration file."),
        click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file."),
        click.option("--cache-dir", type=click.Path(path_type=Path), metavar="DIR", envvar="TRITON_MUTLINT_CACHE_DIR",
                     help="The cache, instead of the configured or usual one."),
    ):
        command = option(command)
    return command


@click.group(context_settings=_CONTEXT)
def command() -> None:
    """Say where results are kept between runs, how much is there, or remove it."""


@command.command(context_settings=_CONTEXT)
@_where
def path(**options: Any) -> int:
    """Print the folder of the cache."""
    click.echo(os.fsencode(_store(options).folder))  # whatever its bytes are
    return 0


@command.command(context_settings=_CONTEXT)
@_where
def info(**options: Any) -> int:
    """Print the folder, what it holds, and the limit."""
    from triton_mutlint.basics import plural
    from triton_mutlint.cache.store import LIMIT

    store = _store(options)
    entries = store.entries()
    kinds = [entry.path.parent.name for entry in entries]
    held = f"{plural(kinds.count('runs'), 'run')}, {plural(kinds.count('files'), 'file')}"
    size = sum(entry.size for entry in entries)
    write_stdout(f"{store.folder}\n{held}: {_megabytes(size)} of at most {_megabytes(LIMIT)}\n")
    return 0


@command.command(context_settings=_CONTEXT)
@_where
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


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


def _store(options: dict[str, Any]) -> Any:
    from triton_mutlint.cache.store import Store
    from triton_mutlint.cli.options import configured
    from triton_mutlint.cli.remembering import cache_folder

    folder = cache_folder(options["cache_dir"] or configured(options).cache_dir)
    try:
        is_other = folder.exists() and not (folder.is_dir() and os.access(folder, os.X_OK))
    except OSError as error:
        raise UsageError(f"cannot read {folder}: {error.strerror}") from error
    if is_other:
        raise UsageError(f"{folder} is no folder, or not to be searched: it cannot hold a cache")
    return Store(folder)
