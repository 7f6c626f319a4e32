"""Files written for one test, and what they register."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from triton_mutlint.config.registrar import Registrar
from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.registrations.registrations import joined, registrations

HEAD = """\
import functools
import torch
from torch import Tensor
from torch.library import Library, custom_op, infer_schema, triton_op

"""


def register(folder: Path, text: str, registrars: Mapping[str, Registrar] | None = None, head: str = HEAD,
             **others: str) -> tuple[OpRegistration, ...]:
    """What a file with `text` registers; `others` are files beside it, by module name."""
    for name, other in {"ops": text, **others}.items():
        lead = head if name == "ops" else HEAD
        (folder / f"{name}.py").write_text(lead + textwrap.dedent(other))
    modules = HostModules(folder)
    module = modules.module(folder / "ops.py")
    assert module is not None
    return registrations(module, modules, registrars or {})


def both(folder: Path, *names: str) -> tuple[OpRegistration, ...]:
    """What the files written before register together."""
    modules = HostModules(folder)
    found = [modules.module(folder / f"{name}.py") for name in names]
    return joined(r for m in found if m is not None for r in registrations(m, modules, {}))


def shown(ops: tuple[OpRegistration, ...]) -> list[tuple[str, str, tuple[str, ...] | None, list[str]]]:
    """Name, form, declared names and functions of each op."""
    return [(op.name, op.form.value, op.declaration.names, functions(op)) for op in ops]


def functions(op: OpRegistration) -> list[str]:
    return [getattr(one.node, "name", "<lambda>") for one in op.functions]


def said(ops: tuple[OpRegistration, ...]) -> list[str]:
    """The messages of what is wrong with the declarations."""
    return [problem.message for op in ops for problem in op.declaration.problems]
