"""Element types in Triton's own spelling, and the other names people write for them.

Names and aliases follow `triton._utils.type_canonicalisation_dict` and `triton.language.str_to_ty`
of Triton 3.6 to 3.9; torch's names are those of `str(tensor.dtype)`.
"""

from __future__ import annotations

from typing import Any

from triton_mutlint.basics import nearest
from triton_mutlint.source.torch_facts import ALIASES
from triton_mutlint.types import ConstexprValue

FLOATS = ("fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16")
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64")
DTYPES = frozenset(FLOATS + INTEGERS)

# Triton's language calls them so.
TL_NAMES = {
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "float8e5": "fp8e5", "float8e4nv": "fp8e4nv", "float8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
}  # fmt: skip
_ALIASES = {
    **TL_NAMES, **{short: TL_NAMES[long] for short, long in ALIASES.items() if long in TL_NAMES},
    "bool": "i1", "uint1": "u1", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16",
}

_MODULES = ("torch.", "tl.", "triton.language.", "language.", "numpy.", "np.")


def canonical_dtype(name: str) -> str | None:
    """Triton's name of the element type `name` (`torch.float32` -> `fp32`); None if there is none."""
    for module in _MODULES:
        name = name.removeprefix(module)
    return name if name in DTYPES else _ALIASES.get(name)


def nearest_dtype(name: str) -> str | None:
    """The element type whose name or alias is most like `name`, in Triton's spelling."""
    bare = name.rpartition(".")[2].lower()
    exact = canonical_dtype(bare)
    if exact:
        return exact
    found = nearest(bare, DTYPES) or nearest(bare, _ALIASES)
    return canonical_dtype(found) if found else None


# --------------------------------------------------------------------------- as kernels write them

FLOATING = frozenset((*FLOATS, "float"))
INTEGRAL = frozenset(INTEGERS)
_WRITTEN = {short: long for long, short in TL_NAMES.items()}


def bits(dtype: str) -> int:
    """The width of a dtype in bits; 0 where the name is not one."""
    if dtype not in INTEGRAL and dtype not in FLOATING:
        return 0
    if dtype.startswith("fp8"):
        return 8
    digits = dtype.lstrip("iufbp")
    return int(digits) if digits.isdigit() else 0


def promoted(left: Any, right: Any) -> Any:
    """The dtype of `left + right`, as far as it is known; a slot stands for its elements' type."""
    if left is None or left == right:
        return right
    if right is None:
        return left
    for weak in ("int", "float"):
        if left == weak or right == weak:
            other = right if left == weak else left
            return "fp32" if weak == "float" and other in INTEGRAL else other
    for wins in (FLOATING, None, INTEGRAL):
        for side in (left, right):
            if (not isinstance(side, str)) if wins is None else side in wins:
                return side
    return left


def dtype_value(short: str) -> ConstexprValue:
    """`tl.float32` for "fp32": Triton's own dtype object, shown as it is written in kernels."""
    import triton.language as tl

    value: Any = getattr(tl, _WRITTEN[short])
    return ConstexprValue(value, f"tl.{_WRITTEN[short]}")


def short_name(value: Any) -> str:
    """The short name of a Triton (or torch) dtype object; "" when it is none."""
    return canonical_dtype(str(value)) or "" if type(value).__name__ == "dtype" else ""
