"""From command-line arguments to loaded kernels, without importing what is linted.

Nothing is imported here: finding that a file holds no kernels must not load what loads them.
"""
