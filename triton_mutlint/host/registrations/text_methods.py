"""What methods of strings give, of which only a part may be known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triton_mutlint.host.registrations.things import AT_RUN_TIME, LONG, as_text, joined, opaque, text_value
from triton_mutlint.host.values.arguments import Arguments
from triton_mutlint.host.values.texts import Text
from triton_mutlint.host.values.values import Value, constant

_WIDE = re.compile(r"\d{4}")  # in a format: a width that makes a short string a long one
_METHODS = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "removeprefix", "removesuffix", "title", "capitalize",
    "split", "rsplit", "partition", "rpartition", "format", "startswith", "endswith", "join", "splitlines",
})  # fmt: skip


def formatted(owner: Text, values: Sequence[Value]) -> Value:
    """`owner % values`."""
    known = [value.constant[1] for value in values if value.constant is not None]
    if owner.known and len(known) == len(values) and not _WIDE.search(owner.text):
        try:
            return text_value(Text(owner.text % tuple(known)), owner.spot)
        except (TypeError, ValueError):
            pass
    return text_value(Text(owner.text, False), owner.spot)


def text_method(owner: Text, name: str, arguments: Arguments, listed: Sequence[Value] | None
                ) -> Value | list[Value] | None:
    """`owner.name(...)`: a value, or the elements of a list; None where it is not known.

    `listed` is what the first argument holds, where that is a list.
    """
    if name not in _METHODS:
        return None
    if name == "join":
        if listed is None:
            return text_value(Text("{…}", False))
        parts = [part for item in listed for part in (owner, as_text(item, "…"))]
        return text_value(Text(str(joined(parts[1:]).text), joined(parts[1:]).known))
    positional = [value.constant[1] for value in arguments.positional if value.constant is not None]
    named = {key: value.constant[1] for key, value in arguments.named.items() if value.constant is not None}
    short = len(owner.text) <= LONG and not (name == "format" and _WIDE.search(owner.text))
    if not owner.known or not short or len(positional) + len(named) != len(list(arguments)):
        return text_value(Text(owner.text, False), owner.spot)
    try:
        made = getattr(owner.text, name)(*positional, **named)
    except (TypeError, ValueError, LookupError, AttributeError):
        return opaque(AT_RUN_TIME)
    if isinstance(made, str):
        return text_value(Text(made), owner.spot)
    return [text_value(Text(part)) for part in made] if isinstance(made, (list, tuple)) else constant(made)
