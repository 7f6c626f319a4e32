"""Write the tables of what torch's functions do and of its schemas: `python -m scripts.torch_effects`.

Reads the installed torch; `--check` writes nothing and fails where a file lacks what it would write.
"""

from __future__ import annotations

import argparse
import json
import sys

from scripts.torch_effects.aten import schemas
from scripts.torch_effects.generate import generate
from triton_mutlint.host.torch.known_schemas import DATA as SCHEMAS
from triton_mutlint.host.torch.table import DATA


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    asked = parser.parse_args()
    stale = False
    for path, made in ((DATA, generate()), (SCHEMAS, schemas())):
        text = json.dumps(made, indent=0, sort_keys=True) + "\n"
        if not asked.check:
            path.write_text(text)
        elif text != path.read_text():
            sys.stderr.write(f"{path} is not what this torch gives\n")
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
