"""The levels that `--fail-on` knows, apart so that `--help` need not load the types."""

NEVER = "never"
FAIL_LEVELS = ("error", "warning", "info", NEVER)
