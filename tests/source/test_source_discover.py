"""Which files an argument names, and what is wrong with the others."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from triton_mutlint.basics import UsageError
from triton_mutlint.source.discover import discover, source_from_stdin
from triton_mutlint.source.python_text import has_kernels

KERNEL = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n"


def write(path: Path, text: str = KERNEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(cwd: Path, *arguments: str, exclude: tuple[str, ...] = ()) -> list[str]:
    return [file.display for file in discover(arguments, cwd, exclude)[0]]


def test_a_directory_gives_its_kernel_files_in_order(tmp_path: Path) -> None:
    write(tmp_path / "b.py")
    write(tmp_path / "a" / "z.py")
    write(tmp_path / "plain.py", "x = 1\n")
    write(tmp_path / "notes.txt")
    assert names(tmp_path, ".") == ["b.py", "a/z.py"]


@pytest.mark.parametrize("folder", [".hidden", "__pycache__", "site-packages", "venv", "x.egg-info",
                                    "build", "dist", "a/build", "build/lib/a"])
def test_environment_build_and_cache_folders_are_left_out(tmp_path: Path, folder: str) -> None:
    write(tmp_path / folder / "k.py")
    write(tmp_path / "k.py")
    assert names(tmp_path, ".") == ["k.py"]


@pytest.mark.parametrize("folder", ["build", "a/dist"])
def test_a_package_is_source_whatever_its_name(tmp_path: Path, folder: str) -> None:
    write(tmp_path / folder / "__init__.py", "")
    write(tmp_path / folder / "k.py")
    assert names(tmp_path, ".") == [f"{folder}/k.py"]


def test_a_folder_is_searched_where_it_is_named_itself(tmp_path: Path) -> None:
    write(tmp_path / "build" / "k.py")
    assert names(tmp_path, "build") == ["build/k.py"]


def test_a_named_file_with_a_syntax_error_fails_without_a_sign_of_kernels(tmp_path: Path) -> None:
    write(tmp_path / "broken.py", "def f(:\n")
    write(tmp_path / "k.py")
    files, failures = discover(("broken.py", "k.py"), tmp_path)
    assert [file.display for file in files] == ["k.py"]
    ((name, failure),) = failures
    assert (name, failure.location.line) == ("broken.py", 1)
    assert failure.message.startswith("syntax error: ")


def test_one_that_is_found_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "broken.py", "def f(:\n")
    write(tmp_path / "k.py")
    files, failures = discover((".",), tmp_path)
    assert ([file.display for file in files], failures) == (["k.py"], ())


def test_a_virtual_environment_under_any_name_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "my-env" / "pyvenv.cfg", "")
    write(tmp_path / "my-env" / "lib" / "k.py")
    assert names(tmp_path, ".") == []


def test_symlink_loops_end_and_a_file_reached_twice_is_linted_once(tmp_path: Path) -> None:
    write(tmp_path / "pkg" / "k.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "alias.py").symlink_to(tmp_path / "pkg" / "k.py")
    assert len(names(tmp_path, ".", "pkg/k.py", "pkg")) == 1


def test_exclude_matches_paths_names_and_folders(tmp_path: Path) -> None:
    for name in ("a/k.py", "b/k.py", "c/skip_me.py", "d/k.py"):
        write(tmp_path / name)
    assert names(tmp_path, ".", exclude=("a", "b/*.py", "skip_*")) == ["d/k.py"]


@pytest.mark.parametrize("argument", ["third_party/k.py", "third_party/k.py::k", "third_party", "third_party.k:k"])
def test_what_is_excluded_by_force_is_left_out_even_if_named(tmp_path: Path, argument: str) -> None:
    write(tmp_path / "third_party" / "k.py")
    write(tmp_path / "k.py")
    for exclude in (("third_party",), ("third_party/",), ("third_party/*.py",)):
        found = discover([argument, "k.py"], tmp_path, exclude, force=True)
        assert ([file.display for file in found[0]], found[1]) == (["k.py"], ())


@pytest.mark.parametrize("argument", ["third_party/k.py", "third_party/k.py::k"])
def test_a_file_that_is_named_is_linted_although_excluded(tmp_path: Path, argument: str) -> None:
    write(tmp_path / "third_party" / "k.py")
    assert names(tmp_path, argument, exclude=("third_party",)) == ["third_party/k.py"]


def test_patterns_refer_to_the_root_that_is_given(tmp_path: Path) -> None:
    write(tmp_path / "src" / "gen" / "k.py")
    write(tmp_path / "src" / "k.py")
    for pattern, left in (("src/gen", ["k.py"]), ("gen/*", ["gen/k.py", "k.py"])):
        files, _ = discover(["."], tmp_path / "src", (pattern,), root=tmp_path)
        assert sorted(file.display for file in files) == left


def test_a_kernel_of_a_file(tmp_path: Path) -> None:
    write(tmp_path / "k.py")
    (file,), failures = discover(["k.py::k", "k.py::other"], tmp_path)
    assert file.kernels == {"k", "other"}
    assert failures == ()


def test_asking_for_the_whole_file_too_asks_for_all_kernels(tmp_path: Path) -> None:
    write(tmp_path / "k.py")
    (file,), _ = discover(["k.py::k", "k.py"], tmp_path)
    assert file.kernels == frozenset()


def test_a_module_is_found_without_importing_it(tmp_path: Path) -> None:
    write(tmp_path / "pkg" / "__init__.py", "raise RuntimeError('imported')\n")
    write(tmp_path / "pkg" / "ops.py")
    (file,), failures = discover(["pkg.ops:k"], tmp_path)
    assert (file.display, file.kernels, failures) == ("pkg/ops.py", {"k"}, ())


def test_what_is_not_there_is_named_with_a_hint(tmp_path: Path) -> None:
    write(tmp_path / "kernels.py")
    write(tmp_path / "src" / "ops.py")
    assert why(tmp_path, "kernel.py") == "no such file or directory: kernel.py; did you mean kernels.py?"
    assert why(tmp_path, "src/opz.py").endswith("; did you mean src/ops.py?")
    assert why(tmp_path, "nope.mod:k").startswith("no module named `nope`; ")
    assert why(tmp_path, "src::k").startswith("src is a folder; ")


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"import triton\n\0jit", "null bytes", 1),
        ("# triton jit\n# \xe9\n".encode("latin-1"), "not utf-8", 2),
        (b"# -*- coding: nonsense -*-\n# triton jit\n", "nonsense", 1),
    ],
)
def test_undecodable_files_fail_and_the_others_go_on(
    tmp_path: Path, data: bytes, message: str, line: int
) -> None:
    (tmp_path / "bad.py").write_bytes(data)
    write(tmp_path / "good.py")
    files, ((name, failure),) = discover(["."], tmp_path)
    assert [file.display for file in files] == ["good.py"]
    assert name == "bad.py"
    assert message in failure.message
    assert failure.location is not None
    assert (failure.location.file, failure.location.line) == ("bad.py", line)


def test_a_coding_cookie_is_honoured(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\nimport triton  # jit \xe9\r\n")
    (file,), failures = discover(["latin.py"], tmp_path)
    assert failures == ()
    assert file.text.endswith("jit é\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_fails(tmp_path: Path) -> None:
    write(tmp_path / "k.py").chmod(0)
    _, ((_, failure),) = discover(["k.py"], tmp_path)
    assert failure.message == "cannot read k.py: Permission denied"


def test_a_fifo_named_k_py_below_a_directory_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k.py")
    assert discover(["."], tmp_path) == ((), ())


def test_stdin_is_linted_as_if_at_its_path(tmp_path: Path) -> None:
    source = source_from_stdin(KERNEL.encode(), Path("pkg/new.py"), tmp_path)
    assert (source.path, source.display) == (tmp_path / "pkg" / "new.py", "pkg/new.py")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KERNEL, True),
        ("from triton import jit\n@jit\ndef k(): ...", True),
        ("import triton\n", False),
        ("@numba.njit\ndef triton(): ...", False),
        ("@numba.jit\ndef k(): ...", False),
    ],
)
def test_the_text_scan(text: str, expected: bool) -> None:
    assert has_kernels(text) is expected


# ------------------------------------------------------------------ odd names and what may not be read


def why(cwd: Path, argument: str) -> str:
    with pytest.raises(UsageError) as raised:
        discover((argument,), cwd)
    return str(raised.value)


def test_a_file_whose_name_holds_colons_is_a_file(tmp_path: Path) -> None:
    write(tmp_path / "a::b.py")
    assert names(tmp_path, "a::b.py") == ["a::b.py"]


@pytest.mark.parametrize("argument", ["", " ", "::k", "k.py::"])
def test_half_an_argument_is_refused(tmp_path: Path, argument: str) -> None:
    write(tmp_path / "k.py")
    assert re.search(r"names no .*path\.py::kernel", why(tmp_path, argument))


def test_one_colon_after_a_file_is_explained(tmp_path: Path) -> None:
    write(tmp_path / "k.py")
    assert why(tmp_path, "k.py:add") == "no such file or directory: k.py:add; write k.py::add"


def test_a_link_to_nothing_is_explained(tmp_path: Path) -> None:
    (tmp_path / "k.py").symlink_to("gone.py")
    assert why(tmp_path, "k.py").endswith("; it is a link to gone.py, which is not there")


def test_a_loop_of_links_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "k.py").symlink_to("k.py")
    assert "cannot read k.py" in why(tmp_path, "k.py")


def test_an_unknown_home_is_a_name_like_others(tmp_path: Path) -> None:
    assert "no such file" in why(tmp_path, "~nobody-of-this-name/k.py")


def test_a_path_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "bad\udcff.py")
    _, ((_, failure),) = discover(["bad\udcff.py"], tmp_path)
    assert "is not UTF-8" in failure.message


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that may not be entered, also for a user whom the system lets in everywhere."""
    folder = write(tmp_path / "closed" / "k.py").parent
    real_stat, real_scan = os.stat, os.scandir

    def refuse(function):
        def checked(path=".", *args, **options):
            text = os.fspath(path) if not isinstance(path, int) else ""
            if text.startswith(f"{folder}/") or (function is real_scan and text == str(folder)):
                raise PermissionError(13, "Permission denied", text)
            return function(path, *args, **options)

        return checked

    monkeypatch.setattr(os, "stat", refuse(real_stat))
    monkeypatch.setattr(os, "scandir", refuse(real_scan))
    return folder


@pytest.mark.parametrize("argument", [".", "closed"])
def test_a_folder_that_may_not_be_read_is_told_and_the_rest_goes_on(
    tmp_path: Path, closed: Path, argument: str
) -> None:
    write(tmp_path / "open.py")
    files, ((_, failure),) = discover((argument,), tmp_path)
    assert failure.message == "cannot read folder closed: Permission denied"
    assert [file.display for file in files] == (["open.py"] if argument == "." else [])


def test_a_file_in_a_closed_folder_is_told(tmp_path: Path, closed: Path) -> None:
    assert why(tmp_path, "closed/k.py") == "cannot read closed/k.py: Permission denied"


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    kernel = "import triton\n@triton.jit\ndef k(x): pass\n"
    for name in ("a.py", "made/b.py", "sub/c.py", "sub/kept.py", "tracked.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(kernel)
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "tracked.py"], check=True)
    (tmp_path / ".gitignore").write_text("made/\ntracked.py\n")
    (tmp_path / "sub" / ".gitignore").write_text("*.py\n!kept.py\n")

    def found(*arguments: str) -> list[str]:
        return [file.display for file in discover(arguments, tmp_path)[0]]

    assert found(".") == ["a.py", "tracked.py", "sub/kept.py"]
    assert found("made") == ["made/b.py"]
    assert found("sub/c.py", ".") == ["sub/c.py", "a.py", "tracked.py", "sub/kept.py"]


def test_without_git_nothing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("a.py\n")
    (tmp_path / "a.py").write_text("import triton\n@triton.jit\ndef k(x): pass\n")
    monkeypatch.setenv("PATH", "")
    assert [file.display for file in discover((".",), tmp_path)[0]] == ["a.py"]


def test_a_folder_that_can_be_listed_and_not_entered_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_mutlint.source.searching import walk

    for name in ("open", "shut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.py").write_text("")
    stat = Path.stat

    def refusing(path: Path, **options: bool) -> os.stat_result:
        if path.parent.name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", refusing)
    told: list[OSError] = []
    assert [path.parent.name for path in walk(tmp_path, lambda path: False, told.append)] == ["open"]
    assert [error.filename for error in told] == [str(tmp_path / "shut")]
