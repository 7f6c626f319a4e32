"""What `@triton.heuristics` may give a parameter, without real arguments.

A heuristic is run on placeholders: constexprs as they are, scalars as a sample number, pointers as
an object that only has an identity. What it read tells how far the answer goes: a value made from
constexprs alone is exact, a boolean that looked at a run-time scalar can be either, and any other value that did
is a sample: another launch may give another.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from triton_mutlint.source.slicing.stubs import Missing
from triton_mutlint.spec.values import number_like, text_of
from triton_mutlint.types import ArgType, ConstexprValue, ScalarType, TupleType, unwrap_constexpr

SAMPLE = 1024  # a usual row length: divisible by 16, so that block sizes made from it are valid
_BOOLEAN_OPS = frozenset({"COMPARE_OP", "IS_OP", "CONTAINS_OP", "UNARY_NOT"})
_EITHER = (ConstexprValue(False), ConstexprValue(True))
# What it takes to ask whether an argument is None, and to answer with a constant.
_NONE_OPS = frozenset({"RESUME", "NOP", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_CONST", "BINARY_SUBSCR", "BINARY_OP",
                       "IS_OP", "UNARY_NOT", "RETURN_VALUE", "RETURN_CONST"})  # fmt: skip
_Answer = tuple[tuple[ArgType | None, ...], tuple[ConstexprValue, ...]]


class _Opaque:
    """A tensor of which nothing is known but that it is not None."""


class _Arguments(Mapping[str, Any]):
    """Placeholders by parameter, each made when it is first read, and what was asked of them.

    `counted` is set when the answer may depend on which parameters there are.
    """

    def __init__(self, args: Mapping[str, ArgType]) -> None:
        self._args = args
        self._made: dict[str, Any] = {}
        self.read: set[str] = set()
        self.counted = False

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        if name not in self._made:
            self._made[name] = _placeholder(self._args[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        self.counted = True
        return iter(self._args)

    def __len__(self) -> int:
        self.counted = True
        return len(self._args)


class Heuristic:
    """The function of one parameter, run once for all arguments that agree in what it reads."""

    def __init__(self, function: Callable[[Mapping[str, Any]], Any]) -> None:
        self._function = function
        self.read: set[str] = set()  # the parameters that it has looked at
        self._is_sampled = False  # whether it read what is known at a launch only
        # What was read → the identities of the arguments there → those (so that they stay alive), and the answer.
        self._known: dict[tuple[str, ...], dict[tuple[int, ...], _Answer]] = {}

    def values(self, args: Mapping[str, ArgType]) -> tuple[ConstexprValue, ...]:
        """The values that it may give for arguments of these types; empty if it cannot be told."""
        for names, answers in self._known.items():
            if (answer := answers.get(tuple([id(args.get(name)) for name in names]))) is not None:
                return answer[1]
        arguments = _Arguments(args)
        values = self._run(arguments, args)
        if not arguments.counted:
            names = tuple(arguments.read)
            read = tuple([args.get(name) for name in names])
            self._known.setdefault(names, {})[tuple(map(id, read))] = (read, values)
        return values

    def is_open(self, guessed: Collection[str]) -> bool:
        """Whether a launch may give another value than those so far.

        It may if some argument that was read is `guessed`, or known at a launch only: a number, what a pointer
        answers but to `is None`, and whether a launch passes a name at all.
        """
        return self._is_sampled or not self.read.isdisjoint(guessed)

    def _run(self, arguments: _Arguments, args: Mapping[str, ArgType]) -> tuple[ConstexprValue, ...]:
        values = self._answer(arguments, args)
        read = args.keys() | arguments.read if arguments.counted else arguments.read
        self.read |= read
        known = _asks_for_none_only(self._function)
        self._is_sampled |= arguments.counted or any(name not in args or _is_sample(args[name], known) for name in read)
        return values

    def _answer(self, arguments: _Arguments, args: Mapping[str, ArgType]) -> tuple[ConstexprValue, ...]:
        function = self._function
        try:
            value = unwrap_constexpr(function(arguments))
        except KeyboardInterrupt:
            raise
        except BaseException:  # foreign code on placeholders it was not written for: SystemExit included
            return _EITHER if _returns_boolean(function) else ()
        if isinstance(value, Missing):  # made from something that is not installed
            return _EITHER if _returns_boolean(function) else ()
        exact = ConstexprValue(value, text_of(value))
        is_runtime = any(_is_runtime(args[name]) for name in arguments.read if name in args)
        if is_runtime and (isinstance(value, bool) or (value in (0, 1) and _may_give_flag(function))):
            return (exact, ConstexprValue(number_like(value, 1 - value)))
        return (exact,)


def _placeholder(arg: ArgType) -> Any:
    if isinstance(arg, ConstexprValue):
        return arg.value
    if isinstance(arg, TupleType):
        elements = tuple(_placeholder(element) for element in arg.elements)
        return arg.cls(*elements) if arg.cls else elements
    if isinstance(arg, ScalarType):
        if arg.name in ("i1", "u1"):
            return True
        return float(SAMPLE) if arg.name.startswith(("fp", "bf")) else SAMPLE
    return _Opaque()


def _is_runtime(arg: ArgType) -> bool:
    """Whether the argument's value, beyond being None or not, is unknown before the launch."""
    if isinstance(arg, TupleType):
        return any(_is_runtime(element) for element in arg.elements)
    return isinstance(arg, ScalarType)


def _is_sample(arg: ArgType, is_none_only: bool) -> bool:
    """Whether a placeholder stands for an argument that may answer otherwise at a launch."""
    if isinstance(arg, TupleType):
        return any(_is_sample(element, is_none_only) for element in arg.elements)
    return not isinstance(arg, ConstexprValue) and not (is_none_only and not isinstance(arg, ScalarType))


def _asks_for_none_only(function: Callable[..., Any]) -> bool:
    """Whether `function` only asks whether an argument is None (`lambda a: a["b"] is not None`)."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    for before, instruction in zip([None, *instructions], instructions, strict=False):
        if instruction.opname not in _NONE_OPS:
            return False
        if instruction.opname == "BINARY_OP" and instruction.argrepr != "[]":
            return False
        is_none = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if instruction.opname == "IS_OP" and not is_none:
            return False
    return True


def _may_give_flag(function: Callable[..., Any]) -> bool:
    """Whether a 0 or 1 may be a flag written as a number, and not a size that came out as 1."""
    code = getattr(function, "__code__", None)
    return code is None or "int" in code.co_names or {0, 1} <= {c for c in code.co_consts if type(c) is int}


def _returns_boolean(function: Callable[..., Any]) -> bool:
    """Whether everything that `function` returns is a comparison, `True` or `False`."""
    code = getattr(function, "__code__", None)
    results: list[bool] = []
    before: dis.Instruction | None = None
    for instruction in dis.get_instructions(code) if code else ():
        if instruction.opname == "RETURN_CONST":  # Python 3.12 and 3.13
            results.append(isinstance(instruction.argval, bool))
        elif instruction.opname == "RETURN_VALUE" and before is not None:
            constant = before.opname == "LOAD_CONST" and isinstance(before.argval, bool)
            results.append(constant or before.opname in _BOOLEAN_OPS)
        before = instruction
    return bool(results) and all(results)
