from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.cli.shell.asked import known_rules
from triton_mutlint.config.file import find, load
from triton_mutlint.config.request import Config, read_selector
from triton_mutlint.rules import RULES
from triton_mutlint.types import Severity, UsageError

EVERYTHING = """\
[project]
name = "x"

[tool.triton-mutlint]
select = ["ALL"]
ignore = ["TML302"]
extend-select = ["TML303"]
exclude = ["build/"]
force-exclude = true
spec = "specs/k.yaml"
targets = ["cuda:90", "hip:gfx942"]
fail-on = "warning"
max-variants = 16
jobs = 4
cache-dir = ".cache/mutlint"
stub-modules = ["vllm"]
opaque-asm = true
require-spec = true
helpers = true

[tool.triton-mutlint.severity]
TML201 = "error"

[tool.triton-mutlint.per-file-ignores]
"tests/*" = ["TML2"]
"""


KNOWN = {"TML101": "undeclared-mutation", "TML201": "unanalyzable-op", "TML302": "unused-pointer"}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_key(tmp_path: Path) -> None:
    source = write(tmp_path / "pyproject.toml", EVERYTHING)
    config = load(tmp_path)
    origins = config.origins
    assert config == Config(
        select=("ALL",),
        ignore=("TML302",),
        extend_select=("TML303",),
        per_file_ignores={"tests/*": ("TML2",)},
        severity={"TML201": Severity.ERROR},
        exclude=("build/",),
        force_exclude=True,
        spec=tmp_path / "specs/k.yaml",
        targets=("cuda:90", "hip:gfx942"),
        fail_on="warning",
        max_variants=16,
        jobs=4,
        cache_dir=tmp_path / ".cache/mutlint",
        stub_modules=("vllm",),
        opaque_asm=True,
        require_spec=True,
        helpers=True,
        root=tmp_path,
        source=source,
        origins=origins,
    )
    assert origins["select"] == "pyproject.toml:5"
    assert origins["severity"] == "pyproject.toml:21"
    assert origins["per-file-ignores"] == "pyproject.toml:24"


def test_the_own_file_needs_no_table_and_goes_first(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", EVERYTHING)
    own = write(tmp_path / "triton-mutlint.toml", "max-variants = 3\n")
    assert find(tmp_path) == own
    assert load(tmp_path).max_variants == 3


def test_the_nearest_file_upward_is_used_alone(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", EVERYTHING)
    write(tmp_path / "a" / "pyproject.toml", "[tool.ruff]\n")
    inner = write(tmp_path / "a" / "b" / "pyproject.toml", "[tool.triton-mutlint]\nmax-variants = 3\n")
    (tmp_path / "a" / "b" / "c").mkdir()
    assert find(tmp_path / "a" / "b" / "c") == inner
    assert load(tmp_path / "a" / "b" / "c").select == ()
    assert find(tmp_path / "a") == tmp_path / "pyproject.toml"


def test_broken_files_of_others_are_passed_over(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", EVERYTHING)
    write(tmp_path / "a" / "pyproject.toml", "not toml at all")
    assert find(tmp_path / "a") == outer


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == Config()


HEAD = "[tool.other]\nselect = 1\n[tool.triton-mutlint]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "\nselct = []", "pyproject.toml:5: unknown key 'selct'; did you mean 'select'?"),
        (HEAD + "zzz = 1", "pyproject.toml:4: unknown key 'zzz'"),
        (HEAD + "select = 'TML101'", "pyproject.toml:4: select must be a list of strings, not 'TML101'"),
        (HEAD + "select = [1]", "pyproject.toml:4: select must be a list of strings, not a list"),
        (HEAD + "ignore = ['TML999']", "pyproject.toml:4: ignore: 'TML999' is no rule"),
        (HEAD + "ignore = ['TLM201']", "pyproject.toml:4: ignore: 'TLM201' is no rule; did you mean 'TML201'?"),
        (HEAD + "ignore = ['E']", "pyproject.toml:4: ignore: 'E' is no rule"),
        (HEAD + "max-variants = 0", "pyproject.toml:4: max-variants must be a whole number of at least 1, not 0"),
        (HEAD + "max-variants = true", "at least 1, not true"),
        (HEAD + "jobs = 0", "pyproject.toml:4: jobs must be a whole number of at least 1, not 0"),
        (HEAD + "jobs = 'auto'", "pyproject.toml:4: jobs must be a whole number of at least 1, not 'auto'"),
        (HEAD + "cache-dir = true", "pyproject.toml:4: cache-dir must be a string, not true"),
        (HEAD + "cachedir = 'x'", "pyproject.toml:4: unknown key 'cachedir'; did you mean 'cache-dir'?"),
        (HEAD + "force-exclude = 'yes'", "force-exclude must be true or false, not 'yes'"),
        (HEAD + "fail-on = 'fatal'", "fail-on must be one of error, warning, info, never, not 'fatal'"),
        (HEAD + "targets = ['cuda:8x']", "pyproject.toml:4: targets: unknown target 'cuda:8x': write cuda:"),
        (HEAD + "helpers = 'yes'", "helpers must be true or false, not 'yes'"),
        (HEAD + "spec = []", "spec must be a string, not a list"),
        (HEAD + "severity = {TML201 = 'loud'}", "TML201 must be one of error, warning, info, off, not 'loud'"),
        (HEAD + "severity = {TML2 = 'off'}", "severity: 'TML2' is no rule"),
        (HEAD + "per-file-ignores = []", "per-file-ignores must be a table of pattern = [codes], not a list"),
        (HEAD + "[tool.triton-mutlint.severty]\nTML201 = 'off'", "pyproject.toml:4: unknown key 'severty'"),
        ("[tool]\ntriton-mutlint = 3", "tool.triton-mutlint must be a table, not 3"),
        (HEAD + "a = ", "not valid TOML"),
    ],
)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path / "pyproject.toml", text + "\n")
    with pytest.raises(UsageError) as caught:
        load(tmp_path, known_rules=lambda: KNOWN)
    assert message in str(caught.value)


def test_a_named_file_is_used_whatever_it_is_called(tmp_path: Path) -> None:
    path = write(tmp_path / "ci.toml", "max-variants = 5\n")
    assert load(tmp_path, path).max_variants == 5
    with pytest.raises(UsageError, match="cannot read"):
        load(tmp_path, tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("settings", "code", "default", "expected"),
    [
        ({}, "TML101", "error", "error"),
        ({}, "TML302", "off", "off"),
        ({"select": ("TML1",)}, "TML101", "error", "error"),
        ({"select": ("TML1",)}, "TML201", "warning", "off"),
        ({"select": ("ALL",)}, "TML302", "off", "warning"),
        ({"extend_select": ("TML302",)}, "TML302", "off", "warning"),
        ({"extend_select": ("TML302",)}, "TML101", "error", "error"),
        ({"ignore": ("TML1",)}, "TML101", "error", "off"),
        ({"ignore": ("TML1",), "select": ("TML101",)}, "TML101", "error", "error"),
        ({"ignore": ("TML101",), "select": ("TML1",)}, "TML101", "error", "off"),
        ({"ignore": ("TML101",), "select": ("TML101",)}, "TML101", "error", "off"),
        ({"ignore": ("ALL",)}, "TML101", "error", "off"),
        ({"severity": {"TML201": Severity.ERROR}}, "TML201", "warning", "error"),
        ({"severity": {"TML302": Severity.INFO}}, "TML302", "off", "info"),
        ({"severity": {"TML201": Severity.OFF}}, "TML201", "warning", "off"),
        ({"severity": {"TML201": Severity.ERROR}, "ignore": ("TML201",)}, "TML201", "warning", "off"),
        ({"per_file_ignores": {"tests/*": ("TML2",)}}, "TML201", "warning", "off"),
        ({"per_file_ignores": {"tests": ("TML2",)}}, "TML201", "warning", "off"),
        ({"per_file_ignores": {"k.py": ("TML2",)}}, "TML201", "warning", "off"),
        ({"per_file_ignores": {"other/*": ("TML2",)}}, "TML201", "warning", "warning"),
    ],
)
def test_severity_of(settings: dict[str, object], code: str, default: str, expected: str) -> None:
    config = Config(**settings)  # type: ignore[arg-type]
    assert config.severity_of(code, Severity(default), "tests/k.py") is Severity(expected)


def test_selectors() -> None:
    assert [read_selector(s, KNOWN) for s in ("ALL", "TML", "TML1", "TML101")] == ["ALL", "TML", "TML1", "TML101"]
    assert read_selector("TML101", KNOWN, whole=True) == "TML101"
    assert read_selector("TML999", {}) == "TML999"
    for wrong in ("", "tml101", "TML9", "TML1011", "X", "Unanalyzable-Op", "unanalyzable"):
        with pytest.raises(ValueError, match="is no rule"):
            read_selector(wrong, KNOWN)
    with pytest.raises(ValueError, match="is no rule"):
        read_selector("TML1", KNOWN, whole=True)


def test_a_number_without_a_rule_is_not_taken_for_another() -> None:
    with pytest.raises(ValueError, match=r"'TML999' is no rule; `triton-mutlint rules` lists them$"):
        read_selector("TML999", KNOWN)


def test_a_file_of_its_own_has_no_heading(tmp_path: Path) -> None:
    write(tmp_path / "triton-mutlint.toml", "[tool.triton-mutlint]\njobs = 2\n")
    with pytest.raises(UsageError, match=r"triton-mutlint\.toml: leave out the heading \[tool\.triton-mutlint\]"):
        load(tmp_path)


def test_a_rule_goes_by_its_name_too() -> None:
    assert read_selector("unanalyzable-op", KNOWN) == "TML201"
    assert read_selector("unanalyzable-op", KNOWN, whole=True) == "TML201"
    with pytest.raises(ValueError, match=r"'unanalysable-op' is no rule; did you mean 'unanalyzable-op'\?"):
        read_selector("unanalysable-op", KNOWN)


def test_names_of_rules_in_every_key(tmp_path: Path) -> None:
    write(tmp_path / "triton-mutlint.toml", (
        'select = ["undeclared-mutation"]\nignore = ["unused-pointer", "TML2"]\nextend-select = ["unanalyzable-op"]\n'
        '[severity]\nunanalyzable-op = "error"\n[per-file-ignores]\n"a.py" = ["unanalyzable-op"]\n'))
    config = load(tmp_path, known_rules=lambda: KNOWN)
    assert (config.select, config.ignore, config.extend_select) == (("TML101",), ("TML302", "TML2"), ("TML201",))
    assert config.severity == {"TML201": Severity.ERROR}
    assert config.per_file_ignores == {"a.py": ("TML201",)}


@pytest.mark.parametrize("key", ["triton_mutlint", "tritonmutlint", "Triton-Mutlint"])
@pytest.mark.parametrize("form", ["[project]\nname = 'x'\n\n[tool.{}]\nfail-on = 'never'\n",
                                  "[project]\nname = 'x'\n\n[tool.{}.severity]\nTML201 = 'off'\n",
                                  "[project]\nname = 'triton_mutlint'\n[tool]\n{} = {{}}\n"])
def test_a_table_by_another_spelling_is_an_error(tmp_path: Path, key: str, form: str) -> None:
    write(tmp_path / "pyproject.toml", form.format(key))
    (tmp_path / "below").mkdir()
    with pytest.raises(UsageError, match=rf"pyproject.toml:4: the table must be called \[tool.triton-mutlint\], "
                                         rf"not \[tool.{key}\]"):
        load(tmp_path)
    with pytest.raises(UsageError, match="must be called"):
        load(tmp_path / "below")


def test_a_project_of_that_name_needs_no_table(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\nname = 'triton_mutlint'\n[tool.black]\n")
    assert load(tmp_path) == Config()


def test_rules_are_known_by_their_files() -> None:
    assert dict(known_rules()) == {code: rule.name for code, rule in sorted(RULES.items())}
