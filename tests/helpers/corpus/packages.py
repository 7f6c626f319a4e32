"""The published packages that the corpus is made of: their pins, and where they are installed.

    CORPUS=all | CORPUS=sglang,vllm     which packages, beside the default ones
    CORPUS_DIR=/somewhere               a folder that holds one folder per package (default: .corpus)

Packages are installed without their dependencies and are never imported, only read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.places import ROOT

FIXTURES = ROOT / "fixtures" / "corpus"
PINS = FIXTURES / "packages.txt"


@dataclass(frozen=True)
class Package:
    """One pinned package; `excluded` are globs of files that are not written for Triton itself."""

    name: str
    version: str
    optional: bool = False
    excluded: tuple[str, ...] = ()
    builds: str = ""  # has no wheel that installs without its build dependencies: how its variables begin

    @property
    def folder(self) -> Path:
        return Path(os.environ.get("CORPUS_DIR") or ROOT / ".corpus") / self.name

    def installed_version(self) -> str | None:
        """The version in `folder`, from its metadata; None when nothing is installed."""
        wanted = re.sub(r"[-_.]+", "_", self.name).lower()
        for metadata in (*self.folder.glob("*.dist-info/METADATA"), *self.folder.glob("*/PKG-INFO")):
            text = metadata.read_text(encoding="utf-8", errors="replace")
            name = re.search(r"^Name: (.+)$", text, re.MULTILINE)
            version = re.search(r"^Version: (.+)$", text, re.MULTILINE)
            if name and version and re.sub(r"[-_.]+", "_", name[1].strip()).lower() == wanted:
                return version[1].strip()
        return None

    def install(self) -> None:
        """Makes `folder` hold the pinned version. Raises `CalledProcessError` with pip's output."""
        if self.installed_version() == self.version:
            return
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--upgrade",
                   "--target", str(self.folder)]
        environment = dict(os.environ)
        if self.builds:  # with the torch of the running environment, and without its CUDA code
            command.append("--no-build-isolation")
            environment.update({f"{self.builds}_SKIP_CUDA_BUILD": "TRUE", f"{self.builds}_FORCE_BUILD": "TRUE"})
        subprocess.run([*command, f"{self.name}=={self.version}"], check=True, env=environment,
                       capture_output=True, text=True)


def packages() -> tuple[Package, ...]:
    """Every pinned package, in the order of `packages.txt`."""
    return tuple(_parsed(PINS.read_text(encoding="utf-8")))


def selected() -> tuple[Package, ...]:
    """The default packages and those that the environment variable CORPUS asks for."""
    asked = os.environ.get("CORPUS", "")
    names = {n.strip() for n in asked.split(",") if n.strip()}
    known = {p.name for p in packages()}
    if names - known - {"all"}:
        raise ValueError(f"CORPUS names {sorted(names - known)}, which {PINS} does not pin")
    return tuple(p for p in packages() if not p.optional or "all" in names or p.name in names)


def _parsed(text: str) -> Iterator[Package]:
    """A requirement a line, `name==version`, followed by words: `optional`, `builds=PREFIX`, `exclude=glob`."""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, _, version = words[0].partition("==")
        options = [w.partition("=") for w in words[1:]]
        unknown = {key for key, _, _ in options} - {"optional", "builds", "exclude"}
        if unknown or not version:
            raise ValueError(f"{PINS}: cannot read {line!r}")
        keys = {key for key, _, _ in options}
        excluded = tuple(value for key, _, value in options if key == "exclude")
        builds = next((value for key, _, value in options if key == "builds"), "")
        yield Package(name, version, "optional" in keys, excluded, builds)
