"""What an op declares to mutate, and what is wrong with how it says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from triton_mutlint.basics import nearest
from triton_mutlint.host.declarations.fitting import inferred_arguments, mismatches, returned_by
from triton_mutlint.host.declarations.functions import is_plain_scalar, parameters, takes_more
from triton_mutlint.host.model import Implementation
from triton_mutlint.host.registrations.things import (
    AT_RUN_TIME,
    Opaque,
    OpEvent,
    each_in,
    has_hole,
    is_whole,
    shown,
    string,
    strings,
)
from triton_mutlint.host.torch.schema import Schema, SchemaArgument, SchemaError, parse_schema
from triton_mutlint.host.values.values import Value, told
from triton_mutlint.types import Declaration, Location, Problem

ANY = "unknown"  # what `mutates_args` says where any argument may be written


def declaration_of(event: OpEvent, functions: Sequence[Implementation], positional: Sequence[Implementation]
                   ) -> tuple[Declaration, tuple[SchemaArgument, ...]]:
    """The declaration of an op and, where a schema names them, its arguments in order.

    `functions` are those that the names in `mutates_args` refer to, `positional` those that are
    called with the schema's arguments by position.
    """
    schema, place, problems = _schema_of(event)
    if schema is not None:
        shared = frozenset(name for result in schema.returns for name in result.alias)
        declared = Declaration(schema.mutated, place, may_return=tuple(
            argument.name for argument in schema.arguments if argument.alias & shared))
        problems = [*problems, *mismatches(schema, place, positional)]
        if event.mutates is not None:
            listed, wrong = _listed(event, (), place)
            problems.extend(wrong)
            problems.extend(_disagreement(listed, schema))
        return replace(declared, problems=tuple(problems)), tuple(schema.arguments)
    if event.schema is not None:
        reason = "its schema is malformed" if problems else _reason(event.schema)
        return Declaration(None, place, problems=tuple(problems), reason=reason), ()
    listed, wrong = _listed(event, functions, event.step.site.location)
    may, must = returned_by(event, listed, functions)
    listed = replace(listed, problems=(*problems, *wrong), may_return=may, must_return=must)
    return listed, inferred_arguments(event, functions, positional)


# --------------------------------------------------------------------------- schemas


def _schema_of(event: OpEvent) -> tuple[Schema | None, Location, list[Problem]]:
    texts = strings(event.schema) if event.schema is not None else []
    place = next((text.spot.location for text in texts if text.spot is not None and text.spot.depth == event.step.depth
                  ), event.step.site.location)
    written = {_arguments(text) for text in texts}
    text = written.pop() if len(written) == 1 else None
    if text is None:
        return None, place, []
    try:
        return parse_schema(text), place, []
    except SchemaError as error:
        message = f"the schema of `{shown_name(event)}` cannot be read: {error.message} (column {error.column})"
        problem = Problem(message, place, "a schema looks like `op(Tensor x, Tensor(a!) out) -> Tensor`")
        return None, place, [problem]


def _arguments(text: str) -> str | None:
    """The text of a schema; of one whose name alone is computed, what follows the name."""
    if not has_hole(text):
        return text
    name, bracket, rest = text.partition("(")
    return f"({rest}" if bracket and has_hole(name) and not has_hole(rest) else None


def _disagreement(listed: Declaration, schema: Schema) -> Iterator[Problem]:
    if listed.names is not None and set(listed.names) != set(schema.mutated):
        said = ", ".join(schema.mutated) or "nothing"
        yield Problem(f"`mutates_args` and `schema` disagree: the schema marks {said} as mutated", listed.place,
                      "name the same arguments in both: torch refuses the op otherwise")


# --------------------------------------------------------------------------- lists


@dataclass(frozen=True)
class _Written:
    """Where a list stands: `node` is the display itself, where that is in the call that registers the op."""

    place: Location
    stated: bool = True
    node: ast.expr | None = None

    @property
    def span(self) -> tuple[int, int, int, int] | None:
        node = self.node
        if node is None or node.end_lineno is None or node.end_col_offset is None:
            return None
        return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _listed(event: OpEvent, functions: Sequence[Implementation], default_place: Location
            ) -> tuple[Declaration, list[Problem]]:
    """What `mutates_args` says, checked against the functions' signatures."""
    value = event.mutates
    if value is None:
        return _left_out(event, default_place)
    at = _where(value, event)
    base = Declaration(None, at.place, stated=at.stated)
    if value.constant is not None or (told(value) and not value.cells):
        if value.constant is None or isinstance(value.constant[1], str):
            return _from_string(value, replace(base, span=at.span), functions, event)
        problem = Problem(f"`mutates_args` is `{value.constant[1]}`, not a list of names", at.place,
                          "write `mutates_args=()` for an op that mutates nothing")
        return replace(base, names=()), [problem] if at.stated or event.required else []
    lists = [each_in(content) for content in event.state.contents(value)]
    if len(lists) != 1 or value.kind or value.things:
        return replace(base, reason="it is decided at run time" if lists else _reason(value)), []
    items = lists[0]
    if items is None:
        return replace(base, reason=_reason(value)), []
    names, problems = _names(items, functions, event, at)
    if names is None or not all(map(is_whole, event.state.contents(value))):
        reason = next((_reason(v) for v in items if string(v) is None), AT_RUN_TIME)
        return replace(base, reason=reason), problems
    return replace(base, names=names, span=at.span), problems


def _where(value: Value, event: OpEvent) -> _Written:
    """Where a value was written, as far as that is in the code that the op stands in."""
    step, site = event.step, event.step.site
    places = [Location(str(cell[0]), int(str(cell[1])), int(str(cell[2])) + 1)
              for cell in sorted(value.cells, key=repr) if cell[5] == step.depth]
    spots = [text.spot for text in strings(value) if text.spot is not None and text.spot.depth == step.depth]
    inside = {(n.lineno, n.col_offset + 1): n for n in ast.walk(site.node)
              if isinstance(n, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant))}
    for place in (*places, *(spot.location for spot in spots)):
        here = place.file == site.location.file
        return _Written(place, node=inside.get((place.line, place.column)) if here else None)
    keywords = site.node.keywords if isinstance(site.node, ast.Call) and value.constant is not None else []
    for keyword in keywords:
        if isinstance(keyword.value, ast.Constant) and keyword.arg == "mutates_args":
            return _Written(Location(site.module.display, keyword.value.lineno, keyword.value.col_offset + 1))
    return _Written(site.location, False)


def _left_out(event: OpEvent, place: Location) -> tuple[Declaration, list[Problem]]:
    if event.open:
        reason = "it may be passed with `*` or `**`"
        return Declaration(None, place, stated=False, reason=reason), []
    problems = [Problem(f"`{event.api}` needs `mutates_args`", place, "write `mutates_args=()` for an op that mutates "
                        "nothing, `mutates_args=\"unknown\"` where that is not known")] if event.required else []
    reason = "" if event.default is not None else "it is left out, and what then holds is not known"
    return Declaration(event.default, place, stated=False, reason=reason), problems


def _from_string(value: Value, base: Declaration, functions: Sequence[Implementation], event: OpEvent
                 ) -> tuple[Declaration, list[Problem]]:
    text = string(value)
    if text is None:
        return replace(base, span=None, reason=_reason(value)), []
    if text == ANY:
        return replace(base, any_may=True, reason="it is declared as unknown"), []
    problem = Problem(f"`mutates_args` is the string {str(text)!r}, not a list of names", base.place,
                      f'write `mutates_args=("{text}",)`: torch takes no string but "unknown"')
    _, more = _names([value], functions, event, _Written(base.place, base.stated))
    return replace(base, names=(str(text),)), [problem, *more]


def _names(items: Sequence[Value], functions: Sequence[Implementation], event: OpEvent, at: _Written
           ) -> tuple[tuple[str, ...] | None, list[Problem]]:
    """The names in a list, None where one is not known; and what is wrong with them."""
    names: dict[str, None] = {}
    problems: list[Problem] = []
    known = True
    for item in items:
        spot = next((t.spot for t in told(item) if t.spot is not None and t.spot.depth == event.step.depth), None)
        name, place = string(item), at.place if spot is None else spot.location
        if name is None:
            if item.constant is None or has_hole(item.constant[1]):
                known = False
            else:
                problems.append(_no_name(item.constant[1], functions, place))
        elif name in names:
            problems.append(Problem(f"`{name}` is listed twice in `mutates_args`", place, "remove one of the two"))
        else:
            names[str(name)] = None
            problems.extend(_misnamed(name, functions, event, place))
    return (tuple(names) if known else None), problems


def _no_name(index: object, functions: Sequence[Implementation], at: Location) -> Problem:
    order = [p.arg for p in parameters(functions[0].node)] if functions else []
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(order):
        hint = f'write "{order[index]}" if that argument is meant'
    else:
        hint = f"its arguments are {', '.join(order)}" if order else "name the arguments"
    return Problem(f"`mutates_args` holds `{index}`; it takes names of arguments, not positions", at, hint)


def _misnamed(name: str, functions: Sequence[Implementation], event: OpEvent, at: Location) -> Iterator[Problem]:
    if not functions or any(takes_more(function.node) for function in functions):
        return
    holders = [{p.arg: (one.module, p) for p in parameters(one.node)} for one in functions]
    if not any(name in held for held in holders):
        order = list(holders[0])
        close = nearest(name, order, 0.5)
        close = f"did you mean `{close}`?" if close else f"its arguments are {', '.join(order)}"
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
    return next(map(shown, strings(event.name)), "the op")


def _reason(value: Value) -> str:
    return min((one.reason for one in value.things if isinstance(one, Opaque)), default=AT_RUN_TIME)
