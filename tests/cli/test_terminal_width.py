"""Commands that print long lines break them between words on a terminal, and keep them whole elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell, Stream
from triton_mutlint.cli.app import cli
from triton_mutlint.cli.shell.output import fitted
from triton_mutlint.rules import RULES

KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def accumulate_gradients(grad_output_ptr, grad_input_ptr, weight_ptr, n_rows, FLAG: tl.constexpr = True):
    tl.store(grad_input_ptr, tl.load(grad_output_ptr) * tl.load(weight_ptr) * n_rows)


@triton.jit
def needs(x_ptr):
    tl.store(x_ptr, tl.arange(0, 16) + 1 + MISSING)


from elsewhere import MISSING
"""
WIDE = 72


@pytest.fixture
def terminal(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    (tmp_path / "kernels.py").write_text(KERNELS)
    monkeypatch.setenv("COLUMNS", str(WIDE))
    shell.terminal = True
    return shell


@pytest.mark.parametrize("line", [
    ("list", "kernels.py"), ("rules",), ("check", "kernelz.py::x", "--spec", "a file that is not there.yaml"),
    ("rule", "undeclared-mutations"), ("chekc",),
])  # fmt: skip
def test_no_line_is_wider_than_the_terminal(terminal: Shell, line: tuple[str, ...]) -> None:
    terminal(*line)
    broken = (terminal.out, terminal.left)
    terminal.terminal = False
    terminal(*line)
    assert any(len(shown) > WIDE for text in (terminal.out, terminal.err) for shown in text.splitlines())
    assert all(len(shown) <= WIDE for text in broken for shown in text.splitlines()), broken
    assert [text.split() for text in broken] == [terminal.out.split(), terminal.err.split()]


def test_what_init_says_of_kernels_is_broken_and_its_diff_is_not(terminal: Shell, tmp_path: Path) -> None:
    (tmp_path / "a_module_with_a_long_name_that_says_all.py").write_text(KERNELS.replace("needs", "needs_" + "x" * 30))
    terminal("init", "--dry-run", ".")
    assert "not analysed:" in terminal.err
    assert all(len(line) <= WIDE or " " not in line.strip() for line in terminal.left.splitlines())
    head = "# Kernel signatures and the parameters that each kernel writes, begun by `triton-mutlint init`."
    assert head in terminal.out


def test_a_parameter_of_the_list_stays_on_one_line(terminal: Shell) -> None:
    terminal("list", "kernels.py")
    assert "\0" not in terminal.out
    assert "FLAG: True [default]" in terminal.out
    assert sum(line.count("_ptr: *fp32 [usage]") for line in terminal.out.splitlines()) == 3


def test_the_page_of_a_rule_is_broken_between_words(terminal: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert terminal("rule", "TML101") == 0
    assert terminal.out.split()[5:] == RULES["TML101"].doc.split()
    assert [line for line in terminal.out.splitlines() if len(line) > 60 and " " in line] == []


def test_a_word_is_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = "a/path/to/a/file-with-hyphens/that/is/longer/than/the/line.py"
    text = f"{path}:1  cannot be read\n\n  done\n"
    assert fitted(text, Stream(terminal=True), indent=2) == f"{path}:1\n  cannot be read\n\n  done\n"
    assert fitted(text, Stream()) == text


@pytest.mark.parametrize("command", ["", *sorted(cli.commands)])
def test_help_fits_eighty_cells(terminal: Shell, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert terminal(*filter(None, [command, "--help"])) == 0
    assert [line for line in terminal.out.splitlines() if len(line) > 80] == []
