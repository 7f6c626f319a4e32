"""Analyse TTIR text by argument name, with neither Triton nor Python source behind it."""

from __future__ import annotations

from triton_mutlint.analysis import VariantEffects, analyze_module
from triton_mutlint.analysis.effects import Entry
from triton_mutlint.ttir.ir import Function
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import AccessKind, ArgOwner, ArgRole, Frame, Location


class PrintedPlaces:
    """Locations exactly as printed; functions are not named."""

    def display(self, file: str) -> str:
        return file

    def location(self, entry: Entry | None, op: str) -> Location:
        return Location(*entry) if entry else Location("<unknown>", 1, 1)

    def trace(self, entries: tuple[Entry, ...], op: str) -> tuple[Frame, ...]:
        return tuple(Frame("f", file, line) for file, line, _ in entries)


def module(arguments: str, body: str, functions: str = "") -> str:
    """A module whose public function takes `arguments` ("%a: !tt.ptr<f32>, ...") and runs `body`."""
    return f"module {{\n  tt.func public @kernel({arguments}) {{\n{body}\n    tt.return\n  }}\n{functions}\n}}\n"


def analyze(text: str, opaque_asm: bool = False) -> VariantEffects:
    parsed = parse(text)
    owners = [_owner(parsed.entry(), i) for i in range(parsed.entry().n_args)]
    return analyze_module(parsed, owners, "cuda", PrintedPlaces(), opaque_asm)


def written(effects: VariantEffects) -> set[str]:
    kinds = (AccessKind.WRITE, AccessKind.ATOMIC)
    return {name for name, found in effects.accesses.items() if any(a.kind in kinds for a in found)}


def through(effects: VariantEffects) -> set[tuple[str, str]]:
    return {(w.through, w.via) for w in effects.indirect_writes}


def _owner(function: Function, index: int) -> ArgOwner:
    kind = function.types[index]
    role = ArgRole.ADDRESS if kind.startswith(("!tt.ptr", "!tt.tensordesc")) else ArgRole.SCALAR
    return ArgOwner(function.arg_names[index], role)
