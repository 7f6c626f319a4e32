"""`# triton-mutlint:` comments: finding them, reading what they say, and the lines on which they suppress findings.

    # triton-mutlint: mutates=out_ptr, state.x       declares (no names: nothing is written)
    # triton-mutlint: ignore[TML201,TML202] reason   suppresses these rules
    # triton-mutlint: ignore reason                  suppresses every rule

Comments are taken from Python's tokens, so a string that holds the same text is not one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from triton_mutlint.basics import MARK, byte_column, nearest, nearest_rule
from triton_mutlint.source.walking import first_line
from triton_mutlint.types import Location, SourceFile, StageError

MUTATES, IGNORE = "mutates", "ignore"
_DIRECTIVE = re.compile(rf"#+\s*{MARK}")
_MENTIONS = ("mutlint", "Mutlint", "MUTLINT")
_NEARLY = re.compile(  # what is meant as a directive and would be passed over
    r"#+\s*triton[-_ ]?mutlint(?:\s*:|\s+(?=mutates\s*=|ignore\[))", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z_-]*")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_CODE_LIKE = re.compile(r"[\s=:({]*TML\d", re.IGNORECASE)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class CommentProblem:
    """A comment that could not be read as meant; `directive` is what it seems to be."""

    message: str
    location: Location
    directive: str  # MUTATES | IGNORE
    help: str = ""


@dataclass(frozen=True)
class Directive:
    """One directive as written. `items` are names or codes (none: all codes); `own_line`: nothing else on its line."""

    kind: str  # MUTATES | IGNORE
    items: tuple[str, ...]
    location: Location
    own_line: bool


@dataclass(frozen=True)
class Comments:
    """The directives of one file in order, what is wrong with them, and its comment-only lines."""

    directives: tuple[Directive, ...] = ()
    problems: tuple[CommentProblem, ...] = ()
    comment_lines: frozenset[int] = frozenset()


def read_comments(text: str, file: str) -> Comments:
    """The directives in `text`; `file` names it in locations. Costs nothing when there are none."""
    if not any(mention in text for mention in _MENTIONS):
        return Comments()
    directives: list[Directive] = []
    problems: list[CommentProblem] = []
    alone: set[int] = set()
    for token in _comments(text):
        line, at = token.start
        own_line, column = not token.line[:at].strip(), byte_column(token.line, at)
        if own_line:
            alone.add(line)
        for offset, body in _bodies(token.string):
            found = _read(body, Location(file, line, column + byte_column(token.string, offset) - 1), own_line)
            if isinstance(found, CommentProblem):
                problems.append(found)
            else:
                directives.append(found)
        problems.extend(_misspelt(token.string, Location(file, line, column)))
    return Comments(tuple(directives), tuple(problems), frozenset(alone))


def _comments(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token
    except (tokenize.TokenError, SyntaxError):
        return  # the loader reports what is wrong with the file


def _bodies(comment: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each directive in one comment, each up to the next `#`."""
    for match in _DIRECTIVE.finditer(comment):
        end = comment.find("#", match.end())
        yield match.start(), comment[match.end() : end if end >= 0 else None].strip()


def _misspelt(comment: str, location: Location) -> Iterator[CommentProblem]:
    """A directive whose mark is written so that it would not be read."""
    for match in _NEARLY.finditer(comment):
        if _DIRECTIVE.match(comment, match.start()):
            continue
        kind = IGNORE if comment[match.end() :].lstrip().startswith(IGNORE) else MUTATES
        written = match[0].lstrip("# ").rstrip()
        yield CommentProblem(f"`{written}` is not read as a directive", location, kind, f"write `{MARK}`")


def _read(body: str, location: Location, own_line: bool) -> Directive | CommentProblem:
    word = _WORD.match(body)
    assert word is not None  # the pattern matches the empty string
    kind, rest = word[0], body[word.end() :].strip()
    if kind == IGNORE:
        return _ignore(rest, location, own_line)
    if kind == MUTATES and rest.startswith("="):
        return _mutates(rest[1:].strip(), location, own_line)
    if kind == MUTATES:
        return CommentProblem("`mutates` declares nothing without `=`", location, MUTATES, "write `mutates=a,b`")
    close = nearest(kind.lower(), (MUTATES, IGNORE), 0.5)
    meant = close or (MUTATES if "=" in rest else IGNORE)
    hint = f"did you mean `{close}`?" if close else "write `mutates=a,b` or `ignore[TML201]`"
    return CommentProblem(f"unknown directive `{kind or body[:20]}`", location, meant, hint)


def _mutates(names: str, location: Location, own_line: bool) -> Directive | CommentProblem:
    items = tuple(name.strip() for name in names.split(",")) if names else ()
    for item in items:
        if not _NAME.fullmatch(item):
            what = f"`{item}` is no parameter name" if item else "a name is missing between the commas"
            return CommentProblem(what, location, MUTATES, "separate names by commas, as in `mutates=a,b`")
    return Directive(MUTATES, tuple(dict.fromkeys(items)), location, own_line)


def _ignore(rest: str, location: Location, own_line: bool) -> Directive | CommentProblem:
    if not rest.startswith("["):
        if _CODE_LIKE.match(rest):  # taken as a bare `ignore` it would silence more than was meant
            return CommentProblem("rule codes must stand in brackets", location, IGNORE, "write `ignore[TML201]`")
        return Directive(IGNORE, (), location, own_line)
    codes, closed, _ = rest[1:].partition("]")
    items = tuple(dict.fromkeys(code.strip() for code in codes.split(",") if code.strip()))
    if not closed or not items:
        what = "the list of rule codes is empty" if closed else "the list of rule codes is not closed"
        return CommentProblem(what, location, IGNORE, "write `ignore[TML201]`, or `ignore` for every rule")
    return Directive(IGNORE, items, location, own_line)


@dataclass(frozen=True)
class Suppression:
    """One comment: `codes` (empty: every rule) are not reported on lines `first` to `last`."""

    codes: tuple[str, ...]
    location: Location
    first: int
    last: int

    def covers(self, code: str, line: int) -> bool:
        """Whether a finding of rule `code` on `line` of the comment's file is suppressed."""
        return self.first <= line <= self.last and (not self.codes or code in self.codes)


@dataclass(frozen=True)
class Suppressions:
    """The suppressions of one file, and the comments that were meant as one."""

    items: tuple[Suppression, ...] = ()
    problems: tuple[CommentProblem, ...] = ()


def read_suppressions(source: SourceFile, known: Mapping[str, str]) -> Suppressions:
    """The suppressions in `source.text`; `known` maps the valid codes to their rules' names.

    A comment covers its own line, the statement whose first or last line it ends, and, on a line
    of its own, the statement directly below. In a function's header it covers the whole header.
    """
    comments = read_comments(source.text, source.display)
    problems = [p for p in comments.problems if p.directive == IGNORE]
    wanted = [d for d in comments.directives if d.kind == IGNORE]
    if not wanted:
        return Suppressions((), tuple(problems))
    spans = multi_line(tree_of(source))
    lines = source.text.split("\n")
    items: list[Suppression] = []
    for directive in wanted:
        problems += _unknown_codes(directive, known)
        codes = tuple(code for code in directive.items if code in known)
        if codes or not directive.items:
            first, last = _lines(directive, comments, spans, lines)
            items.append(Suppression(codes, directive.location, first, last))
    return Suppressions(tuple(items), tuple(problems))


def _lines(directive: Directive, comments: Comments, spans: list[Span], lines: list[str]) -> tuple[int, int]:
    line = directive.location.line
    if not directive.own_line:
        return covered(line, spans)
    target = line + 1
    while target in comments.comment_lines:
        target += 1
    if target > len(lines) or not lines[target - 1].strip():
        return line, line
    first, last = covered(target, spans)
    return min(line, first), last


def _unknown_codes(directive: Directive, known: Mapping[str, str]) -> list[CommentProblem]:
    found = []
    for item in directive.items:
        if item not in known:
            message = f"`{item}` is no rule, so nothing is suppressed by it"
            found.append(CommentProblem(message, directive.location, IGNORE, _meant(item, known)))
    return found


def _meant(item: str, known: Mapping[str, str]) -> str:
    meant = nearest_rule(item, known)
    code = next((code for code, name in known.items() if name == meant), meant)
    return f"did you mean `{code}`?" if code else "`triton-mutlint rules` lists the codes"


# --------------------------------------------------------------------------- which lines belong together


@dataclass(frozen=True)
class Span:
    """Lines `first` to `last`; a comment on one of `anchors` speaks for all of them."""

    first: int
    last: int
    anchors: frozenset[int]


def tree_of(source: SourceFile) -> ast.Module:
    """The syntax tree of a file, an empty one if it does not parse (the loader reports that)."""
    try:
        return source.tree
    except StageError:
        return ast.Module([], [])


def header(node: FunctionNode) -> Span:
    """From the first decorator to the line before the body (the `def` line, if the body is on it)."""
    first = first_line(node)
    last = max(node.lineno, node.body[0].lineno - 1)
    parts = [*ast.walk(node.args), *([node.returns] if node.returns else [])]
    signature_end = max([node.lineno, *(getattr(part, "end_lineno", None) or 0 for part in parts)])
    closing = min(signature_end + 1, last)  # where a `):` of its own stands
    return Span(first, last, frozenset({*range(first, node.lineno + 1), signature_end, closing}))


def functions(tree: ast.Module) -> list[FunctionNode]:
    """Every function in line order."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return sorted(found, key=lambda node: node.lineno)


def multi_line(tree: ast.Module) -> list[Span]:
    """The spans of more than one line, shortest first."""
    return sorted((s for s in _spans(tree) if s.last > s.first), key=lambda s: (s.last - s.first, s.first))


def _spans(tree: ast.Module) -> Iterator[Span]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield header(node)
        elif isinstance(node, ast.stmt):
            last = max(node.lineno, _last_line(node))
            yield Span(node.lineno, last, frozenset({node.lineno, last}))


def _last_line(node: ast.stmt) -> int:
    """Of a simple statement, its end; of a compound one, the line before what it holds."""
    if isinstance(node, ast.Match):
        return node.cases[0].pattern.lineno - 1
    body = getattr(node, "body", None)
    return body[0].lineno - 1 if body else node.end_lineno or node.lineno


def covered(line: int, spans: list[Span]) -> tuple[int, int]:
    """The lines that a comment at the end of `line` speaks for."""
    for span in spans:
        if line in span.anchors:
            return span.first, span.last
    return line, line
