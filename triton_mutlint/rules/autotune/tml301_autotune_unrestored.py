'''Autotuning corrupts a parameter that the kernel reads and writes, or accumulates into.

## What it does

Looks at kernels with more than one autotune config and reports

* a parameter from which the kernel loads a value where it writes another one, unless `restore_value` names it;
* a parameter that is accumulated into (atomics, or load, add and store), unless `restore_value` or
  `reset_to_zero` names it;
* a `pre_hook` or `post_hook` of `@triton.autotune` itself that replaces the hook which carries out
  `restore_value` or `reset_to_zero`, so that these do nothing;
* a name in those lists that is no parameter, or one that Triton cannot clone.

It does not report what runs as well a second time: memory that the kernel writes before it reads it (at the
same address and under a mask that lets through as much, or in a loop over it), a lock that is always freed, a
counter that the kernel itself sets back to zero, an atomic maximum or minimum whose result is not used, and a
store of what was there, limited or replaced by a value from elsewhere.

It also reports nothing where it cannot know: where reads and writes go to addresses that are computed in
different ways (also where programs wait for what others store), where hooks (also those of configs) may write
the parameter or are not understood, where a list could not be evaluated, and where a launch leaves out an
argument that no config gives, so that the kernel must be tuned over other configs than those that were found.
Hooks are followed like the code of a torch op: one that only looks at a parameter does not protect it, nor does
one that is lacking in a config with which the kernel adds to the parameter or reads what it left there.

A kernel that only jax-triton's `triton_call` launches is protected by what each such call says: inputs in
`input_output_aliases` are put back, outputs in `zeroed_outputs` are cleared.

## Why

To find the best config, Triton runs every config many times on the caller's own tensors, and only
then makes the launch that counts. `restore_value` copies a tensor before each of these runs and
puts it back afterwards. `reset_to_zero` sets it to zero before each run and once before the launch
that counts: right for a sum that starts at zero, wrong for values that the kernel needs. The first
call gives wrong numbers, later ones do not, so tests that run twice pass.

## Example

```diff
 CONFIGS = [triton.Config({"BLOCK": block}) for block in (128, 256)]

-@triton.autotune(CONFIGS, key=["n"])
+@triton.autotune(CONFIGS, key=["n"], restore_value=["x_ptr"])
 @triton.jit
 def double(x_ptr, n, BLOCK: tl.constexpr):
     i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
     tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
```

## How to fix

Add `restore_value` as the message says, or `reset_to_zero` where the kernel accumulates and every caller passes
zeros, which costs no copy. A tensor descriptor or a tuple cannot be restored by name:
give `pre_hook` and `post_hook`, which get all arguments by name, or pass a pointer. A `pre_hook` of
a `triton.Config` is run besides `restore_value`, not in place of it.
'''

from __future__ import annotations

import ast
from collections.abc import Iterator

from triton_mutlint.rules.autotune.surroundings import NOT_TAKEN, kept_by_jax, lacks_arguments, may_be_none, untouched
from triton_mutlint.rules.rule import KernelSubject, Rule, condition, misnamed, places
from triton_mutlint.types import (
    Autotune,
    AutotuneConfig,
    Change,
    ConstexprValue,
    Finding,
    Kernel,
    ListKind,
    Location,
    ParameterKind,
    ParameterReport,
    Rerun,
    Severity,
)

METHODS = {"restore_value": "clone()", "reset_to_zero": "zero_()"}  # what tuning calls on each argument that is listed
_KINDS = {"restore_value": ListKind.RESTORE_VALUE, "reset_to_zero": ListKind.RESET_TO_ZERO}
_WHAT = {
    Rerun.ACCUMULATES: "accumulates into",
    Rerun.UPDATES: "reads and writes",
}


def check(subject: KernelSubject) -> Iterator[Finding]:
    kernel = subject.kernel
    autotune = kernel.autotune if kernel else None
    if kernel is None or autotune is None:
        return
    place = Location(subject.report.location.file, autotune.line or subject.report.location.line)
    for argument in METHODS:
        names: tuple[str, ...] = getattr(autotune, argument)
        for name in names:
            yield from _wrong_name(subject, kernel, argument, name, names, place)
    for argument, names in replaced(autotune).items():
        if names:
            yield _replaced(subject, autotune, argument, names, place)
    is_known = len(autotune.configs) > 1 and not lacks_arguments(subject, kernel)
    for parameter in subject.report.parameters if is_known else ():
        base = parameter.name.partition(".")[0]
        if parameter.rerun is not Rerun.SAFE and not _is_protected(subject, kernel, autotune, base, parameter) \
                and base not in (kept_by_jax(subject, kernel) or ()):
            yield _unrestored(subject, kernel, autotune, parameter, place)


def _wrong_name(subject: KernelSubject, kernel: Kernel, argument: str, name: str, listed: tuple[str, ...],
                place: Location) -> Iterator[Finding]:
    known, parameter = kernel.parameter_names, subject.parameter(name)
    what, unfixed = f"it has no {METHODS[argument]}", ""
    if name not in known:
        meant, remedy = misnamed(name, known, listed)
        what = f"which is no parameter of `{kernel.name}`"
        unfixed = f"`{meant}` may be meant" if meant else ""
    elif kernel.parameters[known.index(name)].is_constexpr:
        what, remedy = f"a constexpr: {what}", f"remove `{name}`"
    elif parameter is not None and parameter.kind is ParameterKind.DESCRIPTOR:
        what, remedy = f"a tensor descriptor: {what}", "handle `desc.base` in hooks, or pass a pointer"
        unfixed = "only hooks can restore it"
    elif any(p.name.startswith(f"{name}.") for p in subject.report.parameters):
        what, remedy = f"a tuple: {what}", "pass the pointers by themselves, or use hooks"
        unfixed = "only hooks can restore it"
    else:
        return
    yield RULE.finding(
        f"`{argument}` names `{name}`, {what}", place, kernel=subject.report, parameter=name, help=remedy,
        changes=[] if unfixed else [Change(_KINDS[argument], name, False, place)], unfixed=unfixed, subject=place)


def replaced(autotune: Autotune) -> dict[str, tuple[str, ...]]:
    """By argument, the names that it lists in vain because a hook stands in its place.

    From `triton/runtime/autotuner.py` of Triton 3.6 to 3.9: `Autotuner.__init__` installs the hook that zeroes and
    copies only when no `pre_hook` is given, and the one that puts copies back only when no `post_hook` is.
    """
    if len(autotune.configs) < 2:
        return {}  # one config is never benchmarked: neither hook runs
    if autotune.has_pre_hook:
        return {"restore_value": autotune.restore_value, "reset_to_zero": autotune.reset_to_zero}
    if autotune.has_post_hook:
        still_reset = autotune.reset_to_zero  # zeroing is the other hook's work
        return {"restore_value": tuple(n for n in autotune.restore_value if n not in still_reset)}
    return {}


def _replaced(subject: KernelSubject, autotune: Autotune, argument: str, names: tuple[str, ...],
              place: Location) -> Finding:
    hook = "pre_hook" if autotune.has_pre_hook else "post_hook"
    listed = ", ".join(f"`{name}`" for name in names)
    remedy = f"remove the `{hook}`, or put the copies back in it and make them in a `pre_hook`"
    if hook == "pre_hook":
        remedy = f"give the `{hook}` to the configs instead, where it runs besides `{argument}`"
    return RULE.finding(
        f"the `{hook}` of `@triton.autotune` takes the place of Triton's own, which carries out `{argument}`: "
        f"{listed} of `{subject.report.name}` {'is' if len(names) == 1 else 'are'} not protected while tuning",
        place, kernel=subject.report, parameter=names[0] if len(names) == 1 else None, help=remedy,
        unfixed="hooks are not edited", subject=place)


def _is_protected(subject: KernelSubject, kernel: Kernel, autotune: Autotune, name: str,
                  parameter: ParameterReport) -> bool:
    """Whether tuning leaves no trace in `name`, or nobody can tell: hooks may write it, or a list is not known.

    A name in both lists is zeroed first, and the zeros are what is kept and put back: also a hook cannot undo that.
    """
    rerun = parameter.rerun
    if any(name in names for names in replaced(autotune).values()):
        return True  # which is a fault of its own
    if name in autotune.reset_to_zero:
        return rerun is not Rerun.UPDATES
    if name in autotune.restore_value or "restore_value" in autotune.undecided or \
            ("reset_to_zero" in autotune.undecided and rerun is not Rerun.UPDATES):
        return True
    harmful = [config for config in autotune.configs if _may_harm(config, parameter)]
    return _is_hooked(kernel, autotune) and (_is_pruned(kernel) or
                                             name not in untouched(kernel, autotune, subject.sources, harmful))


def _may_harm(config: AutotuneConfig, parameter: ParameterReport) -> bool:
    """Whether a second run with this config does anything to the parameter, or nobody knows."""
    given = {name: str(ConstexprValue(value)) for name, value in config.kwargs.items()}
    found = [rerun for choices, rerun in parameter.reruns if all(given.get(n, text) == text for n, text in choices)]
    return not found or any(rerun is not Rerun.SAFE for rerun in found)


def _is_hooked(kernel: Kernel, autotune: Autotune) -> bool:
    """Whether hooks run while tuning: the decorator's, those of configs, or of configs that a pruner makes."""
    if autotune.has_pre_hook or autotune.has_post_hook or any(c.has_pre_hook for c in autotune.configs):
        return True
    return _is_pruned(kernel) and any(
        isinstance(node, ast.keyword) and node.arg == "pre_hook" for node in ast.walk(kernel.tree))


def _is_pruned(kernel: Kernel) -> bool:
    """Whether code of the project may make configs while tuning."""
    given = {node.arg for d in kernel.node.decorator_list for node in ast.walk(d) if isinstance(node, ast.keyword)}
    return "prune_configs_by" in given


def _unrestored(subject: KernelSubject, kernel: Kernel, autotune: Autotune, parameter: ParameterReport,
                place: Location) -> Finding:
    name = parameter.name
    outcome = f"and tuning over {len(autotune.configs)} configs runs it many times, each on what the run before left"
    if name in autotune.reset_to_zero:
        also = ", which comes before `restore_value`" if name in autotune.restore_value else ""
        outcome = f"but `reset_to_zero` names it{also}: the caller's launch reads zeros, not the caller's values"
    may_be_absent = may_be_none(subject, parameter)
    order = tuple(p.name for p in subject.report.parameters)
    changes = [Change(ListKind.RESTORE_VALUE, name, True, place, order)]  # right whatever callers pass
    remedy = f"name `{name}` in `restore_value`"
    if _is_hooked(kernel, autotune):
        outcome += "; the hooks do not restore it for every config"
    if autotune.has_pre_hook or autotune.has_post_hook:
        remedy = f"copy and put back `{name}` in the hooks of `@triton.autotune`: they replace `restore_value`"
        changes = []
    elif kept_by_jax(subject, kernel) is not None:
        remedy, changes = f"alias `{name}` with an output in each `triton_call`, or clear it by `zeroed_outputs`", []
    elif parameter.kind is ParameterKind.DESCRIPTOR:
        remedy, changes = "`restore_value` cannot hold a tensor descriptor: copy and put back `desc.base` in hooks", []
    elif "." in name:
        remedy = "`restore_value` cannot hold an element of a tuple: pass the pointer by itself, or use hooks"
        changes = []
    elif may_be_absent:
        remedy, changes = f"copy and put back `{name}` in hooks that ask for None: {NOT_TAKEN}", []
    elif name in autotune.reset_to_zero:
        remedy += ", and not in `reset_to_zero`"
        moved = [*changes, Change(ListKind.RESET_TO_ZERO, name, False, place)]
        changes = [] if _is_hooked(kernel, autotune) else moved
    elif parameter.rerun is not Rerun.UPDATES:
        remedy += ", or in `reset_to_zero` if callers always pass zeros"
    return RULE.finding(
        f"`{subject.report.name}` {_WHAT[parameter.rerun]} `{name}`{condition(parameter)}, {outcome}", place,
        kernel=subject.report, parameter=name, help=remedy, subject=place, changes=changes, related=places(parameter),
        unfixed=NOT_TAKEN if not changes and may_be_absent else "",
    )


RULE = Rule("TML301", "autotune-unrestored", Severity.ERROR, __doc__ or "", check=check)
