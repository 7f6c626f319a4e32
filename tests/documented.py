"""Pages whose console blocks are real: each command is run again, and the page is written anew with what it printed.

A page takes part from a line `<!-- run in FOLDER -->` on: FOLDER is one of the repository, or `a new folder`, in which
blocks of Python, YAML and TOML that begin with a comment naming a file (`# src/kernels.py`) write that file. Run are
`triton-mutlint`, `cat` and `echo $?`; other commands, and what stands below them, are left as they are.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from triton_mutlint.cli.boundary import run
from triton_mutlint.cli.sections import COMMANDS

ROOT = Path(__file__).parents[1]
NEW = "a new folder"
_PLACE = re.compile(r"<!-- run in (.+) -->\n")
_PART = re.compile(r"```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r"# ([\w./-]+\.(?:py|yaml|toml))\n")
_NEED_A_TARGET = {"check", "init", "snapshot"}
