"""One line for each kernel and op, by file: what the text report says of several files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rich.text import Text

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.report.terminal.kernel_text import failure_words, written_words
from triton_mutlint.report.terminal.op_text import op_words
from triton_mutlint.report.terminal.style import DIM, MUTATION, PLACE, STRONG, Lines, cells, clean, flow, words
from triton_mutlint.types import KernelReport, Location, Mutation, OpReport, Report, Status

_GUTTER = 6  # digits of a line number, right-aligned
_NAME_LIMIT = 32  # cells: what stands after a longer name is not aligned with the rest

_LIMITS = (4, 3, 2, 1)  # names in each list, where all of them take more lines

_Row = tuple[Location, Text, Callable[[int], list[Text]]]  # where it is, its name, and what it does


def overview(report: Report, options: RenderOptions) -> Iterator[Lines]:
    """A block for each file that holds kernels or ops."""
    rows = [*map(_kernel, report.kernels), *map(_op, report.ops)]
    by_file: dict[str, list[_Row]] = {}
    for row in sorted(rows, key=lambda row: (row[0].file, row[0].line, row[1].plain)):
        by_file.setdefault(row[0].file, []).append(row)
    for file, found in by_file.items():
        fitting = [cells(name.plain) for _, name, _ in found if cells(name.plain) <= _NAME_LIMIT]
        width = max(fitting, default=0)
        yield [Text(clean(file), PLACE), *(line for row in found for line in _lines(row, width, options.width))]


def _lines(row: _Row, name_width: int, width: int) -> Lines:
    location, name, told = row
    padding = " " * max(name_width - cells(name.plain), 0)
    head = Text.assemble((f"{location.line:>{_GUTTER}}  ", DIM), name, f"{padding}  ")
    whole, *shorter = (flow(told(limit), width, head, _GUTTER + 4) for limit in (0, *_LIMITS))
    return whole if len(whole) == 1 else min((whole, *shorter), key=len)


def _kernel(kernel: KernelReport) -> _Row:
    def told(limit: int) -> list[Text]:
        if kernel.status is Status.FAILED:
            return failure_words(kernel)
        if kernel.analyzed_variants == kernel.total_variants:
            return written_words(kernel, limit)
        shown = f"· {kernel.analyzed_variants} of {kernel.total_variants} variants"
        return [*written_words(kernel, limit), *words(shown, MUTATION[Mutation.UNKNOWN])]

    return kernel.location, Text(clean(kernel.name), STRONG), told


def _op(op: OpReport) -> _Row:
    return op.location, Text.assemble(("op ", DIM), (clean(op.name), STRONG)), partial(op_words, op)
