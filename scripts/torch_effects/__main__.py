"""Write the table of what torch's functions do to their arguments: `python -m scripts.torch_effects`.

Reads the installed torch; `--check` writes nothing and fails where the file lacks what it would write.
"""

from __future__ import annotations

import argparse
import json
import sys

from scripts.torch_effects.generate import generate
from triton_mutlint.host.torch_table import DATA


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    asked = parser.parse_args()
    text = json.dumps(generate(), indent=0, sort_keys=True) + "\n"
    if not asked.check:
        DATA.write_text(text)
        return 0
    if text == DATA.read_text():
        return 0
    sys.stderr.write(f"{DATA} is not what this torch gives\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
