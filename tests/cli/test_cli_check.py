from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell, finding, report
from triton_mutlint.types import MutlintError, Severity, UsageError
from triton_mutlint.version import __version__


def test_check_is_the_default(shell: Shell) -> None:
    assert shell("kernels.py") == 0
    assert shell.request.arguments == ("kernels.py",)
    assert "k  writes out" in shell.out
    assert shell("check", "kernels.py") == 0
    assert shell.request.arguments == ("kernels.py",)


@pytest.mark.parametrize("arguments", [["./check"], ["check", "check"], ["check", "rules"], ["-q", "./rules"]])
def test_files_named_like_commands_can_be_reached(shell: Shell, arguments: list[str]) -> None:
    assert shell(*arguments) == 0
    assert shell.request.arguments == (arguments[-1],)


def test_options_may_come_before_the_path(shell: Shell) -> None:
    assert shell("-q", "--target", "cuda:80", "a.py", "b.py") == 0
    assert shell.request.arguments == ("a.py", "b.py")
    assert shell.request.targets == ("cuda:80",)


def test_every_option_reaches_the_engine(shell: Shell, tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text("version: 1\n")
    code = shell(
        "k.py", "--spec", "s.yaml", "--target", "cuda:80", "--target", "hip:gfx942", "--max-variants", "7",
        "--opaque-asm", "--import", "--helpers", "--require-spec",
    )  # fmt: skip
    assert code == 0
    request = shell.request
    assert (request.spec, request.use_spec) == (Path("s.yaml"), True)
    assert request.targets == ("cuda:80", "hip:gfx942")
    assert request.max_variants == 7
    assert (request.opaque_asm, request.true_import, request.helpers, request.require_spec) == (True,) * 4
    assert request.cwd == tmp_path


def test_the_defaults_ask_for_nothing(shell: Shell) -> None:
    shell("k.py")
    request = shell.request
    assert (request.spec, request.use_spec, request.targets, request.max_variants) == (None, True, (), 64)
    assert not any((request.opaque_asm, request.true_import, request.helpers, request.require_spec))


def test_no_spec_ignores_even_a_configured_one(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "triton-mutlint.toml").write_text('spec = "s.yaml"\n')
    shell("k.py")
    assert shell.request.spec == tmp_path / "s.yaml"
    shell("k.py", "--no-spec")
    assert (shell.request.spec, shell.request.use_spec) == (None, False)
    shell("k.py", "--isolated")
    assert (shell.request.spec, shell.request.use_spec) == (None, True)


@pytest.mark.parametrize(
    ("severity", "fail_on", "code"),
    [
        (Severity.ERROR, None, 1),
        (Severity.WARNING, None, 0),
        (Severity.WARNING, "warning", 1),
        (Severity.INFO, "warning", 0),
        (Severity.INFO, "info", 1),
        (Severity.ERROR, "info", 1),
        (Severity.ERROR, "never", 0),
    ],
)
def test_exit_codes(shell: Shell, severity: Severity, fail_on: str | None, code: int) -> None:
    shell.behave = lambda request, progress: report(finding(severity))
    options = ["--fail-on", fail_on] if fail_on else []
    assert shell("k.py", *options) == code
    assert shell("k.py", "--exit-zero", *options) == 0


def test_suppressed_findings_do_not_fail(shell: Shell) -> None:
    shell.behave = lambda request, progress: report(finding(Severity.ERROR, suppressed=True))
    assert shell("k.py") == 0


@pytest.mark.parametrize("error", [MutlintError("spec.yaml:3: no"), UsageError("spec.yaml:3: no")])
def test_known_errors_are_one_line(shell: Shell, error: MutlintError) -> None:
    shell.behave = raising(error)
    assert shell("k.py") == 2
    assert shell.err == "triton-mutlint: error: spec.yaml:3: no\n"
    assert shell.out == ""


def raising(error: BaseException):
    def behave(request: object, progress: object) -> object:
        raise error

    return behave


def test_unknown_errors_ask_for_a_report(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.behave = raising(KeyError("boom"))
    assert shell("k.py") == 2
    assert shell.err.startswith("triton-mutlint: internal error: KeyError: 'boom' (test_cli_check.py:")
    assert "Please report it" in shell.err
    assert "Traceback" not in shell.err
    assert shell("k.py", "--debug") == 2
    assert "Traceback" in shell.err
    monkeypatch.setenv("TRITON_MUTLINT_DEBUG", "1")
    assert shell("k.py") == 2
    assert "Traceback" in shell.err


@pytest.mark.parametrize("code", [0, 3, "bye", None])
def test_a_foreign_exit_is_no_verdict(shell: Shell, code: object) -> None:
    shell.behave = raising(SystemExit(code))
    assert shell("k.py") == 2
    assert "internal error" in shell.err


def test_interruption(shell: Shell) -> None:
    shell.behave = raising(KeyboardInterrupt())
    assert shell("k.py") == 130
    assert "Traceback" not in shell.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to do: name a file"),
        (["check"], "Missing argument 'PATH...'"),
        (["k.py", "--frobnicate"], "No such option"),
        (["k.py", "--format", "jsn"], "'jsn' is no format; did you mean 'json'?"),
        (["k.py", "--format", "json", "--format", "text"], "would share one output"),
        (["k.py", "--format", "json=a", "--format", "sarif=./a"], "would share a"),
        (["k.py", "--format", "json="], "names no file"),
        (["k.py", "--output", "k.py"], "must not take the place of Python source"),
        (["k.py", "--format", "json=a", "--output", "b"], "already has its own"),
        (["k.py", "--spec", "absent.yaml"], "absent.yaml"),
        (["k.py", "--max-variants", "0"], "--max-variants"),
        (["k.py", "-q", "-v"], "contradict"),
        (["k.py", "--config", "k.toml", "--isolated"], "k.toml"),
        (["k.py", "--stdin-filename", "x.py"], "needs -"),
        (["k.py", "--select", "E501"], "'E501' is no rule"),
        (["k.py", "--fail-on", "fatal"], "--fail-on"),
        (["k.py", "--format", "json=no/such/folder/x"], "there is no folder no/such/folder"),
    ],
)
def test_usage_errors(shell: Shell, arguments: list[str], message: str) -> None:
    assert shell(*arguments) == 2
    assert message in shell.err
    assert shell.out == ""
    assert shell.requests == []


def test_version_and_help(shell: Shell) -> None:
    assert shell("--version") == 0
    assert shell.out == f"triton-mutlint {__version__}\n"
    for arguments in (["--help"], ["-h"], ["check", "-h"]):
        assert shell(*arguments) == 0
        assert "--max-variants" in shell.out
    assert shell("-h") == 0
    assert "Commands:" in shell.out
    assert shell.out.isascii()


def test_formats_to_files(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("old")
    assert shell("k.py", "--format", "text", "--format", "json=r.json") == 0
    assert "writes out" in shell.out
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["kernels"] == 1
    assert shell("k.py", "--format", "json", "--output", "o.json") == 0
    assert shell.out == ""
    assert (tmp_path / "o.json").read_text() == (tmp_path / "r.json").read_text()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.json", "r.json"]


def test_an_output_that_cannot_be_written_is_an_error(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert shell("k.py", "--output", "folder") == 2
    assert "it is a folder" in shell.err


def test_standard_input(shell: Shell) -> None:
    shell.stdin = "\ufeffx = 'ä'\n".encode()
    assert shell("-", "--stdin-filename", "pkg/k.py") == 0
    assert (shell.request.stdin_text, shell.request.stdin_filename) == ("x = 'ä'\n", "pkg/k.py")
    shell.stdin = b"\xff\xfe"
    assert shell("-") == 2
    assert "not UTF-8" in shell.err


def test_the_snippets_of_standard_input_come_from_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("on disk\n")
    shell.stdin = b"in the buffer\n"
    shell.behave = lambda request, progress: report(finding(Severity.WARNING))
    assert shell("-", "--stdin-filename", "kernels.py") == 0
    assert "in the buffer" in shell.out


@pytest.mark.parametrize(
    ("terminal", "environment", "option", "coloured"),
    [
        (True, {}, "auto", True),
        (False, {}, "auto", False),
        (True, {"NO_COLOR": "1"}, "auto", False),
        (True, {"NO_COLOR": ""}, "auto", True),
        (True, {"TERM": "dumb"}, "auto", False),
        (False, {"FORCE_COLOR": "1"}, "auto", True),
        (True, {"FORCE_COLOR": "0"}, "auto", False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
        (True, {}, "never", False),
        (False, {"NO_COLOR": "1"}, "always", True),
    ],
)
def test_colour(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    environment: dict[str, str],
    option: str,
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shell.terminal = terminal
    assert shell("k.py", "--color", option) == 0
    assert ("\x1b[" in shell.out) is coloured


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
def test_narrow_encodings_get_plain_characters(shell: Shell, encoding: str) -> None:
    shell.encoding = encoding
    kernel = replace(report().kernels[0], name="größe→")
    shell.behave = lambda request, progress: replace(report(), kernels=(kernel,))
    assert shell("k.py") == 0
    assert "1 kernel: 1 analysed - 0 errors" in shell.out


def test_the_width_of_the_terminal_is_used(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    long_note = "word " * 40
    shell.behave = lambda request, progress: replace(report(), notes=(long_note,))
    assert shell("k.py") == 0
    assert max(len(line) for line in shell.out.splitlines()) <= 50


def test_configuration_and_options_merge(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.triton-mutlint]\nignore = ["TML2"]\nextend-select = ["TML302"]\nfail-on = "warning"\n'
        'targets = ["cuda:80"]\nmax-variants = 8\n'
    )
    shell.behave = lambda request, progress: report(finding(Severity.WARNING))
    assert shell("k.py") == 1
    assert shell.request.config.ignore == ("TML2",)
    assert (shell.request.targets, shell.request.max_variants) == (("cuda:80",), 8)
    assert shell("k.py", "--fail-on", "error", "--ignore", "TML1,TML3", "--extend-select", "TML303") == 0
    config = shell.request.config
    assert config.ignore == ("TML1", "TML3")
    assert config.extend_select == ("TML302", "TML303")
    assert config.origins["ignore"] == "the command line"
    assert config.origins["max-variants"] == "pyproject.toml:6"


def test_a_wrong_configuration_names_its_line(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.triton-mutlint]\n\nselct = ["TML1"]\n')
    assert shell("k.py") == 2
    expected = "triton-mutlint: error: pyproject.toml:3: unknown key 'selct'; did you mean 'select'?\n"
    assert shell.err == expected


def test_rules_are_listed_and_explained(shell: Shell) -> None:
    assert shell("rules") == 0
    lines = shell.out.splitlines()
    assert lines[0].split()[:3] == ["TML101", "undeclared-mutation", "error"]
    assert [line[:6] for line in lines] == sorted(line[:6] for line in lines)
    assert shell("rule", "tml201") == 0
    assert shell.out.startswith("TML201 unanalyzable-op (warning by default)\n\n")
    by_code = shell.out
    assert shell("rule", "unanalyzable-op") == 0
    assert shell.out == by_code


@pytest.mark.parametrize(("name", "nearest"), [("TML1O1", "TML101"), ("undeclared-mutatoin", "undeclared-mutation")])
def test_an_unknown_rule_names_the_nearest(shell: Shell, name: str, nearest: str) -> None:
    assert shell("rule", name) == 2
    assert f"there is no rule {name!r}; did you mean {nearest!r}?" in shell.err


def test_a_number_is_no_misspelling_of_another(shell: Shell) -> None:
    assert shell("rule", "tml999") == 2
    assert "there is no rule 'tml999'; 'triton-mutlint rules' lists them" in shell.err
