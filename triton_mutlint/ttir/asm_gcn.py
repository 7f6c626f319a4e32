"""GCN, CDNA and RDNA instructions (AMD's ISA manuals): which access memory, and through what.

The prefix of a mnemonic says which unit executes it, and only some units reach memory. A mnemonic with
another prefix is not understood.
"""

from __future__ import annotations

import re

from triton_mutlint.ttir.asm_steps import HOLE, SHARED, AsmStep, NotUnderstoodError, strip_comments
from triton_mutlint.ttir.lexer import split_top

_REGISTER = re.compile(r"§\d+|\b(?:[vsa]\[[^\]]*\]|(?:[vsa]\d+|ttmp\d+|vcc|exec|m0|flat_scratch)(?:_lo|_hi)?\b)")
_PHYSICAL = "<registers>"  # ranges of named registers overlap, so all of them are one
_MNEMONIC = re.compile(r"([a-z][a-z0-9_]*)\b\s*(.*)", re.DOTALL)
_PREFIX = re.compile(r"(?:v|s|ds|global|flat|buffer|tbuffer|scratch|image|tensor|cluster)_")
_NO_ACCESS = ("_wb", "_inv", "_prefetch", "_wbinv", "_gl0", "_gl1")  # caches
_LDS_ONLY_READ = ("ds_read", "ds_load", "ds_bpermute", "ds_permute", "ds_swizzle", "ds_nop", "ds_bvh")
_SWAPS = ("v_swap", "v_permlane16_swap", "v_permlane32_swap")
_JUMPS = ("s_call", "s_swappc", "s_setpc", "s_rfe", "s_getpc")


def decode_gcn(text: str) -> list[AsmStep]:
    """Every instruction of the text; raises NotUnderstoodError for one whose effect is not known."""
    if HOLE in text:
        raise NotUnderstoodError("a part of the text is not known")
    steps = []
    for line in strip_comments(text).splitlines():
        # `;` starts a comment. Who took it for a separator has an instruction there: read that as well.
        for index, part in enumerate(line.split(";")):
            part = re.sub(r"^\s*[\w.$]+:(?=\s|$)", "", part).strip()
            if part and (index == 0 or _PREFIX.match(part)):
                steps += [_decode(half.strip()) for half in part.split("::")]  # `::` issues two at once
    return steps


def _registers(*texts: str) -> tuple[str, ...]:
    return tuple(name if name[0] == "§" else _PHYSICAL for text in texts for name in _REGISTER.findall(text))


def _decode(part: str) -> AsmStep:
    match = _MNEMONIC.fullmatch(part)
    shown = " ".join(part.split()).replace("§", "$")
    if match is None or not _PREFIX.match(part):
        raise NotUnderstoodError(f"not a known instruction: {shown}")
    name, operands = match[1], split_top(match[2])
    unit = name.partition("_")[0]
    if name.startswith(_JUMPS):
        raise NotUnderstoodError(f"{shown}: a jump to an address")
    if unit in ("v", "s") and not name.startswith(("s_load", "s_buffer", "s_store", "s_atomic", "s_scratch")):
        swap = name.startswith(_SWAPS)
        targets = operands if swap else operands[:1]
        sources = () if name.startswith(("v_cmp", "s_cmp")) else _registers(*(operands if swap else operands[1:]))
        return AsmStep(shown, _registers(*targets), sources)
    if unit in ("ds", "scratch") or name.startswith("s_scratch"):
        everything = _registers(*operands)
        return AsmStep(shown, (*_registers(*operands[:1]), SHARED), (*everything[1:], SHARED), loads=True,
                       shares=unit == "ds" and not name.startswith(_LDS_ONLY_READ))
    if unit in ("image", "tensor", "cluster"):
        raise NotUnderstoodError(f"{shown}: what it does to memory is not known")
    return _memory(unit, name, operands, shown)


def _memory(unit: str, name: str, operands: list[str], text: str) -> AsmStep:
    """The global, flat, buffer and scalar-memory units."""
    action = name.partition("_")[2] if unit != "s" else name
    if any(f"_{action}".startswith(word) for word in _NO_ACCESS):
        return AsmStep(text)
    if "atomic" in action:
        address, target, data = _atomic_address(unit, operands, text)
        return AsmStep(text, target, atomics=address, stored=data, loads=True)
    if "store" in action:
        address, data = _stored(unit, operands)
        return AsmStep(text, writes=address, stored=data)
    if "load" in action:
        to_lds = "lds" in name or re.search(r"\blds\b", text) is not None
        address = _registers(*(operands if to_lds else operands[1:]))
        targets = (SHARED,) if to_lds else _registers(*operands[:1])
        return AsmStep(text, targets, reads=address, loads=True, shares=to_lds)
    raise NotUnderstoodError(f"{text}: what it does to memory is not known")


def _stored(unit: str, operands: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The registers that address a store, `addr, data[, base or off]` or `data, the rest`, and those that it stores."""
    data = 0 if unit in ("buffer", "tbuffer", "s") else 1
    return _registers(*operands[:data], *operands[data + 1 :]), _registers(*operands[data : data + 1])


def _atomic_address(unit: str, operands: list[str],
                    text: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The registers that address an atomic, those that get the old value, and those that it stores."""
    if unit in ("buffer", "tbuffer", "s"):
        return _registers(*operands[1:]), _registers(*operands[:1]), _registers(*operands[:1])
    plain = 3 if unit == "global" else 2  # without a register for the old value
    if len(operands) not in (plain, plain + 1):
        raise NotUnderstoodError(f"{text}: not the operands that this atomic takes")
    old = operands[: len(operands) - plain]
    address, data = _stored(unit, operands[len(old) :])
    return address, _registers(*old), data
