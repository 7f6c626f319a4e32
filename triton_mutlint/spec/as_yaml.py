"""Argument types and whole entries as the YAML of a spec: the inverse of `bind`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

import yaml

from triton_mutlint.basics import flat
from triton_mutlint.spec.bind import UnknownNameError, bind_arg, module_resolver, value_parameters
from triton_mutlint.spec.model import ArgSpec
from triton_mutlint.spec.nodes import SpecError, parse_yaml
from triton_mutlint.spec.notation import DOTTED
from triton_mutlint.spec.values import value_key
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Kernel,
    Parameter,
    StageError,
    TupleType,
)

_PLAIN = re.compile(r"[A-Za-z_][\w./-]*")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w./-]*(::?[\w./-]+)*")
_NOT_TEXT = frozenset(("null", "true", "false", "yes", "no", "on", "off"))
_SIMPLE = (bool, int, float, str)
STEP = 2  # columns of one level
_WIDEST = 160  # of a comment; what is longer is cut

HEADER = """\
# Kernel signatures and the parameters that each kernel writes, begun by `triton-mutlint init`.
# Edit it freely: a later run adds what is missing and changes nothing that stands here.
# A value in a comment is a guess, made anew from the source by each check. Give the value, or a list of all
# values that occur, to have those analysed and no others.
version: 1
"""


def quoted(text: str) -> str:
    """`text` as a double-quoted YAML scalar."""
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000).rstrip("\n")


def scalar_text(text: str) -> str:
    """`text` as a YAML scalar that reads back as that text: plain where that is possible anywhere."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT else quoted(text)


def key_text(text: str) -> str:
    """`text` as the key of a block mapping, in which `path.py::kernel` stays plain."""
    return text if _PLAIN_KEY.fullmatch(text) and text.lower() not in _NOT_TEXT else quoted(text)


def argument_text(kernel: Kernel, parameter: Parameter, alternatives: Sequence[ArgType]) -> str | None:
    """What a spec says to give `parameter` these alternatives; None if YAML cannot say it.

    The text stands on one line, in a block or in a flow mapping alike.
    """
    is_value = parameter.name in value_parameters(kernel)
    texts = [_value(a, kernel) if is_value else _type(a, kernel) for a in alternatives]
    if None in texts or not texts:
        return None
    text = listed([str(one) for one in texts])
    bound = read_argument(kernel, parameter, text)
    return text if bound is not None and _keys(bound) == _keys(alternatives) else None


def listed(texts: Sequence[str]) -> str:
    """Alternatives as YAML: a list, but for a single one that is none itself."""
    return texts[0] if len(texts) == 1 and not texts[0].startswith("[") else f"[{', '.join(texts)}]"


def read_argument(kernel: Kernel, parameter: Parameter, text: str) -> tuple[ArgType, ...] | None:
    """The alternatives that a spec gives by `text`; None if it gives none."""
    spec = argument_spec(parameter.name, text)
    try:
        return bind_arg(kernel, parameter, spec) if spec else None
    except StageError:
        return None


def argument_spec(name: str, text: str) -> ArgSpec | None:
    """The entry `name: text` of a spec's `args`; None if that is no YAML."""
    try:
        node = parse_yaml(text, "")
    except SpecError:
        return None
    return ArgSpec(name, node.items if node.kind == "list" else (node,))


def _keys(args: Sequence[ArgType]) -> list[tuple[str, str]]:
    return [value_key(arg) for arg in args]


# --------------------------------------------------------------------------- one alternative


def _value(arg: ArgType, kernel: Kernel) -> str | None:
    """The YAML of a constexpr's value."""
    if not isinstance(arg, ConstexprValue):
        return None
    value = arg.value
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        parts = [_value(ConstexprValue(element), kernel) for element in value]
        return None if None in parts else f"[{', '.join(map(str, parts))}]"
    plain = plain_text(value)
    return plain if plain is not None else _reference(arg, kernel.namespace)


def plain_text(value: Any) -> str | None:
    """The YAML of a value, a list or a mapping, on one line; None for what is neither number nor text."""
    if value is None:
        return "null"
    if type(value) is list:
        texts = [plain_text(element) for element in value]
        return None if None in texts else f"[{', '.join(map(str, texts))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{scalar_text(key)}: {plain_text(inner)}' for key, inner in value.items())}}}"
    if type(value) in (bool, int):
        return str(value).lower()
    if type(value) is float:
        return re.sub(r"inf|nan", r".\g<0>", repr(value))
    return scalar_text(value) if type(value) is str else None


def _type(arg: ArgType, kernel: Kernel) -> str | None:
    """The YAML of an argument that is a type, or a value that Triton specialises on."""
    if isinstance(arg, ConstexprValue) and (arg.value is None or (type(arg.value) is int and arg.value == 1)):
        return plain_text(arg.value)
    text = _type_text(arg, kernel.namespace)
    return text if text is None or text.startswith("{ref:") else scalar_text(text)


def _type_text(arg: ArgType, namespace: Mapping[str, Any]) -> str | None:
    """Triton's notation, in which an object stands as `{ref: name}`."""
    if isinstance(arg, ConstexprValue):
        return repr(arg.value) if arg.value is None or type(arg.value) in _SIMPLE else _reference(arg, namespace)
    if not isinstance(arg, TupleType):
        return str(arg)
    parts = [_type_text(element, namespace) for element in arg.elements]
    if None in parts:
        return None
    if not arg.fields:
        return f"({', '.join(map(str, parts))})"
    name = find_name(arg.cls, "", namespace)
    inner = ", ".join(f"{f}={part}" for f, part in zip(arg.fields, parts, strict=True))
    return f"{name}({inner})" if name else None


def _reference(arg: ConstexprValue, namespace: Mapping[str, Any]) -> str | None:
    name = find_name(arg.value, arg.text, namespace)
    return f"{{ref: {name}}}" if name else None


# --------------------------------------------------------------------------- names of objects


def find_name(value: Any, shown: str, namespace: Mapping[str, Any]) -> str | None:
    """The dotted name by which a spec can name `value` in a kernel's module; `shown` is tried first."""
    resolve = module_resolver(namespace)
    for name in _names(value, shown, namespace):
        try:
            found = resolve(name)
        except UnknownNameError:
            continue
        if found is value or (type(found).__name__ == type(value).__name__ == "dtype" and str(found) == str(value)):
            return name
    return None


def _names(value: Any, shown: str, namespace: Mapping[str, Any]) -> Iterator[str]:
    if DOTTED.fullmatch(shown):
        yield shown
    if type(value).__name__ == "dtype":
        yield f"tl.{long_name(str(value))}"
    if isinstance(value, Enum):
        cls = find_name(type(value), type(value).__name__, namespace)
        if cls:
            yield f"{cls}.{value.name}"
    own = {name: v for name, v in namespace.items() if not name.startswith("__")}
    yield from (name for name, held in own.items() if held is value)
    for name, module in own.items():
        if isinstance(module, ModuleType):
            yield from (f"{name}.{attr}" for attr, held in vars(module).items() if held is value)


def long_name(name: str) -> str:
    """What `triton.language` calls the dtype that prints as `name`: `float16` for `fp16`."""
    return re.sub(r"^fp(?=\d)", "float", re.sub(r"^bf(?=\d)", "bfloat", name))


# --------------------------------------------------------------------------- entries


@dataclass(frozen=True)
class WrittenArgument:
    """One parameter's line: its name, the YAML of its value, and what the comment beside it says."""

    name: str
    text: str
    comment: str = ""


@dataclass(frozen=True)
class WrittenEntry:
    """One kernel's entry; `mutates` is None where the source itself declares what is written.

    `guesses` are parameters that stay comments among the arguments; `launches` are those to run it with, as YAML.
    `beside` is the comment on the key's line, `comments` those below it. A `disabled` entry is all
    comment: the kernel could not be analysed, and a person has to complete it.
    """

    key: str
    beside: str = ""
    comments: tuple[str, ...] = ()
    arguments: tuple[WrittenArgument, ...] = ()
    mutates: tuple[str, ...] | None = None
    disabled: bool = False
    guesses: tuple[WrittenArgument, ...] = ()
    launches: tuple[str, ...] = ()


def comment_text(text: str) -> str:
    """`text` as it can stand in a comment: one line, printable, not too long."""
    line = flat(text)
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def entry_lines(entry: WrittenEntry) -> list[str]:
    """The lines of an entry, the key at the first column."""
    lines = [f"# {comment_text(comment)}" for comment in entry.comments]
    if entry.arguments or entry.guesses:
        lines.append("args:" if entry.arguments else "# args:")
        lines += argument_lines(entry.arguments, STEP)
        lines += [f"{' ' * STEP}# {line}" for line in argument_lines(entry.guesses, 0)]
    if entry.mutates is not None:
        lines.append(f"mutates: [{', '.join(map(scalar_text, entry.mutates))}]")
    if entry.launches:
        lines += ["verify:", f"{' ' * STEP}launches:", *(f"{' ' * 2 * STEP}- {launch}" for launch in entry.launches)]
    key = f"{key_text(entry.key)}:" + (f"  # {comment_text(entry.beside)}" if entry.beside else "")
    lines = [key, *(f"{' ' * STEP}{line}" for line in lines)]
    return [f"# {line}" for line in lines] if entry.disabled else lines


def argument_lines(arguments: Sequence[WrittenArgument], column: int) -> list[str]:
    """One line per parameter, each at `column`."""
    margin = " " * column
    return [
        f"{margin}{key_text(a.name)}: {a.text}" + (f"  # {comment_text(a.comment)}" if a.comment else "")
        for a in arguments
    ]
