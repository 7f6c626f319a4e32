"""A spec entry from Python values: what the Python API takes as `signature`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton_mutlint.model import LoadedKernel, UsageError
from triton_mutlint.spec.bind import module_resolver, value_parameters
from triton_mutlint.spec.errors import did_you_mean
from triton_mutlint.spec.model import ArgSpec, KernelSpec
from triton_mutlint.spec.splitting import TypeTextError
from triton_mutlint.spec.values import type_of_value


def entry_of_values(kernel: LoadedKernel, values: Mapping[str, Any]) -> KernelSpec:
    """The entry that gives `values` to `kernel`: per parameter a type string, tensor or plain value.

    A list gives variants, as in YAML. Raises `UsageError` for a name that is no parameter and for a
    value that has no type, with the nearest valid name.
    """
    resolve = module_resolver(kernel.namespace)
    constexprs = value_parameters(kernel)
    args: list[ArgSpec] = []
    for name, value in values.items():
        if name not in kernel.parameter_names:
            hint = did_you_mean(name, kernel.parameter_names)
            raise UsageError(f"{kernel.name} has no parameter {name!r}{hint}")
        variants = value if isinstance(value, list) else [value]
        if not variants:
            raise UsageError(f"{kernel.name}: an empty list gives {name!r} no value")
        try:
            types = [type_of_value(v, is_constexpr=name in constexprs, resolve=resolve) for v in variants]
        except TypeTextError as error:
            raise UsageError(f"{kernel.name}: {name}: {error}") from None
        args.append(ArgSpec(name, tuple(types)))
    return KernelSpec(kernel.name, args=tuple(args))
