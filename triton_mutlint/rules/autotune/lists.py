"""What `restore_value` and `reset_to_zero` achieve: wrong names in them, and hooks in their place.

From `triton/runtime/autotuner.py` of Triton 3.6 to 3.9: `Autotuner.__init__` installs the hook that
zeroes and copies only when no `pre_hook` is given, and the one that puts copies back only when no
`post_hook` is. Unknown names raise `KeyError` at the first tuning up to 3.8, `ValueError` at
decoration from 3.9. With a `pre_hook`, restoring raises `AttributeError` up to 3.8 and silently does
nothing from 3.9.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from triton_mutlint.rules.rule import KernelSubject
from triton_mutlint.types import Autotune, Kernel, ListKind, ParameterKind, Rerun

METHODS = {"restore_value": "clone()", "reset_to_zero": "zero_()"}  # what tuning calls on each argument that is listed
_LISTS = {"restore_value": ListKind.RESTORE_VALUE, "reset_to_zero": ListKind.RESET_TO_ZERO}


@dataclass(frozen=True)
class Fault:
    """What is wrong with a decorator's arguments."""

    message: str
    help: str
    parameter: str | None = None
    redundant: ListKind | None = None  # the list that `parameter` only has to be taken out of
    unfixed: str = ""  # why no fix does


def faults(subject: KernelSubject, kernel: Kernel, autotune: Autotune) -> Iterator[Fault]:
    """The faults of one decorator, in a fixed order."""
    for argument, names in (("restore_value", autotune.restore_value), ("reset_to_zero", autotune.reset_to_zero)):
        for name in names:
            yield from _name_fault(subject, kernel, argument, name, names)
    yield from _replaced(subject, autotune)


def _name_fault(subject: KernelSubject, kernel: Kernel, argument: str, name: str,
                listed: tuple[str, ...]) -> Iterator[Fault]:
    known, parameter = kernel.parameter_names, subject.parameter(name)
    no_method = f"it has no {METHODS[argument]}"
    by_hand = "only hooks can restore it"
    if name not in known:
        close = get_close_matches(name, known, 1, 0.5)
        meant = close[0] if close and close[0] not in listed else ""
        hint = f"did you mean `{meant}`?" if meant else f"remove `{name}`; the parameters are {', '.join(known)}"
        yield Fault(f"`{argument}` names `{name}`, which is no parameter of `{kernel.name}`", hint, name,
                    None if meant else _LISTS[argument], f"`{meant}` may be meant" if meant else "")
    elif kernel.parameters[known.index(name)].is_constexpr:
        yield Fault(f"`{argument}` names `{name}`, a constexpr: {no_method}", f"remove `{name}`", name,
                    _LISTS[argument])
    elif parameter is not None and parameter.kind is ParameterKind.DESCRIPTOR:
        yield Fault(f"`{argument}` names `{name}`, a tensor descriptor: {no_method}",
                    "handle `desc.base` in hooks, or pass a pointer", name, unfixed=by_hand)
    elif any(p.name.startswith(f"{name}.") for p in subject.report.parameters):
        yield Fault(f"`{argument}` names `{name}`, a tuple: {no_method}",
                    "pass the pointers by themselves, or use hooks", name, unfixed=by_hand)


def replaced(autotune: Autotune) -> dict[str, tuple[str, ...]]:
    """By argument, the names that it lists in vain because a hook stands in its place."""
    if len(autotune.configs) < 2:
        return {}  # one config is never benchmarked: neither hook runs
    if autotune.has_pre_hook:
        return {"restore_value": autotune.restore_value, "reset_to_zero": autotune.reset_to_zero}
    if autotune.has_post_hook:
        still_reset = autotune.reset_to_zero  # zeroing is the other hook's work
        return {"restore_value": tuple(n for n in autotune.restore_value if n not in still_reset)}
    return {}


def protects(kernel: Kernel, autotune: Autotune, name: str, rerun: Rerun) -> bool:
    """Whether tuning leaves no trace in `name`, or nobody can tell: what a hook does and what was not evaluated may do.

    A name in both lists is zeroed first, and the zeros are what is kept and put back: also a hook cannot undo that.
    """
    if any(name in names for names in replaced(autotune).values()):
        return True  # which is a fault of its own
    if name in autotune.reset_to_zero:
        return rerun is not Rerun.UPDATES
    return name in autotune.restore_value or is_hooked(kernel, autotune) or "restore_value" in autotune.undecided or \
        ("reset_to_zero" in autotune.undecided and rerun is not Rerun.UPDATES)


def is_hooked(kernel: Kernel, autotune: Autotune) -> bool:
    """Whether hooks run while tuning: the decorator's, those of configs, or of configs that a pruner makes."""
    if autotune.has_pre_hook or autotune.has_post_hook or any(c.has_pre_hook for c in autotune.configs):
        return True
    given = {node.arg for d in kernel.node.decorator_list for node in ast.walk(d) if isinstance(node, ast.keyword)}
    return "prune_configs_by" in given and any(
        isinstance(node, ast.keyword) and node.arg == "pre_hook" for node in ast.walk(kernel.tree))


def _replaced(subject: KernelSubject, autotune: Autotune) -> Iterator[Fault]:
    hook = "pre_hook" if autotune.has_pre_hook else "post_hook"
    for argument, names in replaced(autotune).items():
        if names:
            listed = ", ".join(f"`{name}`" for name in names)
            yield Fault(
                f"the `{hook}` of `@triton.autotune` replaces the one that carries out `{argument}`: "
                f"{listed} of `{subject.report.name}` {'is' if len(names) == 1 else 'are'} not protected while tuning",
                _remedy(hook, argument), names[0] if len(names) == 1 else None, unfixed="hooks are not edited",
            )


def _remedy(hook: str, argument: str) -> str:
    if hook == "pre_hook":
        return f"give the `{hook}` to the configs instead, where it runs besides `{argument}`"
    return f"remove the `{hook}`, or put the copies back in it and make them in a `pre_hook`"
