"""The command as a process: start-up cost, signals, pipes and closed streams."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.interrupts import hears_interrupts
from tests.helpers.places import ROOT

FAKE = f"""\
import sys, time, types
sys.path.insert(0, {str(ROOT)!r})
import triton_mutlint.run
from tests.helpers import cli_shell
def run(request, progress):
    print("begun", file=sys.__stderr__, flush=True) if SECONDS > 9 else None
    for i in range(SECONDS * 20):
        progress(i, SECONDS * 20, "kernels.py::k")
        time.sleep(0.05)
    return cli_shell.report(cli_shell.finding(cli_shell.Severity.ERROR))
sys.modules["triton_mutlint.run.run"] = triton_mutlint.run.run = types.SimpleNamespace(run=run)
from triton_mutlint.__main__ import main
main()
"""


REAL = [sys.executable, "-c", "from triton_mutlint.__main__ import main; main()"]


def command(seconds: int = 0, *arguments: str) -> list[str]:
    return [sys.executable, "-c", f"SECONDS = {seconds}\n{FAKE}", "k.py", *arguments]


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_heavy_is_imported_to_say_who_we_are(argument: str) -> None:
    code = (
        "import sys; from triton_mutlint.cli.shell.boundary import run; run([sys.argv[1]]); "
        "print([m for m in ('triton', 'torch', 'rich', 'yaml', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, argument], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_module_and_the_exit_code() -> None:
    done = subprocess.run(command(), capture_output=True, text=True)
    assert done.returncode == 1
    assert "k  writes out" in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_interrupted_at_once_without_a_traceback() -> None:
    process = subprocess.Popen(command(30), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=hears_interrupts)
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - start < 10  # of the 30 s that the run would take
    assert (process.returncode, out, err.strip()) == (130, "", "")


def test_a_reader_that_has_gone_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command(), stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    done = subprocess.run(["bash", "-c", f'"$@" {closed}', "bash", *command()], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command(), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "triton-mutlint: error: cannot write to standard output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["rules"]])
def test_a_full_disk_is_told_whatever_is_asked(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(REAL + arguments, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "triton-mutlint: error: cannot write to standard output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_the_exit_code_holds_where_the_message_cannot_be_written() -> None:
    with Path("/dev/full").open("w") as full:
        assert subprocess.run([*REAL, "--no-such-option"], stderr=full).returncode == 2


def test_a_closed_standard_input_cannot_be_linted() -> None:
    done = subprocess.run(["bash", "-c", '"$@" <&-', "bash", *REAL, "-"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "triton-mutlint: error: standard input is closed\n")


def test_a_current_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'rmdir "$PWD" && exec "$@"'
    done = subprocess.run(["bash", "-c", script, "bash", *REAL, "k.py"], cwd=gone, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "triton-mutlint: error: the current directory does not exist any more: change to another\n"
    )


def on_a_terminal(seconds: int, **environment: str) -> str:
    """What the command prints on stderr when that is a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(command(seconds), stdout=subprocess.DEVNULL, stderr=terminal,
                               env={**os.environ, **environment})
    os.close(terminal)
    seen = b""
    while select.select([controller], [], [], 20)[0]:
        try:
            seen += os.read(controller, 4096)
        except OSError:  # the other end is closed
            break
    process.wait(timeout=10)
    os.close(controller)
    return seen.decode()


@pytest.mark.slow
def test_progress_on_a_long_run_is_erased() -> None:
    seen = on_a_terminal(2)
    assert "/40 kernels.py::k" in seen
    assert seen.endswith("\r\x1b[K")


def test_no_progress_on_a_short_run() -> None:
    assert on_a_terminal(0) == ""


@pytest.mark.slow
def test_no_progress_where_no_line_can_be_erased() -> None:
    assert on_a_terminal(2, TERM="dumb") == ""


@pytest.mark.slow
def test_progress_fits_a_narrow_terminal() -> None:
    lines = on_a_terminal(2, COLUMNS="14").split("\r\x1b[K")
    assert {len(line) for line in lines} <= {0, 13}
    assert any("/40 kernels" in line for line in lines)


def test_the_package_imports_next_to_nothing_before_interrupts_are_caught() -> None:
    code = "import sys; before = {*sys.modules}; import triton_mutlint.__main__; print(sorted({*sys.modules} - before))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
                          capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(
        ["__future__", "triton_mutlint", "triton_mutlint.__main__", "triton_mutlint.version"])
