"""`triton-mutlint record`: run a program, and write the signatures of its launches into a spec."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from triton_mutlint.basics import DEVICE_NODES, UsageError
from triton_mutlint.cli.shell.asked import CONTEXT
from triton_mutlint.cli.shell.output import check_writable, tell

WITHOUT_TORCH = ".no-torch"  # of the file that a recorded Python leaves where it finds no torch


@click.command(context_settings={**CONTEXT, "allow_interspersed_args": False})
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              default=Path("triton-mutlint.yaml"), help="The spec to write or add to (triton-mutlint.yaml).")
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error what was recorded.")
@click.argument("program", nargs=-1, required=True, metavar="-- PROGRAM...")
def command(output: Path, verbose: bool, program: tuple[str, ...]) -> int:
    """Run a Python program, and note in a spec how it launches its kernels: types, constexprs, some values.

    Launches of several runs are collected; what you wrote into the spec stays. On a machine without a GPU, set
    TRITON_INTERPRET=1: what Triton's interpreter launches is noted as well. `import triton_mutlint.record` does the
    same from within. The program needs torch, as Triton does to launch kernels.

    \b
    Examples:
      triton-mutlint record -- python train.py --steps 2
      triton-mutlint record -o kernels.yaml -- pytest tests/test_kernels.py

    Exit code: the program's own; 127 when it cannot be started.
    """
    check_writable(output)
    with tempfile.TemporaryDirectory(prefix="mutlint-record-") as folder:
        raw = Path(folder) / "launches.jsonl"
        raw.touch()
        ended = _run(program, raw)
        if ended is None:
            return 127
        code, interrupted = ended
        _merge(raw, output, verbose, _why_none(code, interrupted))
    return code if code >= 0 else 128 - code


def _why_none(code: int, interrupted: bool) -> str:
    """Why there may be no launches of a program that ended so."""
    if interrupted or code in (-signal.SIGINT, 128 + signal.SIGINT):
        return "the program was interrupted before one"
    if code < 0:
        return f"the program was ended by signal {-code} ({signal.strsignal(-code)}) before one"
    failed = f", and ended with exit code {code}" if code else ""
    return f"the program launched no Triton kernel{failed}, or its Python ignores PYTHONPATH (-I, -E)"


def _run(program: tuple[str, ...], raw: Path) -> tuple[int, bool] | None:
    """How the program ended (below 0: a signal), and whether Ctrl-C was pressed; None if it could not be started."""
    inject = str(Path(__file__).resolve().parent.parent / "recording" / "inject")
    paths = [inject, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TRITON_MUTLINT_RECORD_RAW": str(raw)}
    try:
        process = subprocess.Popen(program, env=environment)  # noqa: S603 - the program the user names
    except OSError as error:
        hint = f"; give the command that runs it: triton-mutlint record -- python {shlex.join(program)}"
        hint = hint if program[0].endswith(".py") else ""
        tell(f"triton-mutlint: error: cannot run {program[0]}: {error.strerror}{hint}")
        return None
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))  # it is the program's to answer
    try:
        code = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return code, bool(pressed)


def _advice(raw: Path) -> str:
    """What the program may have lacked to launch a kernel: torch in its Python, or a GPU."""
    if raw.with_suffix(WITHOUT_TORCH).exists():
        return "; its Python has no torch, which Triton needs to launch kernels: pip install torch numpy"
    if "TRITON_INTERPRET" in os.environ or any(Path(node).exists() for node in DEVICE_NODES):
        return ""
    return "; no GPU was found here: with TRITON_INTERPRET=1 in its environment a program runs its kernels on the CPU"


def _merge(raw: Path, output: Path, verbose: bool, why_none: str) -> None:
    """Problems are told, and leave the program's exit code as it is."""
    if not raw.stat().st_size:
        tell(f"triton-mutlint: no launch was recorded: {why_none}{_advice(raw)}")
        return
    from triton_mutlint.recording.merging import merge_files

    os.environ.pop("TRITON_INTERPRET", None)  # it was for the program; under it nothing can be loaded here
    try:
        found = merge_files(raw, output.absolute())
    except UsageError as error:
        tell(f"triton-mutlint: error: {error}")
        return
    if verbose:
        for name in found.changed:
            tell(f"recorded {name}")
        for remark in found.remarks:
            tell(f"not recorded: {remark}")
        sys.stderr.flush()
