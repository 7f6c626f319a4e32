"""The torch ops that a file registers: what they are called, what they declare, what implements them."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.declarations.declarations import declaration_of
from triton_mutlint.host.declarations.functions import functions_of
from triton_mutlint.host.model import Form, OpRegistration
from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.file_registrations import FileRegistrations
from triton_mutlint.host.registrations.jax import jax_calls, jax_op
from triton_mutlint.host.registrations.things import ImplEvent, OpEvent, each_in, has_hole, shown, string, strings
from triton_mutlint.host.state.state import State
from triton_mutlint.host.torch.known_schemas import sought_in_vain, torch_schema, written_by
from triton_mutlint.host.torch.schema import SchemaArgument
from triton_mutlint.host.values.values import Value
from triton_mutlint.host.values.written import Written
from triton_mutlint.types import Declaration, Location, Problem

__all__ = ["joined", "registrations"]

ELSEWHERE = "its schema is defined elsewhere"
UNIMPLEMENTED = "no implementation of it was found"
# Dispatch keys and device types whose kernels do not do the work itself.
_NO_KERNELS = ("meta", "fake", "autograd", "autocast", "adinplace", "functional", "functorch", "python", "batched",
               "zerotensor", "conjugate", "negative", "backendselect", "named")  # fmt: skip
_FAKE = ("meta", "fake")


def registrations(module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]
                  ) -> tuple[OpRegistration, ...]:
    """The ops that `module` registers, in line order.

    `registrars` are the functions that the configuration says register ops, by dotted name. An
    implementation of an op that is defined elsewhere is one too, with a declaration that is not known:
    see `joined`.
    """
    events = list(FileRegistrations(module, modules, registrars).found())
    defined = _distinct([e for e in events if isinstance(e, OpEvent)])
    kernels, fakes = defaultdict[str, list[ImplEvent]](list), defaultdict[str, list[ImplEvent]](list)
    for one in events:
        if isinstance(one, ImplEvent):
            kinds = _kinds(one)
            if not kinds or not all(kind.startswith(_NO_KERNELS) for kind in kinds):
                kernels[_name(one.name)].append(one)
            elif all(kind in _FAKE for kind in kinds):
                fakes[_name(one.name)].append(one)
    names = Counter(site for site, _ in {(_site(e), _name(e.name)) for e in defined})
    sites = {(_name(e.name), _site(e)) for e in defined}
    found, used = list[OpRegistration](), set[int]()
    for event in defined:
        name, here = _name(event.name), _site(event)  # of several ops of a name, each has what stands where it does
        mine = [i for i in kernels.get(name, ()) if _site(i) == here or (name, _site(i)) not in sites]
        used.update(map(id, mine))
        op = _registration(event, mine, module, _place(event, names[here] == 1))
        found.append(replace(op, fakes=functions_of(_functions(fakes.get(name, ())))[0]))
    others = {name: left for name, held in kernels.items()
              if (left := [one for one in held if id(one) not in used and one.sure])}
    at = Counter(_site(several[0]) for several in others.values())
    for name, several in others.items():
        other = _elsewhere(name, several, module, _place(several[0], at[_site(several[0])] == 1))
        found.extend([other] if other is not None else [])
    found.extend(map(jax_op, jax_calls(module, modules)))
    return tuple(sorted(found, key=lambda r: (r.location, r.name)))


def joined(found: Iterable[OpRegistration]) -> tuple[OpRegistration, ...]:
    """Registrations of several files, with implementations put to the ops that another file defines."""
    several = list(found)
    elsewhere: dict[str, list[OpRegistration]] = {}
    for one in several:
        if one.declaration.reason == ELSEWHERE:
            elsewhere.setdefault(one.name, []).append(one)
    result: list[OpRegistration] = []
    used: set[int] = set()
    for one in several:
        others = elsewhere.get(one.name, []) if one.declaration.reason != ELSEWHERE and one.form is Form.DEFINE else []
        used.update(map(id, others))
        functions = tuple({id(f.node): f for r in (one, *others) for f in r.functions}.values())
        missing = "" if functions and one.missing == UNIMPLEMENTED else one.missing
        missing = next((o.missing for o in others if o.missing), missing)
        result.append(replace(one, functions=functions, missing=missing) if others else one)
    return tuple(r for r in result if id(r) not in used)


# --------------------------------------------------------------------------- one op


def _registration(event: OpEvent, impls: Sequence[ImplEvent], module: HostModule, place: Location) -> OpRegistration:
    own = _functions([event])
    values = _functions(impls)
    if event.form is not Form.DEFINE or not values:  # the function whose annotations gave a schema is not called
        values = [*own, *values]
    path = [node for one in (event, *impls) for node in one.step.path]
    functions, missing = functions_of(values, path)
    named = functions_of(own, path)[0] if own else functions
    declaration, arguments = declaration_of(event, named, [one for one in functions if not one.takes_keys])
    name = _name(event.name)
    if event.api in ("torch.library.custom_op", "torch.library.triton_op", "torch.library.define"):
        declaration = _with_name_checked(declaration, event, name)
    form = event.form
    if event.step.site.node is not event.step.path[-1] and form is not Form.TRITON_OP:
        form = Form.REGISTRAR
    if not values:
        missing = UNIMPLEMENTED
    return _with_schema(OpRegistration(name, form, place, module, declaration, functions, missing), arguments)


def _functions(events: Sequence[OpEvent | ImplEvent]) -> list[tuple[Value, State, bool]]:
    return [(event.function, event.state, isinstance(event, ImplEvent) and event.keyset)
            for event in events if event.function is not None]


def _with_schema(op: OpRegistration, arguments: Sequence[SchemaArgument]) -> OpRegistration:
    return replace(op, arguments=tuple(a.name for a in arguments),
                   keyword_only=tuple(a.name for a in arguments if a.kwarg_only),
                   plain=tuple(a.name for a in arguments if a.is_plain),
                   given=tuple(a.name for a in arguments if a.type == "Tensor" and a.default is None),
                   lists=tuple(a.name for a in arguments if a.type == "Tensor[]" and a.default is None))


def _place(event: OpEvent | ImplEvent, alone: bool) -> Location:
    """Where an op is registered: of several that one call registers, the place where its name is written."""
    texts = strings(event.name)
    spot = texts[0].spot if texts else None
    if not alone and spot is not None and spot.module is event.step.site.module and isinstance(spot.node, ast.Constant):
        return spot.location
    return event.step.site.location


def _with_name_checked(declaration: Declaration, event: OpEvent, name: str) -> Declaration:
    if string(event.name) is None or "::" in name:
        return declaration
    problem = Problem(f"the op's name `{name}` has no namespace", event.step.site.location,
                      f"torch takes names such as `mylib::{name}`")
    return replace(declaration, problems=(*declaration.problems, problem))


def _elsewhere(name: str, impls: Sequence[ImplEvent], module: HostModule, first: Location
               ) -> OpRegistration | None:
    """An op that another file defines, or torch itself."""
    functions, missing = functions_of(_functions(impls), [node for i in impls for node in i.step.path])
    if not functions and name.startswith("<"):
        return None
    schema = torch_schema(name)
    if schema is None:
        problems = sought_in_vain(name, first) if all(i.sure for i in impls) else ()
        declaration = Declaration(None, first, stated=False, reason=ELSEWHERE, problems=problems,
                                  may_return=None)
        return OpRegistration(name, Form.DEFINE, first, module, declaration, functions, missing)
    declaration = Declaration(written_by(name, schema), first, of_torch=True, may_return=None)
    return _with_schema(OpRegistration(name, Form.DEFINE, first, module, declaration, functions, missing),
                        schema.arguments)


def _site(event: OpEvent | ImplEvent) -> int:
    return id(event.step.site.node)


def _kinds(event: ImplEvent) -> list[str]:
    """The dispatch keys or device types that a function is for, "" where one is not known; none where it is for all."""
    if event.keys is None:
        return []
    listed = [each_in(content) or [Value()] for content in event.state.contents(event.keys)]
    keys = [key for held in listed for key in held] or [event.keys]
    return [text.lower() for key in keys for text in strings(key) or (Written(""),)]


def _distinct(events: Sequence[OpEvent]) -> list[OpEvent]:
    """Events without those that say the same of one place, as branches of a registrar do; `triton_op` says more."""
    found: dict[tuple[object, ...], OpEvent] = {}
    for event in sorted(events, key=lambda e: e.form is not Form.TRITON_OP):
        held = functions_of(_functions([event]))[0]
        key = (_site(event), _name(event.name), tuple(id(one.node) for one in held))
        found.setdefault(key, event)
    return list(found.values())


def _name(value: Value) -> str:
    """The op's name; in angle brackets where a part of it is computed."""
    texts = strings(value)
    if not texts:
        return "<computed>"
    names = "|".join(map(shown, texts))
    return names if len(texts) == 1 and not has_hole(texts[0]) else f"<{names}>"
