"""Schemas of C++ ops, found in sources and builds, and what they say of a Python op that calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.host.modules.module import HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.op.verdict import analyze_op
from triton_mutlint.host.registrations.registrations import registrations
from triton_mutlint.host.state.core import World
from triton_mutlint.host.torch.known_schemas import CompiledOps
from triton_mutlint.types import KernelReport

SOURCE = """
TORCH_LIBRARY(mylib_C, ops) {
  ops.def("scale(Tensor! out, Tensor x, "
          "float by=1.0) -> ()");
  ops.def("split.out(Tensor x, *, Tensor(a!)[] outs) -> Tensor[]");
  ops.def("split(Tensor x) -> Tensor[]");
}
"""
CODE = """
import torch

@torch.library.custom_op("mylib::{name}", mutates_args=())
def {name}(x: torch.Tensor, out: torch.Tensor) -> None:
    {call}
"""


class NoKernels:
    def wait(self) -> None:
        return None

    def verdicts(self, module: HostModule, node: object, names: object) -> tuple[KernelReport, ...] | str:
        return "there are none"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "mylib"
    (package / "ops").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "ops" / "__init__.py").write_text("")
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "bindings.cpp").write_text(SOURCE)
    strings = [b"\x7fELF", b"built_C", b"fill(Tensor($0! -> ) x) -> ()", b"fill(Tensor(a!) x, int n) -> Tensor", b""]
    (package / "_built.abi3.so").write_bytes(b"\0".join(strings))
    return tmp_path


def module(project: Path, text: str = "") -> HostModule:
    path = project / "mylib" / "ops" / "code.py"
    path.write_text(text)
    found = HostModules(project).module(path)
    assert found is not None
    return found


def mutated(project: Path, namespace: str, name: str, overload: str = "") -> list[tuple[str, ...]]:
    return [schema.mutated for schema in CompiledOps().schemas(module(project), namespace, name, overload)]


def test_a_schema_in_a_source_may_stand_in_several_literals(project: Path) -> None:
    assert mutated(project, "mylib_C", "scale") == [("out",)]


def test_overloads_are_told_apart_where_they_are_named(project: Path) -> None:
    assert mutated(project, "mylib_C", "split", "out") == [("outs",)]
    assert mutated(project, "mylib_C", "split", "default") == [()]
    assert sorted(mutated(project, "mylib_C", "split")) == [(), ("outs",)]


def test_a_build_holds_its_schemas_as_strings(project: Path) -> None:
    assert mutated(project, "built_C", "fill") == [("x",)]


def test_files_that_do_not_name_the_namespace_are_left_aside(project: Path) -> None:
    assert mutated(project, "other_C", "fill") == []
    assert mutated(project, "other_C", "scale") == []
    assert mutated(project, "mylib_C", "unheard_of") == []


def test_what_is_declared_is_written_and_the_rest_is_not_known(project: Path) -> None:
    code = CODE.format(name="scaled", call="torch.ops.mylib_C.scale(out, x, by=2.0)")
    found = module(project, code)
    modules = HostModules(project)
    (op,) = registrations(found, modules, {})
    report = analyze_op(op, World(modules, NoKernels(), {}))
    assert {a.name: a.mutation.value for a in report.arguments} == {"x": "unknown", "out": "written"}
    assert not report.complete


def test_an_op_that_returns_something_may_declare_too_much(project: Path) -> None:
    code = CODE.format(name="split", call="torch.ops.mylib_C.split.out(x, outs=[out])")
    found = module(project, code)
    modules = HostModules(project)
    (op,) = registrations(found, modules, {})
    report = analyze_op(op, World(modules, NoKernels(), {}))
    assert {a.name: a.mutation.value for a in report.arguments} == {"x": "unknown", "out": "unknown"}
