"""What loops over a value give, and what tests of it say: truth, `isinstance`."""

from __future__ import annotations

import ast
import builtins
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from triton_mutlint.host.expressions.loops import Loops
from triton_mutlint.host.modules.module import External
from triton_mutlint.host.values.groups import Arguments, Cell
from triton_mutlint.host.values.values import (
    UNSEEN,
    ClassValue,
    FunctionValue,
    Thing,
    Value,
    join,
    picked,
    thing,
    truth,
)

# By the kind of a container, the classes that it may be of.
_CLASSES = {"tuple": (tuple,), "dict": (dict,), "list": (list, set, frozenset, deque)}
_NO_CONTAINERS = ("torch.", "numpy.")  # no container that Python made is of one of their classes
Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


class Iteration(Loops):
    """Takes elements one by one."""

    def condition(self, test: ast.expr) -> bool | None:
        """Whether `test` is true, where that is certain; what it does is noted."""
        if isinstance(test, ast.BoolOp):
            stops_at = isinstance(test.op, ast.Or)
            answers: set[bool | None] = set()
            for operand in test.values:
                answers.add(self.condition(operand))
                if stops_at in answers:
                    return stops_at
            return None if None in answers else not stops_at
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            certain = self.condition(test.operand)
            return None if certain is None else not certain
        return self.tested(self.evaluate(test), test)

    def tested(self, value: Value, node: ast.AST) -> bool | None:
        self.special(value, ("__bool__", "__len__"), (), node)
        listed = self.state.listed(value) if not value.kind and not value.things else None
        return truth(value) if listed is None else bool(listed)

    def within(self, value: Value) -> Value:
        """Whatever `value` is or holds, at any depth."""
        return join(*self.state.held_in([value]))

    def one_of(self, values: Iterable[Value]) -> Value:
        """Anything that `values` are or hold, and it is not known which."""
        every = join(Value(), *map(self.within, values))
        objects = frozenset(c for c in every.cells if (content := self.state.cell(c)) is not None and content.owner)
        return picked(replace(every, cells=objects))

    @staticmethod
    def literal_bound(node: ast.expr | None) -> tuple[bool, int | None]:
        if node is None:
            return True, None
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return False, None
        return isinstance(value, int), value if isinstance(value, int) else None

    def grid(self, grid: Value, node: ast.AST) -> None:
        """A launch calls its grid, where that is a function."""
        if grid.things:
            self.call(grid, Arguments((UNSEEN,)), node)

    # ------------------------------------------------------------------ comprehensions

    def generator(self, node: Comprehension) -> Value:
        """A comprehension is a generator function that is called with its first iterable."""
        first = self.evaluate(node.generators[0].iter)
        self.here.captured = True
        made = self.world.shared.generators
        if id(node) not in made:
            made[id(node)] = _generator_function(node)
        function = FunctionValue(self.here.module, made[id(node)], self.closure)
        return self.call(thing(function), Arguments((first,)), node)

    def never(self, value: Value, classes: Value) -> bool:
        """Whether `isinstance(value, classes)` is certainly false."""
        names = self.listed_classes(classes)
        if names is None or not value.cells or value.roots or value.kind or value.things:
            return False
        return all(_is_instance(content, names) is False for content in self.state.contents(value))

    def narrowed(self, value: Value, classes: Value, holds: bool) -> Value:
        """The value where `isinstance(value, classes)` is true, or is not."""
        names = self.listed_classes(classes)
        if names is None or not value.cells:
            return value
        kept = set(value.cells)
        for cell in value.cells:
            content = self.state.cell(cell)
            if content is not None and _is_instance(content, names) is (not holds):
                kept.discard(cell)
        return replace(value, cells=frozenset(kept))

    def listed_classes(self, classes: Value) -> list[str] | None:
        """The classes by name, where all are known; first-party ones are ""."""
        found = list(self._names(classes))
        return None if None in found or not found else [name for name in found if name is not None]

    def _names(self, classes: Value) -> Iterator[str | None]:
        if classes.kind or classes.roots:
            yield None
        for content in self.state.contents(classes):
            listed = content.listed()
            if listed is None:
                yield None
            for one in listed or ():
                yield from self._names(one)
        yield from map(_class_name, classes.things)

    def narrows(self, test: ast.expr) -> bool:
        """Whether a test asks `isinstance` of a name."""
        return (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"
                and len(test.args) == 2 and isinstance(test.args[0], ast.Name))


def _generator_function(node: Comprehension) -> ast.FunctionDef:
    element = ast.Tuple([node.key, node.value], ast.Load()) if isinstance(node, ast.DictComp) else node.elt
    body: ast.stmt = ast.Expr(ast.Yield(element))
    for i, part in reversed(list(enumerate(node.generators))):
        for condition in reversed(part.ifs):
            body = ast.If(condition, [body], [])
        source = part.iter if i else ast.Name("<first>", ast.Load())
        body = ast.For(part.target, source, [body], [])
    outside = sorted({n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)})
    before: list[ast.stmt] = [ast.Nonlocal(outside)] if outside else []
    takes = ast.arguments([], [ast.arg("<first>")], None, [], [], None, [])
    made = ast.FunctionDef("<genexpr>", takes, [*before, body], [])
    for inner in ast.walk(made):  # where there is no place yet, it is that of the whole
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return made


def _class_name(item: Thing) -> str | None:
    if isinstance(item, ClassValue):
        return None if item.node.bases or item.node.keywords else ""  # it may be an abstract class of containers
    return item.name if isinstance(item, External) and item.name.startswith(("builtins.", *_NO_CONTAINERS)) else None


def _is_instance(content: Cell, names: list[str]) -> bool | None:
    """Whether a container is of one of the classes, where that is certain."""
    found = (getattr(builtins, name.removeprefix("builtins."), None) for name in names)
    classes = tuple(one for one in found if isinstance(one, type))
    answers = {issubclass(kind, classes) for kind in _CLASSES.get(content.kind, ()) if content.owner is None}
    return answers.pop() if len(answers) == 1 else None
