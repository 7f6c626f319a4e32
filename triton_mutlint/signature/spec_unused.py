"""What a spec says that holds for nothing that was loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from triton_mutlint.kernel_source.dtypes import nearest
from triton_mutlint.model import LoadedKernel, Location
from triton_mutlint.signature.spec_errors import KeyPath, show_path
from triton_mutlint.signature.spec_model import Declared, KernelSpec, Spec


@dataclass(frozen=True)
class Unused:
    """A kernel entry or a parameter name of a spec that names nothing.

    `kind` is "kernel", "shadowed" (it names kernels, but a more specific entry holds for each),
    "parameter" (a key of `args`, or more compact types than parameters) or "mutates";
    `nearest` is the existing name most like it, if any is; `kernel` the pattern of the entry.
    """

    kind: str
    name: str
    kernel: str
    location: Location
    path: KeyPath
    nearest: str | None = None

    @property
    def key_path(self) -> str:
        return show_path(self.path)


def unused(spec: Spec, kernels: Iterable[LoadedKernel]) -> tuple[Unused, ...]:
    """The entries and parameter names of `spec` that hold for none of `kernels`, in file order.

    Helpers may be among `kernels`: an entry that names one is not unused. An entry for a file that
    was not among those linted counts as unused: the caller knows which files it gave.
    """
    loaded = sorted(kernels, key=lambda kernel: kernel.location)
    held: dict[int, list[LoadedKernel]] = {}
    for kernel in loaded:
        entry = spec.entry_for(kernel.path, kernel.name, kernel.qualname, kernel.location.line)
        if entry is not None:
            held.setdefault(id(entry), []).append(kernel)
    found: list[Unused] = []
    for entry in spec.kernels:
        own = held.get(id(entry), [])
        found += _parameters(entry, own) if own else [_entry(entry, loaded)]
    return tuple(sorted(found, key=lambda item: item.location))


def _entry(entry: KernelSpec, kernels: list[LoadedKernel]) -> Unused:
    named = [k for k in kernels if entry.rank(k.path, k.name, k.qualname, k.location.line) is not None]
    near = None if named else nearest(entry.pattern.rpartition("::")[2], [k.name for k in kernels])
    kind = "shadowed" if named else "kernel"
    return Unused(kind, entry.pattern, entry.pattern, entry.location, entry.path, near)


def _parameters(entry: KernelSpec, kernels: list[LoadedKernel]) -> Iterator[Unused]:
    names = {name for kernel in kernels for name in kernel.parameter_names}
    mutates = entry.mutates or ()
    arguments = [Declared(arg.parameter, arg.location, arg.path) for arg in entry.args]
    for kind, declared in [("parameter", d) for d in arguments] + [("mutates", d) for d in mutates]:
        # An element of a tuple parameter is declared by its own name, `ptrs.0`.
        base = declared.name.partition(".")[0] if kind == "mutates" else declared.name
        if base not in names:
            near = nearest(declared.name, names)
            yield Unused(kind, declared.name, entry.pattern, declared.location, declared.path, near)
