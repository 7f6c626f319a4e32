"""`--format NAME[=FILE]` and `--output`: which report goes where."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from triton_mutlint.config.settings import nearest
from triton_mutlint.report import FORMATS


@dataclass(frozen=True)
class Output:
    """One format to render, and the file it goes to (None: standard output)."""

    format: str
    file: Path | None = None


def parse_outputs(formats: Collection[str], output: Path | None) -> tuple[Output, ...]:
    """`NAME` or `NAME=FILE`, each; `output` is the file of the one that names none.

    Raises click.UsageError for unknown formats and for two that would share an output.
    """
    outputs = [_parse_output(value) for value in formats or ("text",)]
    open_ended = [o for o in outputs if o.file is None]
    if len(open_ended) > 1:
        names = " and ".join(f"{o.format!r}" for o in open_ended)
        example = f"--format {open_ended[-1].format}=FILE"
        raise click.UsageError(f"the formats {names} would share one output; give one a file: {example}")
    if output is not None and not open_ended:
        raise click.UsageError("--output names a file, but every --format already has its own")
    settled = tuple(replace(o, file=output) if o.file is None else o for o in outputs)
    taken: dict[Path, str] = {}
    for one in settled:
        file = one.file and one.file.resolve()
        if file and file in taken and (file.is_file() or not file.exists()):  # a device takes both
            raise click.UsageError(f"the formats {taken[file]!r} and {one.format!r} would share {one.file}")
        if file:
            taken[file] = one.format
    return settled


def _parse_output(value: str) -> Output:
    name, separator, file = value.partition("=")
    if name not in FORMATS:
        raise click.BadParameter(f"{name!r} is no format{nearest(name, FORMATS)}; there are {', '.join(FORMATS)}",
                                 param_hint="'--format'")
    if separator and not file:
        raise click.BadParameter(f"{value!r} names no file", param_hint="'--format'")
    return Output(name, Path(file) if file else None)


def formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers: formats, and after `=` files."""
    return [CompletionItem(name) for name in FORMATS if name.startswith(incomplete)]
