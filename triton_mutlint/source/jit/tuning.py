"""What `@triton.autotune`, `@triton.heuristics` and projects' wrappers of them declare.

Each argument is evaluated by itself, so one that needs a device does not hide the others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from triton_mutlint.source.slicing.jitdefs import JitDefinition, is_tuning, unwrap
from triton_mutlint.source.slicing.spaces import Space, node_of
from triton_mutlint.source.slicing.stubs import Missing, UndecidedError, find_missing
from triton_mutlint.source.walking import called, dotted, first_line, walk
from triton_mutlint.types import Autotune, AutotuneConfig

_POSITIONS = ("configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook")
_LISTS = ("restore_value", "reset_to_zero")
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Tuning:
    """The autotune declaration and heuristics of one kernel, gathered decorator by decorator."""

    def __init__(self) -> None:
        self.autotune: Autotune | None = None
        self.heuristics: dict[str, Any] = {}
        self.notes: list[str] = []

    def read(self, definition: JitDefinition) -> None:
        if definition.made is not definition.jit:  # jit's own decorator may tune as well
            self.read_object(definition.made, first_line(definition.node))
        bound = dict.get(definition.namespace or {}, definition.node.name, definition.bound)
        if definition.outer and (bound is not definition.jit and unwrap(bound) is definition.jit):
            self.read_object(bound, definition.outer[0].lineno)  # with what other statements made of it
            return
        if isinstance(bound, Missing) and definition.jit is not None:
            self.autotune = Autotune((), line=first_line(definition.node))
            self._note("tuning", first_line(definition.node))
            return
        for decorator in definition.outer:
            self.add(definition.namespace, decorator, definition.jit)

    def add(self, namespace: Space, decorator: ast.expr, jit: Any) -> None:
        """Take in one decorator; what is neither autotune nor heuristics is left alone."""
        call = decorator if isinstance(decorator, ast.Call) else None
        chain = called(decorator)
        name = namespace.module.outline.full(chain).rpartition(".")[2] if chain else ""
        keywords = {k.arg: k.value for k in call.keywords if k.arg} if call else {}
        if call and name == "heuristics":
            values = keywords.get("values") or (call.args[0] if call.args else None)
            self._heuristics(namespace, values)
        elif call and ("configs" in keywords or (name == "autotune" and call.args)):
            if name == "autotune":
                keywords = dict(zip(_POSITIONS, call.args, strict=False)) | keywords
            self._declared(namespace, keywords, decorator.lineno, _unpacked(namespace, call))
        elif _mentions_tuning(namespace, decorator):
            self._applied(namespace, decorator, jit)

    def _declared(
        self, namespace: Space, arguments: Mapping[str, ast.expr], line: int, unpacked: Mapping[str, Any] | None
    ) -> None:
        """`unpacked` is what `**` adds to the arguments; None when that cannot be told."""
        wanted = {name: node for name, node in arguments.items() if name in ("configs", "prune_configs_by", *_LISTS)}
        values = {**(unpacked or {}), **{name: namespace.attempt(node) for name, node in wanted.items()}}
        hooks = {name: node for name, node in arguments.items() if name in ("pre_hook", "post_hook")}
        values.update((n, True) for n, h in hooks.items() if not (isinstance(h, ast.Constant) and h.value is None))
        self._take(values, line, () if unpacked is not None else [name for name in _LISTS if name not in values])
        if not isinstance(values.get("configs"), (list, tuple)):
            self._note("autotune configs", line)

    def _heuristics(self, namespace: Space, node: ast.expr | None) -> None:
        """Each entry by itself where the mapping is written out."""
        if not isinstance(node, ast.Dict):
            node = ast.Dict([None], [node] if node is not None else [])
        for key, entry in zip(node.keys, node.values, strict=False):
            name, value = None if key is None else namespace.attempt(key), namespace.attempt(entry)
            if isinstance(name, Missing) or isinstance(value, Missing) or (key is None and not hasattr(value, "items")):
                self._note("heuristics", entry.lineno)
            else:
                more = value if key is None else {name: value}
                self.heuristics.update({k: v for k, v in more.items() if isinstance(k, str)})

    def _applied(self, namespace: Space, decorator: ast.expr, jit: Any) -> None:
        """A project's decorator that itself autotunes: apply it and read what came out."""
        try:
            value = namespace.evaluate(decorator)(jit)
        except (Exception, SystemExit, UndecidedError):  # linted code
            self._note("decorator", decorator.lineno)
        else:
            self.read_object(value, decorator.lineno)

    def read_object(self, value: Any, line: int) -> None:
        """Take in Triton's own `Autotuner` and `Heuristics` objects, outermost first."""
        for _ in range(16):
            if isinstance(value, Missing) or value is None:
                return
            if isinstance(configs := getattr(value, "configs", None), (list, tuple)):
                self._take({
                    "configs": configs, **{name: getattr(value, name, None) for name in _LISTS},
                    "pre_hook": getattr(value, "user_defined_pre_hook", None) or None,
                    "post_hook": getattr(value, "user_defined_post_hook", None) or None,
                    "prune_configs_by": {"early_config_prune": getattr(value, "early_config_prune", None)}}, line)
            elif isinstance(values := getattr(value, "values", None), Mapping):
                self.heuristics.update({k: v for k, v in values.items() if isinstance(k, str)})
            value = getattr(value, "fn", None)

    def _take(self, values: Mapping[str, Any], line: int, unknown: Iterable[str] = ()) -> None:
        """Take in what an autotuner is given, beside what an inner one was; of the `unknown` nothing is known."""
        old = self.autotune or Autotune((), line=line)
        lists = {name: tuple(dict.fromkeys((*getattr(old, name), *_names(values.get(name))))) for name in _LISTS}
        self.autotune = replace(
            old,
            configs=(*old.configs, *_configs(values.get("configs"))),
            restore_value=lists["restore_value"],
            reset_to_zero=lists["reset_to_zero"],
            has_pre_hook=old.has_pre_hook or values.get("pre_hook") is not None,
            has_post_hook=old.has_post_hook or values.get("post_hook") is not None,
            undecided=old.undecided.union(unknown, (name for name in _LISTS if _is_undecided(values.get(name)))),
            is_edited=old.is_edited or _edits(values.get("prune_configs_by")),
        )

    def _note(self, what: str, line: int) -> None:
        self.notes.append(f"the {what} on line {line} could not be evaluated")


def _unpacked(namespace: Space, call: ast.Call) -> dict[str, Any] | None:
    """What `**` adds to the arguments of a call; None when that, or what `*` adds, cannot be told."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    values = [namespace.attempt(keyword.value) for keyword in call.keywords if keyword.arg is None]
    if not all(isinstance(value, Mapping) for value in values):
        return None
    return {name: item for value in values for name, item in value.items() if isinstance(name, str)}


def _edits(pruning: Any) -> bool:
    """Whether what chooses among the configs may change them or make others: by its text, it assigns to a part of
    something, calls a method that a mapping which cannot be changed lacks, or makes a config.
    """
    function = pruning.get("early_config_prune") if isinstance(pruning, Mapping) else None
    if function is None or isinstance(function, Missing):
        return False
    node = node_of(function)
    return node is None or any(map(_is_edit, walk(node)))


def _is_edit(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        chain = dotted(node.func)
        return ("kwargs" in chain[:-1] and not hasattr(MappingProxyType, chain[-1])) or chain[-1:] == ("Config",)
    return isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)


def _is_undecided(value: Any) -> bool:
    """Whether a list of names could not be evaluated, as a whole or in part."""
    if isinstance(value, (list, tuple, set)):
        return any(find_missing(item) is not None for item in value)
    return value is not None


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple, set)):
        return ()
    return tuple(name for name in value if isinstance(name, str))


def _configs(values: Any) -> Iterable[AutotuneConfig]:
    """The configs whose values are all known."""
    for config in values if isinstance(values, (list, tuple)) else ():
        kwargs = getattr(config, "kwargs", None)
        if not isinstance(kwargs, dict) or any(isinstance(v, Missing) for v in kwargs.values()):
            continue
        options = {name: getattr(config, name, None) for name in _OPTIONS}
        yield AutotuneConfig(
            MappingProxyType(dict(kwargs)),
            MappingProxyType({k: v for k, v in options.items() if isinstance(v, int)}),
            getattr(config, "pre_hook", None) is not None,
        )


def _mentions_tuning(namespace: Space, decorator: ast.expr) -> bool:
    """Whether a decorator of the file's own may autotune, by its text or that of its definition."""
    if is_tuning(decorator):
        return True
    chain = called(decorator)
    units = namespace.scope.by_name.get(chain[0], ()) if chain else ()
    return any(isinstance(n, (ast.Name, ast.Attribute)) and is_tuning(n)
               for unit in units if unit.alias is None for n in ast.walk(unit.node))
