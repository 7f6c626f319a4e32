"""From command-line arguments to loaded kernels, without importing what is linted."""

from triton_mutlint.source.discover import discover
from triton_mutlint.source.launched import launched_names
from triton_mutlint.source.load import load
from triton_mutlint.source.text import has_kernels

__all__ = ["discover", "has_kernels", "launched_names", "load"]
