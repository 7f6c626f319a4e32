"""The options of `check` that need more than click gives: lists, formats with files, and settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from triton_mutlint.config.file import load
from triton_mutlint.config.settings import Config, read_selector
from triton_mutlint.report import FORMATS


@dataclass(frozen=True)
class Output:
    """One format to render, and the file it goes to (None: standard output)."""

    format: str
    file: Path | None = None


def parse_outputs(formats: Collection[str], output: Path | None) -> tuple[Output, ...]:
    """`NAME` or `NAME=FILE`, each; `output` is the file of the one that names none.

    Raises click.UsageError for unknown formats and for two that would share standard output.
    """
    outputs = [_parse_output(value) for value in formats or ("text",)]
    open_ended = [o for o in outputs if o.file is None]
    if len(open_ended) > 1:
        names = " and ".join(f"{o.format!r}" for o in open_ended)
        example = f"--format {open_ended[-1].format}=FILE"
        raise click.UsageError(f"the formats {names} would share one output; give one a file: {example}")
    if output is not None and not open_ended:
        raise click.UsageError("--output names a file, but every --format already has its own")
    settled = tuple(replace(o, file=output) if o.file is None else o for o in outputs)
    _refuse_shared_files(settled)
    return settled


def _refuse_shared_files(outputs: Collection[Output]) -> None:
    taken: dict[Path, str] = {}
    for output in outputs:
        if output.file is None:
            continue
        file = output.file.resolve()
        if file in taken and (file.is_file() or not file.exists()):  # a device takes both
            raise click.UsageError(f"the formats {taken[file]!r} and {output.format!r} would share {output.file}")
        taken[file] = output.format


def _parse_output(value: str) -> Output:
    name, separator, file = value.partition("=")
    if name not in FORMATS:
        from difflib import get_close_matches

        close = get_close_matches(name, FORMATS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise click.BadParameter(
            f"{name!r} is no format{hint}; there are {', '.join(FORMATS)}", param_hint="'--format'"
        )
    if separator and not file:
        raise click.BadParameter(f"{value!r} names no file", param_hint="'--format'")
    return Output(name, Path(file) if file else None)


def refuse_exclusive(options: Mapping[str, Any], pairs: Iterable[tuple[str, str]]) -> None:
    """Raises click.UsageError for two options, by the names of their parameters, that exclude each other."""
    for one, other in pairs:
        if options.get(one) and options.get(other):
            flags = [f"--{name.removesuffix('_file').replace('_', '-')}" for name in (one, other)]
            raise click.UsageError(f"{' and '.join(flags)} contradict each other")


def configured(options: Mapping[str, Any]) -> Config:
    """The settings of the configuration file that `--config` and `--isolated` leave in force."""
    return Config() if options["isolated"] else load(Path.cwd(), options["config_file"], known_rules)


def known_rules() -> Mapping[str, str]:
    """The name of each rule by its code, from its file: loading rules takes longer than a run from the cache."""
    folder = Path(__file__).parent.parent / "rules"
    parts = (stem.partition("_") for stem in sorted(path.stem for path in folder.rglob("tml[0-9][0-9][0-9]_*.py")))
    return {code.upper(): name.replace("_", "-") for code, _, name in parts}


def split_codes(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Selectors, comma-separated or from a repeated option; refuses what covers no rule."""
    texts = [text.strip() for value in values for text in value.split(",") if text.strip()]
    rules = known_rules() if texts else {}
    try:
        return tuple(read_selector(text, rules) for text in texts)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'--{name.replace('_', '-')}'") from error


def merged(config: Config, given: Mapping[str, Any]) -> Config:
    """`config` with the options that were `given` (neither None, nor empty, nor False) in their place."""
    names = {f.name for f in fields(Config)}
    changes = {name: value for name, value in given.items() if name in names and value}
    changes["extend_select"] = (*config.extend_select, *given.get("extend_select", ()))
    stated = {n.replace("_", "-"): _origin(n) for n, value in given.items() if n in names and value}
    return replace(config, **changes, origins={**config.origins, **stated})


def _origin(name: str) -> str:
    """Where an option's value was given, in words."""
    context = click.get_current_context(silent=True)
    if context is not None and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        variables = next((option.envvar for option in context.command.params if option.name == name), None)
        return f"the variable {variables}"
    return "the command line"
