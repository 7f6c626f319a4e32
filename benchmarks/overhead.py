"""What the tool adds to Triton's own lowering, over the fixtures.

    python -m benchmarks.overhead [--repeat 8] [--corpus FOLDER] [BOOK ...]
    python -m benchmarks.overhead --cold FOLDER            # one run over a library, without a spec

Prints the CPU time of each stage as a share of what `ASTSource.make_ir` takes by itself for the same kernels: the
least time that each stage took in several runs of one process, after one run that warms imports up. CPU time,
because the ratio of wall times on a machine that does other work as well says little. The book `corpus` holds the
kernels of published packages whose specs are written by hand; it needs the packages, as `make corpus` installs them,
in FOLDER (default: the environment's CORPUS_DIR, else .corpus).
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from benchmarks.clock import BARE, share, stage_seconds
from tests.helpers.casebook import BOOKS, raw, spec_of
from tests.helpers.in_process import run_here
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request

CORPUS = "corpus"
# The spec's name → the package's.
PACKAGES = {"liger": "liger-kernel", "fla": "fla-core", "flag_gems": "flag-gems", "mamba": "mamba-ssm",
            "sglang": "sglang"}
TARGETS = ("cuda:90",)


def requests(book: str, scratch: Path, packages: Path) -> list[Request]:
    """The runs that a book takes."""
    if book == CORPUS:
        return list(_corpus(packages))
    spec = scratch / f"{book}.yaml"
    spec.write_text(yaml.safe_dump(spec_of(book), sort_keys=False), encoding="utf-8")
    files = tuple(sorted({c["file"] for c in raw(book)}))
    return [Request(files, FIXTURES / book, spec=spec, targets=TARGETS)]


def _corpus(packages: Path) -> Iterator[Request]:
    for name, package in PACKAGES.items():
        folder = next((packages / n for n in (package, name) if (packages / n).is_dir()), None)
        if folder is not None:
            spec = FIXTURES / CORPUS / f"{name}.yaml"
            kernels = yaml.safe_load(spec.read_text(encoding="utf-8"))["kernels"]
            yield Request(tuple(kernels), folder, spec=spec, targets=TARGETS)


def measure(runs: Sequence[Request]) -> Counter[str]:
    """CPU seconds by stage of some runs."""
    gc.collect()  # what earlier runs left is not these runs' cost
    with stage_seconds() as seconds:
        for request in runs:
            run_here(request)  # what other processes do is not seen
    return seconds


def least(runs: Sequence[Request], repeat: int) -> Counter[str]:
    """The least CPU seconds that each stage took."""
    measure(runs)
    measured = [measure(runs) for _ in range(repeat)]
    return Counter({stage: min(m[stage] for m in measured) for stage in measured[0]})


def show(name: str, seconds: Counter[str]) -> None:
    alone = seconds[BARE]
    print(f"{name}: make_ir by itself {alone * 1e3:.0f} ms; the whole run takes {share(seconds, lowering=True):.0%} "
          f"of that, and {share(seconds):.0%} without lowering")
    for stage, taken in seconds.most_common():
        if stage != BARE:
            print(f"  {stage:20} {taken / alone:6.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    books = [*(b for b in BOOKS if not b.endswith("amd")), CORPUS]
    parser.add_argument("books", nargs="*", default=books, metavar="BOOK")
    parser.add_argument("--repeat", type=int, default=8)
    corpus = Path(os.environ.get("CORPUS_DIR") or ".corpus")
    parser.add_argument("--corpus", type=Path, default=corpus, metavar="FOLDER")
    parser.add_argument("--cold", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.cold:
        request = Request((".",), options.cold.absolute(), use_spec=False, targets=TARGETS)
        show(options.cold.name, measure([request]))
        return
    together: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for book in options.books:
            runs = requests(book, Path(name), options.corpus.absolute())
            if len(runs) < (len(PACKAGES) if book == CORPUS else 1):
                print(f"{book}: left out, {options.corpus} lacks packages; `make corpus` installs them")
                continue
            seconds = least(runs, options.repeat)
            together += seconds
            show(book, seconds)
    if len(options.books) > 1 and together:
        show("all fixtures together", together)


if __name__ == "__main__":
    main()
