"""The work of `verify`: settle what is asked, run it, print what it found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli.shell.options import configured, merged, refuse_exclusive
from triton_mutlint.cli.shell.output import is_unicode, use_color, width, write_stdout
from triton_mutlint.cli.shell.progress import Progress
from triton_mutlint.config.request import Request
from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.sources import SourceLines

_EXCLUSIVE = (("spec", "no_spec"), ("quiet", "verbose"), ("config_file", "isolated"))


def verify(paths: tuple[str, ...], options: dict[str, Any]) -> int:
    """The exit code of `verify PATHS`; raises click.UsageError and MutlintError for what cannot be done."""
    request = _request(paths, options)
    from triton_mutlint.verify import json_report, text, verifying  # here: a wrong option is told at once
    from triton_mutlint.verify.wire import Settings

    settings = Settings(
        options["device"], options["runs"], options["timeout"], options["memory"], options["atol"], options["rtol"],
        options["jobs"], request.config.stub_modules, options["true_import"],
    )
    with Progress() as progress:
        report = verifying.verify(request, settings, options["output_dir"], progress)
    if options["format_"] == "json":
        write_stdout(json_report.render(report))
    else:
        look = RenderOptions(
            width=width(), color=use_color(options["color"], sys.stdout), ascii=not is_unicode(sys.stdout),
            quiet=options["quiet"], verbose=options["verbose"], sources=SourceLines({}, request.cwd),
        )
        write_stdout(text.render(report, look))
    return int(report.is_failure)


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> Request:
    if "-" in paths:
        raise click.UsageError("verify reads files, not standard input (-)")
    refuse_exclusive(options, _EXCLUSIVE)
    file = configured(options)
    config = merged(file, {name: options[name] for name in ("spec", "max_variants")})
    return Request(
        tuple(dict.fromkeys(paths)), Path.cwd(), spec=None if options["no_spec"] else config.spec,
        use_spec=not options["no_spec"], targets=config.targets[:1], max_variants=config.max_variants,
        opaque_asm=config.opaque_asm, true_import=options["true_import"], config=config,
    )
