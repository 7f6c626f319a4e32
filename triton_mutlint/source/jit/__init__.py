"""The jit functions of a file."""
