"""What names, members and attributes stand for in code that registers ops; what of it is worth following."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from triton_mutlint.config.registrar import Registrar, public_registrar
from triton_mutlint.host.modules.module import Definition, External, HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.things import (
    Event,
    Library,
    Opaque,
    hole,
    is_unknown,
    op_of,
    written,
)
from triton_mutlint.host.registrations.torch_registering import TorchRegistering
from triton_mutlint.host.state.core import Kernels, World
from triton_mutlint.host.values.groups import Arguments
from triton_mutlint.host.values.values import (
    ClassValue,
    FunctionValue,
    Thing,
    Value,
    thing,
)
from triton_mutlint.source.walking import walk


class RegisteringNames(TorchRegistering):
    """The names of one file, in the order of its statements, and of those that it imports from."""

    def __init__(self, module: HostModule, modules: HostModules, registrars: Mapping[str, Registrar]) -> None:
        super().__init__(World(modules, Kernels(), {}))
        self.root, self._registrars = module, registrars
        self.events: list[Event] = []
        self.stack: list[ast.AST] = []
        self.defined: list[FunctionValue] = []
        self.ops: dict[str, Value] = {}  # the functions of those that were registered

    # ------------------------------------------------------------------ names

    def rebound(self, of: HostModule | ClassValue, name: str) -> Value:
        """A registration happens while files are imported: nothing is given anew yet."""
        return Value()

    # ------------------------------------------------------------------ functions and classes

    def function(self, module: HostModule, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        owner = self.here.owner if self.here.is_class else None
        self.defined.append(FunctionValue(module, node, self.closure, owner, self.defaults_of(node.args)))
        return super().function(module, node)

    def decorated(self, decorator: ast.expr, value: Value) -> Value:
        maker = self.evaluate(decorator)
        applied = self.call(maker, Arguments((value,)), decorator)
        return value if is_unknown(applied) or not (applied.things or applied.cells) else applied

    def handed(self, given: Iterable[Value], node: ast.AST, *certain: str, beside: Iterable[Value] = (),
               deep: bool = False) -> None:
        """Special methods that Python may call register nothing."""

    def hold_members(self, made: ClassValue, bound: Mapping[str, Value]) -> None:
        self.world.shared.members[id(made.node)] = bound

    def _of_thing(self, owner: Thing, name: str, node: ast.AST) -> Value:
        if name in ("__name__", "__qualname__"):
            for one in self.ops.get(op_of(owner), thing(owner)).things:
                if isinstance(one, FunctionValue):
                    return written(getattr(one.node, "name", "<lambda>"))
            if isinstance(owner, Opaque):
                return written(hole("name"))
        if isinstance(owner, Library) and name == "ns":
            return owner.namespace
        return super()._of_thing(owner, name, node)

    # ------------------------------------------------------------------ registrars

    def registrar_of(self, callee: Thing) -> tuple[str, Registrar] | None:
        """What is known of a callee that registers ops: by configuration, else of public libraries."""
        if isinstance(callee, FunctionValue):
            found = self._own.get(id(callee.node))
            if found is None:
                return None
            names = tuple(a.arg for a in (*callee.node.args.posonlyargs, *callee.node.args.args))
            return found[0], replace(found[1], order=names)
        if not isinstance(callee, External):
            return None
        known = self._registrars.get(callee.name) or public_registrar(callee.name)
        return (callee.name, known) if known is not None else None

    @cached_property
    def _own(self) -> Mapping[int, tuple[str, Registrar]]:
        """The configured registrars that first-party files define, by their `def`."""
        own: dict[int, tuple[str, Registrar]] = {}
        for name, registrar in self._registrars.items():
            module, _, last = name.rpartition(".")
            for _, found in self.world.modules.imported(self.root, ast.ImportFrom(module, [ast.alias(last)], 0)):
                own.update((id(one.node), (name, registrar)) for one in found if isinstance(one, Definition))
        return own


REGISTERS = re.compile(r"regist|custom_op|triton_op|infer_schema|^define$|^impl$|^Library$|_ops?$")
_SHORT = 12  # statements


def registers(node: ast.AST, module: HostModule, modules: HostModules) -> bool:
    """Whether code of `module` may register ops, by what it calls and what those functions of its file call."""
    known = modules.registering
    if node not in known:
        known[node] = False  # until known: functions that call each other
        known[node] = any(_is_registering(inner, module, modules) for inner in walk(node))
    return known[node]


def _is_registering(node: ast.AST, module: HostModule, modules: HostModules) -> bool:
    if isinstance(node, ast.arguments) and any(
            _defined_registers(d, module, modules) for d in (*node.defaults, *node.kw_defaults)):
        return True
    for callee in [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", []):
        name = last_name(callee)
        if name in modules.registrars or REGISTERS.search(name) or _defined_registers(callee, module, modules):
            return True
    return False


def _defined_registers(node: ast.expr | None, module: HostModule, modules: HostModules) -> bool:
    """Whether a name stands for a function or class of the file that registers ops."""
    bound = module.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
    return any(isinstance(b, Definition) and not isinstance(b.node, ast.expr) and registers(b.node, module, modules)
               for b in bound)


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_followed(function: FunctionValue, root: HostModule, modules: HostModules) -> bool:
    """Whether a call of a function from code of `root` is followed."""
    node, owner = function.node, function.owner
    if isinstance(node, ast.Lambda) or registers(node, function.module, modules) or node.name == "__init__":
        return True
    if len(node.body) > _SHORT:
        return False
    if owner is not None and registers(owner.node, owner.module, modules):
        return True  # it may choose what the others register
    return function.module is root or REGISTERS.search(node.name) is not None or "lib" in node.name.lower()
