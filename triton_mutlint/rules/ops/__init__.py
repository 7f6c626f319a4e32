"""Rules on torch ops."""
