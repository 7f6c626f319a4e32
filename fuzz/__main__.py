"""`python -m fuzz`: differential fuzzing of the analysis, for a while or over a number of kernels."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import yaml

from fuzz.batch import MISSED, OVER, Fault, Tally, reduced, run_batch
from fuzz.emit import module
from fuzz.judge import TYPES
from fuzz.truth import truth_of


def main() -> int:
    options = _options()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.seconds
    tally = Tally()
    batch = options.first
    while time.monotonic() < end and tally.kernels < options.kernels:
        seed = f"{options.seed}:{batch}"
        with_spec = batch % 5 != 4 if options.spec == "mixed" else options.spec == "always"
        started = time.monotonic()
        found = run_batch(seed, options.batch, folder, with_spec=with_spec, runs=options.runs)
        tally.add(found)
        _say(f"batch {seed}: {found.kernels} kernels in {time.monotonic() - started:.1f} s, "
             + (", ".join(f"{n} {k}" for k, n in Counter(f.kind for f in found.faults).items()) or "no fault"))
        for fault in found.faults:
            if fault.kind != OVER or options.over:
                _say(f"  {fault.kind} {fault.seed} {','.join(fault.parameters)}"
                     f"{' (inferred)' if fault.inferred else ''}: {fault.message[:300]}")
        batch += 1
    for line in tally.lines():
        _say(line)
    shown = [f for f in tally.faults if f.kind == MISSED] + [f for f in tally.faults if f.kind == OVER]
    for fault in shown[: options.shrink]:
        _say(_shrunk(fault, folder))
    return 1 if any(f.kind == MISSED for f in tally.faults) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="stop after this time (300)")
    parser.add_argument("--kernels", type=int, default=1_000_000, help="stop after this many kernels")
    parser.add_argument("--seed", default="1", help="of the whole run; printed with each batch (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first batch (0)")
    parser.add_argument("--batch", type=int, default=100, help="kernels per file (100)")
    parser.add_argument("--spec", choices=("mixed", "always", "never"), default="mixed",
                        help="exact types: in four batches of five, always, or never (mixed)")
    parser.add_argument("--runs", type=int, default=4, help="launches per kernel, or one per choice (4)")
    parser.add_argument("--shrink", type=int, default=5, help="faults to shrink at the end (5)")
    parser.add_argument("--over", action="store_true", help="name over-approximations too")
    parser.add_argument("--keep", type=Path, help="folder for the files, to be kept")
    return parser.parse_args()


def _shrunk(fault: Fault, folder: Path) -> str:
    """A fault's smallest program, as a fixture and its truth."""
    program = reduced(fault, folder / "shrunk.py")
    truth = truth_of(program)
    arguments = {n: TYPES[k] for n, k in zip(program.kernel.parameters, program.kernel.kinds, strict=True)}
    entry = {"truth": sorted(truth.written), "truth_indirect": sorted(truth.indirect), "args": arguments}
    head = f"\n# {fault.kind} {fault.seed} {','.join(fault.parameters)}{' (inferred)' if fault.inferred else ''}\n"
    return head + module([("kernel", program)]) + "\n# " + yaml.safe_dump(entry, default_flow_style=None)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
