"""The spec: finding, reading and completing `triton-mutlint.yaml`, and the notation of types in it."""
