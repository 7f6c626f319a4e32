"""Statements of registering code: both branches where a condition is open, loops over known lists."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from triton_mutlint.host.registrations.folded import Args, Class, Const, Func, Late, Scope, Spot, Unknown, Value
from triton_mutlint.host.registrations.folding import MAX_UNROLLED, Machine, fold
from triton_mutlint.host.registrations.folding_changes import change, put
from triton_mutlint.host.registrations.folding_values import bind, each, merged, truth

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Body:
    """One run through the statements of a module or a function.

    `returned` are the values it may give, `functions` and `classes` what it defines.
    """

    machine: Machine
    scope: Scope
    nested: bool
    returned: list[Value] = field(default_factory=list)
    defined: list[Func] = field(default_factory=list)
    unrolled: int = 0  # loops that are being followed

    def run(self, statements: Sequence[ast.stmt]) -> bool:
        """Follow `statements`; whether control leaves them."""
        return any(self._statement(statement) for statement in statements)

    def _statement(self, node: ast.stmt) -> bool:
        self.machine.spend()
        scope = self.scope
        if isinstance(node, _FUNCTIONS):
            self.function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, ast.Expr):
            if not change(node.value, scope, self.machine):
                fold(node.value, scope, self.machine)
        elif isinstance(node, ast.Assign):
            value = fold(node.value, scope, self.machine)
            for target in node.targets:
                self._assign(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, fold(node.value, scope, self.machine))
        elif isinstance(node, ast.AugAssign):
            self._augment(node)
        elif isinstance(node, ast.Return):
            self.returned.append(fold(node.value, scope, self.machine) if node.value is not None else Const())
            return True
        elif isinstance(node, (ast.Raise, ast.Continue, ast.Break)):
            return True
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        else:
            return self._compound(node)
        return False

    def _compound(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            answer = truth(fold(node.test, self.scope, self.machine))
            if answer is not None and (self.machine.depth or self.unrolled):  # a constant may be edited
                return self.run(node.body if answer else node.orelse)
            return self._branches([node.body, node.orelse])
        if isinstance(node, (ast.For, ast.AsyncFor)):
            self._loop(node)
        elif isinstance(node, ast.While):
            fold(node.test, self.scope, self.machine)
            self._branches([node.body, []])
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = fold(item.context_expr, self.scope, self.machine)
                if item.optional_vars is not None:
                    self._assign(item.optional_vars, value)
            return self.run(node.body)
        elif isinstance(node, ast.Try):
            left = self._branches([[*node.body, *node.orelse], *(handler.body for handler in node.handlers)])
            return self.run(node.finalbody) or left
        elif isinstance(node, ast.Match):
            self._branches([*(case.body for case in node.cases), []])
        return False

    # ------------------------------------------------------------------ names

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            put(target, value, self.scope, self.machine)
        else:
            bind(target, value, self.scope)

    def _augment(self, node: ast.AugAssign) -> None:
        right = fold(node.value, self.scope, self.machine)
        if isinstance(node.target, ast.Name):
            sum_ = ast.copy_location(ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value), node)
            ast.copy_location(sum_.left, node)
            bind(node.target, fold(sum_, self.scope, self.machine), self.scope)
        else:
            self._assign(node.target, Unknown("it is computed at run time", right.given()))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            self.scope.names[name] = Late(module=self.scope.module, node=node, name=name)

    # ------------------------------------------------------------------ branches

    def _branches(self, blocks: Sequence[Sequence[ast.stmt]]) -> bool:
        """Follow each block from the same start; names then stand for what any of them left."""
        before = dict(self.scope.names)
        ends: list[dict[str, Value]] = []
        for block in blocks:
            self.scope.names = dict(before)
            if not self.run(block):
                ends.append(self.scope.names)
        if not ends:
            self.scope.names = before
            return True
        names = dict.fromkeys(name for end in ends for name in end)
        self.scope.names = {name: merged([end[name] for end in ends if name in end]) for name in names}
        return False

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        source = fold(node.iter, self.scope, self.machine)
        several = each(source)
        if several is not None and len(several) <= MAX_UNROLLED:
            for item in several:
                bind(node.target, item, self.scope)
                self.unrolled += 1
                self.run(node.body)
                self.unrolled -= 1
        else:
            bind(node.target, Unknown("it is computed in a loop", source.given()), self.scope)
            self._branches([node.body, []])
        self.run(node.orelse)

    # ------------------------------------------------------------------ definitions

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Define a function and apply its decorators, from the lowest up."""
        module = self.scope.module
        spot = Spot(module, node, self.machine.depth)
        value: Value = Func(module=module, node=node, scope=self.scope, nested=self.nested, spot=spot)
        if isinstance(value, Func):
            self.defined.append(value)
        for decorator in reversed(node.decorator_list):
            applied = self.machine.call(fold(decorator, self.scope, self.machine), Args((value,)), decorator, module)
            value = value if isinstance(applied, Unknown) else applied
        self.scope.names[node.name] = value

    def _class(self, node: ast.ClassDef) -> None:
        inner = Body(self.machine, Scope(self.scope.module, self.scope), nested=True)
        inner.run(node.body)
        self.defined.extend(inner.defined)
        # Methods do not see the names of their class.
        members = inner.scope.names.items()
        methods = {name: replace(v, scope=self.scope) if isinstance(v, Func) else v for name, v in members}
        names = Scope(self.scope.module, None, methods)
        self.scope.names[node.name] = Class(module=self.scope.module, node=node, scope=names)


