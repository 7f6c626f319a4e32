"""The rules, by code: each is a file beside this or in a folder below, called `tml123_its_name.py`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from triton_mutlint.rules.rule import Rule

__all__ = ["NAMES", "RULES", "Rule"]

_HERE = Path(__file__).parent
_FILES = sorted(_HERE.rglob("tml[0-9][0-9][0-9]_*.py"), key=lambda file: file.name)
_MODULES = [".".join((__name__, *file.relative_to(_HERE).with_suffix("").parts)) for file in _FILES]
RULES: dict[str, Rule] = {rule.code: rule for rule in (import_module(name).RULE for name in _MODULES)}
NAMES: dict[str, str] = {code: rule.name for code, rule in RULES.items()}
