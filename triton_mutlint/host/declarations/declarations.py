"""What an op declares to mutate, and what is wrong with how it says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_mutlint.config.settings import nearest
from triton_mutlint.host.declarations.functions import Found, is_plain_scalar, parameters, takes_more, text_of
from triton_mutlint.host.declarations.mismatches import mismatches
from triton_mutlint.host.registrations.events import OpEvent
from triton_mutlint.host.registrations.folded import (
    Const,
    Either,
    Inferred,
    Items,
    Spot,
    Table,
    Text,
    Unknown,
    Value,
    options,
)
from triton_mutlint.host.registrations.folding_values import as_items
from triton_mutlint.host.torch.schema import Schema, SchemaArgument, SchemaError, parse_schema
from triton_mutlint.types import Declaration, Location, Problem

ANY = "unknown"  # what `mutates_args` says where any argument may be written
AT_RUN_TIME = "it is computed at run time"


def declaration_of(event: OpEvent, functions: Sequence[Found], positional: Sequence[Found]
                   ) -> tuple[Declaration, tuple[SchemaArgument, ...]]:
    """The declaration of an op and, where a schema names them, its arguments in order.

    `functions` are those that the names in `mutates_args` refer to, `positional` those that are
    called with the schema's arguments by position.
    """
    schema, place, problems = _schema_of(event)
    if schema is not None:
        declared = Declaration(schema.mutated, place)
        problems = [*problems, *mismatches(schema, place, positional)]
        if event.mutates is not None:
            listed, wrong = _listed(event, (), place)
            problems.extend(wrong)
            problems.extend(_disagreement(listed, schema))
        return replace(declared, problems=tuple(problems)), tuple(schema.arguments)
    if event.schema is not None and not isinstance(event.schema, Inferred):
        reason = "its schema is malformed" if problems else _reason(event.schema, "its schema")
        return Declaration(None, place, problems=tuple(problems), reason=reason), ()
    listed, wrong = _listed(event, functions, event.step.site.location)
    return replace(listed, problems=(*problems, *wrong)), ()


# --------------------------------------------------------------------------- schemas


def _schema_of(event: OpEvent) -> tuple[Schema | None, Location, list[Problem]]:
    value = event.schema
    place = _place(value, event) if value is not None else event.step.site.location
    if isinstance(value, Either) and len({_arguments(v) for v in value.options}) == 1:
        value = value.options[0]
    text = _arguments(value) if isinstance(value, Text) else None
    if text is None:
        return None, place, []
    try:
        return parse_schema(text), place, []
    except SchemaError as error:
        message = f"the schema of `{shown_name(event)}` cannot be read: {error.message} (column {error.column})"
        problem = Problem(message, place, "a schema looks like `op(Tensor x, Tensor(a!) out) -> Tensor`")
        return None, place, [problem]


def _arguments(value: Value) -> str | None:
    """The text of a schema; of one whose name alone is computed, what follows the name."""
    if not isinstance(value, Text):
        return None
    if value.known:
        return value.text
    name, bracket, rest = value.text.partition("(")
    return f"({rest}" if bracket and "{" in name and "{" not in rest else None


def _disagreement(listed: Declaration, schema: Schema) -> Iterator[Problem]:
    if listed.names is not None and set(listed.names) != set(schema.mutated):
        said = ", ".join(schema.mutated) or "nothing"
        yield Problem(f"`mutates_args` and `schema` disagree: the schema marks {said} as mutated", listed.place,
                      "name the same arguments in both: torch refuses the op otherwise")


# --------------------------------------------------------------------------- lists


def _listed(event: OpEvent, functions: Sequence[Found], default_place: Location) -> tuple[Declaration, list[Problem]]:
    """What `mutates_args` says, checked against the functions' signatures."""
    value = event.mutates
    if value is None:
        return _left_out(event, default_place)
    if isinstance(value, Either):
        value = _agreed(value)
    spot = value.spot if value.spot is not None else None
    stated = spot is not None and spot.depth == event.step.depth
    place = spot.location if spot is not None and stated else event.step.site.location
    base = Declaration(None, place, stated=stated, span=_span(spot) if stated and spot is not None else None)
    if isinstance(value, Text):
        return _from_string(value, base, functions, event)
    if isinstance(value, Const):
        problem = Problem(f"`mutates_args` is `{value.value}`, not a list of names", place,
                          "write `mutates_args=()` for an op that mutates nothing")
        return replace(base, names=(), span=None), [problem] if stated or event.required else []
    several = as_items(value) if isinstance(value, (Items, Table)) else None
    if several is None:
        return replace(base, span=None, reason=_reason(value, "the list")), []
    names, problems = _names(several, functions, event, place)
    if names is None or not several.whole:
        reason = next((_reason(v, "a name in it") for v in several.items if text_of(v) is None), AT_RUN_TIME)
        return replace(base, span=None, reason=reason), problems
    return replace(base, names=names), problems


def _left_out(event: OpEvent, place: Location) -> tuple[Declaration, list[Problem]]:
    if event.open:
        reason = "it may be passed with `*` or `**`"
        return Declaration(None, place, stated=False, reason=reason), []
    if event.misplaced is not None:
        at = event.misplaced.spot.location if event.misplaced.spot is not None else place
        return Declaration((), place, stated=False), [Problem(
            f"the second argument of `{event.api}` is the function, not the list", at, "pass it as `mutates_args=`")]
    problems = [Problem(f"`{event.api}` needs `mutates_args`", place, "write `mutates_args=()` for an op that mutates "
                        "nothing, `mutates_args=\"unknown\"` where that is not known")] if event.required else []
    reason = "" if event.default is not None else "it is left out, and what then holds is not known"
    return Declaration(event.default, place, stated=False, reason=reason), problems


def _from_string(value: Text, base: Declaration, functions: Sequence[Found], event: OpEvent
                 ) -> tuple[Declaration, list[Problem]]:
    if not value.known:
        return replace(base, span=None, reason=_reason(value, "it")), []
    if value.text == ANY:
        return replace(base, any_may=True, reason="it is declared as unknown"), []
    problem = Problem(f"`mutates_args` is the string {value.text!r}, not a list of names", base.place,
                      f'write `mutates_args=("{value.text}",)`: torch takes no string but "unknown"')
    _, more = _names(Items((value,)), functions, event, base.place)
    return replace(base, names=(value.text,)), [problem, *more]


def _names(several: Items, functions: Sequence[Found], event: OpEvent, place: Location
           ) -> tuple[tuple[str, ...] | None, list[Problem]]:
    """The names in a list, None where one is not known; and what is wrong with them."""
    names: dict[str, None] = {}
    problems: list[Problem] = []
    known = True
    for item in several.items:
        at = item.spot.location if item.spot is not None and item.spot.depth == event.step.depth else place
        name = text_of(item)
        if name is None:
            known = known and isinstance(item, Const)
            problems.extend(_no_name(item, functions, at))
        elif name in names:
            problems.append(Problem(f"`{name}` is listed twice in `mutates_args`", at, "remove one of the two"))
        else:
            names[name] = None
            problems.extend(_misnamed(name, functions, event, at))
    return (tuple(names) if known else None), problems


def _no_name(item: Value, functions: Sequence[Found], at: Location) -> Iterator[Problem]:
    if not isinstance(item, Const):
        return
    order = [p.arg for p in parameters(functions[0][1])] if functions else []
    index = item.value
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(order):
        hint = f'write "{order[index]}" if that argument is meant'
    else:
        hint = f"its arguments are {', '.join(order)}" if order else "name the arguments"
    yield Problem(f"`mutates_args` holds `{index}`; it takes names of arguments, not positions", at, hint)


def _misnamed(name: str, functions: Sequence[Found], event: OpEvent, at: Location) -> Iterator[Problem]:
    if not functions or any(takes_more(node) for _, node in functions):
        return
    holders = [{p.arg: (module, p) for p in parameters(node)} for module, node in functions]
    if not any(name in held for held in holders):
        order = list(holders[0])
        close = nearest(name, order).strip(" ()").removesuffix("?")
        close = f"{close.replace(chr(39), '`')}?" if close else f"its arguments are {', '.join(order)}"
        yield Problem(f"`mutates_args` names `{name}`, which is no argument of `{shown_name(event)}`", at, close)
        return
    found = [held[name] for held in holders if name in held]
    if all(is_plain_scalar(module, parameter) for module, parameter in found):
        annotation = found[0][1].annotation
        kind = ast.unparse(annotation) if annotation is not None else ""
        yield Problem(f"`mutates_args` names `{name}`, which holds no tensor (`{kind}`)", at,
                      "only tensors and lists of tensors can be mutated; take it out")


# --------------------------------------------------------------------------- values


def shown_name(event: OpEvent) -> str:
    """The op's name as far as it is known."""
    for value in options(event.name):
        if isinstance(value, Text):
            return value.text
    return "the op"


def _agreed(value: Either) -> Value:
    """One of several lists, where all hold the same names."""
    held = [[text_of(i) for i in several.items] if (several := as_items(v)) is not None and several.whole else None
            for v in value.options]
    first = held[0]
    if first is not None and None not in first and all(h is not None and set(h) == set(first) for h in held):
        return value.options[0]
    return Unknown("it is decided at run time", value.given())


def _span(spot: Spot) -> tuple[int, int, int, int] | None:
    node = spot.node
    end = getattr(node, "end_lineno", None)
    if not spot.literal or end is None:
        return None
    return node.lineno, node.col_offset, end, node.end_col_offset  # type: ignore[attr-defined]  # it is an expression


def _place(value: Value, event: OpEvent) -> Location:
    for one in options(value):
        if one.spot is not None and one.spot.depth == event.step.depth:
            return one.spot.location
    return event.step.site.location


def _reason(value: Value, what: str) -> str:
    if value.given():
        return f"{what} is what a caller passes"
    reason = value.reason if isinstance(value, Unknown) else ""
    return reason or AT_RUN_TIME
