"""Which statements of a body are run for a name, and in which order: section 9 of docs/analysis.md."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from triton_mutlint.source.finder import is_real, is_stood_in
from triton_mutlint.source.slicing.units import Guard, Unit, cut
from triton_mutlint.source.walking import dotted, walk

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CALLING = (ast.Assign, ast.AnnAssign, ast.Expr, *_DEFINITIONS)  # change nothing but by what they call
_OPEN = frozenset({"exec", "eval", "globals"})  # these reach every name
_BUILTINS = frozenset(vars(builtins)) - _OPEN - {"setattr", "delattr", "next"}
_GLOBAL = "global "  # before a name that a function binds here
_MADE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)  # anew, and can be changed
_LITERALS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare)


@dataclass(eq=False)
class Linked:
    """Statements that are run together, in the order of the file, and the names whose values they may change."""

    units: list[Unit]
    changed: set[str]


class Scope:
    """The units of one body. A name is evaluated by the units that bind it, after the groups that may change it."""

    def __init__(self, body: list[ast.stmt], outer: Scope | None = None) -> None:
        self.outer = outer
        self.units, self.stars = cut(body)
        self.by_name: dict[str, list[Unit]] = {}
        for unit in self.units:
            for name in unit.binds:
                self.by_name.setdefault(name, []).append(unit)
        self._mentions: dict[str, frozenset[str]] = {}

    def groups(self, name: str) -> list[Linked]:
        """The groups that may change a value which `name` reaches."""
        if not self._groups:
            return []
        reached = self._reach([name]) | _OPEN
        return [group for group in self._groups if not reached.isdisjoint(group.changed)]

    def acts_at(self, node: ast.stmt) -> tuple[bool, bool]:
        """Whether running a definition may change another value, and whether another statement may change it."""
        acts = any(unit.node is node for unit in self._touched)
        name = getattr(node, "name", "")
        return acts, any(name in touched for unit, touched in self._touched.items() if unit.node is not node)

    def acts(self, unit: Unit) -> bool:
        """Whether running the unit may change a value that is there already."""
        return unit in self._touched

    def touched(self, unit: Unit) -> Set[str]:
        """The names whose values the unit may change."""
        names = self._touched.get(unit, frozenset())
        if _OPEN.isdisjoint(names):
            return names
        return {name for name, units in self.by_name.items()
                if any(unit.alias is None or _is_changeable(unit) for unit in units)}

    @property
    def is_open(self) -> bool:
        """Whether a statement may bind names that the text does not show."""
        return any(self.is_blind(unit) for unit in self._touched)

    def is_blind(self, unit: Unit) -> bool:
        """Whether the unit may bind any name of the body."""
        return not _OPEN.isdisjoint(self._touched.get(unit, ()))

    @cached_property
    def _touched(self) -> dict[Unit, Set[str]]:
        found = {}
        for unit in self.units:
            names = self._changed_by(unit) | {name for name in unit.binds if name in self._rebound}
            if names:
                found[unit] = names
        return found

    @cached_property
    def _groups(self) -> list[Linked]:
        """Units that may change the same value are in one group, and so are those that read it in between."""
        groups: list[Linked] = []
        for unit, names in self._touched.items():
            _join(groups, unit, {*names})
        for unit in self.units if groups else ():
            if unit.alias is None and not isinstance(unit.node, _DEFINITIONS) and unit not in self._touched:
                reached = self._reach(unit.binds)
                hit = [g for g in groups if g.units[-1].order > unit.order and not reached.isdisjoint(g.changed)]
                if hit:
                    _join(groups, unit, {*unit.binds, *(name for g in hit for name in g.changed)})
        for group in groups:
            binders = {unit for name in group.changed for unit in self.by_name.get(name, ())}
            group.units = sorted({*group.units, *binders}, key=lambda unit: unit.order)
        return groups

    @cached_property
    def _rebound(self) -> frozenset[str]:
        """Names that are bound more than once, but for the branches of a condition."""
        found = set()
        for name, units in self.by_name.items():
            own = [unit for unit in units if not isinstance(unit.node, ast.Import)] if len(units) > 1 else []
            if any(not _apart(one.guards, other.guards) for i, one in enumerate(own) for other in own[:i]):
                found.add(name)
        return frozenset(found)

    def _changed_by(self, unit: Unit) -> Set[str]:
        node = unit.node
        parts = list(_acting(node))
        if not parts or (isinstance(node, _CALLING) and self._is_harmless(unit, parts)):
            return set()
        reached = self._reach(name for part in parts for name in _mentioned(part))
        altered = {name for part in parts for name in _altered(part) if name in self.by_name}
        altered.update(name.removeprefix(_GLOBAL) for name in reached if name.startswith(_GLOBAL))
        return altered.union(name for name in reached if name in _OPEN or self._may_change(name))

    def _is_harmless(self, unit: Unit, parts: list[ast.AST]) -> bool:
        """Whether nothing is changed in place, and nothing called but Python's own functions, Triton and stand-ins."""
        for node in (inner for part in parts for inner in walk(part)):
            if isinstance(node, ast.Call) and not self._calls_known(unit, node):
                return False
            if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, (ast.NamedExpr, ast.Await)):
                return False
        return True

    def _calls_known(self, unit: Unit, call: ast.Call) -> bool:
        root = _root(call)
        units = self._binders(root)
        if not units:  # Python's own: it may call what it is given
            handed = [*call.args, *(keyword.value for keyword in call.keywords)]
            return root in _BUILTINS and not any(
                isinstance(value, ast.Name) and self._is_function(value.id) for value in handed)
        return all(self._is_stood_in(other) or _comes_from(other, "triton")
                   for other in units if not _apart(unit.guards, other.guards))

    def _is_stood_in(self, unit: Unit) -> bool:
        """Whether the unit binds a stand-in, or what one makes of a function: an op of torch's."""
        if unit.alias is not None:
            return is_stood_in(_module(unit))
        roots = [_root(decorator) for decorator in getattr(unit.node, "decorator_list", ())]
        return bool(roots) and all(other.alias is not None and is_stood_in(_module(other))
                                   for name in roots for other in self._binders(name) or [unit])

    def _binders(self, name: str) -> list[Unit]:
        """The units that bind a name, here or in the body around this one."""
        return self.by_name.get(name) or ([] if self.outer is None else self.outer._binders(name))

    def _is_function(self, name: str) -> bool:
        return any(isinstance(unit.node, ast.FunctionDef) for unit in self.by_name.get(name, ()))

    def _may_change(self, name: str) -> bool:
        """Whether anything could change the value of a name: not a number, nor what Python and Triton bring."""
        if name in self._rebound or name.startswith("@"):
            return True
        return any(_is_changeable(unit) for unit in self.by_name.get(name, ()))

    def _reach(self, names: Iterator[str] | tuple[str, ...] | list[str]) -> set[str]:
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
        for unit in self.by_name.get(name, ()):
            if unit.alias is not None:
                found.update(["@" + _module(unit)] if _is_changeable(unit) else ())
            else:
                found.update(unit.binds)
                found.update(n for n in _mentioned(unit.node)
                             if n in self.by_name or n in _OPEN or n.startswith(_GLOBAL))
        return frozenset(found)


def _acting(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that may change a value when it is run."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from (ast.Call(decorator, [], []) for decorator in node.decorator_list)
    elif isinstance(node, ast.ClassDef):
        yield from (ast.Call(part, [], []) for part in (*node.decorator_list, *node.bases))
        yield from (keyword.value for keyword in node.keywords)
        for statement in node.body:
            yield from _acting(statement)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from (t for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
                    if not isinstance(t, ast.Name))
        if node.value is not None and any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in walk(node.value)):
            yield node.value
    else:
        yield node


def _mentioned(node: ast.AST) -> Iterator[str]:
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


def _altered(node: ast.AST) -> Iterator[str]:
    """Names with attributes that are assigned or have their methods called: `kernel.configs.append(…)`."""
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


def _comes_from(unit: Unit, package: str) -> bool:
    return unit.alias is not None and _module(unit).partition(".")[0] == package


def _module(unit: Unit) -> str:
    assert unit.alias is not None
    if isinstance(unit.node, ast.ImportFrom):
        return "." * unit.node.level + (unit.node.module or "")
    return unit.alias.name


def _is_changeable(unit: Unit) -> bool:
    if unit.alias is not None:
        module = _module(unit)
        return module == "os" or not (is_real(module) or is_stood_in(module))
    if isinstance(unit.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _keeps_something(unit.node)
    value = unit.node.value if isinstance(unit.node, (ast.Assign, ast.AnnAssign)) else None
    return value is None or not _is_fixed(value)


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


def _apart(one: tuple[Guard, ...], other: tuple[Guard, ...]) -> bool:
    """Whether two statements stand in different branches."""
    branches = {guard.node: guard.branch for guard in one}
    return any(branches.get(guard.node, guard.branch) != guard.branch for guard in other)


def _join(groups: list[Linked], unit: Unit, names: set[str]) -> None:
    """Take a unit and names into the groups, merging those that share a name."""
    same = [group for group in groups if not group.changed.isdisjoint(names)]
    for group in same:
        groups.remove(group)
    units = {unit, *(u for group in same for u in group.units)}
    groups.append(Linked(sorted(units, key=lambda u: u.order), names.union(*(group.changed for group in same))))
