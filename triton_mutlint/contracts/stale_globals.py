"""Which `globals:` of a spec no file can ask for."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from triton_mutlint.contracts.project_files import MAX_FILES, python_files, text_of
from triton_mutlint.kernel_source.dtypes import nearest
from triton_mutlint.model import Location, SourceFile
from triton_mutlint.signature.spec import Spec

_WORD = re.compile(r"\w+")
_BINDING = re.compile(
    r"^[ \t]*(?:from[ \t]+\S+[ \t]+import[ \t]+(.*)|import[ \t]+(.*)|(\w+)[ \t]*(?::[^=\n]*)?=(?!=))", re.MULTILINE
)


def stale_globals(spec: Spec, linted: Sequence[SourceFile], loaded: Collection[Path],
                  root: Path) -> Iterator[tuple[str, Location]]:
    """(message, place) of every name under `globals` that no file mentions.

    Whatever asks for `settings.LANES` holds the word `LANES`: a name is stale where that is in no linted file, none
    that was `loaded` for them, and none under `root`. Where linted files stand outside of `root`, none is.
    """
    root = Path(os.path.abspath(root))  # noqa: PTH100 - symlinks stay, as in the paths of sources
    if not spec.global_specs or any(not source.path.is_relative_to(root) for source in linted):
        return
    left = {given.name.rpartition(".")[2] for given in spec.global_specs}
    done = {source.path for source in linted}
    texts = chain((source.text for source in linted),
                  (text_of(path) for path in loaded if path not in done))
    for text in texts:
        left -= {word for word in left if _mentions(text, word)}
    for count, path in enumerate(python_files(root) if left else ()):
        if count >= MAX_FILES or not left:
            return
        if path not in done:
            text = text_of(path)
            left -= {word for word in left if _mentions(text, word)}
    for given in spec.global_specs:
        prefix, dot, word = given.name.rpartition(".")
        if word in left:
            near = nearest(word, _bound(linted))
            hint = f"; did you mean `{prefix}{dot}{near}`?" if near else ""
            yield f"globals.{given.name}: no file asks for `{given.name}`{hint}", given.location


def _mentions(text: str, word: str) -> bool:
    return word in text and re.search(rf"\b{re.escape(word)}\b", text) is not None


def _bound(linted: Sequence[SourceFile]) -> Iterator[str]:
    """Names that the linted files import or assign."""
    for source in linted:
        for match in _BINDING.finditer(source.text):
            yield from _WORD.findall(match[1] or match[2] or match[3])
