"""The walk over a kernel's source: what it may touch, and what decides that."""
