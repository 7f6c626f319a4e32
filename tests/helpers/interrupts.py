"""Interrupts for processes that tests start."""

from __future__ import annotations

import signal


def hears_interrupts() -> None:
    """For `preexec_fn`: what a shell starts in the background ignores SIGINT, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
