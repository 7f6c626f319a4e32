"""From the options of a command to what the engine is asked: settings merged, contradictions refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from triton_mutlint.basics import UsageError
from triton_mutlint.cache.store import default_folder
from triton_mutlint.config.file import load
from triton_mutlint.config.request import Request
from triton_mutlint.config.settings import Config, read_selector

_EXCLUSIVE = (
    ("spec", "no_spec"), ("quiet", "verbose"), ("config_file", "isolated"), ("fix", "diff"),
    ("diff", "update_baseline"),
)  # fmt: skip
_SELECTORS = ("select", "extend_select", "ignore")


def asked(paths: tuple[str, ...], config: Config, options: Mapping[str, Any]) -> Request:
    """What the engine is asked, options and configuration merged; what an option leaves open is as usual.

    Raises click.UsageError for options that exclude each other.
    """
    for one, other in _EXCLUSIVE:
        if options.get(one) and options.get(other):
            flags = [f"--{name.removesuffix('_file').replace('_', '-')}" for name in (one, other)]
            raise click.UsageError(f"{' and '.join(flags)} contradict each other")
    return Request(
        arguments=tuple(dict.fromkeys(paths)),
        cwd=Path.cwd(),
        spec=None if options.get("no_spec") else config.spec,
        use_spec=not options.get("no_spec"),
        targets=config.targets,
        max_variants=config.max_variants,
        timeout=options.get("timeout", 120.0),
        jobs=config.jobs or _cores(),
        confine=options.get("confine", "auto"),
        opaque_asm=config.opaque_asm,
        true_import=options["true_import"],
        helpers=config.helpers,
        stdin_text=_read_stdin() if "-" in paths else None,
        stdin_filename=options.get("stdin_filename"),
        require_spec=config.require_spec,
        snapshot=config.snapshot,
        baseline=None if options.get("update_baseline") else config.baseline,
        declared=tuple(dict.fromkeys(options.get("declared", ()))),
        torch=_torch() if options.get("compare") else "",
        cache_dir=None if options.get("no_cache", True) else cache_folder(config.cache_dir),
        config=config,
    )


def _torch() -> str:
    """The version of the installed torch. Raises UsageError if there is none."""
    try:
        return version("torch")
    except PackageNotFoundError as error:
        raise UsageError("--compare torch runs torch's own pass, and torch is not installed: "
                         "pip install 'triton-mutlint[torch]'") from error


def refuse_stdin(paths: tuple[str, ...], command: str) -> None:
    if "-" in paths:
        raise click.UsageError(f"{command} reads files, not standard input (-)")


def cache_folder(given: Path | None) -> Path:
    """The folder of the cache: as given, else where the platform keeps caches."""
    return (given or default_folder()).expanduser().absolute()


def _cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_stdin() -> str:
    if sys.stdin is None:  # closed before Python started
        raise UsageError("standard input is closed")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 (byte {error.start})") from error


def config_in_force(options: Mapping[str, Any]) -> Config:
    """The settings of the configuration file, if one is to be used, with the options given in their place.

    An option counts as given that is neither None, nor empty, nor False.
    """
    config = Config() if options["isolated"] else load(Path.cwd(), options["config_file"], known_rules)
    given = {**options, **{name: _split_codes(name, options[name]) for name in _SELECTORS if name in options}}
    names = {f.name for f in fields(Config)}
    changes = {name: value for name, value in given.items() if name in names and value}
    origins = {name.replace("_", "-"): _origin(name) for name in changes}
    changes["extend_select"] = (*config.extend_select, *given.get("extend_select", ()))
    return replace(config, **changes, origins={**config.origins, **origins})


def known_rules() -> Mapping[str, str]:
    """The name of each rule by its code, from its file: loading rules takes longer than a run from the cache."""
    folder = Path(__file__).parents[2] / "rules"
    parts = (stem.partition("_") for stem in sorted(path.stem for path in folder.rglob("tml[0-9][0-9][0-9]_*.py")))
    return {code.upper(): name.replace("_", "-") for code, _, name in parts}


def _split_codes(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Selectors, comma-separated or from a repeated option; refuses what covers no rule."""
    texts = [text.strip() for value in values for text in value.split(",") if text.strip()]
    rules = known_rules() if texts else {}
    try:
        return tuple(read_selector(text, rules) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'--{name.replace('_', '-')}'") from error


def _origin(name: str) -> str:
    """Where an option's value was given, in words."""
    context = click.get_current_context(silent=True)
    if context is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        variables = next((option.envvar for option in context.command.params if option.name == name), None)
        return f"the variable {variables}"
    return "the command line"
