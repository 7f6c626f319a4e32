"""The tables of docs/corpus.md.

    CORPUS=all python -m tests.helpers.corpus.report [--results FOLDER]

Surveys every selected package (docs/corpus.md says which those are), or reads surveys that are in
FOLDER as `<package>.json`, and prints Markdown.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from pathlib import Path

from tests.helpers.corpus.measure import Tally, is_foreign, kind, measure, read, tally
from tests.helpers.corpus.packages import Package, selected
from tests.helpers.corpus.survey import FailedKernel, Survey

_GIVE = r"give other arguments in the spec under .*?; it was lowered with"
Surveys = Sequence[tuple[Package, Survey]]


def packages_table(surveys: Surveys) -> Iterator[str]:
    """What loads and what is analysed of each package."""
    yield "| package | version | files | jit functions | loaded | kernels | other Triton | analysed | not |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    tallies = [tally(s) for _, s in surveys]
    for (package, survey), t in zip(surveys, tallies, strict=True):
        yield f"| {package.name} | {package.version} | {survey.files} {_shares(t)}"
    if len(tallies) > 1:
        yield f"| **all** | | {sum(s.files for _, s in surveys)} {_shares(reduce(add, tallies))}"


def _shares(t: Tally) -> str:
    return (f"| {t.functions} | {t.loaded:.1%} | {t.kernels} | {t.foreign_kernels} | {t.analyzed:.1%} "
            f"| {t.failed} |")


def cost_table(surveys: Surveys) -> Iterator[str]:
    """Time and memory of each run."""
    yield "| package | seconds | loading | in Triton's frontend | peak memory | slowest kernel |"
    yield "|---|---:|---:|---:|---:|---|"
    for package, s in surveys:
        label, seconds = next(iter(s.slowest.items()))
        name = label.rpartition(": ")[2]
        yield (f"| {package.name} | {s.seconds:.0f} | {s.load_seconds:.0f} | {s.lower_seconds:.0f} "
               f"| {s.peak_mib:.0f} MiB | `{name}`, {seconds:.0f} s |")


def reasons_table(surveys: Surveys) -> Iterator[str]:
    """Why kernels were not analysed, the most frequent reason first, with an example."""
    groups: dict[tuple[bool, str, str], list[tuple[Package, FailedKernel]]] = {}
    for package, survey in surveys:
        for failed in survey.failed:
            groups.setdefault((is_foreign(failed), failed.stage, kind(failed.message)), []).append((package, failed))
    yield "| kernels | stage | reason | for example | what to add |"
    yield "|---:|---|---|---|---|"
    for (foreign, stage, _), members in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1]), g[0])):
        package, first = members[0]
        hint = "another Triton" if foreign else _cell(re.sub(_GIVE, "arguments other than", first.hint))
        yield (f"| {len(members)} | {stage} | {_cell(first.message)} "
               f"| {package.name} `{first.file}:{first.line}` {first.name} | {hint} |")


def _cell(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line.replace("|", "\\|").replace("`", "")[:110]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path)
    folder = parser.parse_args().results
    surveys = [(p, read(folder / f"{p.name}.json") if folder else measure(p)[0]) for p in selected()
               if not folder or (folder / f"{p.name}.json").exists()]
    for table in (packages_table, cost_table, reasons_table):
        print("\n".join(table(surveys)), end="\n\n")  # noqa: T201


if __name__ == "__main__":
    main()
