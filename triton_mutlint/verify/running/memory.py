"""The memory that one run may use, and the values in it that nobody gave.

There is a tensor per pointer, each between guard zones, none aliasing another. Values are made by type and kind, and
are the same for the same seed.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy
import torch

from triton_mutlint.kernel_source.dtypes import FLOATS
from triton_mutlint.lowering.torch_pass import torch_dtypes
from triton_mutlint.types import ScalarType
from triton_mutlint.verify.wire import Difference, RefusedError

DIMENSIONS = {"one": 1, "small": 5, "medium": 32, "large": 96}
_INDICES = 8  # random integers stay below: they tend to be offsets, lengths and labels
_BEGINS = re.compile(r"(^|_)cu_|cu_?seq|indptr|(?<!chunk_)offsets|split_sizes_cum", re.IGNORECASE)
_PAIRS = re.compile(r"chunk_indices", re.IGNORECASE)
_LENGTHS = re.compile(r"seq_?len|lengths?$|(^|_)lens?(_|$)", re.IGNORECASE)


def torch_dtype(element: str) -> torch.dtype | None:
    """torch's type for an element; None where it has none (`fp8e4b15`)."""
    return torch_dtypes().get({"u1": "i1"}.get(element, element))


def element_bytes(element: str) -> int:
    """The size of an element in memory; `i1` takes a byte."""
    return int((torch_dtype(element) or torch.uint8).itemsize)


def scalar_value(kind: ScalarType, size: str, fill: str, seed: int) -> Any:
    """A truth value, a float, or an integer that may be a dimension, a stride or a flag; at its extreme, it is none."""
    if kind.name in ("i1", "u1"):
        return {"zeros": False, "ones": True}.get(fill, bool(seed % 2))
    if kind.name in FLOATS:
        return {"zeros": 0.0, "ones": 1.0, "extreme": 1e30}.get(fill, 0.5 + seed % 4)
    dimension = DIMENSIONS[size] if fill != "extreme" else 0
    return -(-dimension // kind.divisibility) * kind.divisibility


def filled(element: str, count: int, fill: str, seed: int, name: str, dimension: int = 0) -> torch.Tensor:
    """`count` elements for the parameter `name`, as bytes.

    Integers whose name tells what they are (lengths, where sequences begin) are so for a `dimension`.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=6).digest()
    rng = numpy.random.default_rng([seed, int.from_bytes(digest, "big")])
    dtype = torch_dtype(element) or torch.float8_e4m3fn
    values = _told(name, count, dimension) if dimension and fill in ("random", "ones", "ramp") else None
    if values is None or element in FLOATS or dtype == torch.bool:
        values = _values(rng, dtype, count, fill)
    return torch.from_numpy(values).to(dtype).view(torch.uint8)


def given_values(element: str, count: int, given: Any, seed: int, name: str) -> torch.Tensor:
    """The same as a spec gives them: one of the kinds of values, or a list, which is repeated. Raises RefusedError."""
    if isinstance(given, str):
        return filled(element, count, given, seed, name)
    kind = "float64" if element in FLOATS else f"{'u' if element[0] == 'u' else ''}int{max(int(element[1:]), 8)}"
    try:
        listed = numpy.resize(numpy.array(given, kind), count)
    except (ValueError, TypeError, OverflowError) as error:
        raise RefusedError(f"verify.values: {name} cannot hold these values: {error}") from error
    return torch.from_numpy(listed).to(torch_dtype(element) or torch.float8_e4m3fn).view(torch.uint8)


def _told(name: str, count: int, dimension: int) -> Any:
    """What integers of such a name hold where kernels of variable length are launched; None if it tells nothing."""
    if _BEGINS.search(name):
        return numpy.arange(count) * dimension
    if _PAIRS.search(name):
        return numpy.arange(count) // 2 % 2 * (1 - numpy.arange(count) % 2)  # (sequence, 0)
    return numpy.full(count, dimension) if _LENGTHS.search(name) else None


def _values(rng: Any, dtype: torch.dtype, count: int, fill: str) -> Any:
    if fill in ("zeros", "ones"):
        return numpy.full(count, int(fill == "ones"))
    if dtype == torch.bool:
        return rng.integers(0, 2, count)
    if fill == "ramp":
        return numpy.arange(count) % 256
    if fill == "extreme":
        return rng.choice(_extremes(dtype), count)
    return rng.standard_normal(count) if dtype.is_floating_point else rng.integers(0, _INDICES, count)


def _extremes(dtype: torch.dtype) -> list[Any]:
    if dtype.is_floating_point:
        info = torch.finfo(dtype)
        return [info.max, info.min, numpy.inf, -numpy.inf, numpy.nan, 0.0, info.tiny, 1.0]
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return [least, most if least else -1, 0, 1]


GUARD = {"cpu": 4096, "cuda": 16 << 20}  # bytes on either side
NEAR = 1 << 20  # bytes within which a wrong address is still said to belong to a tensor
ALIGNMENT = 256  # bytes, as torch's allocators give
_PATTERN = 0xA5
SLOT = 1 << 35  # bytes; a tensor stands in the middle: an offset of 32 bits, times 8 bytes, stays within
SLOTS = 192
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)


class Arena:
    """A large range of addresses, reserved once in a process; only what is used takes memory.

    Tensors are so far apart in it that no wrong 32-bit offset leads from one to another.
    """

    def __init__(self) -> None:
        """Raises OSError where so many addresses cannot be had."""
        self._bytes = mmap.mmap(-1, SLOT * SLOTS, flags=_PRIVATE)
        self._used: list[tuple[int, int]] = []

    def allocate(self, size: int) -> torch.Tensor:
        """`size` zeroed bytes, far from all others. Raises MemoryError when there are no more places."""
        if len(self._used) == SLOTS:
            raise MemoryError(f"more than {SLOTS} tensors")
        start = len(self._used) * SLOT + SLOT // 2
        self._used.append((start, size))
        return torch.from_numpy(numpy.frombuffer(self._bytes, numpy.uint8, size, start))

    def clear(self) -> None:
        """Give back what was allocated: tensors on it must not be used any more."""
        for start, size in self._used:
            self._bytes.madvise(mmap.MADV_DONTNEED, start, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
        self._used.clear()


@dataclass
class Allocation:
    """The memory of one parameter, or what its addresses lead to (`indirect`), as it was before the run."""

    label: str
    element: str
    raw: torch.Tensor  # bytes, with the guard zones
    indirect: bool = False
    before: torch.Tensor = field(init=False)
    outside: int = 0  # writes beside it that the interpreter refused
    is_touched: bool = False  # by a store, whatever it put there

    def __post_init__(self) -> None:
        self.before = self.raw.clone()

    @property
    def guard(self) -> int:
        """The bytes of a guard zone."""
        return GUARD[self.raw.device.type]

    @property
    def size(self) -> int:
        """The bytes between the guard zones."""
        return len(self.raw) - 2 * self.guard

    @property
    def address(self) -> int:
        return int(self.raw.data_ptr()) + self.guard

    @property
    def inner(self) -> torch.Tensor:
        return self.raw[self.guard : self.guard + self.size]

    @property
    def tensor(self) -> torch.Tensor:
        """The memory as a flat tensor of its elements; of bytes where torch has no such elements."""
        dtype = torch_dtype(self.element)
        return self.inner.view(dtype) if dtype is not None else self.inner

    def fill(self, data: torch.Tensor) -> None:
        """Begin with these bytes."""
        self.inner.copy_(data)
        self.before.copy_(self.raw)
        self.is_touched = False

    def changed(self) -> bool:
        """Whether a bit between the guard zones differs from before."""
        return not torch.equal(self.inner, self.before[self.guard : self.guard + self.size])

    def spilled(self) -> int:
        """Bytes of the guard zones that were overwritten."""
        low = self.raw[: self.guard] != self.before[: self.guard]
        high = self.raw[self.guard + self.size :] != self.before[self.guard + self.size :]
        return int(low.sum()) + int(high.sum())

    def restore(self) -> None:
        self.raw.copy_(self.before)


class RunMemory:
    """All regions of a run; the interpreter asks it which addresses are theirs."""

    def __init__(self, device: str, arena: Arena | None = None) -> None:
        """On the CPU an `arena` keeps regions apart; it is cleared first."""
        self.device = device
        self._arena = arena
        if arena is not None:
            arena.clear()
        self.regions: list[Allocation] = []
        self.read_outside = 0
        self.stray = 0  # writes to addresses that are next to no region
        self.is_open = False  # other memory may be used too, and nothing is refused: stores are noted
        self.is_launching = False  # the interpreter is at work, which copies every argument and back
        self._index()

    def add(self, label: str, element: str, size: int, *, indirect: bool = False) -> Allocation:
        """A region of `size` bytes; raises RuntimeError or MemoryError where there is no room."""
        raw = self._allocate(size + 2 * GUARD[self.device])
        raw.fill_(_PATTERN)
        region = Allocation(label, element, raw, indirect)
        self.regions.append(region)
        self._index()
        return region

    def clone(self, region: Allocation) -> Allocation:
        """The same in another place."""
        other = self.add(region.label, region.element, region.size)
        other.fill(region.inner)
        return other

    def _allocate(self, size: int) -> torch.Tensor:
        if self._arena is not None:
            return self._arena.allocate(size)
        whole = torch.empty(size + ALIGNMENT, dtype=torch.uint8, device=self.device)
        skip = -whole.data_ptr() % ALIGNMENT
        return whole[skip : skip + size]

    def _index(self) -> None:
        self._owners = sorted(self.regions, key=lambda region: region.address)
        self._starts = numpy.array([r.address for r in self._owners], numpy.uint64)
        self._ends = numpy.array([r.address + r.size for r in self._owners], numpy.uint64)

    def __iter__(self) -> Iterator[Allocation]:
        return iter(self.regions)

    def owner(self, tensor: torch.Tensor) -> Allocation | None:
        """The region whose storage a tensor has."""
        place = tensor.untyped_storage().data_ptr()
        return next((r for r in self.regions if r.raw.untyped_storage().data_ptr() == place), None)

    def inside(self, addresses: numpy.ndarray[Any, Any], size: int) -> numpy.ndarray[Any, Any]:
        """Which accesses of `size` bytes lie within a region."""
        flat = addresses.astype(numpy.uint64, copy=False)
        found = numpy.searchsorted(self._starts, flat, "right")
        place = numpy.maximum(found, 1) - 1
        inside: numpy.ndarray[Any, Any] = (found > 0) & (flat <= self._ends[place] - numpy.uint64(size))
        return inside

    def note(self, addresses: numpy.ndarray[Any, Any]) -> None:
        """Remember which regions are stored to."""
        for region in self.regions:
            if not region.is_touched:
                low, high = region.address, region.address + region.size
                region.is_touched = bool(((addresses >= low) & (addresses < high)).any())

    def beside(self, address: int, count: int) -> None:
        """Count refused writes for the region that an address is next to, if it is next to any."""
        gaps = [max(r.address - address, address - r.address - r.size) for r in self._owners]
        if gaps and min(gaps) < NEAR:
            self._owners[gaps.index(min(gaps))].outside += count
        else:
            self.stray += count


def difference(name: str, one: torch.Tensor, other: torch.Tensor, atol: float, rtol: float) -> Difference | None:
    """How two states of a tensor differ, beyond the tolerance; None if they do not."""
    if torch.equal(one.view(torch.uint8), other.view(torch.uint8)):
        return None
    a, b = (t.view(torch.uint8 if t.dtype == torch.bool else t.dtype).to(torch.float64) for t in (one, other))
    off = ~torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    count = int(off.sum())
    if not count:
        return None
    gap = torch.where(off, torch.nan_to_num((a - b).abs(), nan=float("inf")), 0.0)
    index = int(gap.argmax())
    return Difference(name, float(gap[index]), index, count)
