"""The shape of control flow in parsed TTIR: reachable blocks and terminators."""

from __future__ import annotations

from triton_mutlint.ttir.ir import Block, Op, Region


class ControlFlow:
    """Memoises, per region, the blocks that some path from its entry block reaches."""

    def __init__(self) -> None:
        self._reachable: dict[int, tuple[int, ...]] = {}

    def blocks(self, region: Region) -> tuple[int, ...]:
        """Indices of the reachable blocks, ascending (section 3: unreachable blocks are skipped)."""
        found = self._reachable.get(id(region))
        if found is None:
            found = self._reachable[id(region)] = _reach(region)
        return found

    def terminators(self, region: Region) -> list[Op]:
        """The ops that leave the region: the last of each reachable block that branches nowhere."""
        blocks = [region.blocks[i] for i in self.blocks(region)]
        return [b.ops[-1] for b in blocks if b.ops and not b.ops[-1].successors]


def entry_block(region: Region) -> Block | None:
    return region.blocks[0] if region.blocks else None


def _reach(region: Region) -> tuple[int, ...]:
    if len(region.blocks) <= 1:
        return tuple(range(len(region.blocks)))
    seen = {0}
    stack = [0]
    while stack:
        ops = region.blocks[stack.pop()].ops
        for successor in ops[-1].successors if ops else ():
            if successor.block not in seen:
                seen.add(successor.block)
                stack.append(successor.block)
    return tuple(sorted(seen))
