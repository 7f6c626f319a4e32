"""From what the spec, the source and inference say of a kernel to the variants to analyse."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product

from triton_mutlint.kernel_source.dtypes import INTEGRAL
from triton_mutlint.signature.evidence import Inferred
from triton_mutlint.signature.expansion import Expansion, Sources, expand
from triton_mutlint.signature.variants import configs, launched_only, with_choices
from triton_mutlint.source.walking import dotted, walk
from triton_mutlint.spec.bind import bind_arg, bind_entry, value_parameters
from triton_mutlint.spec.model import KernelSpec, Spec
from triton_mutlint.spec.nodes import show_path
from triton_mutlint.spec.notation import TypeTextError
from triton_mutlint.spec.values import text_of, type_of_value, value_key
from triton_mutlint.types import (
    ArgType,
    ConstexprValue,
    Failure,
    Kernel,
    Origin,
    Parameter,
    Plan,
    ScalarType,
    Stage,
    StageError,
    TupleType,
    unwrap_constexpr,
)

__all__ = ["Infer", "Inferred", "build_plan"]

Infer = Callable[[Kernel, Mapping[str, ArgType]], Mapping[str, Inferred]]
_EDITED = "a config gives it, which the tuner's `early_config_prune` may change"
_TUPLES = 256  # more than there are variants
_Given = dict[str, tuple[ArgType, ...]]


def build_plan(
    kernel: Kernel,
    entry: KernelSpec | None,
    spec: Spec | None,
    *,
    inferred: Infer,
    max_variants: int = 64,
    asks_kinds: Callable[[], bool] = lambda: False,
) -> Plan:
    """The variants of `kernel`, at most `max_variants`, and where their types came from.

    A parameter is given by the first of: `entry`, heuristics, autotune configs, the defaults of
    `spec`, `inferred` (called once, with the parameters known by then) where it says more than the
    default in the source, and that default. Raises `StageError` (stage signature) for a spec that
    does not fit the kernel and for a parameter that nothing gives. `asks_kinds`: whether the source tells
    a constant from a number that is known at a launch only.
    """
    by_entry = bind_entry(kernel, entry) if entry else {}
    if (specialized := _specialized(kernel, by_entry)) and asks_kinds():
        by_entry |= specialized
    by_default = _spec_defaults(kernel, spec, by_entry)
    guessed, declared, sources = _sources(kernel, by_entry, by_default, inferred)
    # An entry that gives all that has no default describes a launch, which takes the defaults. Heuristics do not see
    # those: Triton passes them what a launch gives.
    told_all = by_entry and not by_default and not guessed.keys() - sources.heuristics
    assumed = frozenset[str]() if told_all else frozenset(declared)
    unseen = set[str]().union(*(c.args for c in sources.configs)) if _tuned_inside(kernel) else set()
    expansion = expand(kernel, sources, max_variants, guessed.keys() | declared.keys() | unseen)
    _require(kernel, [p for p in kernel.parameters if p.name in expansion.missing])
    told = sources.heuristics.keys() - expansion.untold
    used = {n: guessed[n] for n in kernel.parameter_names if n in guessed and n not in told}
    if kernel.autotune is not None and kernel.autotune.is_edited:
        used.update((n, Inferred((), _EDITED)) for config in sources.configs for n in config.args if n not in by_entry)
    return Plan(
        variants=with_choices(expansion.variants),
        total=expansion.total,
        origin=_origin(entry, bool(by_entry or by_default), bool(used)),
        inferred=frozenset(used),
        assumed=(assumed - told) | expansion.sampled,
        partial=frozenset(n for n, guess in used.items() if guess.is_partial),
        reasons={n: guess.reason for n, guess in used.items()},
        notes=tuple(_notes(kernel, spec, entry, expansion)),
    )


def _tuned_inside(kernel: Kernel) -> bool:
    """Whether heuristics may stand around an autotuner, and do not see what its configs give."""
    names = [dotted(d.func if isinstance(d, ast.Call) else d)[-1:] for d in kernel.node.decorator_list]
    outer = names[: names.index(("autotune",))] if ("autotune",) in names else names
    return kernel.autotune is not None and (("heuristics",) in outer or ("autotune",) not in names)


def _specialized(kernel: Kernel, given: _Given) -> _Given:
    """Integers that functions are called with, also as constants, which Triton makes of them at a launch with 1."""
    called = (n for n in walk(kernel.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
    names = {inner.id for call in called for inner in walk(call) if isinstance(inner, ast.Name)} - launched_only(kernel)
    found = {name: tuple({value_key(one): one for t in given[name] for one in _or_one(t)}.values())
             for name in given if name in names}
    return {name: types for name, types in found.items() if len(types) > len(given[name])}


def _or_one(type_: ArgType) -> Iterator[ArgType]:
    """A type, and what Triton makes of it where integers are 1."""
    yield type_
    if isinstance(type_, ScalarType) and type_.name in INTEGRAL and type_.divisibility == 1:
        yield ConstexprValue(1)
    elif isinstance(type_, TupleType):
        rows = product(*(_or_one(element) for element in type_.elements))
        yield from (replace(type_, elements=row) for row in islice(rows, 1, _TUPLES))


def _origin(entry: KernelSpec | None, has_given: bool, has_guessed: bool) -> Origin:
    if has_guessed:
        return Origin.MIXED if has_given else Origin.INFERRED
    return Origin.SPEC if entry or has_given else Origin.INFERRED


def _notes(
    kernel: Kernel, spec: Spec | None, entry: KernelSpec | None, expansion: Expansion
) -> Iterator[str]:
    found = spec.entries_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line) if spec else ()
    if entry is not None and len(found) > 1 and found[0] is entry:
        others = ", ".join(f"{tie.pattern!r} (line {tie.location.line})" for tie in found[1:])
        yield f"spec entry {entry.pattern!r} (line {entry.location.line}) is used; {others} fits as well"
    if len(expansion.variants) < expansion.total:
        yield f"{len(expansion.variants)} of {expansion.total} variants analysed; raise --max-variants for more"
    for name in sorted(expansion.untold):
        yield f"the heuristic for {name!r} needs real arguments"


# --------------------------------------------------------------------------- sources


def _sources(
    kernel: Kernel, by_entry: _Given, by_default: _Given, inferred: Infer
) -> tuple[dict[str, Inferred], _Given, Sources]:
    """Every parameter's alternatives; guesses and defaults among them. Raises `StageError` if one has none."""
    names = kernel.parameter_names
    tuned = configs(kernel, by_entry)
    always_tuned = set.intersection(*(set(config.args) for config in tuned))
    # A heuristic may also set num_warps and the like: the compiler has its own defaults for those.
    heuristics = {n: f for n, f in kernel.heuristics.items() if n in names and n not in by_entry}
    given = {n: v for n, v in {**by_default, **by_entry}.items() if n not in always_tuned}
    known = {n: values[0] for n, values in given.items() if n not in heuristics} | dict(tuned[0].args)
    guesses = inferred(kernel, {n: known[n] for n in names if n in known})
    rest = [p for p in kernel.parameters if p.name not in given and p.name not in always_tuned]
    guessed, declared = _settle(rest, guesses, value_parameters(kernel))
    free = {**given, **declared, **{n: guess.alternatives for n, guess in guessed.items()}}
    _require(kernel, [p for p in rest if p.name not in free and p.name not in heuristics])
    return guessed, declared, Sources(
        tuned,
        {n: free[n] for n in names if n in free and n not in heuristics},
        heuristics,
        {n: free[n] for n in heuristics if n in free},
    )


def _spec_defaults(kernel: Kernel, spec: Spec | None, by_entry: _Given) -> _Given:
    """What the spec's `defaults` give for parameters that its entry leaves out."""
    values = value_parameters(kernel)
    found: _Given = {}
    for parameter in kernel.parameters if spec else ():
        name = parameter.name
        arg = spec.default_for(name, is_value=name in values) if spec and name not in by_entry else None
        if arg is not None:
            found[name] = bind_arg(kernel, parameter, arg)
    return found


def _settle(
    rest: list[Parameter], guesses: Mapping[str, Inferred], values: frozenset[str]
) -> tuple[dict[str, Inferred], _Given]:
    """Splits the parameters that the spec leaves out into inferred ones and declared defaults.

    Inference knows the defaults: a guess that is the default alone is no guess, and one that has
    more beside it (a flag that is False by default may be True at a launch) goes before it.
    """
    used: dict[str, Inferred] = {}
    declared: _Given = {}
    for parameter in rest:
        guess = guesses.get(parameter.name)
        default = _default(parameter, is_value=parameter.name in values)
        keys = [value_key(a) for a in guess.alternatives] if guess else []
        if default is not None and keys in ([], [value_key(default)]):
            declared[parameter.name] = (default,)
        elif guess and keys:
            used[parameter.name] = guess
    return used, declared


def _default(parameter: Parameter, *, is_value: bool) -> ArgType | None:
    if not parameter.has_default:
        return None
    value = unwrap_constexpr(parameter.default)
    if is_value or isinstance(value, str):  # Triton takes no text for a run-time argument
        return ConstexprValue(value, text_of(value))
    try:
        return type_of_value(value)
    except TypeTextError:
        return None


def _require(kernel: Kernel, missing: list[Parameter]) -> None:
    """Raises `StageError` if parameters are missing, with what to write into the spec."""
    if not missing:
        return
    values = value_parameters(kernel)
    constexpr = [p.name for p in missing if p.name in values]
    typed = [p.name for p in missing if p.name not in values]
    parts = []
    if constexpr:
        parts.append(f"no value for constexpr {', '.join(map(repr, constexpr))}")
    if typed:
        parts.append(f"no type for {', '.join(map(repr, typed))}")
    first = missing[0].name
    example = "128" if first in values else '"*fp32"'
    path = show_path(("kernels", kernel.name, "args", first))
    hint = f"give it in the spec, {path}: {example}"
    raise StageError(Failure(Stage.SIGNATURE, "; ".join(parts), kernel.location, hint, lacks="arguments"))
