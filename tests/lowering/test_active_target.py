"""The target of the machine's GPU, as Triton's driver tells it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from triton_mutlint.lowering import target as targets
from triton_mutlint.types import Target


@pytest.mark.apart
def test_the_driver_is_asked_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It starts threads, and a process with threads must not fork."""
    import triton.runtime

    asked = []

    def current() -> SimpleNamespace:
        asked.append(1)
        return SimpleNamespace(backend="hip", arch="gfx942", warp_size=64)

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(targets, "DEVICE_NODES", ("/",))
    monkeypatch.setattr(triton.runtime, "driver", SimpleNamespace(active=SimpleNamespace(get_current_target=current)))
    assert targets.resolve_targets(()) == (Target("hip", "gfx942", 64, "active"),)
    assert asked == []


def test_a_device_without_a_driver_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton.runtime

    monkeypatch.setattr(targets, "DEVICE_NODES", ("/",))
    monkeypatch.setattr(triton.runtime, "driver", SimpleNamespace())
    assert targets.resolve_targets(())[0].origin == "default"
