"""`python -m fuzz.text`: text that is nearly TTIR; the parser gives a module or a ParseError with a line, in time.

The text is that of lowered kernels (or of files with TTIR), cut, repeated, spliced and sprinkled with tokens, or
none of it at all. What can still be parsed is analysed: that may fail only as the pipeline expects.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triton_mutlint.analysis import VariantEffects, analyze_module
from triton_mutlint.analysis.effects import Entry
from triton_mutlint.config.request import Request
from triton_mutlint.run import kernel as pipeline
from triton_mutlint.run.kernel import Tools
from triton_mutlint.run.lint import Run
from triton_mutlint.run.run import compiling, sources_of
from triton_mutlint.ttir.ir import Module, ParseError
from triton_mutlint.ttir.parser import parse
from triton_mutlint.types import ArgOwner, ArgRole, Frame, Location, Lowered

SECONDS = 5.0  # for one text, on a busy machine
TOKENS = ("{", "}", "(", ")", "[", "]", "<", ">", '"', "\\", "%", "^bb1", "#loc", "@", ":", ",", " = ", " -> ", " : ",
          "loc(", "%0", "%x#1", "%0:2", "scf.for ", "scf.yield", "tt.call @f", "tt.func ", "cf.br ^bb1", "} do {",
          "} else {", "case 1 {", "module {", "}) : ", "<{", "}>", "dense<", "-1", "\n", "\t", "\0", "é", "i1", "index",
          "tensor<", "!tt.ptr<", "99999999999999999999")  # fmt: skip
FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@dataclass(frozen=True)
class Failure:
    """A text that did what it must not, and what that was."""

    text: str
    message: str


class _Places:
    def display(self, file: str) -> str:
        return file

    def location(self, entry: Entry | None, op: str) -> Location:
        return Location(*entry) if entry else Location("", 1, 1)

    def trace(self, entries: tuple[Entry, ...], op: str) -> tuple[Frame, ...]:
        return ()


def mutated(rng: random.Random, texts: Sequence[str]) -> str:
    """One of the texts with a few things wrong, or, now and then, nothing but tokens."""
    if rng.random() < 0.1:
        return " ".join(rng.choice(TOKENS) for _ in range(rng.randrange(60)))
    text = rng.choice(texts)
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        kind = rng.randrange(7)
        if kind == 0:
            del lines[at : at + rng.randint(1, 3)]
        elif kind == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif kind == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            lines[at] = rng.choice(rng.choice(texts).split("\n"))
        else:
            lines[at] = _edited(rng, lines[at])
        text = "\n".join(lines)
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.1 else text


def _edited(rng: random.Random, line: str) -> str:
    start = rng.randrange(len(line) + 1)
    end = min(len(line), start + rng.randrange(12))
    return line[:start] + rng.choice((rng.choice(TOKENS), "", line[start:end] * 2)) + line[end:]


def failure_of(text: str) -> Failure | None:
    """What is wrong with how a text is taken, if anything."""
    started = time.process_time()
    try:
        module = parse(text)
    except ParseError as error:
        if not 1 <= error.line <= text.count("\n") + 1:
            return Failure(text, f"a ParseError in line {error.line} of {text.count(chr(10)) + 1}")
        module = None
    except BaseException as error:  # anything else is what is looked for
        return Failure(text, f"parse: {type(error).__name__}: {error}")
    try:
        if module is not None:
            _analyze(module)
    except (LookupError, ValueError, RecursionError):
        pass  # what the pipeline takes for a limit of the analysis
    except BaseException as error:  # as above
        return Failure(text, f"analyze: {type(error).__name__}: {error}")
    took = time.process_time() - started
    return Failure(text, f"it took {took:.1f} s") if took > SECONDS else None


def _analyze(module: Module) -> None:
    entry = module.entry()
    owners = [ArgOwner(f"a{i}", ArgRole.ADDRESS if "ptr" in t or "desc" in t else ArgRole.SCALAR)
              for i, t in enumerate(entry.types[: entry.n_args])]  # fmt: skip
    analyze_module(module, owners, "cuda", _Places())


def lowered_texts(paths: Sequence[Path]) -> list[str]:
    """The TTIR of every kernel in these files."""
    texts: list[str] = []
    original = pipeline.analyze_text

    def note(lowered: Lowered, tools: Tools) -> VariantEffects:
        texts.append(lowered.text)
        return original(lowered, tools)

    setattr(pipeline, "analyze_text", note)  # noqa: B010  # mypy takes a function for a constant
    try:
        request = Request(tuple(map(str, paths)), FIXTURES, use_spec=False)
        with compiling():
            Run(request, lambda done, total, label: None).files(sources_of(request)[0])
    finally:
        setattr(pipeline, "analyze_text", original)  # noqa: B010
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.text", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="stop after this time (60)")
    parser.add_argument("--seed", default="1", help="of the whole run (1)")
    options = parser.parse_args()
    texts = lowered_texts(sorted((FIXTURES / "hard" / "kernels").glob("*.py")))
    rng = random.Random(options.seed)  # noqa: S311  # reproducible, not secret
    end, count, failures = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < end:
        found = failure_of(mutated(rng, texts))
        count += 1
        if found is not None:
            failures += 1
            sys.stdout.write(f"{found.message}\n{found.text}\n{'-' * 79}\n")
    sys.stdout.write(f"seed {options.seed}: {count} texts from {len(texts)} modules, {failures} failures\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
