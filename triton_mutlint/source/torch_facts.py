"""What is known of torch, numpy and packaging without having them: versions, dtypes, device facts.

The device facts are those of the target that the file is analysed for.
"""

from __future__ import annotations

import math
import re
from functools import total_ordering
from types import SimpleNamespace
from typing import Any

_BITS = {
    "bool": 8, "uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16, "uint32": 32,
    "uint64": 64, "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "float8_e4m3fn": 8,
    "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "complex64": 64, "complex128": 128,
}  # fmt: skip
# Names of dtypes for others.
ALIASES = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32",
           "long": "int64", "cfloat": "complex64", "cdouble": "complex128"}
WRAPPERS = ("wrap_triton", "capture_triton")  # what makes a kernel one that torch traces; the older name last
_FLOATS = {  # (max, smallest normal, eps): the formats' own definitions
    "float16": (65504.0, 2.0**-14, 2.0**-10),
    "bfloat16": (3.3895313892515355e38, 2.0**-126, 2.0**-7),
    "float32": (3.4028234663852886e38, 2.0**-126, 2.0**-23),
    "float64": (1.7976931348623157e308, 2.0**-1022, 2.0**-52),
    "float8_e4m3fn": (448.0, 2.0**-6, 2.0**-3),
    "float8_e5m2": (57344.0, 2.0**-14, 2.0**-2),
    "float8_e4m3fnuz": (240.0, 2.0**-7, 2.0**-3),
    "float8_e5m2fnuz": (57344.0, 2.0**-15, 2.0**-2),
}
# What torch itself does not have; vendors' extensions add them, and code tells vendors apart by them.
ABSENT = frozenset(
    f"torch.{name}"
    for name in ("mlu", "musa", "npu", "ptpu", "gcu", "corex", "hpu", "txda", "sdaa", "maca", "aipu")
)
_CAPABILITY_DEFAULT = (9, 0)


class Dtype:
    """A torch dtype by name: usable as a dict key, with its size in bytes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.itemsize = _BITS[name] // 8
        self.is_floating_point = name.startswith(("float", "bfloat"))
        self.is_complex = name.startswith("complex")
        self.is_signed = not name.startswith(("uint", "bool"))

    def __repr__(self) -> str:
        return f"torch.{self.name}"


def format_info(dtype: Dtype) -> SimpleNamespace:
    """`torch.finfo` and `torch.iinfo` of a dtype."""
    bits = _BITS[dtype.name]
    if dtype.name in _FLOATS:
        most, tiny, eps = _FLOATS[dtype.name]
        return SimpleNamespace(bits=bits, max=most, min=-most, tiny=tiny, smallest_normal=tiny, eps=eps, resolution=eps)
    signed = not dtype.name.startswith("u")
    return SimpleNamespace(bits=bits, max=2 ** (bits - signed) - 1, min=-(2 ** (bits - 1)) if signed else 0)


@total_ordering
class Version:
    """`packaging.version.Version` as far as comparing releases goes."""

    def __init__(self, text: str) -> None:
        self.text = str(text)
        numbers = re.match(r"v?(\d+(?:\.\d+)*)", self.text)
        self.release = tuple(map(int, numbers[1].split("."))) if numbers else (0,)
        self.major, self.minor, self.micro = (*self.release, 0, 0, 0)[:3]
        self.base_version = ".".join(map(str, self.release))

    def _key(self) -> tuple[int, ...]:
        return (*self.release, 0, 0, 0, 0)[:4]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self.text


def known_facts(backend: str, arch: str) -> dict[str, Any]:
    """Dotted name → value. `backend` is `cuda` or `hip`, `arch` as in a target (`90`, `gfx942`)."""
    cuda = backend == "cuda"
    number = int(arch) if arch.isdigit() else 0
    capability = (number // 10, number % 10) if number else (_CAPABILITY_DEFAULT if cuda else (9, 4))
    properties = SimpleNamespace(  # public figures of an H100 or MI300X
        name="NVIDIA H100" if cuda else "AMD Instinct MI300X", major=capability[0], minor=capability[1],
        multi_processor_count=132 if cuda else 304, warp_size=32 if cuda else 64, total_memory=80 << 30,
        gcnArchName=arch, shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=232448,
        L2_cache_size=50 << 20, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536)
    facts: dict[str, Any] = {f"torch.{name}": Dtype(name) for name in _BITS}
    facts.update({f"torch.{alias}": facts[f"torch.{name}"] for alias, name in ALIASES.items()})
    facts.update({f"{m}.{n}": getattr(math, n) for m in ("torch", "numpy") for n in ("inf", "nan", "pi", "e")})
    return facts | {
        "torch.__version__": "2.13.0",
        "torch.version.__version__": "2.13.0",
        "torch.version.cuda": "13.0" if cuda else None,
        "torch.version.hip": None if cuda else "7.0",
        "torch.version.xpu": None,
        "torch.finfo": format_info,
        "torch.iinfo": format_info,
        "torch.cuda.is_available": lambda: True,
        "torch.cuda.device_count": lambda: 1,
        "torch.cuda.current_device": lambda: 0,
        "torch.cuda.get_device_capability": lambda *_: capability,
        "torch.cuda.get_device_properties": lambda *_: properties,
        "torch.cuda.get_device_name": lambda *_: properties.name,
        "torch.xpu.is_available": lambda: False,
        "torch.mps.is_available": lambda: False,
        "torch.backends.mps.is_available": lambda: False,
        "torch.utils._triton.has_triton": lambda: True,
        "torch.utils._triton.has_triton_package": lambda: True,
        "torch.compiler.is_compiling": lambda: False,
        "torch.distributed.is_initialized": lambda: False,
        "torch.distributed.is_available": lambda: True,
        "packaging.version.Version": Version,
        "packaging.version.parse": Version,
    }
