"""What one run of the engine is asked to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from triton_mutlint.basics import EMPTY, UsageError
from triton_mutlint.config.settings import Config

Progress = Callable[[int, int, str], None]  # told of how much is done, in all, and what is at work


def silent(done: int, total: int, label: str) -> None:
    """No progress wanted."""


@dataclass(frozen=True)
class Request:
    """The arguments and options of one run, as the command line (or a caller) settled them.

    `arguments` are paths, directories, `path.py::kernel`, `module:kernel` or `-`, as typed;
    `cwd` is absolute, and the paths shown in reports are relative to it. Options that a
    configuration file can give too (`spec`, `targets`, `max_variants`, ...) are already merged:
    the engine reads them here, and reads `config` for discovery and rules only.
    `stdin_text` is set exactly when `-` is among the arguments.
    """

    arguments: tuple[str, ...]
    cwd: Path
    spec: Path | None = None
    use_spec: bool = True
    targets: tuple[str, ...] = ()
    max_variants: int = 64
    timeout: float = 120.0  # seconds for one kernel, all its variants together
    jobs: int = 1  # processes that analyse kernels
    confine: str = "auto"  # those processes: where it can be done; "require" it, or "off"
    opaque_asm: bool = False
    true_import: bool = False
    helpers: bool = False
    stdin_text: str | None = None
    stdin_filename: str | None = None
    require_spec: bool = False
    snapshot: Path | None = None  # to compare contracts with
    baseline: Path | None = None  # of findings that are accepted
    declared: tuple[str, ...] = ()  # sources, as arguments: what was compiled is held against what they declare
    torch: str = ""  # the version of torch whose own pass the verdicts are compared with; none: they are not
    config: Config = field(default_factory=Config)
    cache_dir: Path | None = None  # where verdicts are kept for the next run; None: nowhere
    functions: bool = False  # autograd functions are followed as ops are
    texts: Mapping[str, str] = EMPTY  # to read in place of files and specs, by the path as reports show it

    @property
    def registering(self) -> tuple[str, ...]:
        """The names of which one stands in a file that holds ops, beside those that are torch's."""
        return (*self.config.registrars, *(["autograd"] if self.functions else []))

    @property
    def is_confined(self) -> bool:
        """Whether processes that execute linted code are confined. Raises UsageError where they must be and cannot."""
        from triton_mutlint.process.confined import unavailable  # here: a run answered from the cache needs none

        why = "" if self.confine == "off" else unavailable()
        if why and self.confine == "require":
            raise UsageError(f"--confine=require: {why}; docs/security.md says what is confined")
        return self.confine != "off" and not why
