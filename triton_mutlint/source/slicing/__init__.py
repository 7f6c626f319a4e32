"""Sliced code, and what it runs in: only what kernels need."""
