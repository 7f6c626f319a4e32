"""What a parameter's name suggests: the weakest evidence, used when there is no other."""

from __future__ import annotations

import re

_POINTER = re.compile(
    r"(^|_)(p?ptrs?|pointers?|buf|buffer|tensor|base)\d*(_|$)|Ptr|(^|[a-z])_?ptrs?$|^(out|output|input|x|y|src|dst)$",
)
_FLOAT = re.compile(
    r"(^|_)(eps|epsilon|scale|alpha|beta|gamma|lr|momentum|dropout|prob|temperature|theta|softcap|"
    r"decay|lambda|threshold|slope|step_size|bias_correction\d?)(_|\d|$)",
    re.IGNORECASE,
)
_INTEGER = re.compile(
    r"(^|_)(strides?|size|sizes|len|num|n|m|k|dim|dims|numel|count|seed|offset|start|end|idx|index|rows?|"
    r"cols?|heads?|batch|seqlen|block|blocks|tokens?|elements?|steps?|rank|world)(_|\d|$)|"
    r"^stride|_stride",
    re.IGNORECASE,
)
_INDEX = re.compile(
    r"(^|_)(idx|idxs|index|indices|indptr|lens?|seqlens?|ids?|table|tables|offsets?|positions?|pos|slots?|"
    r"slot_mapping|map|mapping|perm|count|counts|locks?|sem|semaphores?|flags?|labels?|chunk_offsets)(_|\d|$)",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"^(HAS|IS|USE|USING|ENABLE|DISABLE|WITH|DO|NEED|NEEDS|APPLY|STORE|SAVE|OUTPUT|EVEN|CAUSAL|REVERSE|"
    r"TRANS|FUSE|FUSED|ALLOW|RETURN|INPLACE|ADD|COMPUTE|SKIP|SHOULD|CHECK|NORMALIZE|MASK|MASKED)(_|$)|"
    r"_(ENABLED|FLAG|CAUSAL|ACTIVE)$",
    re.IGNORECASE,
)
_SMALL = re.compile(r"(num_stages|stages|unroll|group_size_m|group_m|split|num_warps|loop|iter|ways)", re.IGNORECASE)
_DTYPE = re.compile(r"(^|_)(dtype|dtypes|type|dt)(_|$)|DTYPE$|TYPE$", re.IGNORECASE)


def named_like_pointer(name: str) -> bool:
    return _POINTER.search(name) is not None


def named_like_float(name: str) -> bool:
    return _FLOAT.search(name) is not None


def named_like_float_value(name: str) -> bool:
    """As `named_like_float`, for compile-time values: `EPS`, `SM_SCALE`, but not `SCALE_ELEMS_PER_TOKEN`."""
    found = list(_FLOAT.finditer(name))
    return bool(found) and found[-1].end() == len(name)


def named_like_integer(name: str) -> bool:
    return _INTEGER.search(name) is not None or (len(name) <= 3 and name.isupper())


def named_like_index(name: str) -> bool:
    return _INDEX.search(name) is not None


def named_like_flag(name: str) -> bool:
    return _FLAG.search(name) is not None


def named_like_dtype(name: str) -> bool:
    return _DTYPE.search(name) is not None


def named_like_small(name: str) -> bool:
    return _SMALL.search(name) is not None
