"""What an error of Triton, and the source that it is about, say of the arguments that would not fail."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from triton_mutlint.kernel_source.dtypes import bits, canonical_dtype

BY_WIDTH = {8: ("i8", "u8", "fp8e4nv"), 16: ("fp16", "i16"), 32: ("fp32", "i32"), 64: ("fp64", "i64")}
PLACE = re.compile(r"(\S+\.py):(\d+):\d+: error:")
_FORMATS = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}  # of scaled products, and what holds them
DTYPE = re.compile(r"(?<![a-zA-Z])(?:e\dm\d|fp\d\w*|bf16|bfloat16|u?int\d+|float\d\w*|[iuf]\d+|bool)(?=\b|ean)")
_SHAPE = re.compile(r"(?<=\d)x(?=[\df])")  # 16x16xf16
_NUMBER = re.compile(r"(?<![\w.])\d{1,7}(?![\w.])")
_TEXT = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_KIND = re.compile(r"pointer|ptr|descriptor|element_ty|attribute|NoneType|argument")
_TYPE = re.compile(r"[tT]ype|dtype|(?<![a-zA-Z])(?:fp|u?int|float|bool)\d*\b")
_WIDTH = re.compile(r"bit|width|size")
_NONE = re.compile(r"(?:is|is not|==|!=) None")
LAYOUT = "#ttg."  # what is wrong is a size, whichever types are shown


@dataclass(frozen=True)
class Hints:
    """What an error and the source around it mention."""

    dtypes: tuple[str, ...]
    numbers: tuple[int, ...]
    texts: tuple[str, ...]
    about_types: bool
    about_kinds: bool  # whether an argument is an address or a number, say
    none: bool

    @classmethod
    def of(cls, message: str, source: str) -> Hints:
        message = "" if LAYOUT in message else _SHAPE.sub(" ", PLACE.sub("", message))
        found = [name for text in (message, source) for word in DTYPE.findall(text) if (name := _dtype(word))]
        numbers = [int(n) for text in (message, source) for n in _NUMBER.findall(text)]
        wide = [dtype for n in numbers for dtype in BY_WIDTH.get(n, ()) if _WIDTH.search(message + source)]
        texts = [a or b for text in (message, source) for a, b in _TEXT.findall(text)]
        kinds = _KIND.search(message) is not None
        return cls(once(found + wide), once(numbers), once([*([""] if "str" in message else []), *texts]),
                   kinds or _TYPE.search(message) is not None or "static_assert" in message, kinds,
                   "NoneType" in message or _NONE.search(source) is not None)


def _dtype(text: str) -> str:
    name = _FORMATS.get(text) or canonical_dtype(re.sub(r"^f(\d)", r"fp\1", text)) or ""
    return name if bits(name) else ""


def once(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))
