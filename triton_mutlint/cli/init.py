"""`triton-mutlint init`: begin a spec, or complete one."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.cli.options import configured, merged
from triton_mutlint.cli.output import check_writable, fitted, tell, write_stdout
from triton_mutlint.cli.progress import Progress
from triton_mutlint.config.request import Request
from triton_mutlint.process.files import write_file

if TYPE_CHECKING:  # analysing is slow to import, and `--help` does without
    from triton_mutlint.cli.init_work import InitResult, SpecChange

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--spec", type=click.Path(path_type=Path), metavar="FILE", help="The spec to write; - prints it.")
@click.option("--stdout", is_flag=True, help="Print the spec instead of writing it.")
@click.option("--dry-run", is_flag=True, help="Show as a diff what would change.")
@click.option("--target", "targets", multiple=True, metavar="ARCH", help="GPU: cuda:90, hip:gfx942, ...; repeatable.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Analyse at most N of a kernel (64).")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=120.0, metavar="SECONDS",
              help="Give up on a kernel after this time (120).")
@click.option("--import", "true_import", is_flag=True, help="Import the files, which runs all of their code.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Write a spec with the signature of every kernel and what it writes, or complete one.

    Without --spec, it is the triton-mutlint.yaml that is in force for the files, or a new one at
    the project's root. Kernels and parameters that are missing are added; nothing else in the file
    changes.

    Exit code: 0, or 1 when a file could not be read.
    """
    from triton_mutlint.cli.init_work import init

    to, printed = _destination(options)
    request = _request(paths, options)
    with Progress() as progress:
        result = init(request, to or request.config.spec, progress)
    if printed and len(result.changes) > 1:
        names = ", ".join(change.display for change in result.changes)
        raise click.UsageError(f"the files have {len(result.changes)} specs ({names}); print one at a time")
    for change in result.changes:
        _apply(change, printed=printed, shown=options["dry_run"])
    _report(result, written=not (printed or options["dry_run"]))
    return int(bool(result.failures) or result.unloaded > 0)


def _apply(change: SpecChange, *, printed: bool, shown: bool) -> None:
    if printed:
        write_stdout(change.new)
    elif shown:
        write_stdout(_diff(change))
    elif change.new != (change.old or ""):
        check_writable(change.path)
        write_file(change.path, change.new)


def _report(result: InitResult, *, written: bool) -> None:
    """Says what was done; on standard error where standard output holds the spec or the diff."""
    lines = [line for change in result.changes for line in _summary(change, written=written)]
    text = "".join(f"{line}\n" for line in lines or ["no kernels found"])
    if written:
        write_stdout(fitted(text, sys.stdout))
    else:
        tell(text)
    for name, failure in result.failures:
        tell(f"{name}: {failure.message}")


def _destination(options: dict[str, Any]) -> tuple[Path | None, bool]:
    """The spec that is named, and whether to print instead of writing."""
    printed = options["stdout"] or str(options["spec"]) == "-"
    if printed and options["dry_run"]:
        raise click.UsageError("--stdout and --dry-run contradict each other")
    return (None if str(options["spec"]) == "-" else options["spec"]), printed


def _request(paths: Sequence[str], options: dict[str, Any]) -> Request:
    if "-" in paths:
        raise click.UsageError("a spec names files: standard input (-) has none; --spec - prints the spec")
    file = configured(options)
    config = merged(file, {name: options[name] for name in ("targets", "max_variants")})
    return Request(
        tuple(dict.fromkeys(paths)), Path.cwd(), spec=config.spec, targets=config.targets,
        max_variants=config.max_variants, timeout=options["timeout"], opaque_asm=config.opaque_asm,
        true_import=options["true_import"], config=config,
    )


def _diff(change: SpecChange) -> str:
    before = (change.old or "").splitlines(keepends=True)
    after = change.new.splitlines(keepends=True)
    names = (change.display if change.old is not None else "/dev/null", change.display)
    lines = difflib.unified_diff(before, after, *names)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _summary(change: SpecChange, *, written: bool) -> list[str]:
    counts = [
        _count(len(change.added), "kernel", "added"),
        _count(len(change.completed), "entry", "completed"),
        _count(len(change.failed), "kernel", "to be completed by hand"),
    ]
    did = ", ".join(count for count in counts if count)
    if not did:
        head = f"{change.display}: nothing to add" if change.old is not None else ""
    else:
        head = f"{change.display} {'written' if written else 'would be written'}: {did}"
    lines = [head] if head else []
    lines += [f"  completed {item}" for item in change.completed]
    lines += [f"  not analysed: {item} (see the comment in the spec)" for item in change.failed]
    return [*lines, *(f"  {remark}" for remark in change.remarks)]


def _count(number: int, noun: str, what: str) -> str:
    if not number:
        return ""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural} {what}"
