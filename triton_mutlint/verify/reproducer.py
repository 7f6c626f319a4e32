"""Scripts that show again what a kernel or an op did, by themselves."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from pprint import pformat

from triton_mutlint.types import UsageError
from triton_mutlint.verify.model import Verified
from triton_mutlint.verify.running.server import run_jobs
from triton_mutlint.verify.wire import EAGER, Finished, Job, OpJob, RunResult
from triton_mutlint.version import __version__

_SCRIPT = '''\
"""{title} (triton-mutlint {version}). Run it: it needs triton-mutlint, torch and NumPy.

{what}
"""

from triton_mutlint.verify.reproducer import replay
from triton_mutlint.verify.wire import Job, OpJob, RunCase, Settings, VariantCase, Words

SOURCES = {sources}
JOB = {job}

if __name__ == "__main__":
    raise SystemExit(replay(SOURCES, JOB))
'''


def write_reproducer(job: Job | OpJob, sources: tuple[Path, ...], outcome: Verified,
                     finished: Finished, output: Path | None) -> str:
    """Write the script into `output`, or beside the file of what was run, and return its path.

    A kernel's has its `sources`; that of an op imports its module from where that stands. Raises UsageError where the
    script cannot be written.
    """
    texts: dict[str, str] = {}
    only: Job | OpJob
    if isinstance(job, OpJob):
        title, what = f"What {job.name} does", "\n".join(f"It {d.message}." for d in outcome.disagreements)
        only, beside = _of_op(job, outcome), Path(job.roots[-1], job.display)
    else:
        title, beside = "A write that was not predicted", Path(job.path)
        only, texts, what = _of_kernel(job, sources, outcome, finished)
    name = re.sub(r"[^A-Za-z0-9_]", "_", job.name)
    path = (output or beside.parent) / f"mutlint_{name}_{job.line}.py"
    script = _SCRIPT.format(title=title, version=__version__, what=what.replace('"""', "'''"),
                            sources=pformat(texts, width=118), job=pformat(only, width=118))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return str(path)


def _of_kernel(job: Job, sources: tuple[Path, ...], outcome: Verified,
               finished: Finished) -> tuple[Job, dict[str, str], str]:
    """The run that shows the failure, the texts of the files that it needs, and what it shows."""
    case = next((job.runs[result.run] for result in finished.results
                 if result.status == "ok" and any(is_wrong for _, is_wrong in _shown(job, result))), None)
    root = Path(os.path.commonpath([str(p.parent if not p.is_dir() else p) for p in sources]))
    texts = {str(p.relative_to(root)): p.read_text(encoding="utf-8", errors="replace") for p in sources if p.is_file()}
    path = str(Path(job.path).relative_to(root))
    names = ", ".join(dict.fromkeys((*outcome.missed, *outcome.leaked)))
    what = f"`{job.name}` of {job.display} writes {names}{f': {case}' if case else ''}."
    only = replace(job, path=path, text="", runs=(case,) if case else job.runs)
    return only, {**texts, path: job.text}, what


def _of_op(job: OpJob, outcome: Verified) -> OpJob:
    """The call that shows the first disagreement, and the paths that give something else."""
    case = next((d.given for d in outcome.disagreements if d.given is not None), None)
    apart = dict.fromkeys(p.name for p in outcome.paths if p.status == "differs")
    return replace(job, given=(case,) if case else job.given, runs=(EAGER, *apart),
                   declared=tuple(a.name for a in outcome.parameters if a.declared is not False))


def replay(sources: Mapping[str, str], job: Job | OpJob) -> int:
    """Run what a reproducer holds, and print what its runs showed; 1 if they show a failure again."""
    with tempfile.TemporaryDirectory(prefix="mutlint-") as folder:
        for relative, text in sources.items():
            path = Path(folder) / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        there = replace(job, path=str(Path(folder) / job.path), text=sources[job.path]) if isinstance(job, Job) else job
        finished = run_jobs([there])[0]
    shown = [line for result in finished.results for line in _shown(job, result)]
    print("\n".join([line for line, _ in shown] or [finished.refused or "nothing ran"]))  # noqa: T201 - its result
    return int(any(is_wrong for _, is_wrong in shown))


def _shown(job: Job | OpJob, result: RunResult) -> Iterator[tuple[str, bool]]:
    """Lines on one run, each with whether it tells of a failure."""
    if isinstance(job, Job):
        variant, run = job.variant_of(result.run), str(job.runs[result.run])
        told = [(result.changed, variant.written, "written"), (result.through, variant.through, "written through"),
                (result.leaked, variant.written, "written though only clones were passed")]
        unlike = "which was not predicted"
    else:
        run = f"{job.runs[result.run]}: {', '.join(f'{n}={t}' for n, t in result.given.items())}"
        told, unlike = [((*result.changed, *result.same), job.declared, "written")], "which is not declared"
        yield from ((f"{run}: a result shares memory with {name}", True) for name in result.returned)
    lines = [(f"{run}: {name} is {what}{'' if name in expected else f', {unlike}'}", name not in expected)
             for names, expected, what in told for name in names]
    yield from lines
    if result.status != "ok" or not (lines or result.returned):
        said = f"{result.status}: {result.message}" if result.status != "ok" else result.message
        yield f"{run}: {said or 'nothing is written'}", result.status == "differs"
