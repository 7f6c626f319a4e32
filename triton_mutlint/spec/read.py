"""Reads a spec file: checks its YAML key by key and builds the `Spec`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from triton_mutlint.process.inputs import read
from triton_mutlint.spec.checker import Checker
from triton_mutlint.spec.errors import SpecError, SpecProblem, did_you_mean
from triton_mutlint.spec.model import ArgSpec, Declared, GlobalSpec, KernelSpec, Spec
from triton_mutlint.spec.nodes import Entry, Node, parse_yaml
from triton_mutlint.spec.notation import DOTTED, TypeTextError, parse_type
from triton_mutlint.spec.verify_key import check_verify
from triton_mutlint.types import Location, UsageError, parse_target

VERSION = 1
_TOP = ("version", "defaults", "kernels", "globals")
_DEFAULTS = ("types", "constexpr")
_KERNEL = ("args", "mutates", "allow", "target", "verify")
_BACKENDS = ("cuda", "hip")
_RULE = re.compile(r"TML\d{3}")
_TARGET = re.compile(r"(\w+):(\w+)")
_PARAMETER = re.compile(r"[^\W\d]\w*")


def load_spec(path: Path, display: str | None = None) -> Spec:
    """The spec in the file `path`, called `display` in messages.

    Raises `SpecError`, which lists every problem with its line and key path.
    """
    file = display or str(path)
    try:
        data = read(path, named=True)
    except OSError as error:
        raise SpecError([SpecProblem(Location(file, 1), (), f"cannot read: {error.strerror}")]) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"not UTF-8 (byte {data[error.start]:#04x})"
        raise SpecError([SpecProblem(Location(file, line), (), message)]) from None
    return parse_spec(text, file)


def parse_spec(text: str, file: str) -> Spec:
    """The spec written as `text`; raises `SpecError` with every problem found."""
    reader = _SpecReader()
    spec = reader.spec(parse_yaml(text, file), file)
    if reader.problems:
        raise SpecError(reader.problems)
    return spec


class _SpecReader(Checker):
    """Reads one file."""

    def spec(self, root: Node, file: str) -> Spec:
        top = self.known(root, "a spec", _TOP)
        if "version" in top:
            self.version(top["version"].node)
        defaults = self.known(top["defaults"].node, "defaults", _DEFAULTS) if "defaults" in top else {}
        types = self.arguments(defaults.get("types"), "types", self.default_type)
        constexprs = self.arguments(defaults.get("constexpr"), "constexpr", self.value)
        kernels = self.mapping(top["kernels"].node, "kernels") if "kernels" in top else ()
        return Spec(
            file,
            tuple(self.kernel(entry) for entry in kernels),
            types,
            constexprs,
            tuple(self.globals(top["globals"].node)) if "globals" in top else (),
        )

    def version(self, node: Node) -> None:
        if node.scalar != VERSION or node.scalar is True:
            self.report(node, f"unsupported version {node.shown}; this tool reads version {VERSION}")

    def globals(self, node: Node) -> Iterator[GlobalSpec]:
        for entry in self.mapping(node, "globals"):
            if DOTTED.fullmatch(entry.key):
                yield GlobalSpec(entry.key, entry.node.plain(), entry.location)
            else:
                self.report(entry, "not a dotted Python name")

    def kernel(self, entry: Entry) -> KernelSpec:
        node = entry.node
        if not entry.key.rpartition("::")[2]:
            self.report(entry, "names no kernel; write name, a glob, or path/to/file.py::name")
        parts = self.known(node, "a kernel", _KERNEL)
        args = parts["args"].node if "args" in parts else None
        compact = args if args and args.kind == "scalar" and isinstance(args.scalar, str) else None
        mutates = parts.get("mutates")
        return KernelSpec(
            pattern=entry.key,
            location=entry.location,
            path=node.path,
            args=() if compact else self.arguments(parts.get("args"), "args", self.value, _PARAMETER),
            compact=compact,
            mutates=self.names(mutates.node, _check_parameter) if mutates else None,
            mutates_location=mutates.location if mutates else None,
            allow=self.names(parts["allow"].node, _check_rule) if "allow" in parts else (),
            targets=self.targets(parts["target"].node) if "target" in parts else (),
            verify=self.verify(parts["verify"].node) if "verify" in parts else None,
        )

    def targets(self, node: Node) -> tuple[Declared, ...]:
        if node.kind == "list":
            return self.names(node, _check_target)
        problem = _check_target(node)
        if problem:
            self.report(node, problem)
        return (Declared(str(node.scalar), node.location, node.path),)

    def verify(self, node: Node) -> dict[str, object]:
        check_verify(node, self)
        return {entry.key: entry.node.plain() for entry in node.entries}

    # -------------------------------------------------------------- arguments

    def arguments(
        self,
        entry: Entry | None,
        what: str,
        check: Callable[[Node], None],
        names: re.Pattern[str] | None = None,
    ) -> tuple[ArgSpec, ...]:
        """Name (or pattern) -> value or list of values; every value is checked."""
        found: list[ArgSpec] = []
        for arg in self.mapping(entry.node, what) if entry else ():
            values = arg.node.items if arg.node.kind == "list" else (arg.node,)
            if not values:
                self.report(arg.node, "an empty list gives no value")
                continue
            if names and not names.fullmatch(arg.key):
                self.report(arg, "not a parameter name; patterns go into defaults")
            for value in values:
                check(value)
            found.append(ArgSpec(arg.key, values, arg.location, arg.node.path))
        return tuple(found)

    def value(self, node: Node) -> None:
        """A value or type; whether a text is one or the other depends on the kernel."""
        if node.kind == "mapping":
            ref = self.known(node, "a reference", ("ref",)).get("ref")
            if ref and not (isinstance(ref.node.scalar, str) and DOTTED.fullmatch(ref.node.scalar)):
                self.report(ref.node, f"{ref.node.shown} is not the dotted name of an object")
            elif ref is None and not node.entries:
                self.report(node, "an empty mapping; write {ref: name}")
        for item in node.items:
            self.value(item)

    def default_type(self, node: Node) -> None:
        self.value(node)
        if isinstance(node.scalar, str):
            try:
                parse_type(node.scalar)
            except TypeTextError as error:
                self.report(node, str(error))


def _text(node: Node) -> str | None:
    return node.scalar if isinstance(node.scalar, str) else None


def _check_parameter(node: Node) -> str | None:
    text = _text(node)
    if text is None or not re.fullmatch(r"[^\W\d]\w*(\.\w+)*", text):
        return f"{node.shown} is not a parameter name"
    return None


def _check_rule(node: Node) -> str | None:
    text = _text(node)
    if text is None or not _RULE.fullmatch(text):
        return f"{node.shown} is not a rule; rules are written TML201"
    return None


def _check_target(node: Node) -> str | None:
    match = _TARGET.fullmatch(_text(node) or "")
    if match is None:
        return f"{node.shown} is not a target; write cuda:90 or hip:gfx942"
    if match[1] not in _BACKENDS:
        return f"unknown backend {match[1]!r}{did_you_mean(match[1], _BACKENDS) or '; known: cuda, hip'}"
    try:
        parse_target(match[0])
    except UsageError as error:
        return str(error)
    return None
