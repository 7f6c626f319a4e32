"""Whether a launch passes None for a parameter, or leaves it out, as far as the files of a run show.

Only what the text of the launching function shows counts: None written out, one side of a choice, a parameter of that
function that may be None, unless the launch stands where the name was found not to be None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.contracts.spans import tree_of
from triton_mutlint.rules.subject import KernelSubject
from triton_mutlint.signature.launch_sites import Function, Launch, LaunchIndex, assignments, bound, index
from triton_mutlint.types import Kernel, Location, ParameterReport, SourceFile

NOT_TAKEN = "the argument may be None, which `restore_value` and `reset_to_zero` do not take before Triton 3.8"
_MAX_STEPS = 8
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Absence:
    """A launch that passes None for a parameter, or one that leaves it to its default, which is None.

    `place` is the kernel's own parameter where no launch is known, and only the default says so.
    """

    place: Location
    is_left_out: bool = False
    is_launch: bool = True


def may_be_none(subject: KernelSubject, parameter: ParameterReport) -> bool:
    """Whether an analysed variant has None for a parameter, or a launch shows that it may be None."""
    return "None" in parameter.type.split(" | ") or absence(subject, parameter.name) is not None


def absence(subject: KernelSubject, parameter: str) -> Absence | None:
    """The first launch that shows that `parameter` may be None."""
    kernel = subject.kernel
    if kernel is None or parameter not in kernel.parameter_names:
        return None
    declared = kernel.parameters[kernel.parameter_names.index(parameter)]
    defaults_to_none = declared.has_default and declared.default is None
    launches = list(_launches(kernel, subject))
    for file, place, launch in launches:
        passed = dict(bound(launch.call, kernel.parameter_names)).get(parameter)
        is_open = any(isinstance(a, ast.Starred) for a in launch.call.args) or \
            any(k.arg is None for k in launch.call.keywords)
        left_out = passed is None and defaults_to_none and not is_open
        if left_out or (passed is not None and _Reader(launch, file).may_be_none(passed)):
            return Absence(place, left_out)
    if defaults_to_none and not launches:
        return Absence(subject.place_of(parameter), is_left_out=True, is_launch=False)
    return None


def _launches(kernel: Kernel, subject: KernelSubject) -> Iterator[tuple[LaunchIndex, Location, Launch]]:
    """The launches in the kernel's own file, and in the files of the run that import it by its name."""
    others = (s for s in subject.sources if s.path != kernel.path and _imports(s, kernel))
    trees = [(subject.report.location.file, kernel.tree), *((s.display, tree_of(s)) for s in others)]
    for display, tree in trees:
        for launch in index(tree).launches.get(kernel.name, ()):
            if not (isinstance(launch.call.func, ast.Attribute) and launch.call.func.attr == "warmup"):
                place = Location(display, launch.call.lineno, launch.call.col_offset + 1)
                yield index(tree), place, launch


def _imports(source: SourceFile, kernel: Kernel) -> bool:
    if f"{kernel.name}[" not in source.text:
        return False
    module = kernel.path.stem
    return any(isinstance(n, ast.ImportFrom) and (n.module or "").rpartition(".")[2] == module
               and any(a.name == kernel.name and not a.asname for a in n.names) for n in ast.walk(tree_of(source)))


class _Reader:
    """Reads the expressions that one launch passes."""

    def __init__(self, launch: Launch, file: LaunchIndex) -> None:
        self._call, self._function, self._constants = launch.call, launch.function, file.constants
        self._locals = assignments(launch.function.body) if launch.function else {}

    def may_be_none(self, node: ast.expr, steps: int = 0) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is None
        if steps > _MAX_STEPS:
            return False
        if isinstance(node, ast.IfExp):
            sides = ((node.body, True), (node.orelse, False))
            return any(self.may_be_none(side, steps + 1) for side, holds in sides
                       if not (isinstance(side, ast.Name) and _is_present(node.test, side.id, holds)))
        return isinstance(node, ast.Name) and self._name(node.id, steps)

    def _name(self, name: str, steps: int) -> bool:
        if self._function is not None and _is_guarded(self._function, self._call, name):
            return False
        if name in self._locals:
            value = self._locals[name]
            mentioned = value is not None and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
            return value is not None and not mentioned and self.may_be_none(value, steps + 1)
        if self._function is not None and (found := _parameter(self._function, name)) is not None:
            return found
        constant = self._constants.get(name)
        return constant is not None and self.may_be_none(constant, steps + 1)


def _parameter(function: Function, name: str) -> bool | None:
    """Whether a parameter of the launching function may be None; None where it has no parameter of that name."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    for argument, default in (*zip(positional, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults,
                                                                            strict=True)):
        if argument.arg == name:
            text = ast.unparse(argument.annotation) if argument.annotation else ""
            absent = isinstance(default, ast.Constant) and default.value is None
            return absent or "Optional[" in text or text.strip("'\"").endswith("| None")
    return None


# --------------------------------------------------------------------------- where a name is known not to be None


def _is_guarded(function: Function, call: ast.Call, name: str) -> bool:
    """Whether the launch stands where `name` was asked for and is there, or was given a value if it was not."""
    return _guards(function.body, call, name)


def _guards(body: list[ast.stmt], call: ast.Call, name: str) -> bool:
    for statement in body:
        if any(node is call for node in ast.walk(statement)):
            if isinstance(statement, ast.If):
                for part, holds in ((statement.body, True), (statement.orelse, False)):
                    if any(node is call for s in part for node in ast.walk(s)):
                        return _is_present(statement.test, name, holds) or _guards(part, call, name)
            parts = (getattr(statement, field, []) for field in ("body", "orelse", "finalbody"))
            return any(_guards(part, call, name) for part in parts if isinstance(part, list))
        if isinstance(statement, ast.Assert) and _is_present(statement.test, name, True):
            return True
        if isinstance(statement, ast.If) and _is_present(statement.test, name, False) and \
                (isinstance(statement.body[-1], _LEAVES) or _assigns(statement.body, name)):
            return True
    return False


def _assigns(body: list[ast.stmt], name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
               for statement in body for n in ast.walk(statement))


def _is_present(test: ast.expr, name: str, holds: bool) -> bool:
    """Whether `name` is not None where `test` holds, or where it does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_present(test.operand, name, not holds)
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.And) is holds and any(_is_present(v, name, holds) for v in test.values)
    if isinstance(test, ast.Name):
        return test.id == name and holds
    match test:
        case ast.Compare(ast.Name(asked), [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
            return asked == name and isinstance(op, ast.IsNot) is holds
        case ast.Call(ast.Name("isinstance"), [ast.Name(asked), _]):
            return asked == name and holds
    return False


# --------------------------------------------------------------------------- where a launch passes zeros


def gets_zeros(kernel: Kernel, parameter: str) -> bool:
    """Whether the file launches `kernel`, each time with zeros that nobody has touched since they were made.

    If so, `reset_to_zero` gives the kernel what its callers give it, and costs no copy as `restore_value` does.
    """
    launches = index(kernel.tree).launches.get(kernel.name, ())
    return bool(launches) and all(_passes_zeros(launch, kernel.parameter_names, parameter) for launch in launches)


def _passes_zeros(launch: Launch, names: tuple[str, ...], parameter: str) -> bool:
    passed = dict(bound(launch.call, names)).get(parameter)
    function = launch.function
    if not isinstance(passed, ast.Name) or function is None:
        return _makes_zeros(passed)
    inside = {id(node) for node in ast.walk(launch.call)}
    seen = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == passed.id and id(n) not in inside]
    made = [n for n in ast.walk(function) if isinstance(n, (ast.Assign, ast.AnnAssign)) and _makes_zeros(n.value)
            and any(node in seen for node in ast.iter_child_nodes(n))]
    before = [n for n in seen if n.lineno < launch.call.lineno or isinstance(n.ctx, ast.Store)]
    is_given = any(a.arg == passed.id for a in ast.walk(function.args) if isinstance(a, ast.arg))
    loops = (n for n in ast.walk(function) if isinstance(n, (ast.For, ast.AsyncFor, ast.While)))
    is_repeated = any(launch.call in ast.walk(loop) and made[0] not in ast.walk(loop) for loop in loops if made)
    return len(made) == len(before) == 1 and not is_given and not is_repeated


def _makes_zeros(node: ast.expr | None) -> bool:
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name in {"zeros", "zeros_like", "new_zeros"}
