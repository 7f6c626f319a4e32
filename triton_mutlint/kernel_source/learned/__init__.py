"""What the walk tells about a kernel's parameters."""
