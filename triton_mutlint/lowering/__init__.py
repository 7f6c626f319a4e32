"""From a loaded kernel and one variant of its arguments to TTIR text.

The only package that touches Triton's internals and the differences between its versions.
"""

from triton_mutlint.lowering.lower import Lowerer
from triton_mutlint.lowering.target import parse_target, resolve_targets

__all__ = ["Lowerer", "parse_target", "resolve_targets"]
