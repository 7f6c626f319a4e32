"""What runs torch ops and holds their declarations against what happened (docs/verify-ops.md)."""
