"""From a loaded kernel and one variant of its arguments to TTIR text.

The only package that touches Triton's internals and the differences between its versions.
"""
