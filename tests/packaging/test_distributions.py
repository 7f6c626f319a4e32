"""What is in the distributions, and what a package index shows of them."""

from __future__ import annotations

import email
import email.message
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.helpers.places import ROOT
from triton_mutlint.version import REPOSITORY, __version__

PACKAGE = ROOT / "triton_mutlint"


@pytest.fixture(scope="module")
def metadata(distributions: Path) -> email.message.Message:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_source_distribution_holds_the_package_and_no_tests(distributions: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    outside = {n for n in names if not n.startswith(("triton_mutlint/", "triton_mutlint.egg-info/"))}
    assert outside == {"CHANGELOG.md", "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg",
                       "setup.py"}
    assert {n for n in names if n.startswith("triton_mutlint/")} == _files()


def test_the_wheel_holds_the_package_alone(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
    assert names == _files()


def _files() -> set[str]:
    found = (p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {p.relative_to(ROOT).as_posix() for p in found}


def test_every_link_of_the_readme_holds_on_an_index(metadata: email.message.Message) -> None:
    shown = re.sub(r"```.*?```|`[^`\n]*`", "", str(metadata.get_payload()), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)\s]*)\)|\]: *(\S+)|(?:href|src)=\"([^\"]*)\"", shown)
    addresses = [next(filter(None, link)) for link in links if any(link)]
    assert addresses
    assert [a for a in addresses if not a.startswith(("https://", "#"))] == []
    base = f"{REPOSITORY}/blob/v{__version__}/"
    ours = [a.removeprefix(base).partition("#")[0] for a in addresses if a.startswith(REPOSITORY)]
    assert ours
    assert [path for path in ours if not (ROOT / path).exists()] == []


def test_who_made_it_and_where_it_is(metadata: email.message.Message) -> None:
    assert metadata["Author"] == "The triton-mutlint authors"
    urls = dict(value.split(", ") for value in metadata.get_all("Project-URL", []))
    assert urls["Repository"] == REPOSITORY
    assert urls["Changelog"] == f"{REPOSITORY}/blob/v{__version__}/CHANGELOG.md"
    assert set(urls) == {"Repository", "Documentation", "Changelog"}


def test_neither_torch_nor_a_newest_triton_is_asked_for(metadata: email.message.Message) -> None:
    required = [r for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r]
    assert [r for r in required if "torch" in r] == []
    assert [r for r in required if r.startswith("triton")] == ["triton>=3.3"]


def test_snippets_for_pre_commit_name_the_repository() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = [(page.name, url) for page in pages
             for url in re.findall(r"^ *- repo: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)]
    assert named
    assert [(page, url) for page, url in named if url not in (REPOSITORY, "local")] == []
