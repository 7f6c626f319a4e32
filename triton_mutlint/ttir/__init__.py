"""TTIR text: the parser, the table of ops, and inline asm."""
