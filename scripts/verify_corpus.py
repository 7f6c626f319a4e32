"""Runs `verify` over the fixtures and over kernels of published packages, and counts what came of it.

    python -m scripts.verify_corpus --out build/verify.json                   # under the interpreter
    python -m scripts.verify_corpus --out build/verify.json --device cuda --jobs 12
    python -m scripts.verify_corpus --collect .corpus-sources                 # copies only the sources it needs

Writes FILE (JSON, one report per set) and FILE with the suffix .md (tables). `--corpus` is the folder with one
folder per package, as `make corpus` makes it or `--collect` copies it; sets whose package is not there are left
out. Ends with 1 if anything was written that was not predicted.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.helpers.casebook import raw, spec_of
from tests.helpers.places import FIXTURES
from triton_mutlint.config.request import Request
from triton_mutlint.source.discover import discover
from triton_mutlint.source.load import load
from triton_mutlint.verify import formats
from triton_mutlint.verify.model import Outcome, VerifyReport
from triton_mutlint.verify.verifying import verify
from triton_mutlint.verify.wire import Settings

BOOKS = ("cases", "tutorials", "hard")
# Files whose kernels are run as inference guesses them, by folder of the package and globs.
PACKAGES = {
    ("liger-kernel", "liger"): ("liger_kernel/ops/*.py",),
    ("fla-core", "fla"): ("fla/modules/*.py", "fla/ops/utils/*.py", "fla/ops/common/*.py",
                          "fla/ops/generalized_delta_rule/*/*.py"),
    ("flag-gems", "flag_gems"): ("flag_gems/ops/[a-e]*.py",),
    ("mamba-ssm", "mamba"): ("mamba_ssm/ops/triton/*.py",),
}
SPEC_PACKAGES = {"liger-kernel": "liger", "fla-core": "fla", "flag-gems": "flag_gems", "mamba-ssm": "mamba",
                 "sglang": "sglang"}


@dataclass(frozen=True)
class Set:
    """One group of kernels: what `verify` is asked, from where."""

    name: str
    cwd: Path
    arguments: tuple[str, ...]
    spec: Path | None = None


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        sets = [s for s in _sets(options.corpus, Path(folder)) if not options.sets or s.name in options.sets]
        if options.collect:
            return _collect(sets, options.corpus, options.collect)
        return _run(sets, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("verify.json"))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--corpus", type=Path, default=Path(".corpus"))
    parser.add_argument("--collect", type=Path)
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--timeout", type=float, help="seconds for one run: 5, or 20 on a GPU, which compiles first")
    parser.add_argument("--limit", type=float, default=450.0, help="seconds after which no further set begins")
    return parser.parse_args()


def _sets(corpus: Path, folder: Path) -> Iterator[Set]:
    yield Set("quickstart", FIXTURES / "quickstart", ("kernels.py",))
    for book in BOOKS:
        spec = folder / f"{book}.yaml"
        spec.write_text(yaml.safe_dump(_with_values(book), sort_keys=False), encoding="utf-8")
        yield Set(book, FIXTURES / book, tuple(sorted({c["file"] for c in raw(book)})), spec)
    for package, name in SPEC_PACKAGES.items():
        home = _home(corpus, package, name)
        spec = FIXTURES / "corpus" / f"{name}.yaml"
        if home is not None:
            kernels = tuple(yaml.safe_load(spec.read_text(encoding="utf-8"))["kernels"])
            yield Set(f"{package} (spec)", home, kernels, spec)
    for (package, name), globs in PACKAGES.items():
        home = _home(corpus, package, name)
        if home is not None:
            files = sorted({p.relative_to(home).as_posix() for glob in globs for p in home.glob(glob)})
            yield Set(package, home, tuple(files))


def _home(corpus: Path, package: str, name: str) -> Path | None:
    return next((corpus.resolve() / n for n in (package, name) if (corpus / n).is_dir()), None)


def _with_values(book: str) -> dict[str, Any]:
    """The book's spec, with the values that its cases were made for among others."""
    spec = spec_of(book)
    for case in raw(book):
        values = {a["name"]: [a["value"], 1, 0, 2, 40, 3] for a in case["args"]
                  if a["kind"] == "scalar" and type(a.get("value")) is int and a["value"] and a["type"] != "i64"}
        if values:
            spec["kernels"][f"{case['file']}::{case['kernel']}"]["verify"] = {"values": values}
    return spec


def _collect(sets: list[Set], corpus: Path, target: Path) -> int:
    """Copy the sources that take part, for a machine that cannot install the packages."""
    count = 0
    for one in sets:
        if not one.cwd.is_relative_to(corpus.resolve()):
            continue
        for source in discover(one.arguments, one.cwd)[0]:
            for path in {source.path, *load(source).sources}:
                if path.is_file() and path.is_relative_to(corpus.resolve()):
                    to = target / path.relative_to(corpus.resolve())
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, to)
                    count += 1
    print(f"{count} files")  # noqa: T201 - a script's result
    return 0


def _run(sets: list[Set], options: argparse.Namespace) -> int:
    begun = time.monotonic()
    done: dict[str, Any] = {}
    missed = 0
    timeout = options.timeout or (20.0 if options.device == "cuda" else 5.0)
    settings = Settings(options.device, options.runs, timeout, jobs=options.jobs)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for one in sets:
        if time.monotonic() - begun > options.limit:
            done[one.name] = {"left_out": "out of time"}
            continue
        started = time.monotonic()
        use_spec = one.spec is not None or one.name == "quickstart"
        request = Request(one.arguments, one.cwd, spec=one.spec, use_spec=use_spec)
        report = verify(request, settings, options.out.parent / "reproducers", lambda *told: None)
        missed += sum(kernel.outcome is Outcome.FAILED for kernel in report.kernels)
        done[one.name] = {**formats.as_document(report), "reasons": dict(_reasons(report).most_common()),
                          "seconds": round(time.monotonic() - started, 1)}
        options.out.write_text(json.dumps(done, indent=1), encoding="utf-8")
        options.out.with_suffix(".md").write_text(_tables(done), encoding="utf-8")
        print(one.name, formats.summary(report), f"{done[one.name]['seconds']} s", flush=True)  # noqa: T201
    return int(missed > 0)


def _reasons(report: VerifyReport) -> Counter[str]:
    """Why kernels did not run, each counted by its first reason."""
    reasons: Counter[str] = Counter()
    for kernel in report.kernels:
        if kernel.outcome is Outcome.NO_VERDICT:
            reasons["could not be analysed"] += 1
        elif kernel.outcome is Outcome.NOT_RUN:
            told = [message for status, message, _ in kernel.problems if status != "skipped"]
            reasons[_short(kernel.refused or (told[0] if told else "nothing was run"))] += 1
    return reasons


def _short(message: str) -> str:
    return re.sub(r"\b0x[0-9a-f]+|\b\d{3,}\b", "N", message.splitlines()[0])[:120]


def _tables(done: dict[str, Any]) -> str:
    columns = ("kernels", "ran", "failed", "not_run", "no_verdict", "confirmed", "unconfirmed", "missed")
    rows = [f"| {name} | {' | '.join(str(told['summary'][c]) for c in columns)} | {told['seconds']} |"
            for name, told in done.items() if "summary" in told]
    totals = [sum(told["summary"][c] for told in done.values() if "summary" in told) for c in columns]
    reasons: Counter[str] = Counter()
    for told in done.values():
        reasons.update(told.get("reasons", {}))
    head = f"| set | {' | '.join(c.replace('_', ' ') for c in columns)} | s |\n|{'---|' * (len(columns) + 2)}"
    total = f"| all | {' | '.join(map(str, totals))} | |"
    lines = [f"| {count} | {reason} |" for reason, count in reasons.most_common()]
    return "\n".join([head, *rows, total, "", "| kernels not run | why |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
