"""`verify`: run kernels, and hold every verdict against what really happened (docs/verification.md)."""
