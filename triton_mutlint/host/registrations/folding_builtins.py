"""Built-in functions and the methods of strings, lists and dicts, on values that are known."""

from __future__ import annotations

from dataclasses import replace

from triton_mutlint.host.registrations.folded import Args, Const, Items, Some, Table, Text, Unknown, Value
from triton_mutlint.host.registrations.folding_values import LONG, WIDE, as_items, as_text, each, joined

LONGEST_RANGE = 256

_SAME = frozenset({"tuple", "list", "set", "frozenset", "sorted", "iter"})
_TEXT_METHODS = frozenset({
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "removeprefix", "removesuffix", "title", "capitalize",
    "split", "rsplit", "partition", "rpartition", "format", "startswith", "endswith", "join", "splitlines",
})  # fmt: skip


def builtin(name: str, args: Args) -> Value | None:
    """`name(*args)` of a built-in function; None where that is not known."""
    first = args.positional[0] if args.positional else None
    if name in _SAME:
        if first is None:
            return Items()
        several = as_items(first)
        return Items(several.items, several.whole, spot=first.spot) if several is not None else first
    if name == "dict":
        entries = first.entries if isinstance(first, Table) else ()
        return Table((*entries, *((Text(key), value) for key, value in args.keywords.items())))
    if name == "str" and first is not None:
        return as_text(first, "…")
    if name == "filter" and len(args.positional) == 2:
        held = each(args.positional[1])
        return Some(held) if held is not None else None
    lists = [as_items(value) for value in args.positional]
    known_list = lists[0] if len(lists) == 1 and lists[0] is not None and lists[0].whole else None
    if name == "reversed" and known_list is not None:
        return replace(known_list, items=known_list.items[::-1])
    if name == "len" and known_list is not None:
        return Const(len(known_list.items))
    if name == "range":
        return _range(args)
    if name == "zip" and lists:
        known = [several.items for several in lists if several is not None and several.whole]
        if len(known) == len(lists):
            return Items(tuple(Items(row) for row in zip(*known, strict=False)))
    if name == "enumerate" and lists and lists[0] is not None:
        return Items(tuple(Items((Const(i), item)) for i, item in enumerate(lists[0].items)), lists[0].whole)
    return None


def _range(args: Args) -> Value | None:
    bounds = [v.value for v in args.positional if isinstance(v, Const) and isinstance(v.value, int)]
    if not bounds or len(bounds) != len(args.positional) or len(bounds) > 3 or bounds[2:] == [0]:
        return None
    numbers = range(*bounds)
    return Items(tuple(map(Const, numbers))) if len(numbers) <= LONGEST_RANGE else None


def chained(args: Args) -> Value | None:
    """`itertools.chain(*lists)`."""
    lists = [each(value) for value in args.positional]
    known = tuple(v for held in lists if held is not None for v in held)
    if args.open or None in lists:
        return None
    return Some(known) if any(not isinstance(as_items(v), Items) for v in args.positional) else Items(known)


def method(owner: Value, name: str, args: Args) -> Value | None:
    """`owner.name(*args)` of a string, list or dict; None where that is not known."""
    if isinstance(owner, Table):
        return _of_table(owner, name, args)
    if not isinstance(owner, Text) or name not in _TEXT_METHODS:
        return None
    if name == "join":
        several = as_items(args.positional[0]) if args.positional else None
        if several is None or not several.whole:
            return Text("{…}", False, owner.given() or any(a.given() for a in args.positional))
        parts: list[Text] = []
        for i, item in enumerate(several.items):
            parts.extend([owner] if i else [])
            parts.append(as_text(item, "…"))
        return joined(parts)
    return _of_text(owner, name, args)


def _of_table(owner: Table, name: str, args: Args) -> Value | None:
    if name == "items":
        return Items(tuple(Items(entry) for entry in owner.entries))
    if name == "values":
        return Items(tuple(value for _, value in owner.entries))
    if name in ("keys", "copy"):
        return Items(tuple(key for key, _ in owner.entries)) if name == "keys" else owner
    if name == "get" and args.positional and isinstance(args.positional[0], Text) and args.positional[0].known:
        default = args.positional[1] if len(args.positional) > 1 else Const()
        return owner.get(args.positional[0].text) or default
    return None


def _of_text(owner: Text, name: str, args: Args) -> Value:
    given = owner.given() or any(a.given() for a in (*args.positional, *args.keywords.values()))
    values = {id(v): v.text if isinstance(v, Text) else v.value for v in (*args.positional, *args.keywords.values())
              if (isinstance(v, Text) and v.known) or isinstance(v, Const)}
    short = len(owner.text) <= LONG and not (name == "format" and WIDE.search(owner.text))
    if owner.known and short and not args.open and len(values) == len(args.positional) + len(args.keywords):
        try:
            made = getattr(owner.text, name)(*(values[id(v)] for v in args.positional),
                                             **{k: values[id(v)] for k, v in args.keywords.items()})
        except (TypeError, ValueError, LookupError, AttributeError):
            return Unknown("it is computed at run time")
        if isinstance(made, str):
            return Text(made, spot=owner.spot)
        if isinstance(made, (list, tuple)):
            return Items(tuple(Text(part) for part in made))
        return Const(made)
    return Text(owner.text, False, given, spot=owner.spot)
