"""Makes `triton_mutlint/triton_names.json`: which public names which versions of Triton have.

    python -m scripts.triton_names PYTHON...        # one interpreter for each version: .matrix/*/bin/python
    python -m scripts.triton_names --check PYTHON...  # only compares

Names that every version has are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "triton_mutlint" / "triton_names.json"
_ASK = """
import importlib, json, triton
import triton.language as tl
found = set()
modules = ["triton", "triton.language", "triton.language.math", "triton.language.extra.libdevice",
           "triton.language.extra.cuda", "triton.language.extra.hip", "triton.tools.tensor_descriptor"]
def is_public(name):
    return not name.startswith("_") or name.startswith("_experimental")
for name in modules:
    try:
        module = importlib.import_module(name)
    except ImportError:
        continue
    for member in filter(is_public, dir(module)):
        value = getattr(module, member)
        origin = getattr(value, "__module__", None) or getattr(value, "__name__", None) or type(value).__module__
        if str(origin).partition(".")[0] == "triton":
            found.add(name + "." + member)
for name in dir(tl.core):
    value = getattr(tl.core, name)
    if isinstance(value, type) and issubclass(value, getattr(tl.core, "base_value", object)):
        found.update(name.removeprefix("_experimental_") + "." + member for member in filter(is_public, dir(value)))
print(json.dumps([triton.__version__, sorted(found)]))
"""


def names_of(interpreter: str) -> tuple[str, set[str]]:
    """The version of Triton that an interpreter has, and the names in it."""
    asked = subprocess.run([interpreter, "-c", _ASK], capture_output=True, text=True, check=True)  # noqa: S603
    version, found = json.loads(asked.stdout)
    return version, set(found)


def table(interpreters: list[str]) -> dict[str, dict[str, list[str]] | list[str]]:
    """`names`: for each name that some version lacks, the (minor) versions that have it; `versions`: all."""
    names: dict[str, set[str]] = {}
    for interpreter in interpreters:
        version, found = names_of(interpreter)
        names[".".join(version.split(".")[:2])] = found
    versions = sorted(names, key=lambda text: tuple(map(int, text.split("."))))
    everywhere = set.intersection(*names.values())
    return {"versions": versions, "names": {
        name: [v for v in versions if name in names[v]] for name in sorted(set.union(*names.values()) - everywhere)}}


def _text(made: dict[str, dict[str, list[str]] | list[str]]) -> str:
    assert isinstance(made["names"], dict), "it was made so"
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(have)}" for name, have in made["names"].items())
    return f'{{"versions": {json.dumps(made["versions"])}, "names": {{\n{rows}\n}}}}\n'


def main(arguments: list[str]) -> int:
    """0, or 1 where `--check` finds another table."""
    text = _text(table([a for a in arguments if a != "--check"]))
    if "--check" in arguments:
        return int(text != TABLE.read_text(encoding="utf-8"))
    TABLE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
