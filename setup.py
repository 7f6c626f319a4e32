"""What pyproject.toml cannot say: links that hold outside the repository. Everything else is there."""

import re
import runpy
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
VERSION = runpy.run_path(str(ROOT / "triton_mutlint" / "version.py"))
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
RELATIVE = re.compile(r"(?<=\]\()(?![a-z]+:|#)")  # the beginning of a link's address in Markdown


def readme() -> str:
    """README.md with every relative link made absolute, as a package index needs it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = CODE.split(text)  # every other one is code
    parts[::2] = [RELATIVE.sub(VERSION["page"](""), part) for part in parts[::2]]
    return "".join(parts)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    project_urls={
        "Repository": VERSION["REPOSITORY"],
        "Documentation": VERSION["page"]("docs/"),
        "Changelog": VERSION["page"]("CHANGELOG.md"),
    },
)
