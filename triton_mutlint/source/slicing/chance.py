"""What differs from run to run: random numbers, the clock, the number of a process, addresses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from triton_mutlint.source.slicing.scopes import bound_by
from triton_mutlint.source.slicing.spaces import Space
from triton_mutlint.source.walking import children, dotted, walk

_BUILTINS = (("id",), ("hash",))
_DIFFERING = re.compile(r"""
    (random|secrets|tempfile|numpy\.random)\.
    | uuid\.(uuid[14]|getnode)$
    | time\.(?!sleep$|strptime$|struct_time$)
    | (datetime\.)+(date\.)?(now|utcnow|today)$
    | os\.(urandom|getrandom|getpid|getppid|times|getloadavg)$
""", re.VERBOSE)


def differs(space: Space, node: ast.AST) -> bool:
    """Whether a node mentions something in `space` that differs from run to run."""
    own: dict[str, str] = {}  # what imports in it bind
    for inner in walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            own.update((bound_by(alias, inner), _imported(inner, alias)) for alias in inner.names)
    for inner in walk(node):
        if isinstance(inner, ast.Call) and dotted(inner.func) in _BUILTINS and not [*_meant(space, dotted(inner.func))]:
            return True
        chain = dotted(inner) if isinstance(inner, ast.Name | ast.Attribute) else ()
        if chain and any(map(_DIFFERING.match, _meant(space, chain, own))):
            return True
    return False


def _meant(space: Space | None, chain: tuple[str, ...], own: dict[str, str] | None = None) -> Iterator[str]:
    """The full names that a dotted one may stand for, by the imports that bind its first part."""
    rest = chain[1:]
    if own and chain[0] in own:
        yield ".".join((own[chain[0]], *rest))
    while space is not None:
        for binding in space.scope.by_name.get(chain[0], ()):
            node = binding.node
            is_import = isinstance(node, ast.Import | ast.ImportFrom) and binding.alias is not None
            yield ".".join((_imported(node, binding.alias), *rest)) if is_import else ""  # type: ignore[arg-type]
        space = space.parent


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(node, ast.ImportFrom):
        return f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


def conditions_of(body: list[ast.stmt], node: ast.stmt) -> list[ast.expr]:
    """The conditions in a body that decide whether a statement in it is run."""
    for top in body:
        if top is not node and isinstance(top, ast.If | ast.Try | ast.With) and any(n is node for n in walk(top)):
            inner = [child for child in children(top) if isinstance(child, ast.stmt)]
            inner += [child for h in getattr(top, "handlers", ()) for child in h.body]
            return [*([top.test] if isinstance(top, ast.If) else []), *conditions_of(inner, node)]
    return []
