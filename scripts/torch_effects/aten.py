"""The schemas of torch's own ops, as the installed torch has them. Needs torch."""

from __future__ import annotations

import torch


def schemas() -> dict[str, dict[str, str]]:
    """By section, from the name of an op with its overload ("add.Tensor") to its schema without the name."""
    known = set(torch._C._dispatch_get_all_op_names())
    found: dict[str, str] = {}
    for schema in torch._C._jit_get_all_schemas():
        full = f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)
        if full in known and full.startswith("aten::"):
            text = str(schema)
            found[full.removeprefix("aten::")] = text[text.index("(") :]
    return {"made from": {"torch": torch.__version__.partition("+")[0]}, "aten": found}
