"""What a parameter's name suggests: the weakest evidence, used when there is no other."""

from __future__ import annotations

import re

_POINTER = re.compile(
    r"(^|_)(p?ptrs?|pointers?|buf|buffer|tensor|base)\d*(_|$)|Ptr|(^|[a-z])_?ptrs?$|^(out|output|input|x|y|src|dst)$",
)
_INTEGER = re.compile(
    r"(^|_)(strides?|size|sizes|len|num|n|m|k|dim|dims|numel|count|seed|offset|start|end|idx|index|rows?|"
    r"cols?|heads?|batch|seqlen|block|blocks|tokens?|elements?|steps?|rank|world)(_|\d|$)|"
    r"^stride|_stride",
    re.IGNORECASE,
)
_DTYPE = re.compile(r"(^|_)(dtype|dtypes|type|dt)(_|$)|DTYPE$|TYPE$", re.IGNORECASE)


def named_like_pointer(name: str) -> bool:
    return _POINTER.search(name) is not None


def named_like_integer(name: str) -> bool:
    return _INTEGER.search(name) is not None or (len(name) <= 3 and name.isupper())


def named_like_dtype(name: str) -> bool:
    return _DTYPE.search(name) is not None
