"""Citation marks in an answer: markdown links, bare addresses in brackets, and ``[n]`` with its list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.records import Citation, Source, Span

_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]\n]{1,300})\]\((?P<url>[a-z][a-z0-9+.-]*:[^\s()]{3,2000})\)", re.I
)
_MARK = re.compile(r"\[(?P<numbers>\^?\d{1,3}(?:\s?[,;]\s?\^?\d{1,3}){0,9})\](?!\(|:)")
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?:\[\^?(?P<bracketed>\d{1,3})\]:?|(?P<plain>\d{1,3})[.)])"
    r"[ \t]+(?P<what>\S.*)$",
    re.M,
)
_HEADING = re.compile(
    r"^[ \t#*_]*(?:sources?|references?|citations?|bibliography|works cited)[ \t:*_]*$", re.I | re.M
)
_NEXT = re.compile(r"[ \t,;]*\[\^?(\d{1,3})\]:?[ \t]+(?=\S)")  # entries on one line
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s<>()\[\]]+[^\s<>()\[\].,;:]", re.I)
# What a source numbers itself: "[1] PMID …", "1. Title", "Result 1:".
_OWN_NUMBER = r"^[ \t]*(?:[\w ]{{0,20}}[ #])?\[?{0}[\].):]|\[{0}\]"
_INDEXED = re.compile(r"(?:\b[A-Za-z]|\w*_\w*|`)\Z")  # x[1], rows_of[1]
_SENTENCE_CHARACTERS = 2_000  # no sentence is looked for further back
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|\n+")


def citations_in(answer: str | None, sources: Sequence[Source]) -> tuple[Citation, ...]:
    """The citations that the answer's own marks make; each covers the sentence that its mark closes.

    A mark whose source is not in the trace keeps ``source_id`` None, and so does a number without a
    list of references, unless ``order_doubt`` finds that it can only count the sources.
    """
    if not answer or "[" not in answer:
        return ()
    listed, body_end = references(answer)
    marks = (
        _marks(answer, body_end, listed, sources)
        if listed
        else _counting(answer, sources, order_doubt(answer, sources))
    )
    found = [*_links(answer, body_end, sources), *marks]
    return tuple(
        sorted(found, key=lambda citation: (citation.span.start, citation.span.end, citation.text))
    )


def references(answer: str) -> tuple[Mapping[int, str], int]:
    """What each number of an answer's list of references stands for, and where the list begins.

    No entries and the answer's end where there is no list. Entries may share a line:
    ``[1] chart, [2] registry entry``.
    """
    heading = next(reversed(list(_HEADING.finditer(answer))), None)
    start = heading.end() if heading else 0
    entries: dict[int, str] = {}
    first = len(answer)
    for entry in _ENTRY.finditer(answer, start):
        number = entry["bracketed"] or (entry["plain"] if heading else None)
        if number is None:
            continue
        for label, what in of_line(int(number), entry["what"]):
            entries.setdefault(label, what)
        first = min(first, entry.start())
    if not entries:
        return {}, len(answer)
    return entries, heading.start() if heading else first


def of_line(number: int, what: str) -> Iterator[tuple[int, str]]:
    """The entries of one line of a list of references: those behind the first count on from it."""
    at = 0
    for following in _NEXT.finditer(what):
        if int(following[1]) != number + 1:
            break
        yield number, what[at : following.start()]
        number, at = number + 1, following.end()
    yield number, what[at:]


def _links(answer: str, end: int, sources: Sequence[Source]) -> Iterator[Citation]:
    for link in _LINK.finditer(answer, 0, end):
        url = link["url"]
        yield Citation(
            span=covered(answer, link.start(), link.end()),
            text=link["text"],
            source_id=source_named(url, sources),
            url=url,
        )


def _marks(
    answer: str, end: int, listed: Mapping[int, str], sources: Sequence[Source]
) -> Iterator[Citation]:
    for mark in _MARK.finditer(answer, 0, end):
        span = covered(answer, mark.start(), mark.end())
        for number in re.findall(r"\d+", mark["numbers"]):
            entry = listed.get(int(number))
            if entry is None:
                continue
            url = _URL.search(entry)
            yield Citation(
                span=span,
                text=f"[{number}]",
                source_id=(source_named(url[0], sources) if url else None)
                or _source_in(entry, sources),
                url=url[0] if url else None,
            )


def order_doubt(answer: str | None, sources: Sequence[Source]) -> str | None:
    """Why ``[n]`` without a list of references cannot be read as the n-th source; None when it can."""
    numbers = {number for mark in _bare_marks(answer or "") for number in _numbers(mark)}
    if not numbers or references(answer or "")[0]:
        return None
    marks = ", ".join(f"[{number}]" for number in sorted(numbers))
    opening = f"no list of references says what {marks} stand for, and "
    if max(numbers) > len(sources) or numbers != set(range(1, max(numbers) + 1)):
        return opening + f"they do not count the {len(sources)} sources"
    unusable = [source.source_id for source in sources if not source.is_evidence]
    if unusable:
        return opening + f"{unusable[0]} gave no evidence, so that it may not have been counted"
    calls = {source.call_id or source.source_id for source in sources}
    if 1 < len(calls) < len(sources):
        return opening + "they may count the calls or the sources that one call gave"
    for source in sources:
        own = any(re.search(_OWN_NUMBER.format(number), source.text, re.M) for number in numbers)
        if own or (source.structured and "\n\n" in source.text):
            return opening + f"they may count what {source.source_id} lists"
    return None


def _counting(answer: str, sources: Sequence[Source], doubt: str | None) -> Iterator[Citation]:
    """Marks that count the sources, in the order in which the tools gave them."""
    for mark in _bare_marks(answer):
        for number in _numbers(mark):
            yield Citation(
                span=covered(answer, mark.start(), mark.end()),
                text=f"[{number}]",
                source_id=sources[number - 1].source_id if doubt is None else None,
            )


def _bare_marks(answer: str) -> list[re.Match[str]]:
    """Numbers in brackets that cite: not an index behind a name, and not zero."""
    return [
        mark
        for mark in _MARK.finditer(answer)
        if 0 not in _numbers(mark)
        and not _INDEXED.search(answer[max(0, mark.start() - 40) : mark.start()])
    ]


def _numbers(mark: re.Match[str]) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", mark["numbers"])]


def covered(answer: str, start: int, end: int) -> Span:
    """The sentence that a mark stands in or closes, up to the end of the mark."""
    back = max(0, start - _SENTENCE_CHARACTERS)
    before = answer[back:start].rstrip(" \t")
    while re.search(r"\[[^\[\]\n]{1,40}\]$", before):  # marks in a row close the same sentence
        before = before[: before.rindex("[")].rstrip(" \t")
    closing = re.search(r"[.!?…][\"'”’)\]]*$", before)
    searched = before[: closing.start()] if closing else before
    begin = max((found.end() for found in _SENTENCE_END.finditer(searched)), default=0)
    return Span(start=back + begin, end=end)


def source_named(url: str, sources: Sequence[Source]) -> str | None:
    """The source at that address, or the only one whose text or arguments name it."""
    plain = url.rstrip("/")
    for source in sources:
        if source.uri and source.uri.rstrip("/") == plain:
            return source.source_id
    naming = [s for s in sources if plain in s.text or (s.arguments and plain in s.arguments)]
    return naming[0].source_id if len(naming) == 1 else None


def _source_in(entry: str, sources: Sequence[Source]) -> str | None:
    """The only source that an entry names by its id, its title or its tool."""
    for names in (
        [(s.source_id, s.source_id) for s in sources],
        [(str(s.extra["title"]), s.source_id) for s in sources if s.extra.get("title")],
        [(s.tool_name, s.source_id) for s in sources],
    ):
        hits = {source_id for name, source_id in names if len(name) > 3 and name in entry}
        if len(hits) == 1:
            return hits.pop()
    return None
