"""PTX instructions (the PTX ISA reference, version 8.7): which access memory, and through what.

An instruction that is not in the tables is not understood, whatever its operands. One of which a part is not known is
understood if only a word of its name may be that part: not the first, which says what it does to memory.
"""

from __future__ import annotations

import re

from triton_mutlint.ttir.asm_steps import HOLE, SHARED, AsmStep, NotUnderstoodError, strip_comments, tokens
from triton_mutlint.ttir.lexer import split_top

_LABELS = re.compile(r"\s*(?:[%A-Za-z_][\w$%]*\s*:(?!:)\s*)+")
_STATEMENT = re.compile(
    r"(?:@!?\s*(?P<predicate>[§%\w$]+)\s+)?"
    rf"(?P<name>[A-Za-z_][\w.:{HOLE}]*)\s*(?P<rest>.*)",
    re.DOTALL,
)
# Declarations and debugging marks: no instruction. Others (`.func`, `.macro`, ..) are not understood.
_DIRECTIVES = {
    "reg", "pragma", "shared", "local", "const", "param", "global", "align",
    "branchtargets",
}  # fmt: skip
_OWN_SPACES = ("shared", "local", "param", "const")  # no parameter points there
# Work on registers, shared memory, barrier objects or tensor memory although they have brackets.
_NEVER_GLOBAL = {
    "mbarrier", "ldmatrix", "stmatrix", "tcgen05", "clusterlaunchcontrol", "createpolicy", "prefetch",
    "prefetchu", "applypriority", "alloca", "stacksave", "stackrestore", "tex", "tld4", "txq", "suq",
    "suld",
}  # fmt: skip
_CALLED = {"vprintf", "__assertfail"}  # of the runtime: they read what their parameters address
_NARROW = re.compile(r"(?:[bsu]|b?f|e\dm\d)(?:8|16|32)(?:x2|x4)?")
_COMPARISONS = {"setp", "set", "isspacep", "testp", "vote", "activemask", "elect"}
_DIRECTED = {"cp", "tensormap", "wmma"}  # other words of these say, too, what they read and what they write
_CONTROL = {
    "bra", "ret", "exit", "trap", "brkpt", "pmevent", "nanosleep", "bar", "barrier", "membar", "fence",
    "griddepcontrol", "setmaxnreg", "wgmma",
}  # fmt: skip
_ARITHMETIC = {
    "abs", "add", "addc", "sub", "subc", "mul", "mul24", "mad", "mad24", "madc", "sad", "div", "rem",
    "neg", "fma", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "min", "max", "popc", "clz",
    "bfind", "fns", "brev", "bfe", "bfi", "bmsk", "szext", "dp4a", "dp2a", "selp", "slct", "and", "or",
    "xor", "not", "cnot", "lop3", "shf", "shl", "shr", "mov", "prmt", "cvt", "cvta", "mapa", "getctarank",
    "match", "redux", "shfl", "copysign", "movmatrix", "mma", "vadd", "vsub", "vabsdiff", "vmin", "vmax",
    "vshl", "vshr", "vmad", "vset", "vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4",
    "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
}  # fmt: skip


def decode_ptx(text: str) -> list[AsmStep]:
    """Every instruction of the text; raises NotUnderstoodError for one whose effect is not known."""
    return [step for part in _statements(strip_comments(text)) if (step := _decode(part)) is not None]


def _statements(text: str) -> list[str]:
    """Statements without the braces of scopes; those of vectors stay."""
    found, current, depth = [], "", 0
    for char in text:
        if depth == 0 and char in "{}" and (not current.strip() or _LABELS.fullmatch(current)):
            current = ""
            continue
        if depth == 0 and char == ";":
            found.append(current.strip())
            current = ""
            continue
        if char in "{[(":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                raise NotUnderstoodError("brackets that do not match")
        current += char
    if depth:
        raise NotUnderstoodError("brackets that do not match")
    return [part for part in [*found, current.strip()] if part]


def _decode(statement: str) -> AsmStep | None:
    labels = _LABELS.match(statement)
    statement = statement[labels.end() :] if labels else statement
    if not statement:
        return None
    if statement[0] == "." and HOLE not in statement:
        name = re.match(r"\.(\w*)", statement)
        if name is not None and name[1] in ("loc", "file"):  # these end with their line
            return _decode(statement.partition("\n")[2].strip())
        if name is None or name[1] not in _DIRECTIVES:
            raise NotUnderstoodError(f"directive {statement.split()[0]}")
        if "=" in statement:
            raise NotUnderstoodError(f"a variable with an initial value: {statement}")
        return None
    if ";" in statement:
        raise NotUnderstoodError(f"a block inside of an instruction: {statement[:60]}")
    match = _STATEMENT.fullmatch(statement)
    if match is None:
        raise NotUnderstoodError(f"not an instruction: {statement[:60]}")
    base, *modifiers = re.split(r"\.", match["name"])
    if HOLE in (statement if base in _DIRECTED else base + match["rest"]):
        raise NotUnderstoodError("a part of the text is not known")
    operands = split_top(match["rest"])
    shown = " ".join(statement.split()).replace("§", "$")
    return _instruction(base, [m.split("::")[0] for m in modifiers], operands, shown)


def _instruction(base: str, modifiers: list[str], operands: list[str], text: str) -> AsmStep:
    addresses = [_address(o) for o in operands if o.startswith("[")]
    if base == "call" and _CALLED.intersection(operands):
        return AsmStep(text, (*tokens(operands[0]), SHARED), (SHARED,), reads=(SHARED,))
    if base == "call":
        raise NotUnderstoodError(f"{text}: a call")
    if base == "multimem" and modifiers:
        base, modifiers = {"ld_reduce": "ld"}.get(modifiers[0], modifiers[0]), modifiers[1:]
    if base in _MEMORY:
        return _MEMORY[base](modifiers, operands, addresses, text)
    if base in _NEVER_GLOBAL:
        values = [o for o in operands if not o.startswith("[")]
        targets = tokens(*values[:1]) if operands and not operands[0].startswith("[") else ()
        shares = base == "stmatrix" or (base == "mbarrier" and not modifiers[0].endswith("_wait"))
        return AsmStep(text, (*targets, SHARED), (*tokens(*values), SHARED), loads=True, shares=shares)
    if base == "fence":
        return AsmStep(text)
    if addresses or "[" in text:
        raise NotUnderstoodError(f"{text}: what {base} does to memory is not known")
    if base in _CONTROL:
        return AsmStep(text, tokens(*operands[:1]), tokens(*operands[1:]))
    if base in _COMPARISONS:
        return AsmStep(text, tokens(*operands[:1]))
    if base in _ARITHMETIC:
        return AsmStep(text, tokens(*operands[:1]), tokens(*operands[1:]))
    raise NotUnderstoodError(f"{text}: {base} is not a known instruction")


def _address(operand: str) -> str:
    """The register part of `[reg+4]` or `[map, {x, y}]`."""
    return split_top(operand.strip("[] "))[0] if operand.strip("[] ") else ""


def _own_space(modifiers: list[str]) -> bool:
    return any(m in _OWN_SPACES for m in modifiers)


def _need(addresses: list[str], count: int, text: str) -> None:
    if len(addresses) < count:
        raise NotUnderstoodError(f"{text}: an address was expected")


def _load(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    _need(addresses, 1, text)
    targets = tokens(operands[0])
    if _own_space(modifiers):
        return AsmStep(text, targets, (SHARED,), loads=True)
    narrow = any(map(_NARROW.fullmatch, modifiers))
    return AsmStep(text, targets, reads=tokens(addresses[0]), loads=True, narrow=narrow)


def _store(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    _need(addresses, 1, text)
    if _own_space(modifiers):
        return AsmStep(text, (SHARED,), tokens(*operands[1:]), shares="shared" in modifiers)
    return AsmStep(text, writes=tokens(addresses[0]), stored=tokens(*operands[1:]))


def _atomic(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    """`atom d, [a], b`; `red [a], b`."""
    _need(addresses, 1, text)
    targets = () if operands[0].startswith("[") else tokens(operands[0])
    rest = tokens(*(o for o in operands if not o.startswith("[")))
    if _own_space(modifiers):
        return AsmStep(text, (*targets, SHARED), (*rest, SHARED), loads=True, shares=True)
    return AsmStep(text, targets, atomics=tokens(addresses[0]), stored=rest, loads=True)


def _copy(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    """`cp.async*`, `cp.reduce.async.bulk*`: the spaces are named in order, target first."""
    waits = {"commit_group", "wait_group", "wait_all", "mbarrier"}
    if not addresses or "prefetch" in modifiers or (modifiers[:1] == ["async"] and waits & set(modifiers[1:3])):
        return AsmStep(text)
    spaces = [m for m in modifiers if m in ("global", "shared")]
    if len(spaces) != 2:
        raise NotUnderstoodError(f"{text}: a copy between spaces that are not named")
    if spaces[0] == "shared":
        sources = tokens(addresses[1]) if len(addresses) > 1 and spaces[1] == "global" else ()
        return AsmStep(text, (SHARED,), reads=sources, loads=True, shares=True)
    if "tensor" in modifiers:
        raise NotUnderstoodError(f"{text}: a store through a tensor map")
    target = tokens(addresses[0])
    if "reduce" in modifiers:
        return AsmStep(text, atomics=target, stored=(SHARED,))
    return AsmStep(text, writes=target, stored=(SHARED,))


def _write_first(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    """`discard`, `tensormap.*`: what stands first is changed."""
    _need(addresses, 1, text)
    if "shared" in modifiers and "global" not in modifiers:
        return AsmStep(text)
    return AsmStep(text, writes=tokens(addresses[0]), stored=tokens(*operands[1:]))


def _matrix(modifiers: list[str], operands: list[str], addresses: list[str], text: str) -> AsmStep:
    """`wmma.load`, `wmma.store`, `wmma.mma`."""
    if modifiers[:1] == ["load"]:
        return _load(modifiers, operands, addresses, text)
    if modifiers[:1] == ["store"]:
        return _store(modifiers, operands, addresses, text)
    return AsmStep(text, tokens(*operands[:1]), tokens(*operands[1:]))


_MEMORY = {
    "ld": _load, "ldu": _load, "st": _store, "atom": _atomic, "red": _atomic, "cp": _copy,
    "discard": _write_first, "tensormap": _write_first, "wmma": _matrix,
}  # fmt: skip
