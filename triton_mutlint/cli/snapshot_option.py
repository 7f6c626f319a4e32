"""`--check-snapshot`, whose file may be left out."""

from __future__ import annotations

from pathlib import Path

import click

from triton_mutlint.cli.shell.sections import Sectioned

FLAG = "--check-snapshot"
DEFAULT_SNAPSHOT = "triton-mutlint.snapshot"
_MAGIC = b"# triton-mutlint snapshot"


class Checking(Sectioned):
    """A command in which `--check-snapshot` takes the argument after it only if that is a snapshot.

    Otherwise a hook that appends the changed files to its arguments would have the first of them
    taken for one. `--check-snapshot=FILE` is always FILE.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_file(args))


def with_file(arguments: list[str]) -> list[str]:
    """The arguments with each `--check-snapshot` joined to its file, or to the default one."""
    result: list[str] = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[i:]]
        if i and arguments[i - 1] == FLAG and _is_snapshot(argument):
            result[-1] = f"{FLAG}={argument}"
        else:
            result.append(f"{FLAG}={DEFAULT_SNAPSHOT}" if argument == FLAG else argument)
    return result


def _is_snapshot(argument: str) -> bool:
    """Told by how the file begins; one that is not there, by its name."""
    try:
        with Path(argument).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return not argument.startswith("-") and argument.endswith(Path(DEFAULT_SNAPSHOT).suffix)
