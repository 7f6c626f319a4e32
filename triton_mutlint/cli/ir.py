"""`triton-mutlint ir`: what Triton makes of a kernel, with the lines marked that write."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.cli.shell.asked import CONTEXT, asked, config_in_force, files, refuse_stdin, shared
from triton_mutlint.cli.shell.output import Progress, fitted, write_stdout

if TYPE_CHECKING:  # loading kernels is slow to import, and `--help` does without
    from triton_mutlint.run.showing import ShownIR

_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "amdgcn")  # the first three can be read, and have marks


@click.command("ir", context_settings=CONTEXT)
@click.argument("kernel", metavar="FILE::KERNEL", shell_complete=files)
@click.option("--stage", type=click.Choice(_STAGES), default="source",
              help="How far Triton compiles it; source is what it makes of the Python, which is analysed.")
@click.option("--source", is_flag=True, help="Show the lines of Python between those that were made of them.")
@click.option("--variant", "variant", multiple=True, metavar="NAME=VALUE",
              help="The variant with this value of a parameter; repeatable.")
@shared("spec", "no_spec", "targets", "max_variants", "timeout", "confine", "true_import", "config_file", "isolated",
        "debug")
def command(kernel: str, stage: str, source: bool, variant: tuple[str, ...], **options: Any) -> int:
    """Print what Triton makes of a kernel, for the first variant that is analysed, or the one with the values given.

    In source, ttir and ttgir, `w` stands before a line that writes memory that the kernel was given, `?` before one of
    which that cannot be told. No GPU is needed. ptx is for NVIDIA's GPUs, amdgcn for AMD's (--target hip:gfx942).
    """
    refuse_stdin((kernel,), "ir")
    for value in variant:
        if "=" not in value:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint="'--variant'")
    wanted = {name: value for name, _, value in (each.partition("=") for each in variant)}
    request = asked((kernel,), config_in_force(options), options)
    from triton_mutlint.run.showing import show_ir

    with Progress() as progress:
        shown = show_ir(request, stage, wanted, progress)
    write_stdout(fitted("".join(f"{line}\n" for line in _lines(shown, stage, source)), sys.stdout))
    return 0


def _lines(shown: ShownIR, stage: str, source: bool) -> Iterator[str]:
    """The IR under a line that says of what it is, with the margin and, if asked for, the source."""
    at = f"{shown.location.file}:{shown.location.line}"
    chosen = ", ".join(f"{name}={value}" for name, value in shown.choices)
    others = f", one of {len(shown.variants)} variants" if len(shown.variants) > 1 else ""
    yield f"# {at} {shown.name}, {stage} for {shown.target}{f', {chosen}' if chosen else ''}{others}"
    last, texts = None, dict[str, list[str]]()
    for line in shown.lines:
        place = line.place
        if source and place is not None and (place.file, place.line) != last:
            last = place.file, place.line
            if place.file not in texts:
                path = Path(place.file)
                texts[place.file] = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
            text = texts[place.file][place.line - 1:place.line]
            yield f"# {place.file}:{place.line}" + "".join(f"  {one.strip()}" for one in text)
        yield f"{line.mark or ' '} {line.text}".rstrip()
