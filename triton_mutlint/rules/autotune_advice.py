"""What `@triton.autotune` should be given so that tuning runs leave no trace (TML301)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_mutlint.rules.absent_arguments import NOT_TAKEN, may_be_none
from triton_mutlint.rules.fresh_zeros import gets_zeros
from triton_mutlint.rules.rerun import Rerun
from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.types import Autotune, ParameterKind, ParameterReport

CERTAIN = (Rerun.ACCUMULATED, Rerun.IN_PLACE, Rerun.POLLED)


@dataclass(frozen=True)
class Lists:
    """The exposed parameters that autotune can take, by what its lists should hold: the advice of all is the same.

    `zeroed` get zeros from every launch, `zeroable` start from what is in memory, which may be zeros; `perhaps` are
    those for which it is not certain that a second run does harm.
    """

    restorable: tuple[str, ...]
    zeroed: tuple[str, ...]
    zeroable: tuple[str, ...]
    perhaps: tuple[str, ...]

    @staticmethod
    def of(subject: KernelSubject, exposed: Sequence[tuple[ParameterReport, Rerun]]) -> Lists:
        plain = [(p.name, r, is_zeroed(subject, p, r)) for p, r in exposed
                 if is_plain(p) and not may_be_none(subject, p)]
        return Lists(
            restorable=tuple(n for n, r, zeros in plain if r in CERTAIN and not zeros),
            zeroed=tuple(n for n, _, zeros in plain if zeros),
            zeroable=tuple(n for n, r, zeros in plain if r in (Rerun.ACCUMULATED, Rerun.POLLED) and not zeros),
            perhaps=tuple(n for n, r, _ in plain if r not in CERTAIN),
        )


def advice(subject: KernelSubject, autotune: Autotune, parameter: ParameterReport, rerun: Rerun, lists: Lists) -> str:
    """What would settle the finding about one parameter; where others need the same, it is said in the same words."""
    if parameter.kind is ParameterKind.DESCRIPTOR:
        return "`restore_value` cannot hold a tensor descriptor: copy and put back `desc.base` in hooks"
    if "." in parameter.name:
        return "`restore_value` cannot hold an element of a tuple: pass the pointer by itself, or use hooks"
    if autotune.has_pre_hook or autotune.has_post_hook:
        return f"make sure that the hooks restore `{parameter.name}`: with them, `restore_value` would do nothing"
    if may_be_none(subject, parameter):
        return f"copy and put back `{parameter.name}` in hooks that ask for None: {NOT_TAKEN}"
    wanted = (parameter.name,) if parameter.name in lists.zeroed else () if rerun in CERTAIN else lists.perhaps
    names = list(dict.fromkeys((*_clonable(subject, autotune.restore_value), *lists.restorable, *wanted)))
    argument = f"`restore_value={_listing(names)}`"
    if parameter.name in autotune.reset_to_zero:
        moved = {parameter.name, *lists.restorable}
        kept = [name for name in _clonable(subject, autotune.reset_to_zero) if name not in moved]
        rest = f"`reset_to_zero={_listing(kept)}`" if kept else "no `reset_to_zero`"
        return f"give {argument} and {rest}"
    if rerun in (Rerun.ACCUMULATED, Rerun.POLLED):
        reset = _clonable(subject, autotune.reset_to_zero)
        if parameter.name in lists.zeroed:
            zeroed = f"`reset_to_zero={_listing(list(dict.fromkeys((*reset, *lists.zeroed))))}`"
            return f"add {zeroed}: every launch in this file passes zeros"
        zeroed = f"`reset_to_zero={_listing(list(dict.fromkeys((*reset, *lists.zeroable))))}`"
        return f"add {argument}, or {zeroed} if callers always pass zeros"
    if rerun is Rerun.IN_PLACE:
        return f"add {argument}"
    return f"if values from before the launch matter, add {argument}"


def is_zeroed(subject: KernelSubject, parameter: ParameterReport, rerun: Rerun) -> bool:
    """Whether zeros are what the kernel needs there and what the launches in its file give it."""
    return rerun is Rerun.ACCUMULATED and subject.kernel is not None and gets_zeros(subject.kernel, parameter.name)


def _clonable(subject: KernelSubject, names: Sequence[str]) -> list[str]:
    """Those of a list's names that Triton can take."""
    assert subject.kernel is not None  # an autotune declaration comes from a loaded kernel
    known = {p.name for p in subject.kernel.parameters if not p.is_constexpr}
    return [name for name in names if name in known]


def is_plain(parameter: ParameterReport) -> bool:
    return parameter.kind is not ParameterKind.DESCRIPTOR and "." not in parameter.name


def _listing(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
