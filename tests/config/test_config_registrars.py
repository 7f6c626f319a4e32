"""`[tool.triton-mutlint.registrars]`."""

from pathlib import Path

import pytest

from triton_mutlint.config.file import load
from triton_mutlint.config.registrar import Registrar
from triton_mutlint.config.request import Config
from triton_mutlint.types import UsageError

FULL = """\
[tool.triton-mutlint]
fail-on = "warning"

[tool.triton-mutlint.registrars."mylib.utils.register"]
function = "op_func"
mutates = "mutates_args"
default = []
name = "op_name"

[tool.triton-mutlint.registrars."mylib.op"]
default = "unknown"
"""


def read(folder: Path, text: str) -> Config:
    (folder / "pyproject.toml").write_text(text)
    return load(folder)


def test_what_a_registrar_may_say(tmp_path: Path) -> None:
    config = read(tmp_path, FULL)
    assert config.registrars == {
        "mylib.utils.register": Registrar("op_func", "mutates_args", (), "op_name"),
        "mylib.op": Registrar("", "mutates_args", None, ""),
    }
    assert config.origins["registrars"] == "pyproject.toml:4"
    assert [r.settings() for r in config.registrars.values()] == [
        {"function": "op_func", "mutates": "mutates_args", "default": (), "name": "op_name"},
        {"mutates": "mutates_args", "default": "unknown"},
    ]


def test_a_name_without_quotes_is_the_same(tmp_path: Path) -> None:
    config = read(tmp_path, '[tool.triton-mutlint.registrars.mylib.utils.register]\nfunction = "fn"\n')
    assert config.registrars == {"mylib.utils.register": Registrar("fn")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[tool.triton-mutlint.registrars."a.b"]\nfunction = "f"\ndefualt = []\n',
         "pyproject.toml:3: registrars: a.b: unknown key 'defualt'; did you mean 'default'?"),
        ('[tool.triton-mutlint.registrars."a.b"]\nfunction = 1\n',
         "pyproject.toml:2: registrars: a.b: function must name a parameter, not 1"),
        ('[tool.triton-mutlint.registrars."a.b"]\nmutates = "not a name"\n',
         "pyproject.toml:2: registrars: a.b: mutates must name a parameter, not 'not a name'"),
        ('[tool.triton-mutlint.registrars."a.b"]\ndefault = "out"\n',
         "pyproject.toml:2: registrars: a.b: default must be a list of arguments, or 'unknown', not 'out'"),
        ('[tool.triton-mutlint.registrars."a.b"]\ndefault = [1]\n',
         "pyproject.toml:2: registrars: a.b: default must be a list of arguments, or 'unknown', not [1]"),
        ("[tool.triton-mutlint.registrars.register]\n",
         "pyproject.toml:1: registrars: 'register' is no function with its module; write mylib.utils.register"),
        ('[tool.triton-mutlint.registrars."a.b c"]\n',
         "pyproject.toml:1: registrars: 'a.b c' is no function with its module; write mylib.utils.register"),
        ("[tool.triton-mutlint]\nregistrars = ['a.b']\n",
         "pyproject.toml:2: registrars: registrars must be a table of function = {...}"),
        ('[tool.triton-mutlint.registrars]\n"a.b" = "f"\n',
         "pyproject.toml:2: registrars: a.b must be a table with the keys function, mutates, default, name"),
        ('[tool.triton-mutlint]\nregistrar = {}\n',
         "pyproject.toml:2: unknown key 'registrar'; did you mean 'registrars'?"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == message
