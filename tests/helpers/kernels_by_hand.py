"""Loaded kernels made from text: what the signature stage needs of the loader."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from triton_mutlint.source.slicing.stubs import Missing
from triton_mutlint.types import Autotune, AutotuneConfig, Kernel, Location, Parameter, SourceFile


def loaded(
    text: str,
    *,
    path: str = "/project/pkg/kernels.py",
    namespace: Mapping[str, Any] | None = None,
    configs: tuple[AutotuneConfig, ...] = (),
    heuristics: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
    qualname: str = "",
) -> Kernel:
    """The last function of `text`; annotations `tl.constexpr`/`tl.const` and defaults are read."""
    import_module("triton.language")  # as the file of a loaded kernel has
    tree = ast.parse(text)
    node = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)][-1]
    source = SourceFile(Path(path), Path(path).name, text)
    node = list(source.functions.values())[-1]
    arguments = node.args.posonlyargs + node.args.args
    missing = [None] * (len(arguments) - len(node.args.defaults))
    parameters = tuple(
        Parameter(
            name=argument.arg,
            index=index,
            is_constexpr="constexpr"
            in (note := ast.unparse(argument.annotation) if argument.annotation else ""),
            is_const=note.endswith("const"),
            annotation=note,
            has_default=default is not None,
            default=ast.literal_eval(default) if default is not None else None,
        )
        for index, (argument, default) in enumerate(
            zip(arguments, [*missing, *node.args.defaults], strict=True)
        )
    )
    return Kernel(
        name=node.name,
        location=Location(Path(path).name, node.lineno, node.col_offset + 1),
        jit=None,
        parameters=parameters,
        source=source,
        namespace=namespace or {},
        autotune=Autotune(configs) if configs else None,
        heuristics=heuristics or {},
        qualname=qualname or node.name,
    )


def config(_num_warps: int | None = None, **kwargs: Any) -> AutotuneConfig:
    return AutotuneConfig(kwargs, {"num_warps": _num_warps} if _num_warps else {})


def missing(path: str) -> Missing:
    """What a loaded file holds for a name of a package that is not installed."""
    value = Missing.__new__(Missing)
    value.__dict__.update(
        mutlint_path=path, mutlint_root=path, mutlint_reason="is not installed", mutlint_registry=None
    )
    return value
