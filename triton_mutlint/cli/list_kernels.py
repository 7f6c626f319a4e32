"""`triton-mutlint list`: the kernels, their signatures, and where each part came from. Nothing is lowered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import click

from triton_mutlint.basics import flat, plural, visible
from triton_mutlint.cli.shell.asked import CONTEXT, asked, refuse_stdin, shared
from triton_mutlint.cli.shell.output import Progress, fitted, write_stdout
from triton_mutlint.config.request import Request
from triton_mutlint.run.lint import Question, Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.spec.entries import giver_in_source
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.values import distinct
from triton_mutlint.types import Failure, FileResult, Kernel, KernelReport, Location, Plan

_ALL = 4  # of a parameter's types shown in full
_BOUND = "\0"  # stands for a space at which no line is broken
# What begins the reason of a guess -> where it comes from; what is not here comes from the body.
_ORIGINS = (
    ("annotated ", "annotation"), ("launch site ", "launch site"), ("its default is ", "default"),
    ("autotune ", "autotune"), ("by its name", "name"), ("nothing tells", "name"),
)  # fmt: skip
Row = dict[str, Any]  # one jit function or file, as `--format json` has it; `error` is why it has no signature


@click.command("list", context_settings=CONTEXT)
@shared("paths", "helpers", "format_", "spec", "no_spec", "max_variants", "timeout", "confine", "true_import",
        "config_file", "isolated")
def command(paths: tuple[str, ...], **options: Any) -> int:
    """List the kernels of files, one a line, with the signature that each would be analysed with.

    Brackets say where a parameter's type came from (spec, annotation, default, autotune, heuristics,
    launch site, usage, name). Nothing is compiled, so Triton may still refuse a guess.

    Exit code: 0, or 1 when a file could not be loaded.
    """
    refuse_stdin(paths, "list")
    request = asked(paths, options)
    with Progress() as progress:
        rows = list_kernels(request, progress)
    if options["format_"] == "json":
        write_stdout(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    else:
        write_stdout(visible(fitted("".join(f"{_line(row)}\n" for row in rows), sys.stdout).replace(_BOUND, " ")))
    return int(any(row["kind"] == "file" for row in rows))


def _line(row: Row) -> str:
    head, error = f"{flat(row['file'])}:{row['line']}", row["error"]
    if error is not None:
        hint = f" ({error['hint']})" if error["hint"] else ""
        name = f" {row['name']}" if row["name"] else ""
        return f"{head}{name}  {error['stage']} failed: {flat(error['message'] + hint)}"
    parts = []
    for p in row["parameters"]:
        types = p["types"] if len(p["types"]) <= _ALL else [*p["types"][:_ALL], f"{len(p['types']) - _ALL} more"]
        parts.append(f"{p['name']}: {' | '.join(types)} [{p['from']}]".replace(" ", _BOUND))
    signature = ", ".join(parts)
    planned, total = row["variants"]["planned"], row["variants"]["total"]
    variants = f"{planned} of {total} variants" if total > planned else plural(planned, "variant")
    return f"{head} {row['name']}({signature})  {row['kind']}, {variants}"


def list_kernels(request: Request, progress: Progress) -> list[Row]:
    """Every kernel of the files that `request` names (and every helper, if asked), by place.

    Raises UsageError for a spec that cannot be used; other failures are rows.
    """
    with compiling():
        sources, failures = sources_of(request)
        run = Run(request, progress)
        files = run.files(sources, request.jobs, Question(partial(_answer, run), str, of_listed=True))
    rows: list[tuple[Location, Row]] = []
    for file in files:
        lost = {(report.location, report.name): report.failure for _, report in file.reports}
        for kernel in file.listed if request.helpers else file.kernels:
            key = (kernel.location, kernel.name)
            told = json.loads(run.answers[key]) if key in run.answers else _signature(failure=lost.get(key))
            kind = "helper" if kernel.is_helper else "kernel"
            rows.append((kernel.location, _row(kernel.location, kernel.name, kind, told)))
    unloaded = [(file.source.display, name, f) for file in files for name, f in file.failures]
    for file_name, name, failure in (*unloaded, *((file_name, "", failure) for file_name, failure in failures)):
        place = failure.location or Location(file_name, 1)
        rows.append((place, _row(place, name, "kernel" if name else "file", _signature(failure=failure))))
    return [row for _, row in sorted(rows, key=lambda pair: (pair[0], pair[1]["name"] or ""))]


def _row(place: Location, name: str, kind: str, told: Row) -> Row:
    return {"name": name or None, "file": place.file, "line": place.line, "kind": kind, **told}


def _signature(plan: Plan | None = None, parameters: Iterable[Row] = (), failure: Failure | None = None) -> Row:
    return {
        "signature_origin": plan.origin.value if plan else None,
        "variants": {"planned": len(plan.variants) if plan else 0, "total": plan.total if plan else 0},
        "parameters": list(parameters),
        "error": failure and {"stage": failure.stage.value, "message": failure.message, "hint": failure.hint},
    }


def _answer(run: Run, file: FileResult, kernel: Kernel, _: KernelReport) -> str:
    """The signature of one kernel as JSON, from the process of its file."""
    entry, spec = run.specs.entry(kernel), run.specs.of(kernel.source)
    plan = run.attempt(kernel, lambda: run.plan(file, kernel, entry))
    told = _signature(failure=plan) if isinstance(plan, Failure) else _signature(
        plan, _parameters(kernel, entry, spec, plan))
    return json.dumps(told)


def _parameters(kernel: Kernel, entry: KernelSpec | None, spec: Spec | None, plan: Plan) -> Iterator[Row]:
    """Each parameter: its types over the variants, where they come from, and more of what was inferred."""
    for index, parameter in enumerate(kernel.parameters):
        name = parameter.name
        reason = plan.reasons.get(name, "")
        line = kernel.autotune.line if kernel.autotune else 0
        if name in plan.inferred:
            origin = origin_of(reason)
        elif entry is not None and (entry.arg(name) is not None or entry.compact is not None):
            origin = "spec"  # a compact signature gives all that nothing else does
        elif (giver := giver_in_source(kernel, parameter)) in ("autotune", "heuristics"):
            origin = giver
            if giver == "autotune":
                reason = f"autotune configs, line {line}" if line else "autotune configs"
        else:
            is_given = spec is not None and spec.default_for(name, is_value=parameter.is_constexpr) is not None
            origin = "spec" if is_given else "default"
        types = dict.fromkeys(str(arg) for arg in distinct(v.args[name] for v in plan.variants))
        yield {"name": name, "index": index, "types": list(types), "from": origin, "reason": reason}


def origin_of(reason: str) -> str:
    """Where a guess comes from, by the reason that inference gives for it."""
    return next((origin for start, origin in _ORIGINS if reason.startswith(start)), "usage")
