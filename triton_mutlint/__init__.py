"""Which parameters may a Triton kernel write? See README.md."""

from triton_mutlint.version import __version__

__all__ = ["__version__"]
