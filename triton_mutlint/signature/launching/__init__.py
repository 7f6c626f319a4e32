"""Launches in host code: what they pass, and what they may do beyond the analysed variants."""
