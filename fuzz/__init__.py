"""Attacks on the analysis: random kernels with known effects, broken analyses, and broken text."""
