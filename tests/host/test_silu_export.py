"""What TML106 says of `fixtures/ops/silu.py`, held against torch.export."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.helpers.places import FIXTURES

OPS = FIXTURES / "ops"
EXPORT = """
import json, torch, silu
class Calls(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op
    def forward(self, x):
        return self.op(x)
told = {}
for name in ("silu", "silu_unwrapped"):
    try:
        program = torch.export.export(Calls(getattr(torch.ops.seed, name)), (torch.ones(8),), strict=False)
        told[name] = [str(n.target) for n in program.graph.nodes if n.op == "call_function"]
    except RuntimeError as error:
        told[name] = "RuntimeError"
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.torch
def test_only_the_wrapped_launch_can_be_exported() -> None:
    """With a GPU the bare launch fails on the data pointer of a fake tensor, without one already on the driver."""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", EXPORT], capture_output=True, text=True, cwd=OPS,
                          env={**environment, "PYTHONPATH": str(OPS)}, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {"silu": ["seed.silu.default"], "silu_unwrapped": "RuntimeError"}
