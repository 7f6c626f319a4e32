"""`triton-mutlint init`: begin a spec, or complete one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.basics import plural, unified
from triton_mutlint.cli.shell.asked import CONTEXT, asked, config_in_force, shared
from triton_mutlint.cli.shell.output import Progress, check_writable, fitted, tell, write_stdout
from triton_mutlint.process.writing import write_file

if TYPE_CHECKING:  # analysing is slow to import, and `--help` does without
    from triton_mutlint.cli.init_work import InitResult, SpecChange


@click.command(context_settings=CONTEXT)
@shared("paths")
@click.option("--spec", "to", type=click.Path(path_type=Path), metavar="FILE", help="The spec to write; - prints it.")
@click.option("--stdout", is_flag=True, help="Print the spec instead of writing it.")
@click.option("--dry-run", is_flag=True, help="Show as a diff what would change.")
@shared("targets", "max_variants", "timeout", "confine", "true_import", "config_file", "isolated")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """Write a spec with the signature of every kernel and what it writes, or complete one.

    Without --spec, it is the triton-mutlint.yaml that is in force for the files, or a new one at
    the project's root. Kernels and parameters that are missing are added; nothing else in the file
    changes.

    Exit code: 0, or 1 when a file could not be read.
    """
    printed = options["stdout"] or str(options["to"]) == "-"
    if printed and options["dry_run"]:
        raise click.UsageError("--stdout and --dry-run contradict each other")
    if "-" in paths:
        raise click.UsageError("a spec names files: standard input (-) has none; --spec - prints the spec")
    request = asked(paths, config_in_force(options), options)
    to = request.spec if options["to"] is None or str(options["to"]) == "-" else options["to"]
    from triton_mutlint.cli.init_work import init

    with Progress() as progress:
        result = init(request, to, progress)
    if printed and len(result.changes) > 1:
        names = ", ".join(change.display for change in result.changes)
        raise click.UsageError(f"the files have {len(result.changes)} specs ({names}); print one at a time")
    for change in result.changes:
        if printed:
            write_stdout(change.new)
        elif options["dry_run"]:
            old = change.display if change.old is not None else "/dev/null"
            write_stdout(unified(change.old or "", change.new, old, change.display))
        elif change.new != (change.old or ""):
            check_writable(change.path)
            write_file(change.path, change.new, within=request.cwd)
    _report(result, written=not (printed or options["dry_run"]))
    return int(bool(result.failures) or result.unloaded > 0)


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


def _summary(change: SpecChange, *, written: bool) -> list[str]:
    entries = "entry" if len(change.completed) == 1 else "entries"
    counts = (
        (len(change.added), f"{plural(len(change.added), 'kernel')} added"),
        (len(change.completed), f"{len(change.completed)} {entries} completed"),
        (len(change.failed), f"{plural(len(change.failed), 'kernel')} to be completed by hand"),
    )
    lines = []
    if did := ", ".join(text for count, text in counts if count):
        lines.append(f"{change.display} {'written' if written else 'would be written'}: {did}")
    elif change.old is not None:
        lines.append(f"{change.display}: nothing to add")
    lines += [f"  completed {item}" for item in change.completed]
    lines += [f"  not analysed: {item} (see the comment in the spec)" for item in change.failed]
    return [*lines, *(f"  {remark}" for remark in change.remarks)]
