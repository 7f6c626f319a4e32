"""A script that shows again what an op did; it imports the op's module from where that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from pprint import pformat

from triton_mutlint.verify.jobs import run_jobs
from triton_mutlint.verify.model import OpOutcome
from triton_mutlint.verify.ops.judging import failing_case
from triton_mutlint.verify.ops.wire import EAGER, OpJob, OpRun
from triton_mutlint.verify.verifying import SCRIPT, write_script
from triton_mutlint.version import __version__


def write_reproducer(job: OpJob, outcome: OpOutcome, folder: Path) -> str:
    """Write the script and return its path. Raises UsageError where that cannot be done."""
    case = failing_case(outcome)
    apart = dict.fromkeys(p.name for p in outcome.paths if p.status == "differs")
    runs = (OpRun(EAGER), *(OpRun(path) for path in apart))
    only = replace(job, given=(case,) if case else job.given, runs=runs)
    declared = [a.name for a in outcome.parameters if a.declared is not False]
    script = SCRIPT.format(
        title=f"What {job.name} does", version=__version__, module=__name__,
        what="\n".join(f"It {d.message}." for d in outcome.disagreements).replace('"""', "'''"),
        imports="from triton_mutlint.verify.ops.wire import OpJob, OpRun, Words\n"
                "from triton_mutlint.verify.wire import Settings",
        job=pformat(only, width=118), rest=f"DECLARED = {declared}\n", arguments="JOB, DECLARED")
    return write_script(folder, job.name, job.line, script)


def replay(job: OpJob, declared: Sequence[str]) -> int:
    """Run what a reproducer holds, and print what its runs showed; 1 if they show a disagreement again."""
    finished = run_jobs([job])[0]
    lines = [finished.refused] if finished.refused else []
    failed = False
    for result in finished.results:
        path, call = job.runs[result.run].path, ", ".join(f"{n}={t}" for n, t in result.given.items())
        told = [f"{name} is written{'' if name in declared else ', which is not declared'}"
                for name in (*result.changed, *result.same)]
        told += [f"a result shares memory with {name}" for name in result.returned]
        failed |= bool(result.returned) or result.status == "differs" or any("not declared" in t for t in told)
        lines.append(f"{path}: {call}: {'; '.join(told) or result.message or 'nothing is written'}")
    print("\n".join(lines))  # noqa: T201 - a script's result
    return int(failed)
