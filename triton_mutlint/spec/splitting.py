"""Cutting type text at its top-level commas, and the error that all type text raises."""

from __future__ import annotations

_OPEN = {"(": ")", "[": "]", "<": ">", "{": "}"}
_CLOSE = frozenset(_OPEN.values())


class TypeTextError(ValueError):
    """A type that cannot be read; `suggestion` is the nearest valid one, if any is near."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(f"{message}; did you mean {suggestion!r}?" if suggestion else message)
        self.message = message
        self.suggestion = suggestion


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
        elif char in _OPEN:
            expected.append(_OPEN[char])
        elif char in _CLOSE:
            if not expected or expected.pop() != char:
                raise TypeTextError(f"unexpected {char!r} in {text.strip()!r}")
        elif char == "," and not expected:
            parts.append(text[start:index])
            start = index + 1
    if quote or expected:
        raise TypeTextError(f"missing {quote or expected[-1]!r} in {text.strip()!r}")
    return [*parts, text[start:]]
