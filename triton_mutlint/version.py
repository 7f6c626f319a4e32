"""The version and the address of the project, alone in a file so that reading them imports nothing."""

__version__ = "0.1.0"

# A placeholder until the repository is public. Everything that links to it takes the address from here; the snippets
# for pre-commit in README.md and docs/, which people copy, are held to it by a test.
REPOSITORY = "https://example.org/triton-mutlint"


def page(path: str) -> str:
    """The address of a file or folder of the repository, as it is in this version."""
    return f"{REPOSITORY}/blob/v{__version__}/{path}"
