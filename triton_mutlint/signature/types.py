"""Argument types from text and from Python values: the public face of `notation` and `values`."""

from triton_mutlint.signature.notation import Resolve, parse_compact, parse_type
from triton_mutlint.signature.splitting import TypeTextError
from triton_mutlint.signature.values import type_of_value

__all__ = ["Resolve", "TypeTextError", "parse_compact", "parse_type", "type_of_value"]
