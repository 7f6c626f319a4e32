"""`triton-mutlint list`: the kernels, their signatures, and where each part came from."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triton_mutlint.cli.options import configured, merged
from triton_mutlint.cli.output import fitted, write_stdout
from triton_mutlint.config.request import Request

if TYPE_CHECKING:  # loading kernels is slow to import, and `--help` does without
    from triton_mutlint.run.listing import ListedKernel, ListedParameter

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_ALL = 4  # of a parameter's types shown in full
_BOUND = "\0"  # stands for a space at which no line is broken


@click.command("list", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--helpers", is_flag=True, help="List jit functions that other jit functions call, too.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="text or json.")
@click.option("--spec", type=_FILE, metavar="FILE", help="Use this spec, not the nearest one.")
@click.option("--no-spec", is_flag=True, help="Use no spec: guess all arguments.")
@click.option("--max-variants", type=click.IntRange(min=1), metavar="N", help="Analyse at most N of a kernel (64).")
@click.option("--import", "true_import", is_flag=True, help="Import the files, which runs all of their code.")
@click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Use this configuration file.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """List the kernels of files, one a line, with the signature that each would be analysed with.

    Brackets say where a parameter's type came from (spec, annotation, default, autotune, heuristics,
    launch site, usage, name). Nothing is compiled, so Triton may still refuse a guess.

    Exit code: 0, or 1 when a file could not be loaded.
    """
    from triton_mutlint.run.listing import list_kernels

    rows = list_kernels(_request(paths, options))
    if options["format_"] == "json":
        write_stdout(json.dumps([_object(row) for row in rows], indent=2, ensure_ascii=False) + "\n")
    else:
        write_stdout(fitted("".join(f"{_line(row)}\n" for row in rows), sys.stdout).replace(_BOUND, " "))
    return int(any(row.failure is not None and not row.name for row in rows))


def _request(paths: tuple[str, ...], options: dict[str, Any]) -> Request:
    if options["spec"] and options["no_spec"]:
        raise click.UsageError("--spec and --no-spec contradict each other")
    if "-" in paths:
        raise click.UsageError("list reads files, not standard input (-)")
    file = configured(options)
    config = merged(file, {name: options[name] for name in ("spec", "max_variants", "helpers")})
    return Request(
        tuple(dict.fromkeys(paths)), Path.cwd(), spec=None if options["no_spec"] else config.spec,
        use_spec=not options["no_spec"], max_variants=config.max_variants, true_import=options["true_import"],
        helpers=config.helpers, config=config,
    )


def _line(row: ListedKernel) -> str:
    head = f"{row.location.file}:{row.location.line}"
    if row.failure is not None:
        hint = f" ({row.failure.hint})" if row.failure.hint else ""
        name = f" {row.name}" if row.name else ""
        return _flat(f"{head}{name}  {row.failure.stage.value} failed: {row.failure.message}{hint}")
    signature = ", ".join(f"{p.name}: {_types(p)} [{p.origin}]".replace(" ", _BOUND) for p in row.parameters)
    return _flat(f"{head} {row.name}({signature})  {'helper' if row.is_helper else 'kernel'}, {_variants(row)}")


def _flat(text: str) -> str:
    return " ".join(part.strip() for part in text.splitlines() if part.strip())


def _types(parameter: ListedParameter) -> str:
    shown = parameter.types[:_ALL]
    rest = len(parameter.types) - len(shown)
    return " | ".join(shown) + (f" | {rest} more" if rest else "")


def _variants(row: ListedKernel) -> str:
    of = f" of {row.total}" if row.total > row.planned else ""
    return f"{row.planned}{of} variant{'' if row.planned == 1 and not of else 's'}"


def _object(row: ListedKernel) -> dict[str, Any]:
    failure = row.failure
    return {
        "name": row.name or None,
        "file": row.location.file,
        "line": row.location.line,
        "kind": "helper" if row.is_helper else "kernel" if row.name else "file",
        "signature_origin": row.origin.value if row.origin else None,
        "variants": {"planned": row.planned, "total": row.total},
        "parameters": [
            {"name": p.name, "index": i, "types": list(p.types), "from": p.origin, "reason": p.reason}
            for i, p in enumerate(row.parameters)
        ],
        "error": failure and {"stage": failure.stage.value, "message": failure.message, "hint": failure.hint},
    }
