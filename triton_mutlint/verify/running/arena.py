"""Memory for tensors under the interpreter: so far apart that no wrong 32-bit offset leads from one to another."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy
import torch

SLOT = 1 << 35  # bytes; a tensor stands in the middle: an offset of 32 bits, times 8 bytes, stays within
SLOTS = 192
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
_FAILED = ctypes.c_void_p(-1).value


class Arena:
    """A large range of addresses, reserved once in a process; only what is used takes memory."""

    def __init__(self) -> None:
        """Raises MemoryError where so many addresses cannot be had."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        start = self._libc.mmap(None, SLOT * SLOTS, mmap.PROT_READ | mmap.PROT_WRITE, _PRIVATE, -1, 0)
        if start is None or start == _FAILED:
            raise MemoryError("no room for addresses")
        self._start = int(start)
        self._used: list[tuple[int, int]] = []

    def allocate(self, size: int) -> torch.Tensor:
        """`size` zeroed bytes, far from all others. Raises MemoryError when there are no more places."""
        if len(self._used) == SLOTS:
            raise MemoryError(f"more than {SLOTS} tensors")
        address = self._start + len(self._used) * SLOT + SLOT // 2
        self._used.append((address, size))
        held: Any = (ctypes.c_uint8 * size).from_address(address)
        return torch.from_numpy(numpy.ctypeslib.as_array(held))

    def clear(self) -> None:
        """Give back what was allocated: tensors on it must not be used any more."""
        for address, size in self._used:
            self._libc.madvise(address, size, mmap.MADV_DONTNEED)
        self._used.clear()
