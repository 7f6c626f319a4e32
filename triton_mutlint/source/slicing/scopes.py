"""What the text of a body says of its names: the statements that bind them, and what a statement may change."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from triton_mutlint.source.finder import is_stood_in
from triton_mutlint.source.walking import bound_in, dotted, walk

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNING = (ast.Assign, ast.AnnAssign)
_CALLING = (*_ASSIGNING, ast.Expr, *DEFINITIONS)  # change nothing but by what they call
OPEN = frozenset({"exec", "eval", "globals"})  # these reach every name
_BUILTINS = frozenset(vars(builtins)) - OPEN - {"setattr", "delattr", "next", "map", "filter", "iter"}
_GLOBAL = "global "  # before a name that a function binds here
_MADE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)  # anew, and can be changed
_LITERALS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare)


@dataclass(frozen=True, eq=False)
class Binding:
    """A statement that binds a name; `alias` is what of an import does.

    Where it `is_late`, it would be run at once if its names were asked for, after the statements in `first`.
    """

    node: ast.stmt
    alias: ast.alias | None = None
    first: tuple[ast.stmt, ...] = ()
    is_late: bool = False

    @property
    def module(self) -> str:
        """The module that an import names."""
        assert self.alias is not None
        if isinstance(self.node, ast.ImportFrom):
            return "." * self.node.level + (self.node.module or "")
        return self.alias.name

    @property
    def is_triton(self) -> bool:
        """Whether it imports Triton or its language."""
        if self.alias is None:
            return False
        if isinstance(self.node, ast.Import) or self.alias.name == "triton":
            return "triton" in (self.alias.name.partition(".")[0], self.alias.name)
        return self.module.partition(".")[0] == "triton" and self.alias.name == "language"


def bound_by(alias: ast.alias, node: ast.Import | ast.ImportFrom) -> str:
    """The name that a part of an import binds."""
    return alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body that are run one by one: those in its conditions, `try` and plain `with` blocks too."""
    for node in body:
        if isinstance(node, ast.If):
            if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
                yield ast.copy_location(ast.Expr(node.test), node.test)
            yield from statements((*node.body, *node.orelse))
        elif isinstance(node, ast.Try):
            handlers = (statement for handler in node.handlers for statement in handler.body)
            yield from statements((*node.body, *node.orelse, *handlers, *node.finalbody))
        elif is_plain_with(node):
            yield from statements(node.body)  # type: ignore[attr-defined]  # as it is a `with`
        else:
            yield node


def is_plain_with(node: ast.stmt) -> bool:
    return isinstance(node, ast.With) and not any(item.optional_vars for item in node.items)


class Scope:
    """The statements of one body, in the order of the file."""

    def __init__(self, body: list[ast.stmt], outer: Scope | None = None) -> None:
        self.body, self.outer = body, outer
        self.by_name: dict[str, list[Binding]] = {}
        self.stars: list[ast.ImportFrom] = []
        for node in statements(body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(node)  # type: ignore[arg-type]  # no other import has one
                    else:
                        self.by_name.setdefault(bound_by(alias, node), []).append(Binding(node, alias))
            else:
                for name in bound_in(node):
                    self.by_name.setdefault(name, []).append(Binding(node))
        self._mentions: dict[str, frozenset[str]] = {}
        self._touched: dict[ast.stmt, Set[str]] = {}
        self._live: dict[str, bool] = {}

    def touched(self, node: ast.stmt) -> Set[str]:
        """The names whose values the statement may change."""
        if node not in self._touched:
            self._touched[node] = self._changed_by(node)
        names = self._touched[node]
        if OPEN.isdisjoint(names):
            return names
        return {name for name, bindings in self.by_name.items()
                if any(b.alias is None or self._is_changeable(b) for b in bindings)}

    def is_blind(self, node: ast.stmt) -> bool:
        """Whether the statement may bind any name of the body."""
        self.touched(node)
        return not OPEN.isdisjoint(self._touched[node])

    @cached_property
    def _environment(self) -> list[str]:
        """The names through which the environment is read, which any other module may change."""
        return [n for n, found in self.by_name.items() if any(b.alias is not None and b.module == "os" for b in found)]

    @cached_property
    def is_open(self) -> bool:
        """Whether a statement may bind names that the text does not show."""
        return any(map(self.is_blind, statements(self.body)))

    def is_changed(self, name: str, node: ast.stmt) -> bool:
        """Whether a statement other than `node`, which binds `name`, may change its value."""
        return any(name in self.touched(other) for other in statements(self.body) if other is not node)

    def reach(self, names: Iterable[str]) -> set[str]:
        """The names whose values those of `names` may hold, read or call."""
        reached: set[str] = set()
        work = list(names)
        while work:
            name = work.pop()
            if name not in reached:
                reached.add(name)
                if name not in self._mentions:
                    self._mentions[name] = self._mentioned_by(name)
                work.extend(self._mentions[name])
        return reached

    def _mentioned_by(self, name: str) -> frozenset[str]:
        found: set[str] = set()
        for binding in self.by_name.get(name, ()):
            if binding.alias is not None:
                found.update(["@" + binding.module, *self._environment] if self._is_changeable(binding) else ())
            else:
                found.update(bound_in(binding.node))
                found.update(n for n in mentioned(binding.node)
                             if n in self.by_name or n in OPEN or n.startswith(_GLOBAL))
        return frozenset(found)

    def _changed_by(self, node: ast.stmt) -> Set[str]:
        parts = list(_acting(node))
        if not parts or (isinstance(node, _CALLING) and self._is_harmless(parts)):
            return set()
        own = [node] if getattr(node, "decorator_list", ()) else []  # a decorator may call what it is given
        reached = self.reach(name for part in (*parts, *own) for name in mentioned(part))
        altered = {name for part in parts for name in _altered(part) if name in self.by_name}
        altered.update(name.removeprefix(_GLOBAL) for name in reached if name.startswith(_GLOBAL))
        return altered.union(name for name in reached if name in OPEN or name.startswith("@")
                             or any(map(self._is_changeable, self.by_name.get(name, ()))))

    def _is_harmless(self, parts: list[ast.AST]) -> bool:
        """Whether nothing is changed in place, and nothing called but Python's own functions, Triton and stand-ins."""
        for node in (inner for part in parts for inner in walk(part)):
            if isinstance(node, ast.Call) and not self._calls_known(node):
                return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, (ast.NamedExpr, ast.Await)) or (isinstance(node, ast.Name) and self._is_live(node.id)):
                return False
        return True

    def _is_live(self, name: str) -> bool:
        """Whether a value may run code of the project when it is used: an instance, which a call gave, has methods,
        and the attributes of a class may be computed.
        """
        if name not in self._live:
            self._live[name] = False  # it may be computed from itself
            nodes = [b.node for b in self.by_name.get(name, ()) if isinstance(b.node, (*_ASSIGNING, ast.ClassDef))]
            self._live[name] = any(not self._is_harmless([*_acting(node)]) for node in nodes)
        return self._live[name]

    def _calls_known(self, call: ast.Call) -> bool:
        root = _root(call)
        bindings = self._binders(root)
        if not bindings:  # Python's own: it may call what it is given
            handed = [*call.args, *(keyword.value for keyword in call.keywords)]
            is_setter = isinstance(call.func, ast.Attribute) and call.func.attr.startswith("__")
            return root in _BUILTINS and not is_setter and not any(k.arg == "key" for k in call.keywords) and not any(
                isinstance(value, ast.Name) and self._is_function(value.id) for value in handed)
        return all(self._is_stood_in(binding) or _comes_from(binding, "triton") for binding in bindings)

    def _is_stood_in(self, binding: Binding) -> bool:
        """Whether it binds a stand-in, or what one makes of a function: an op of torch's.

        Not of Python's own modules: a thread pool runs what it is given.
        """
        if binding.alias is not None:
            return is_stood_in(binding.module) and binding.module.partition(".")[0] not in sys.stdlib_module_names
        roots = [_root(decorator) for decorator in getattr(binding.node, "decorator_list", ())]
        return bool(roots) and all(other.alias is not None and is_stood_in(other.module)
                                   for name in roots for other in self._binders(name) or [binding])

    def _is_changeable(self, binding: Binding) -> bool:
        """Whether anything could change the value: not a number, nor a plain function, nor what stands in."""
        node = binding.node
        if binding.alias is not None:
            return not (_comes_from(binding, "triton") or is_stood_in(binding.module))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            held = (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
            return node.name in self._opened or _keeps_something(node) or any(
                _root(part) != "triton" and not _is_fixed(part) for part in held)
        value = node.value if isinstance(node, _ASSIGNING) else None
        return value is None or not _is_fixed(value)

    @cached_property
    def _opened(self) -> frozenset[str]:
        """The names whose attributes statements of the body look at, as `kernel.configs`, which may be changed then."""
        inner = (part for node in statements(self.body) if not isinstance(node, DEFINITIONS) for part in walk(node))
        return frozenset(p.value.id for p in inner if isinstance(p, ast.Attribute) and isinstance(p.value, ast.Name))

    def _binders(self, name: str) -> list[Binding]:
        """What binds a name, here or in the body around this one."""
        return self.by_name.get(name) or ([] if self.outer is None else self.outer._binders(name))

    def _is_function(self, name: str) -> bool:
        return any(isinstance(binding.node, ast.FunctionDef) for binding in self.by_name.get(name, ()))


def _acting(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that may change a value when it is run."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (ast.Call(decorator, [], []) for decorator in node.decorator_list)
    elif isinstance(node, ast.ClassDef):
        parts = (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
        yield from (ast.Call(part, [], []) for part in parts)
        for statement in node.body:
            yield from _acting(statement)
    elif isinstance(node, _ASSIGNING):
        targets = [t for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
                   if not isinstance(t, ast.Name)]
        yield from targets
        if node.value is not None and (targets or not isinstance(node.value, (ast.Constant, ast.Name, ast.Lambda))):
            yield node.value
    else:
        yield node


def mentioned(node: ast.AST) -> Iterator[str]:
    """The names from `node` down; through `sys.modules`, every name is reached."""
    for inner in walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Global):
            yield from (_GLOBAL + name for name in inner.names)
        elif isinstance(inner, ast.Attribute):
            yield from ["globals"] if dotted(inner) == ("sys", "modules") else []
        elif isinstance(inner, ast.Call) and not inner.args and dotted(inner.func) in (("vars",), ("locals",)):
            yield "globals"


def defines(node: ast.stmt) -> bool:
    """Whether a function or class stands in a statement."""
    return any(isinstance(inner, DEFINITIONS) for inner in ast.walk(node))


def is_timed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it makes a difference when a function is made: parts of it are evaluated then."""
    parts = [*node.args.defaults, *filter(None, node.args.kw_defaults),
             *(d for d in node.decorator_list if isinstance(d, ast.Call))]
    own = any(node.name in mentioned(decorator) for decorator in node.decorator_list)
    return own or any(not isinstance(part, ast.Constant) for part in parts)


def _altered(node: ast.AST) -> Iterator[str]:
    """Names with attributes that are assigned or have their methods called: `kernel.configs.append(…)`, and those
    that are handed to a function for what it does to them.
    """
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from (argument.id for argument in node.value.args if isinstance(argument, ast.Name))
    for inner in walk(node):
        target = inner.func if isinstance(inner, ast.Call) else inner
        if isinstance(inner, ast.Call) and isinstance(target, ast.Attribute):
            target = target.value
        elif not isinstance(target, (ast.Attribute, ast.Subscript)) or isinstance(target.ctx, ast.Load):
            continue
        depth = 0
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target, depth = target.value, depth + 1
        if depth and isinstance(target, ast.Name):
            yield target.id


def _root(node: ast.expr) -> str:
    """The name that an expression begins with: `f` of `f.g(…)(…)`."""
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _comes_from(binding: Binding, package: str) -> bool:
    return binding.alias is not None and binding.module.partition(".")[0] == package


def _keeps_something(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a call may find what an earlier one left: in a default that can change, or an attribute of its own."""
    defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
    return any(isinstance(value, _MADE) and not _is_fixed(value) for value in defaults) or any(
        isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load) and _root(inner) == node.name
        for inner in walk(node))


def _is_fixed(value: ast.expr) -> bool:
    """Whether it gives a number, a text or the like, by its text."""
    if isinstance(value, ast.Call):
        return "constexpr" in ast.unparse(value.func) and all(map(_is_fixed, value.args))
    return isinstance(value, _LITERALS) and all(
        _is_fixed(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
