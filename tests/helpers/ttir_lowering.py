"""Lowers the known-answer kernels with whatever Triton is installed."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.places import FIXTURES, read_book

CASES = FIXTURES / "cases"
ENTRIES: dict[str, dict[str, Any]] = {case["name"]: case for case in read_book(CASES / "cases.yaml")["cases"]}
TARGETS = {"cuda": ("cuda", 90, 32), "hip": ("hip", "gfx942", 64)}


class Lowering:
    """One MLIR context per target, as the production code has."""

    def __init__(self, target: str) -> None:
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler import make_backend

        self.target = GPUTarget(*TARGETS[target])
        self.backend = make_backend(self.target)
        self.options = self.backend.parse_options({"sanitize_overflow": False, "enable_fp_fusion": True})
        self.context = ir.context()
        ir.load_dialects(self.context)
        self.backend.load_dialects(self.context)

    def case(self, case: dict[str, Any]) -> Any:
        """The module of a known-answer case."""
        kernels = importlib.import_module(Path(case["file"]).stem)
        constants: dict[tuple[int, ...], Any] = {}
        signature = {
            arg["name"]: _type(arg, kernels, (i,), constants) for i, arg in enumerate(case["args"])
        }
        return self.module(getattr(kernels, case["kernel"]), signature, constants)

    def module(self, kernel: Any, signature: dict[str, Any], constants: dict[Any, Any],
               required: bool = False) -> Any:
        """The module of a kernel; unless `required`, skips the test where this Triton cannot compile it."""
        from triton.compiler import ASTSource
        from triton.compiler.errors import CompilationError

        source = ASTSource(kernel, signature, constants, {})
        generators = self.backend.get_codegen_implementation(self.options)
        try:
            target = (self.target,) if "target" in inspect.signature(source.make_ir).parameters else ()  # from 3.5 on
            return source.make_ir(*target, self.options, generators, self.backend.get_module_map(), self.context)
        except CompilationError as error:
            if required:
                raise
            pytest.skip(f"this Triton cannot compile it: {str(error).splitlines()[-1]}")

    def optimize(self, module: Any) -> None:
        """The clean-up that every backend runs first."""
        from triton._C.libtriton import ir, passes

        manager = ir.pass_manager(self.context)
        passes.common.add_inliner(manager)
        passes.common.add_canonicalizer(manager)
        passes.common.add_sccp(manager)
        passes.common.add_canonicalizer(manager)
        passes.common.add_cse(manager)
        passes.common.add_symbol_dce(manager)
        try:
            manager.run(module, "clean-up")
        except TypeError:  # the name came later
            manager.run(module)


def _type(arg: dict[str, Any], kernels: Any, path: tuple[int, ...], constants: dict[Any, Any]) -> Any:
    kind = arg["kind"]
    if kind in ("constexpr", "none"):
        constants[path] = getattr(kernels, arg["value_ref"]) if "value_ref" in arg else arg.get("value")
        return "constexpr"
    if kind in ("tuple", "namedtuple"):
        parts = [_type(e, kernels, (*path, i), constants) for i, e in enumerate(arg["elements"])]
        return getattr(kernels, arg["class"])(*parts) if kind == "namedtuple" else tuple(parts)
    return arg["type"]


@cache
def lowering(target: str) -> Lowering:
    return Lowering(target)
