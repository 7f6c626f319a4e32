"""The rooms of the package: what may import what, how large they may grow, and what tests may know of them.

CONTRIBUTING.md draws the map.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

PACKAGE = ROOT / "triton_mutlint"
# From the ground up: a room imports those before it.
ROOMS = ("ground", "types", "process", "config", "ttir", "source", "kernel_source", "spec", "lowering", "signature",
         "analysis", "compiled", "host", "contracts", "rules", "cache", "run", "fixes", "report", "recording", "record",
         "verify", "cli", "top")
GROUND = ("basics", "packing", "version", "triton_names")  # modules beside the rooms that all of them may use
APART = ("standing_in",)  # what stands in for torch's helpers: it is read, never imported
MOST_LINES, MOST_FILES = 300, 20


@lru_cache(maxsize=1)
def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] not in APART:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """The modules of the package that a file imports when it runs, inside functions too; types alone are no import."""
    pending: list[ast.AST] = [tree_of(path)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending.extend(node.orelse)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if (name := full if full in modules() else str(node.module)) in modules():
                    yield name
        else:
            pending.extend(ast.iter_child_nodes(node))


@lru_cache(maxsize=1)
def graph() -> dict[str, frozenset[str]]:
    return {name: frozenset(imports(path)) - {name} for name, path in modules().items()}


def room(module: str) -> str:
    inner = module.split(".")[1:]
    if inner and inner[0] in GROUND:
        return "ground"
    return inner[0] if inner and (PACKAGE / inner[0]).is_dir() else "top"


def test_every_folder_is_a_room_of_the_map() -> None:
    assert {room(name) for name in modules()} == set(ROOMS)


def test_no_room_imports_one_above_it() -> None:
    upwards = [f"{name} imports {other}" for name, others in graph().items() for other in sorted(others)
               if ROOMS.index(room(other)) > ROOMS.index(room(name))]
    assert upwards == []


def circles(edges: dict[str, frozenset[str]]) -> list[str]:
    """The modules that lead back to themselves."""
    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = list(edges[start])
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(edges.get(name, ()))
        return seen

    return sorted(name for name in edges if name in reached(name))


def test_no_module_leads_back_to_itself() -> None:
    assert circles(graph()) == []


@pytest.mark.parametrize("edges", [{"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("a")}])
def test_a_circle_would_be_found(edges: dict[str, frozenset[str]]) -> None:
    assert circles({**edges, "d": frozenset("a")}) == ["a", "b", "c"]


def test_no_file_and_no_folder_is_too_large() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
    files = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in modules().values())
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


def test_no_class_has_the_name_of_another() -> None:
    found: dict[str, list[str]] = {}
    for name, path in modules().items():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


TESTS = ROOT / "tests"
OTHER_TESTS = {"corpus", "fuzz", "packaging", "helpers"}  # what is no room: the corpus, fuzz/ and what is distributed


def test_tests_stand_in_the_rooms_that_they_are_about() -> None:
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("*.py"))}
    assert folders - OTHER_TESTS <= set(ROOMS)


def test_what_helps_tests_stands_in_one_folder_under_plain_names() -> None:
    helpers = {path for path in TESTS.rglob("*.py") if not path.name.startswith("test_") and path.name != "conftest.py"}
    assert {path for path in helpers if TESTS / "helpers" not in path.parents} == {TESTS / "__init__.py"}
    assert list((TESTS / "helpers").rglob("test*.py")) == []


def internals(tree: ast.AST) -> Iterator[str]:
    """The internal names of the package that a test imports or patches."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(PACKAGE.name):
            yield from (alias.name for alias in node.names if is_internal(alias.name))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "delattr", "patch.object")):
            yield from (str(arg.value).rpartition(".")[2] for arg in node.args[:2]
                        if isinstance(arg, ast.Constant) and is_internal(str(arg.value).rpartition(".")[2]))


def is_internal(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def test_no_test_imports_or_patches_an_internal_name() -> None:
    found = {path.name: [*internals(ast.parse(path.read_text(encoding="utf-8")))] for path in TESTS.rglob("*.py")}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("text", [
    "from triton_mutlint.run.siblings import _look", "monkeypatch.setattr(siblings, '_look', f)",
    "monkeypatch.setattr('triton_mutlint.run.siblings._look', f)", "patch.object(siblings, '_look', f)",
])
def test_an_internal_name_would_be_found(text: str) -> None:
    assert [*internals(ast.parse(text))] == ["_look"]


def test_every_file_that_the_map_names_is_there() -> None:
    """A path in CONTRIBUTING.md starts at the project or in the package; a name alone is in the room of its row."""
    missing, name = [], re.compile(r"`([\w./]+(?:\.py|\.json|\.md|/))`")
    for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        named = [one for one in name.findall(line) if one != "tml123_its_name.py"]
        rooms = [PACKAGE / one for one in named if one.endswith("/")]
        rooms += [ROOT / "scripts/torch_effects", PACKAGE / "host/torch"]  # for the table of torch's functions
        missing += [one for one in named if not (ROOT / one).exists() and not (PACKAGE / one).exists()
                    and not any(list(room.rglob(one)) for room in rooms)]
    assert missing == []


def test_the_map_lists_the_rooms_from_the_ground_up() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| room | what is in it |")[2].partition("\n\n")[0]
    listed = [name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)/`", line.split("|")[1])]
    assert listed == [name for name in ROOMS if name not in ("ground", "top")]
