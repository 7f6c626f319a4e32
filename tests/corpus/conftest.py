"""The packages of the corpus as fixtures: installed on first use, skipped when they cannot be."""

from __future__ import annotations

import subprocess

import pytest

from tests.helpers.corpus.packages import Package, packages, selected


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "package" in metafunc.fixturenames:
        marks = {p.name: () for p in selected()}
        skip = (pytest.mark.skip(reason="not asked for: CORPUS=all, or CORPUS=<name>"),)
        metafunc.parametrize("package", [pytest.param(p, id=p.name, marks=marks.get(p.name, skip)) for p in packages()],
                             indirect=True)


@pytest.fixture(scope="session")
def package(request: pytest.FixtureRequest) -> Package:
    """One package of the corpus, in its folder."""
    asked: Package = request.param
    try:
        asked.install()
    except subprocess.CalledProcessError as error:
        if not asked.optional:
            raise
        pytest.skip(f"{asked.name} cannot be installed here: {error.stderr.strip().splitlines()[-1]}")
    assert asked.installed_version() == asked.version
    return asked
