"""`# triton-mutlint:` comments: finding them and reading what they say.

    # triton-mutlint: mutates=out_ptr, state.x       declares (no names: nothing is written)
    # triton-mutlint: ignore[TML201,TML202] reason   suppresses these rules
    # triton-mutlint: ignore reason                  suppresses every rule

Comments are taken from Python's tokens, so a string that holds the same text is not one.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from triton_mutlint.basics import byte_column, nearest
from triton_mutlint.types import Location

MARK = "triton-mutlint:"
MUTATES, IGNORE = "mutates", "ignore"
_DIRECTIVE = re.compile(r"#+\s*triton-mutlint:")
_MENTIONS = ("mutlint", "Mutlint", "MUTLINT")
_NEARLY = re.compile(  # what is meant as a directive and would be passed over
    r"#+\s*triton[-_ ]?mutlint(?:\s*:|\s+(?=mutates\s*=|ignore\[))", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z_-]*")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_CODE_LIKE = re.compile(r"[\s=:({]*TML\d", re.IGNORECASE)


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
            return CommentProblem("rule codes stand in brackets", location, IGNORE, "write `ignore[TML201]`")
        return Directive(IGNORE, (), location, own_line)
    codes, closed, _ = rest[1:].partition("]")
    items = tuple(dict.fromkeys(code.strip() for code in codes.split(",") if code.strip()))
    if not closed or not items:
        what = "the list of rule codes is empty" if closed else "the list of rule codes is not closed"
        return CommentProblem(what, location, IGNORE, "write `ignore[TML201]`, or `ignore` for every rule")
    return Directive(IGNORE, items, location, own_line)
