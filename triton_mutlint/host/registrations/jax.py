"""Calls of jax-triton's `triton_call`, each an op: what it aliases with an output is declared to be written.

`triton_call(x, n, kernel=k, out_shape=..., input_output_aliases={0: 0}, BLOCK=64)` launches `k` with what is passed
by position, then with the outputs that are not aliased, then with the rest by name. XLA takes an input that is aliased
with no output to be unchanged. Tuning puts back the inputs that are aliased, and clears the outputs in
`zeroed_outputs` before each run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_mutlint.host.model import Form, Implementation, OpRegistration
from triton_mutlint.host.modules.module import Definition, External, HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.values.groups import parameters
from triton_mutlint.host.values.values import FunctionValue, thing
from triton_mutlint.source.walking import dotted
from triton_mutlint.types import Declaration, Location, Problem

NAME = "triton_call"
_OPTIONS = frozenset({
    "kernel", "out_shape", "out_type", "grid", "name", "num_warps", "num_stages", "num_ctas", "compute_capability",
    "enable_fp_fusion", "input_output_aliases", "zeroed_outputs", "debug", "serialized_metadata",
})  # fmt: skip


@dataclass(frozen=True, eq=False)
class JaxCall:
    """One call: the kernel, the parameters that get inputs and outputs, and what is said of them.

    `aliases` are positions of inputs by that of the output, None where they are not written out; `refs` are inputs
    that JAX itself takes to be written. `cleared` are parameters that tuning clears, all where that is not known.
    """

    module: HostModule
    node: ast.Call
    kernel: ast.expr
    of: Definition
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    aliases: Mapping[int, int] | None
    refs: frozenset[str]
    cleared: frozenset[str]

    @property
    def aliased(self) -> frozenset[str] | None:
        """The parameters whose inputs are declared to be written."""
        if self.aliases is None:
            return None
        return self.refs.union(self.inputs[at] for at in self.aliases.values() if 0 <= at < len(self.inputs))


def jax_calls(module: HostModule, modules: HostModules) -> Iterator[JaxCall]:
    """The calls of a file whose kernel and inputs it shows."""
    if NAME not in module.text:
        return
    pending: list[tuple[ast.AST, ast.AST]] = [(module.tree, module.tree)]
    while pending:
        node, around = pending.pop()
        around = node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else around
        pending.extend((child, around) for child in ast.iter_child_nodes(node))
        whole = _whole(module, modules, node) if isinstance(node, ast.Call) else None
        if whole is not None:
            yield from _read(module, modules, whole, around)


def _whole(module: HostModule, modules: HostModules, node: ast.Call) -> ast.Call | None:
    """A call of `triton_call`, with what `partial(triton_call, ...)` of the file adds to it; None if it is another."""
    for one in modules.resolve(module, dotted(node.func)) if dotted(node.func) else ():
        if isinstance(one, External) and one.name.startswith("jax_triton.") and one.name.endswith(f".{NAME}"):
            return node
        first = one.node if isinstance(one, Definition) and one.module is module else None
        if not isinstance(first, ast.Call) or dotted(first.func)[-1:] != ("partial",) or not first.args:
            continue
        named = {k.arg for k in node.keywords}
        both = [*node.keywords, *(k for k in first.keywords if k.arg not in named)]
        made = ast.copy_location(ast.Call(first.args[0], [*first.args[1:], *node.args], both), node)
        return _whole(module, modules, made)
    return None


def _read(module: HostModule, modules: HostModules, node: ast.Call, around: ast.AST) -> Iterator[JaxCall]:
    given = {k.arg: k.value for k in node.keywords if k.arg is not None}
    kernel = given.get("kernel")
    found = modules.resolve(module, dotted(kernel)) if kernel is not None and dotted(kernel) else []
    if kernel is None or len(found) != 1 or any(isinstance(arg, ast.Starred) for arg in node.args):
        return
    (of,) = found
    if not isinstance(of, Definition) or not isinstance(of.node, ast.FunctionDef):
        return
    names, _ = parameters(of.node.args)
    inputs = tuple(names[: len(node.args)])
    constants = {a.arg for a in (*of.node.args.posonlyargs, *of.node.args.args)
                 if a.annotation is not None and dotted(a.annotation)[-1:] == ("constexpr",)}
    outputs = tuple(n for n in names[len(inputs):] if n not in given and n not in constants)
    aliases = _aliases(given.get("input_output_aliases"))
    refs = frozenset(name for name, arg in zip(inputs, node.args, strict=False) if _is_ref(arg, around))
    everything = frozenset(names)
    cleared = _cleared(given.get("zeroed_outputs"), inputs, outputs, aliases) if aliases is not None else everything
    yield JaxCall(module, node, kernel, of, inputs, outputs, aliases, refs,
                  everything if any(k.arg is None for k in node.keywords) or cleared is None else cleared)


def _aliases(node: ast.expr | None) -> Mapping[int, int] | None:
    if node is None:
        return {}
    try:
        value = ast.literal_eval(node)
        return {int(output): int(at) for at, output in value.items()}
    except (ValueError, TypeError, AttributeError):
        return None


def _cleared(node: ast.expr | None, inputs: Sequence[str], outputs: Sequence[str],
             aliases: Mapping[int, int]) -> frozenset[str] | None:
    """The parameters of the outputs in `zeroed_outputs`; None where they are computed."""
    if node is None:
        return frozenset()
    try:
        listed = {int(number) for number in ast.literal_eval(node)}
    except (ValueError, TypeError):
        return None
    own = [number for number in range(len(outputs) + len(aliases)) if number not in aliases]
    held = {**dict(zip(own, outputs, strict=False)), **{o: inputs[at] for o, at in aliases.items() if at < len(inputs)}}
    return frozenset(held[number] for number in listed if number in held)


def _is_ref(argument: ast.expr, around: ast.AST) -> bool:
    """Whether an argument is made as a reference (`jax.new_ref`, `jax.array_ref`) in the function around the call."""
    made = [argument, *(inner.value for inner in ast.walk(around) if isinstance(inner, ast.Assign)
                        and isinstance(argument, ast.Name)
                        and any(isinstance(t, ast.Name) and t.id == argument.id for t in inner.targets))]
    return any(isinstance(one, ast.Call) and "".join(dotted(one.func)[-1:]).endswith("ref") for one in made)


def jax_op(call: JaxCall) -> OpRegistration:
    """The op that a call is, with the launch as its code."""
    place = Location(call.module.display, call.node.lineno, call.node.col_offset + 1)
    listed = next((k.value for k in call.node.keywords if k.arg == "input_output_aliases"), None)
    at = place if listed is None else Location(place.file, listed.lineno, listed.col_offset + 1)
    aliased = call.aliased
    problems = tuple(
        Problem(f"`input_output_aliases` names argument {number}, but {len(call.inputs)} are passed", at,
                "arguments are counted from 0")
        for number in (call.aliases or {}).values() if not 0 <= number < len(call.inputs))
    declaration = Declaration(
        None if aliased is None else tuple(name for name in call.inputs if name in aliased), at,
        problems=problems, may_return=None, stated=listed is not None,
        reason="" if aliased is not None else "its aliases are computed")
    return OpRegistration(
        f"{NAME}({ast.unparse(call.kernel)})", Form.JAX, place, call.module, declaration,
        (_launch(call),), arguments=call.inputs)


def _launch(call: JaxCall) -> Implementation:
    """A function that launches the kernel as the call does."""
    given = {k.arg: k.value for k in call.node.keywords if k.arg is not None and k.arg not in _OPTIONS}
    fixed = {name: value for name, value in given.items() if isinstance(value, ast.Constant)}
    others = [name for name in (*given, *call.outputs) if name not in fixed]
    takes = ast.arguments(
        [], [ast.arg(name) for name in call.inputs], None,
        [ast.arg(name, ast.Name("Tensor" if name in call.outputs else "int")) for name in others],
        [None for _ in others], None, [])
    launch = ast.Call(
        ast.Subscript(call.kernel, ast.Constant(None), ast.Load()),
        [ast.Name(name, ast.Load()) for name in call.inputs],
        [ast.keyword(name, fixed.get(name, ast.Name(name, ast.Load()))) for name in (*fixed, *others)])
    function = ast.FunctionDef(NAME, takes, [ast.Expr(launch)], [])
    for inner in ast.walk(function):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, call.node)
    return Implementation(call.module, function, thing(FunctionValue(call.module, function)))
