"""The `triton-mutlint` command; `python -m triton_mutlint` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line with `sys.argv` and exit with its code."""
    try:
        from triton_mutlint.cli.shell.boundary import run, tell_of_crashes

        tell_of_crashes()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before the boundary stood, or while it was closing
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
