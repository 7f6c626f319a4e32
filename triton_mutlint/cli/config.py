"""`triton-mutlint config`: the settings in force, each with where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from triton_mutlint.cli import check
from triton_mutlint.cli.shell.asked import CONTEXT, Sectioned, config_in_force
from triton_mutlint.cli.shell.output import write_stdout
from triton_mutlint.config.registrar import Registrar
from triton_mutlint.config.request import Config
from triton_mutlint.source.discover import display_path

_NOT_SETTINGS = ("root", "source", "origins")
_ASKED = {f.name for f in fields(Config)} | {"config_file", "isolated"}
_DEFAULTS = {
    "select": "what is on by default",
    "targets": "that of the active GPU, else cuda:90",
    "spec": "the triton-mutlint.yaml beside a file, or in a folder above it",
    "snapshot": "none is compared with",
    "baseline": "no finding is accepted",
    "jobs": "one per core",
    "cache_dir": "where the platform keeps caches",
}


@click.command(cls=Sectioned, params=[option for option in check.command.params if option.name in _ASKED],
               context_settings=CONTEXT)
def command(**options: Any) -> int:
    """Show the settings that are in force in this folder with these options, and where each came from.

    The output is TOML, as triton-mutlint.toml takes it.
    """
    write_stdout("".join(f"{line}\n" for line in _lines(config_in_force(options))))
    return 0


def _lines(config: Config) -> Iterator[str]:
    yield f"# configuration file: {display_path(config.source, Path.cwd()) if config.source else 'none'}"
    rows = list(_rows(config))
    width = max(len(setting) for setting, _ in rows)
    for setting, origin in rows:
        yield f"{setting.ljust(width)}  # {origin}"
    yield ""
    yield "# rules in force"
    yield from _rules(config)


def _rows(config: Config) -> Iterator[tuple[str, str]]:
    for field in fields(Config):
        if field.name in _NOT_SETTINGS:
            continue
        default = f"default: {_DEFAULTS[field.name]}" if field.name in _DEFAULTS else "default"
        key, value = field.name.replace("_", "-"), getattr(config, field.name)
        origin = default if value is None else config.origins.get(key, default)
        yield (f"# {key}" if value is None else f"{key} = {_toml(value)}"), origin


def _rules(config: Config) -> Iterator[str]:
    from triton_mutlint.rules import RULES

    width = max(len(rule.name) for rule in RULES.values())
    for code, rule in sorted(RULES.items()):
        level = config.severity_of(code, rule.default_severity)
        changed = "" if level is rule.default_severity else f"  ({rule.default_severity.value} by default)"
        yield f"#   {code} {rule.name.ljust(width)} {level.value}{changed}"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Path):
        return _quoted(display_path(value, Path.cwd()))
    if isinstance(value, Registrar):
        value = value.settings()
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_quoted(str(k))} = {_toml(v)}" for k, v in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return _quoted(str(getattr(value, "value", value)))


def _quoted(text: str) -> str:
    """A basic string; its escapes are a subset of what TOML reads."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
