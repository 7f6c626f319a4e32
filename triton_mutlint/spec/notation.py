"""Triton's type notation as text: `*fp32:16`, `i32`, `tensordesc<fp16[64, 64]>`, `NT(x=*fp32, n=i32)`.

The notation is that of `triton.language.str_to_ty` and of the ahead-of-time compiler
`triton.tools.compile`, whose divisibility hints are 16 and 1 (the value one, which Triton specialises to a constexpr).
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from triton_mutlint.basics import nearest
from triton_mutlint.kernel_source.dtypes import FLOATS, canonical_dtype, nearest_dtype
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType, PointerType, ScalarType, TupleType

Resolve = Callable[[str], object]  # a name of the kernel's module -> the object; LookupError if none

_BRACKETS = {"(": ")", "[": "]", "<": ">", "{": "}"}
MAX_DEPTH = 16  # of nested tuples: far beyond any kernel, and bounds the recursion
DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")  # the name of an object in a module
_NUMBER = re.compile(r"[-+]?(\d[\d_]*|0[xX][0-9a-fA-F]+|(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?)")
_WORDS = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}
_SPECIAL_FLOATS = re.compile(r"[-+]?(inf|nan)")
_NAMED_TUPLE = re.compile(r"([A-Za-z_][\w.]*)\s*\((.*)\)", re.DOTALL)
_REFERENCE = re.compile(r"""\{\s*(['"]?)ref\1\s*:\s*(['"]?)([A-Za-z_][\w.]*)\2\s*\}""")
_DESCRIPTOR = re.compile(r"tensordesc\s*<\s*([\w.]+)\s*\[([^\]]*)\]\s*(?:,\s*(.*))?>", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.+)", re.DOTALL)
_POINTER_WORDS = re.compile(r"ptr|pointer|tensor", re.IGNORECASE)
_PLAIN = re.compile(r"(?P<stars>\**)(?P<name>[^:*]*)(?::\s*(?P<hint>.*))?", re.DOTALL)


class TypeTextError(ValueError):
    """A type that cannot be read; `suggestion` is the nearest valid one, if any is near."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(f"{message}; did you mean {suggestion!r}?" if suggestion else message)
        self.suggestion = suggestion


def parse_type(text: str, *, resolve: Resolve | None = None) -> ArgType:
    """The argument type written as `text`.

    `resolve` finds the class of a namedtuple (and the target of `{ref: name}`) in the kernel's
    module; without it a namedtuple keeps its field names and no class.
    Raises `TypeTextError`, which names the nearest valid type.
    """
    return _parse(text, resolve, 0)


def parse_literal(text: str) -> ConstexprValue | None:
    """The constexpr value written as a number, a quoted string, `None`, `True` or `False`."""
    text = text.strip()
    if text in _WORDS:
        return ConstexprValue(_WORDS[text])
    if _SPECIAL_FLOATS.fullmatch(text):
        return ConstexprValue(float(text))
    quoted = len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]
    if not quoted and not _NUMBER.fullmatch(text):
        return None
    try:
        return ConstexprValue(ast.literal_eval(text))
    except (ValueError, SyntaxError):  # `007`, `'a'b'`
        return None


def _parse(text: str, resolve: Resolve | None, depth: int) -> ArgType:
    text = text.strip()
    if not text:
        raise TypeTextError("empty type", "*fp32")
    if depth > MAX_DEPTH:
        raise TypeTextError(f"tuples nested more than {MAX_DEPTH} deep")
    literal = parse_literal(text)
    if literal is not None:
        return literal
    reference = _REFERENCE.fullmatch(text)
    if reference:
        name = reference.group(3)
        return ConstexprValue(resolve_name(name, resolve), name)
    if text.startswith("tensordesc"):
        return _descriptor(text, resolve)
    if text.startswith("("):
        return _tuple(text, resolve, depth)
    named = _NAMED_TUPLE.fullmatch(text)
    if named:
        return _named_tuple(named.group(1), named.group(2), resolve, depth)
    return _plain(text)


def resolve_name(name: str, resolve: Resolve | None) -> Any:
    """The object called `name`; raises `TypeTextError` if it cannot be found."""
    if resolve is None:
        raise TypeTextError(f"no module is known in which to look up {name!r}")
    try:
        return resolve(name)
    except LookupError as error:
        reason = getattr(error, "reason", "")
        message = f"{name!r} {reason}" if reason else f"the kernel's module has no {name!r}"
        raise TypeTextError(message, getattr(error, "suggestion", None)) from error


def _plain(text: str) -> ArgType:
    """A pointer or a scalar, with its divisibility."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        raise _unknown(text)  # `fp32*`
    stars, name = match["stars"], match["name"].strip()
    if len(stars) > 1:
        # Triton's pointer type takes only integers and floats: MLIR aborts the process otherwise.
        raise TypeTextError(f"{text!r}: Triton has no pointers to pointers; a table of addresses", "*i64")
    divisibility = _hint(match["hint"], text)
    element, const = _element(name) if stars else (canonical_dtype(name), False)
    if element is None:
        raise _unknown(text)
    if stars:
        return PointerType(element, const, divisibility or 1)
    if divisibility == 1 and element not in FLOATS:
        return ConstexprValue(1)
    if divisibility and element in FLOATS:
        raise TypeTextError(f"{text!r}: only pointers and integers take a divisibility", element)
    return ScalarType(element, divisibility or 1)


def _element(name: str) -> tuple[str | None, bool]:
    """The element type of a pointer and whether it is const: `kfp32` -> (`fp32`, True)."""
    plain = canonical_dtype(name)
    if plain is None and name.startswith("k"):
        return canonical_dtype(name[1:].strip()), True
    return plain, False


def _hint(hint: str | None, text: str) -> int | None:
    if hint is None:
        return None
    if hint.strip() not in ("1", "16"):
        base = text.partition(":")[0].strip()
        raise TypeTextError(f"{text!r}: the divisibility can only be 16, or 1 for the value 1", f"{base}:16")
    return int(hint)


def _unknown(text: str) -> TypeTextError:
    guess = _guess(text)
    return TypeTextError(
        f"unknown type {text!r}{'' if guess else ' (types are written i32, fp32, *fp32)'}", guess
    )


def _guess(text: str) -> str | None:
    """The valid type that looks most like `text`, if any looks like it."""
    base, _, _ = text.partition(":")
    name = _POINTER_WORDS.sub("", base).strip("* _")
    is_pointer = "*" in base or _POINTER_WORDS.search(base) is not None
    const = "k" if name.startswith("k") and nearest_dtype(name[1:]) else ""
    if not const and base.strip() and nearest(base.lower(), ("tensordesc", "tensordescriptor")):
        return "tensordesc<fp16[64, 64]>"
    element = nearest_dtype(name.removeprefix("k") if const else name)
    if element is None:
        return "*fp32" if is_pointer else None
    return f"*{const}{element}" if is_pointer else element


def _descriptor(text: str, resolve: Resolve | None) -> DescriptorType:
    match = _DESCRIPTOR.fullmatch(text)
    if match is None:
        raise TypeTextError(f"malformed descriptor {text!r}", "tensordesc<fp16[64, 64]>")
    element = canonical_dtype(match[1])
    if element is None:
        guess = nearest_dtype(match[1]) or "fp16"
        raise TypeTextError(f"unknown element type in {text!r}", f"tensordesc<{guess}[{match[2]}]>")
    sizes = [part.strip() for part in match[2].split(",")]
    if not all(size.isdecimal() and int(size) > 0 for size in sizes):
        suggestion = f"tensordesc<{element}[64, 64]>"
        raise TypeTextError(f"{text!r}: the block shape is a list of positive sizes", suggestion)
    return DescriptorType(element, tuple(int(size) for size in sizes), _layout(match[3] or "", resolve))


def _layout(text: str, resolve: Resolve | None) -> str:
    """The layout of a Gluon descriptor: `NVMMASharedLayout(…)` with plain values, or `{ref: name}`."""
    reference = _REFERENCE.fullmatch(text)
    if reference:
        return repr(resolve_name(reference.group(3), resolve))
    with contextlib.suppress(ValueError, SyntaxError):
        call = ast.parse(text.strip() or "_()", mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                ast.literal_eval(value)
            return text.strip()
    raise TypeTextError(f"{text!r} is no layout of a descriptor", "NVMMASharedLayout(128, 16, 2)")


def _tuple(text: str, resolve: Resolve | None, depth: int) -> TupleType:
    if not text.endswith(")"):
        raise TypeTextError(f"unclosed tuple {text!r}", f"{text})")
    parts = split_top(text[1:-1])
    return TupleType(tuple(_parse(part, resolve, depth + 1) for part in parts))


def _named_tuple(name: str, inner: str, resolve: Resolve | None, depth: int) -> TupleType:
    parts = split_top(inner)
    matches = [_FIELD.fullmatch(part) for part in parts]
    named = {match[1]: match[2] for match in matches if match}
    if len(named) != len(parts) and any(matches):
        raise TypeTextError(f"{name}(...): give every field by name, once")
    cls = _tuple_class(name, tuple(named), resolve) if resolve else None
    fields = tuple(cls._fields) if cls is not None else tuple(named)
    texts = named or dict(zip(fields, parts, strict=False))  # a wrong count is reported below
    for field in texts:
        if field not in fields:
            raise TypeTextError(f"{name} has no field {field!r}", nearest(field, fields))
    if len(parts) != len(fields) or set(texts) != set(fields):
        raise TypeTextError(f"{name} needs the fields {', '.join(fields) or '(by name)'}; {len(parts)} given")
    return TupleType(tuple(_parse(texts[field], resolve, depth + 1) for field in fields), fields, cls)


def _tuple_class(name: str, fields: tuple[str, ...], resolve: Resolve) -> Any:
    """The namedtuple class `name`; made from `fields` where its own module is not installed."""
    try:
        cls = resolve_name(name, resolve)
    except TypeTextError as error:
        is_missing = bool(getattr(error.__cause__, "reason", None))
        if fields and is_missing:
            return namedtuple(name.rpartition(".")[2], fields)  # the names are data
        raise
    if not (isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")):
        raise TypeTextError(f"{name!r} is not a namedtuple class")
    return cls


def split_top(text: str) -> list[str]:
    """The parts of `text` between commas that stand outside brackets and quotes, stripped.

    A trailing comma adds no part. Raises `TypeTextError` for unbalanced brackets or quotes and for
    an empty part.
    """
    parts = [part.strip() for part in _cut(text)]
    if parts and not parts[-1]:
        parts.pop()
    if not all(parts):
        raise TypeTextError(f"nothing between two commas in {text.strip()!r}")
    return parts


def _cut(text: str) -> list[str]:
    parts: list[str] = []
    expected: list[str] = []  # the closing brackets still to come
    quote = ""
    start = 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _BRACKETS:
            expected.append(_BRACKETS[char])
        elif char in _BRACKETS.values():
            if not expected or expected.pop() != char:
                raise TypeTextError(f"unexpected {char!r} in {text.strip()!r}")
        elif char == "," and not expected:
            parts.append(text[start:index])
            start = index + 1
    if quote or expected:
        raise TypeTextError(f"missing {quote or expected[-1]!r} in {text.strip()!r}")
    return [*parts, text[start:]]
