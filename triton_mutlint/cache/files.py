"""The verdicts on one file's kernels, kept until something changes that they depend on.

They depend on the text of every file that took part in loading it: whatever jit function a kernel reached, and by
whatever name, its text stands in one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from triton_mutlint.cache.runs import identity
from triton_mutlint.cache.store import Store
from triton_mutlint.config.request import Request
from triton_mutlint.packing import pack, unpack
from triton_mutlint.process.inputs import Inputs, Noted, current, take_in
from triton_mutlint.process.stamps import digest_of, found_at, still
from triton_mutlint.types import FileResult, SourceFile

_KIND = "files"


@dataclass(frozen=True)
class _Entry:
    """What is kept of one file: `result`, packed, holds while the file, its spec and all else is as it was.

    `shown` says how the other files that took part are named in reports, where the run linted them too.
    """

    text: str
    spec: str
    noted: Noted
    shown: dict[str, str]
    result: str


class FileCache:
    """The files of one run in a store; `spec_of` gives the digest of the spec that applies to a file."""

    def __init__(self, store: Store, request: Request, sources: Sequence[SourceFile],
                 spec_of: Callable[[SourceFile], str]) -> None:
        self._store, self._spec_of = store, spec_of
        self._shown = {str(source.path): source.display for source in sources}
        self._asked = (identity(), str(request.cwd), request.targets, request.max_variants, request.opaque_asm,
                       request.config.stub_modules, request.torch)
        self._still, self._found_at = cache(still), cache(found_at)  # many files depend on the same ones

    def find(self, source: SourceFile) -> Callable[[], FileResult] | None:
        """What gives the result that holds of a file, if one does: there is time for that while others are analysed."""
        entry = self._store.find(_KIND, self._name(source), _Entry)
        if entry is None or (entry.text, entry.spec) != (_digest(source), self._spec_of(source)):
            return None
        noted = entry.noted.now(self._still, self._found_at)
        if noted is None or self._shown_of(noted.files) != entry.shown:
            return None
        take_in(noted)
        packed = entry.result
        return lambda: unpack(packed, FileResult).of(source)

    def keep(self, result: FileResult, noted: Inputs) -> None:
        """Keep what a run gave of a file, having read what is `noted`."""
        inputs, source = current(), result.source
        if inputs is None or inputs.torn or noted.torn or noted.spoiled:
            return
        beside = noted.without(str(source.path))
        self._store.keep(_KIND, self._name(source), _Entry(
            _digest(source), self._spec_of(source), beside, self._shown_of(beside.files), pack(result.detached())))

    def trim(self) -> None:
        """Keep the store within its limit."""
        self._store.trim()

    def _shown_of(self, files: Iterable[str]) -> dict[str, str]:
        return {path: self._shown[path] for path in files if path in self._shown}

    def _name(self, source: SourceFile) -> str:
        what = (self._asked, str(source.path), source.display, sorted(source.kernels))
        return digest_of(repr(what).encode("utf-8", "surrogateescape"))


def _digest(source: SourceFile) -> str:
    return digest_of(source.text.encode("utf-8", "surrogatepass"))
