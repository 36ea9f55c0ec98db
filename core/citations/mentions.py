"""Every way in which an answer cites, found with its place: marks, identifiers, addresses, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.citations.records_of import ARXIV, DOI, NCT, URL, RunRecords
from core.evidence.names import MONTHS
from core.records import CitationKind, Span
from core.text.citation_marks import of_line

HEADING = re.compile(
    r"^[ \t#*_]*(?:sources?|references?|citations?|bibliography|works cited|footnotes?|notes)[ \t:*_]*$",
    re.I | re.M,
)
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?(?:\[\^?(?P<bracketed>\w{1,12})\]:?|(?P<plain>\d{1,3})[.)]"
    r"|(?P<raised>[⁰¹²³⁴-⁹]+))[ \t]*(?P<what>\S.*)$",
    re.M,
)
_MARK = re.compile(r"\[(?P<ids>\^?\d{1,3}(?:\s?[,;–-]\s?\^?\d{1,3}){0,9})\](?!\()")
_FOOTNOTE = re.compile(r"\[\^(?P<id>\w{1,12})\]")
_POINTER = re.compile(r"\[(?P<ids>E\d{1,4}(?:\s?[,;]\s?E\d{1,4}){0,9})\](?!\()")
_RAISED = re.compile(r"(?P<id>[¹²³⁴-⁹⁰]+(?:[,˒][¹²³⁴-⁹⁰]+)*)")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_INDEXED = re.compile(r"(?:\b[A-Za-z]|\w*_\w*|`)\Z")  # x[1], rows_of[1]
_LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\[\]\n]{1,300})\]\((?P<url>[a-z][a-z0-9+.-]*:[^\s()]{3,2000})\)", re.I
)
_PMIDS = re.compile(
    r"\bPMIDs?\b[:#\s]*(?P<ids>\d{5,9}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*/\s*)\d{5,9})*)", re.I
)
# A number of seven digits and more alone in brackets, at the head of an item, or in a table's cell.
_BARE_ID = re.compile(
    r"(?:(?<=\()|(?<=\| )|(?<=\|)|(?:(?<=^)|(?<=\n))(?:[-*•–][ \t]+))(?P<id>\d{7,8})(?=\)|[ \t]*\||,|:)"
)
_PROVENANCE = re.compile(
    r"\b(?P<value>file:[^\s\"'`()\[\],]+:\d+|memory:[\w.-]+|git:[0-9a-f]{7,40}\b|web:https?://[^\s\"'`()\[\]]+)"
)
_PATH = re.compile(
    r"(?<![\w:/.])(?P<path>(?:~|[A-Za-z]:)?(?:/[\w@.+-]+){2,}\.[A-Za-z][A-Za-z0-9]{0,7})\b"
)
_NAMED = r"[A-Z][\w’'-]*[a-z][\w’'-]*"
_AUTHOR_YEAR = re.compile(
    rf"(?P<name>{_NAMED})(?P<others>,? et al\.?,?| (?:and|&) (?:{_NAMED}|colleagues))?,? "
    r"\(?(?P<year>(?:19|20)\d\d)[a-z]?\)?"
)
_TIMES = frozenset(
    "spring summer autumn fall winter since until before after in early late mid released published "
    "updated version edition".split()
) | frozenset(MONTHS)
_IDENTIFIER_HOSTS = (
    (
        re.compile(
            r"pubmed\.ncbi\.nlm\.nih\.gov/(?P<id>\d{5,9})|ncbi\.nlm\.nih\.gov/pubmed/(?P<old>\d{5,9})",
            re.I,
        ),
        CitationKind.PMID,
    ),
    (re.compile(r"(?:dx\.)?doi\.org/(?P<id>10\.\d{4,9}/.+)", re.I), CitationKind.DOI),
    (re.compile(r"clinicaltrials\.gov/.*?(?P<id>NCT\d{8})", re.I), CitationKind.NCT),
    (re.compile(r"arxiv\.org/(?:abs|pdf)/(?P<id>\d{4}\.\d{4,5})", re.I), CitationKind.ARXIV),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One citation as written: ``span`` is its mark in the answer, ``key`` what it names."""

    kind: CitationKind
    text: str
    key: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceList:
    """The entries of an answer's list of references by their label, and where its body ends."""

    entries: Mapping[str, str]
    body_end: int


def reference_list(answer: str) -> ReferenceList:
    """The answer's list of references, footnotes and ``[1]: …`` lines among them; empty when none."""
    heading = next(reversed(list(HEADING.finditer(answer))), None)
    start = heading.end() if heading else 0
    entries: dict[str, str] = {}
    first = len(answer)
    entries_from = _only_entries_from(answer)
    for entry in _ENTRY.finditer(answer, start):
        raised = (entry["raised"] or "").translate(_DIGITS)
        bracketed = entry["bracketed"]
        defines = heading or (
            bracketed and "]:" in entry.group()[: entry.start("what") - entry.start()]
        )
        last = bool(bracketed and entry.start() >= entries_from)
        label = bracketed if bracketed and (defines or last) else (raised or None)
        if heading and label is None:
            label = entry["plain"]
        if label is None:
            continue
        if bracketed and label.isdigit():
            for number, what in of_line(int(label), entry["what"]):
                entries.setdefault(str(number), what.strip())
        else:
            entries.setdefault(label, entry["what"].strip())
        first = min(first, entry.start())
    if not entries:
        return ReferenceList(entries={}, body_end=len(answer))
    return ReferenceList(
        entries=entries, body_end=min(first, heading.start()) if heading else first
    )


def _only_entries_from(answer: str) -> int:
    """From where on nothing but entries follows to the end of the answer."""
    start = len(answer)
    for line in reversed(answer.splitlines(keepends=True)):
        if line.strip() and not re.match(r"[ \t]*(?:[-*•][ \t]+)?\[\^?\w{1,12}\]", line):
            break
        start -= len(line)
    return start


def mentions_in(answer: str, run: RunRecords, listed: ReferenceList) -> tuple[Mention, ...]:
    """The citations of an answer's body in order; where two overlap, the more telling one is kept."""
    found: list[Mention] = []
    keys_at: dict[int, set[str]] = {}  # place in the answer → the keys of what was found there
    for mention in _all_mentions(answer, run, listed):
        places = range(mention.span.start, mention.span.end)
        there = set[str]().union(*(keys_at.get(place, ()) for place in places))
        grouped = mention.text.startswith("[") or mention.kind is CitationKind.PMID
        if mention.key not in there and (grouped or not there):
            found.append(mention)
            for place in places:
                keys_at.setdefault(place, set()).add(mention.key)
    return tuple(sorted(found, key=lambda one: (one.span.start, one.span.end, one.key)))


def _all_mentions(answer: str, run: RunRecords, listed: ReferenceList) -> Iterator[Mention]:
    """In the order in which one is preferred to another."""
    end = listed.body_end
    for link in _LINK.finditer(answer, 0, end):
        yield _of_url(
            link["url"], Span(start=link.start(), end=link.end()), CitationKind.LINK, link.group()
        )
    for found in _PROVENANCE.finditer(answer, 0, end):
        yield _mention(CitationKind.PROVENANCE, found["value"], found.span("value"), answer)
    for found in URL.finditer(answer, 0, end):
        url = found.group().rstrip(".,;:*_")
        span = Span(start=found.start(), end=found.start() + len(url))
        yield _of_url(url, span, CitationKind.URL, url)
    for found in _PATH.finditer(answer, 0, end):
        yield _mention(CitationKind.PATH, found["path"], found.span("path"), answer)
    for ids in _PMIDS.finditer(answer, 0, end):
        for number in re.finditer(r"\d{5,9}", ids["ids"]):
            at = ids.start("ids")
            yield _mention(
                CitationKind.PMID, number.group(), (at + number.start(), at + number.end()), answer
            )
    if run.pmids:
        for found in _BARE_ID.finditer(answer, 0, end):
            yield _mention(CitationKind.PMID, found["id"], found.span("id"), answer)
    for pattern, kind in (
        (DOI, CitationKind.DOI),
        (NCT, CitationKind.NCT),
        (ARXIV, CitationKind.ARXIV),
    ):
        for found in pattern.finditer(answer, 0, end):
            key = found["id"].rstrip(".,;:)*_")
            start = found.start("id")
            yield _mention(kind, key, (start, start + len(key)), answer)
    yield from _marks(answer, end, listed)
    yield from _author_years(answer, end, run)
    yield from _names(answer, end, run)


def _mention(kind: CitationKind, key: str, place: tuple[int, int], answer: str) -> Mention:
    span = Span(start=place[0], end=place[1])
    return Mention(kind=kind, text=span.cut(answer), key=key, span=span)


def _of_url(url: str, span: Span, kind: CitationKind, text: str) -> Mention:
    """An address, or the identifier that it is the address of."""
    for pattern, identified in _IDENTIFIER_HOSTS:
        match = pattern.search(url)
        if match:
            key = next(group for group in match.groups() if group)
            return Mention(kind=identified, text=text, key=key.rstrip("/"), span=span)
    return Mention(kind=kind, text=text, key=url, span=span)


def _marks(answer: str, end: int, listed: ReferenceList) -> Iterator[Mention]:
    for mark in _FOOTNOTE.finditer(answer, 0, end):
        if not _defines(answer, mark):
            yield _mention(CitationKind.FOOTNOTE, mark["id"], mark.span(), answer)
    for mark in _POINTER.finditer(answer, 0, end):
        for pointer in re.findall(r"E\d+", mark["ids"]):
            yield _mention(CitationKind.POINTER, pointer, mark.span(), answer)
    for mark in _MARK.finditer(answer, 0, end):
        numbers = _numbers(mark["ids"])
        indexed = _INDEXED.search(answer[max(0, mark.start() - 40) : mark.start()])
        label = _defines(answer, mark) or (not listed.entries and _opens_line(answer, mark.start()))
        if indexed is None and "0" not in numbers and not label:
            for number in numbers:
                yield _mention(CitationKind.NUMBER, number, mark.span(), answer)
    for mark in _RAISED.finditer(answer, 0, end):
        for number in re.split("[,˒]", mark["id"].translate(_DIGITS)):
            behind = answer[mark.start() - 1] in '.,;)”"'
            # Else it may be a unit: kg/m², 10³.
            if number in listed.entries or (listed.entries and (behind or int(number or 0) > 3)):
                yield _mention(CitationKind.SUPERSCRIPT, number, mark.span("id"), answer)


def _defines(answer: str, mark: re.Match[str]) -> bool:
    """Whether a mark says what it stands for: ``[1]: …`` at the head of a line."""
    start = answer.rfind("\n", 0, mark.start()) + 1
    return answer[mark.end() : mark.end() + 1] == ":" and not answer[start : mark.start()].strip()


def _opens_line(answer: str, start: int) -> bool:
    """Whether a mark opens its line: the label of an item, not a citation."""
    return not answer[answer.rfind("\n", 0, start) + 1 : start].strip(" \t-*•")


def _numbers(ids: str) -> list[str]:
    """The numbers of a mark, "2–4" and "[2-4]" as 2, 3, 4."""
    found: list[str] = []
    for part in re.split("[,;]", ids):
        ends = re.findall(r"\d+", part)
        first, last = int(ends[0]), int(ends[-1])
        found += [str(n) for n in range(first, last + 1)] if first <= last < first + 20 else ends
    return found


def _author_years(answer: str, end: int, run: RunRecords) -> Iterator[Mention]:
    for found in _AUTHOR_YEAR.finditer(answer, 0, end):
        name = found["name"]
        if name.lower() in _TIMES:
            continue
        # "(Berlin, 2018)" may be anything; with other authors, or a name that the run knows, it cites.
        bracketed = answer[found.start() - 1 : found.start()] == "(" or "(" in found.group()
        known = (
            any(name in record.text for record in run.records) and bracketed and not found["others"]
        )
        if found["others"] or (known and len(name) > 3 and "," in found.group()):
            lone = found.group().endswith(")") and "(" not in found.group()
            place = (found.start(), found.end() - lone)
            yield _mention(CitationKind.AUTHOR_YEAR, f"{name} {found['year']}", place, answer)


def _names(answer: str, end: int, run: RunRecords) -> Iterator[Mention]:
    """Tools and titles of the run that the answer names as they are written."""
    for tool in sorted({s.tool_name for s in run.sources if re.search(r"\w[_-]\w", s.tool_name)}):
        for found in re.finditer(rf"(?<![\w/-]){re.escape(tool)}(?![\w-])", answer[:end]):
            yield _mention(CitationKind.TOOL, tool, found.span(), answer)
    folded = answer[:end].lower()
    for title in sorted({r.title for r in run.records if len(r.title) >= 25}):
        words = r"\s+".join(re.escape(word) for word in title.split())
        for found in re.finditer(words, folded):
            # Few words in running text are a subject; set apart, or in full length, they are a title.
            apart = answer[found.start() - 1 : found.start()] in tuple("\"“*_‘'")
            if len(folded) == end and (apart or len(title.split()) >= 6):
                yield _mention(CitationKind.TITLE, title, found.span(), answer)
