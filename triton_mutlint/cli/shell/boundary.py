"""The one place where errors become messages and exit codes."""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import io
import os
import sys
from collections.abc import Sequence

import click

from triton_mutlint.cli.app import cli
from triton_mutlint.cli.shell.output import tell

OK, FINDINGS, ERROR, INTERRUPTED = 0, 1, 2, 130
PROGRAM = "triton-mutlint"
COMPLETION_VARIABLE = "_TRITON_MUTLINT_COMPLETE"  # a shell asks through it what may come next; click answers
DEBUG_VARIABLE = "TRITON_MUTLINT_DEBUG"


def tell_of_crashes() -> None:
    """Say on standard error where the process was if native code ends it, as MLIR does where it asserts."""
    with contextlib.suppress(OSError):  # there may be no standard error
        faulthandler.enable(os.dup(2), all_threads=False)  # a copy: what lowers is kept off the terminal


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command line: 0 clean, 1 findings, 2 usage or other error, 130 interrupted."""
    _open_standard_streams()
    debug = "--debug" in arguments or os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
    try:
        outcome = cli.main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
        return outcome if isinstance(outcome, int) else OK
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        tell(shown.getvalue())
        return ERROR
    except SystemExit as error:
        if COMPLETION_VARIABLE in os.environ:  # a shell was answered
            return int(error.code or 0)
        # Only linted code calls sys.exit below here: its code must not pass for a verdict.
        _complain(f"internal error: the run was ended by exit({error.code!r})")
    except Exception as error:  # the outermost boundary: nothing may end in a bare traceback
        _report(error)
        if debug:
            import traceback

            traceback.print_exc()
    return ERROR


def _complain(message: str) -> None:
    tell(f"{PROGRAM}: {message}")


def _report(error: Exception) -> None:
    from triton_mutlint.types import MutlintError, StageError  # here, as `--help` does without

    if isinstance(error, StageError) and error.failure.hint:
        _complain(f"error: {error}\n  help: {error.failure.hint}")
    elif isinstance(error, MutlintError):
        _complain(f"error: {error}")
    elif isinstance(error, OSError) and (reason := _surroundings(error)):
        _complain(f"error: {reason}")
    else:
        _report_internal(error)


def _surroundings(error: OSError) -> str | None:
    """What the system around the run lacks, where that explains an error that names no file."""
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT) and error.filename is None:
        return f"cannot write to standard output: {error.strerror}"
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return "the current directory does not exist any more: change to another"
    return None


def _report_internal(error: Exception) -> None:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""  # noqa: PTH119
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    _complain(f"internal error: {what}{place}")
    tell("This is a defect of triton-mutlint. Please report it, with the input that caused it and the\n"
         f"traceback that {DEBUG_VARIABLE}=1 (or --debug) prints.")


def _open_standard_streams() -> None:
    """A closed stdin, stdout or stderr becomes the null device, or the next file opened would take its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123 - lives as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123
