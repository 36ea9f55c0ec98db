"""Provenance values to places: ``file:path:line``, ``memory:id``, ``git:sha``, ``web:url`` (003)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.citations.records_of import plain_url
from core.records import Source

_FORMS = {
    "file": re.compile(r"file:(?P<path>.+):(?P<line>\d+)(?:-(?P<last>\d+))?"),
    "memory": re.compile(r"memory:(?P<id>\S+)"),
    "git": re.compile(r"git:(?P<sha>[0-9a-fA-F]{7,64})"),
    "web": re.compile(r"web:(?P<url>https?://[^\s/]+\.?[^\s]*)"),
    "guess": re.compile(r"guess", re.I),
}
# A file captured with its lines numbered: "42: text", "  42\ttext", "42→text".
_NUMBERED = re.compile(r"^[ \t]*(?P<line>\d+)[ \t]*(?::|\t|→|\|)[ \t]?(?P<text>.*)$", re.M)
_NEAR = 2  # lines around the cited one in which a longer excerpt may stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a provenance value leads: the captured source or the store, and the line there."""

    holder: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a resolver found: ``text`` None when nothing, ``elsewhere`` when that cannot be seen here."""

    text: str | None
    reason: str
    place: Place | None = None
    elsewhere: bool = False


Resolver = Callable[[str], Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What can be looked into besides the captured run; None means that there is no such store here.

    ``file`` gives a file's text, ``commit`` a commit's message and changes; both None when missing.
    """

    file: Callable[[str], str | None] | None = None
    commit: Callable[[str], str | None] | None = None
    memories: Mapping[str, str] | None = None


def provenance_form(value: str) -> str | None:
    """Which of the five forms a provenance value has; None when it has none."""
    text = value.strip()
    return next((name for name, form in _FORMS.items() if form.fullmatch(text)), None)


def resolver_of(sources: Sequence[Source] = (), stores: Stores | None = None) -> Resolver:
    """A resolver over captured sources and the stores that are here."""
    here = stores or Stores()

    def resolve(value: str) -> Found:
        text = value.strip()
        form = provenance_form(text)
        match = _FORMS[form].fullmatch(text) if form else None
        if match is None or form == "guess":
            return Found(text=None, reason="no place is named")
        if form == "file":
            last = int(match["last"] or match["line"])
            return _file(match["path"], int(match["line"]), last, sources, here)
        if form == "memory":
            return _memory(match["id"], sources, here)
        if form == "git":
            return _commit(match["sha"], sources, here)
        return _page(match["url"], sources)

    return resolve


def _file(path: str, line: int, last: int, sources: Sequence[Source], stores: Stores) -> Found:
    captured = next((s for s in sources if s.is_evidence and _holds_file(s, path)), None)
    if captured is not None:
        return _line_of(captured.text, path, line, last, captured.source_id)
    text = stores.file(path) if stores.file else None
    if text is not None:
        return _line_of(text, path, line, last, path)
    if stores.file is None and not sources:
        return Found(text=None, reason=f"no files were captured to find {path} in", elsewhere=True)
    return Found(text=None, reason=f"there is no {path} here")


def _holds_file(source: Source, path: str) -> bool:
    """Whether a call read that file: its address or its arguments name the path."""
    if source.uri and source.uri.removeprefix("file://").endswith(path):
        return True
    return re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", source.arguments or "") is not None


def _line_of(text: str, path: str, line: int, last: int, holder: str) -> Found:
    numbered = {int(m["line"]): m["text"] for m in _NUMBERED.finditer(text)}
    plain = dict(enumerate(text.splitlines(), start=1))
    lines = numbered if len(numbered) * 2 > len(plain) else plain
    if line not in lines:
        ends = f"{min(lines)}-{max(lines)}" if lines else "no lines"
        return Found(text=None, reason=f"{path} has {ends}, not line {line}")
    window = [lines[n] for n in range(line, max(last, line) + _NEAR + 1) if n in lines]
    place = Place(holder=holder, line=line)
    return Found(text="\n".join(window), reason=f"{path} has line {line}", place=place)


def _memory(identifier: str, sources: Sequence[Source], stores: Stores) -> Found:
    if stores.memories is not None:
        text = stores.memories.get(identifier)
        if text is None:
            return Found(text=None, reason=f"the store has no memory {identifier}")
        return Found(
            text=text, reason="the store has it", place=Place(holder=f"memory:{identifier}")
        )
    return _captured(identifier, "memory", sources)


def _commit(sha: str, sources: Sequence[Source], stores: Stores) -> Found:
    if stores.commit is not None:
        text = stores.commit(sha)
        if text is None:
            return Found(text=None, reason=f"the repository has no commit {sha}")
        return Found(text=text, reason="the repository has it", place=Place(holder=f"git:{sha}"))
    return _captured(sha, "commit", sources)


def _page(url: str, sources: Sequence[Source]) -> Found:
    plain = plain_url(url)
    for source in sources:
        named = (source.uri and plain_url(source.uri) == plain) or plain in plain_url(
            source.arguments or ""
        )
        if named and source.is_evidence:
            place = Place(holder=source.source_id)
            return Found(text=source.text, reason="the page was captured", place=place)
    return Found(text=None, reason=f"{url} was not captured with this run", elsewhere=True)


def _captured(identifier: str, kind: str, sources: Sequence[Source]) -> Found:
    whole = re.compile(rf"(?<![\w-]){re.escape(identifier)}")
    for source in sources:
        if source.is_evidence and (
            (kind == "memory" and source.source_id == identifier)
            or whole.search(source.text)
            or whole.search(source.arguments or "")
        ):
            place = Place(holder=source.source_id)
            return Found(text=source.text, reason=f"the {kind} was captured", place=place)
    if not sources:
        return Found(text=None, reason=f"there is no {kind} store here", elsewhere=True)
    return Found(text=None, reason=f"no source of this run holds the {kind} {identifier}")
