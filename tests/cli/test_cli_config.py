"""`triton-mutlint config`: what it shows is what holds."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tests.helpers.cli_shell import Shell
from tests.helpers.places import ROOT
from triton_mutlint.config.file import load
from triton_mutlint.config.request import Config
from triton_mutlint.rules import RULES


def settings(text: str) -> dict[str, tuple[str, str]]:
    rows = [line.removeprefix("# ").split("  #", 1)[0] + "\0" + line.rsplit("# ", 1)[1]
            for line in text.partition("\n\n")[0].splitlines()[1:]]
    pairs = [row.split("\0") for row in rows]
    return {setting.split(" ")[0]: (setting.partition("= ")[2].strip(), origin) for setting, origin in pairs}


def test_defaults(shell: Shell) -> None:
    assert shell("config") == 0
    assert shell.out.startswith("# configuration file: none\n")
    shown = settings(shell.out)
    assert shown["max-variants"] == ("64", "default")
    assert shown["fail-on"] == ('"error"', "default")
    assert shown["spec"][1] == "default: the triton-mutlint.yaml beside a file, or in a folder above it"
    assert all(f"#   {code} " in shell.out for code in RULES)
    assert not shell.requests


def test_where_values_come_from(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.triton-mutlint]\nignore = ["TML302"]\nmax-variants = 8\n\n'
        '[tool.triton-mutlint.severity]\nTML201 = "info"\n'
    )
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert shell("config", "--max-variants", "3", "--require-spec") == 0
    shown = settings(shell.out)
    source = tmp_path / "pyproject.toml"
    assert shell.out.startswith(f"# configuration file: {source}\n")
    assert shown["ignore"] == ('["TML302"]', f"{source}:2")
    assert shown["severity"] == ('{ "TML201" = "info" }', f"{source}:5")
    assert shown["max-variants"] == ("3", "the command line")
    assert shown["require-spec"] == ("true", "the command line")
    assert "#   TML201 unanalyzable-op          info  (warning by default)\n" in shell.out
    assert "#   TML903 unspecified-kernel       error  (off by default)\n" in shell.out
    assert shell("config", "--isolated") == 0
    assert settings(shell.out)["ignore"] == ("[]", "default")


def test_a_variable_is_not_the_command_line(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_MUTLINT_CACHE_DIR", "kept")
    assert shell("config") == 0
    assert settings(shell.out)["cache-dir"] == ('"kept"', "the variable TRITON_MUTLINT_CACHE_DIR")
    assert shell("config", "--cache-dir", "other") == 0
    assert settings(shell.out)["cache-dir"] == ('"other"', "the command line")


def test_where_the_cache_is_comes_from_the_file(shell: Shell, tmp_path: Path) -> None:
    assert shell("config") == 0
    assert settings(shell.out)["cache-dir"] == ("", "default: where the platform keeps caches")
    (tmp_path / "triton-mutlint.toml").write_text('jobs = 8\ncache-dir = "kept"\n')
    assert shell("config") == 0
    shown = settings(shell.out)
    assert shown["jobs"] == ("8", "triton-mutlint.toml:1")
    assert shown["cache-dir"] == ('"kept"', "triton-mutlint.toml:2")


PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_each_key_is_documented() -> None:
    keys = {f.name.replace("_", "-") for f in fields(Config)} - {"root", "source", "origins"}
    assert keys <= set(re.findall(r"[a-z]+(?:-[a-z]+)*", PAGE))


def test_the_documented_configuration_is_one(tmp_path: Path) -> None:
    example = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
    (tmp_path / "pyproject.toml").write_text(example)
    config = load(tmp_path, known_rules=lambda: {code: rule.name for code, rule in RULES.items()})
    assert config.force_exclude
    assert config.baseline == tmp_path / "mutlint-baseline.json"
    assert config.per_file_ignores == {"tests/*": ("TML2",)}


def test_the_output_is_a_configuration(shell: Shell, tmp_path: Path) -> None:
    text = (
        'select = ["ALL"]\nexclude = ["a \\"b\\"\\\\", "tab\\t"]\nspec = "s p.yaml"\nbaseline = "b.json"\n'
        'opaque-asm = true\nper-file-ignores = { "tests/*" = ["TML2"] }\n'
    )
    source = tmp_path / "triton-mutlint.toml"
    source.write_text(text)
    before = load(tmp_path)
    assert shell("config") == 0
    source.write_text(shell.out)
    after = load(tmp_path)
    assert {**vars(after), "origins": None} == {**vars(before), "origins": None}


def test_what_is_wrong_is_refused(shell: Shell, tmp_path: Path) -> None:
    assert shell("config", "--select", "TML999") == 2
    (tmp_path / "triton-mutlint.toml").write_text("maxvariants = 3\n")
    assert shell("config") == 2
    assert "did you mean 'max-variants'" in shell.err
