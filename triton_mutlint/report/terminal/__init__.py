"""The text report, for people at a terminal."""
