"""How launches are noted in a program and merged into a spec; `triton_mutlint.record` and the command use it."""
