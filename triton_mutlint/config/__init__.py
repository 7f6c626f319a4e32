"""The settings of a run, and where they come from."""
