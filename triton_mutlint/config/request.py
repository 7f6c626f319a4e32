"""What one run of the engine is asked to do, and the settings: of a configuration file and the command line."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from triton_mutlint.basics import EMPTY, Severity, UsageError, nearest_rule
from triton_mutlint.config.registrar import Registrar

DEFAULT_MAX_VARIANTS = 64
_SPEC_REQUIRED = "TML903"
_SELECTOR = re.compile(r"ALL|TML\d{0,3}")
_CODE = re.compile(r"TML\d{3}")


@dataclass(frozen=True)
class Config:
    """The settings in force. Selectors are codes of rules (`TML101`), their prefixes (`TML1`) or `ALL`.

    `root` is the folder that patterns and relative paths of the file refer to (None: no file);
    `origins` says where each setting that differs from the default came from, by key.
    """

    select: tuple[str, ...] = ()  # empty: the rules that are on by default
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = EMPTY
    severity: Mapping[str, Severity] = EMPTY
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    spec: Path | None = None
    targets: tuple[str, ...] = ()
    fail_on: str = "error"
    max_variants: int = DEFAULT_MAX_VARIANTS
    jobs: int | None = None  # processes that analyse kernels; None: one per core
    cache_dir: Path | None = None  # where results are kept between runs; None: where the platform keeps caches
    stub_modules: tuple[str, ...] = ()  # stood in for although they are at hand
    opaque_asm: bool = False
    require_spec: bool = False
    strict: bool = False  # kernels that could not be analysed are errors, also where their arguments are guessed
    helpers: bool = False
    snapshot: Path | None = None
    baseline: Path | None = None
    registrars: Mapping[str, Registrar] = EMPTY  # functions that register ops, by dotted name
    root: Path | None = None
    source: Path | None = None
    origins: Mapping[str, str] = EMPTY

    def severity_of(self, code: str, default: Severity, file: str = "") -> Severity:
        """The severity at which rule `code` reports in `file` (relative to `root`); OFF if it must not.

        The longest matching selector decides; between equals, `ignore` wins. A severity set for
        the rule turns it on unless something ignores it; a rule that is off by default and was
        selected reports as a warning.
        """
        if code == _SPEC_REQUIRED and self.require_spec:
            default = Severity.ERROR
        off = max(_strength(self.ignore, code), self._file_ignores(code, file))
        on = max(_strength(self.select, code), _strength(self.extend_select, code))
        if code in self.severity:
            on = max(on, len(code))
        by_default = not self.select and default is not Severity.OFF
        if off >= 0 and off >= on:
            return Severity.OFF
        if on < 0 and not by_default:
            return Severity.OFF
        wanted = self.severity.get(code, default)
        if wanted is Severity.OFF and code not in self.severity:
            return Severity.WARNING
        return wanted

    def _file_ignores(self, code: str, file: str) -> int:
        matching = (codes for glob, codes in self.per_file_ignores.items() if file and matches(file, glob))
        return max((_strength(codes, code) for codes in matching), default=-1)


def _strength(selectors: Collection[str], code: str) -> int:
    """The length of the longest selector that covers `code`; 0 for ALL, -1 for none."""
    hits = (0 if s == "ALL" else len(s) for s in selectors if s == "ALL" or code.startswith(s))
    return max(hits, default=-1)


def matches(file: str, glob: str) -> bool:
    """Whether a glob matches the whole relative path, its last part, or a folder above it."""
    path = PurePath(file)
    names = [path.as_posix(), path.name, *(p.as_posix() for p in path.parents[:-1])]
    return any(fnmatch.fnmatchcase(name, glob.rstrip("/")) for name in names)


def read_selector(text: str, rules: Mapping[str, str], whole: bool = False) -> str:
    """The selector that `text` means: itself, or the code of the rule of that name.

    `rules` gives the name of each rule by its code (none: any code will do); `whole`: prefixes and ALL will not do.
    Raises ValueError for what selects no rule.
    """
    for code, name in rules.items():
        if text == name:
            return code
    broad = not whole and bool(_SELECTOR.fullmatch(text))
    if text in rules or (broad and (text == "ALL" or any(code.startswith(text) for code in rules))):
        return text
    if not rules and (broad or _CODE.fullmatch(text)):
        return text
    meant = nearest_rule(text, rules)
    hint = f"did you mean {meant!r}?" if meant else "`triton-mutlint rules` lists them"
    raise ValueError(f"{text!r} is no rule; {hint}")


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
