"""A file that shows a failure again, with nothing of the project around it but the sources that took part."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from pprint import pformat

from triton_mutlint.types import UsageError
from triton_mutlint.verify.jobs import run_jobs
from triton_mutlint.verify.model import KernelOutcome
from triton_mutlint.verify.wire import Job, RunCase, RunResult
from triton_mutlint.version import __version__

SCRIPT = '''\
"""{title} (triton-mutlint {version}). Run it: it needs triton-mutlint, torch and NumPy.

{what}
"""

from {module} import replay
{imports}

JOB = {job}
{rest}
if __name__ == "__main__":
    raise SystemExit(replay({arguments}))
'''


def write_reproducer(job: Job, case: RunCase | None, sources: tuple[Path, ...], outcome: KernelOutcome,
                     output: Path | None) -> str:
    """Write the script and return its path. Raises UsageError where that cannot be done.

    It goes into `output`, or beside the kernel's file.
    """
    names = ", ".join(dict.fromkeys((*outcome.missed, *outcome.leaked)))
    what = f"`{job.kernel}` of {job.display} writes {names}: {case}." if case else f"`{job.kernel}` writes {names}."
    root = Path(os.path.commonpath([str(p.parent if not p.is_dir() else p) for p in sources]))
    texts = {str(p.relative_to(root)): p.read_text(encoding="utf-8", errors="replace") for p in sources if p.is_file()}
    texts[str(Path(job.path).relative_to(root))] = job.text
    only = replace(job, path=str(Path(job.path).relative_to(root)), text="", runs=(case,) if case else job.runs)
    script = SCRIPT.format(
        title="A write that was not predicted", version=__version__, what=what.replace('"""', "'''"), module=__name__,
        imports="from triton_mutlint.verify.wire import Job, RunCase, Settings, VariantCase",
        job=pformat(only, width=118), rest=f"SOURCES = {pformat(texts, width=118)}\n", arguments="SOURCES, JOB")
    return write_script(output or Path(job.path).parent, job.kernel, job.line, script)


def write_script(folder: Path, name: str, line: int, script: str) -> str:
    """Write the script that shows what `name`, in `line` of its file, does. Raises UsageError where it cannot be."""
    path = folder / f"mutlint_{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{line}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return str(path)


def replay(sources: dict[str, str], job: Job) -> int:
    """Run what a reproducer holds, and print what its run showed; 1 if it shows a failure again."""
    with tempfile.TemporaryDirectory(prefix="mutlint-") as name:
        for relative, text in sources.items():
            path = Path(name) / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        path = Path(name) / job.path
        there = replace(job, path=str(path), text=path.read_text(encoding="utf-8"))
        finished = run_jobs([there])[0]
    lines = [line for result in finished.results for line in _shown(job, result)]
    print("\n".join(lines or [finished.refused or "nothing ran"]))  # noqa: T201 - a script's result
    return int(any("not predicted" in line for line in lines))


def _shown(job: Job, result: RunResult) -> list[str]:
    run, variant = job.runs[result.run], job.variant_of(result.run)
    if result.status != "ok":
        return [f"{run}: {result.status}: {result.message}"]
    told = (
        (result.changed, variant.written, "written"),
        (result.leaked, variant.written, "written though only clones were passed"),
        (result.through, variant.through, "written through"),
    )
    lines = [f"{run}: {name} is {what}{'' if name in predicted else ', which was not predicted'}"
             for names, predicted, what in told for name in names]
    return lines or [f"{run}: nothing is written"]
