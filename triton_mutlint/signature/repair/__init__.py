"""Guesses that Triton refuses, and what its message says to guess instead."""
