"""The records that a captured run holds: publications, search hits, files, whole outputs, and their ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.citations.normal import norm_v1, trimmed
from core.evidence.fact_index import is_catalogue
from core.records import CitedPlace, Source, Span
from core.text.tokens import content_terms

PMID = re.compile(r"\bPMIDs?\b[\"'*`]*\s*[:#=]?\s*[\"'*`]*(?P<id>\d{5,9})\b", re.I)
DOI = re.compile(r"\b(?P<id>10\.\d{4,9}/[^\s\"'<>|{}\[\]`]+)", re.I)
NCT = re.compile(r"\b(?P<id>NCT\d{8})\b", re.I)
ARXIV = re.compile(
    r"(?:\barxiv[:\s]*(?:\.org/(?:abs|pdf)/)?|[(\[\"'])(?P<id>\d{4}\.\d{4,5})(?:v\d+)?(?![\d.]\d)",
    re.I,
)
URL = re.compile(r"https?://[^\s<>()\[\]\"'`|{}\\]+(?:\([^\s()]*\)[^\s<>()\[\]\"'`|{}\\]*)*", re.I)
# A field that says which record this is; the first that repeats opens each record of an output.
_IDENTITY = re.compile(
    r"(?:^|[\n{,])[ \t]*(?:[-*•#]+[ \t]*)?[\"'*]*(?:[\w\[\]]+\.)*"
    r"(?P<key>pmid|doi|nct_?id|arxiv_?id|paper_?id|title|url|link|uri|source|id)[\"'*]*\s*[:=]\s*",
    re.I,
)
_TITLE = re.compile(r"\btitle[\"'*]*\s*[:=]\s*[\"'*]*(?P<title>[^\n\"]{12,300})", re.I)
_SEARCHED = 400_000  # characters of a source in which records are looked for
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]{2,}")
_JOINED = re.compile(r"[A-Za-z]+(?:(?<=[a-z])[A-Z][a-z]+|_[A-Za-z]+)+")
_INNER = re.compile(r"(?<=[a-z])(?=[A-Z])|_")
_PASSAGE = 1_200  # characters that a record is read at a time
_RECORDS = 400  # records of one source; an output that lists more is read whole


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One record of a source: the range ``place`` of its text, its own ids, its title.

    ``arguments`` are those of the call that gave it. ``lists_tools`` is set for a catalogue of
    tools, whose schemas say something of tools alone. Words are read when a citation needs them.
    """

    place: CitedPlace
    text: str
    ids: frozenset[str]
    title: str
    arguments: str
    lists_tools: bool

    @cached_property
    def terms(self) -> frozenset[str]:
        """The terms of its text."""
        return run_terms(self.searched)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The terms of what was asked for."""
        return run_terms(self.arguments)

    @cached_property
    def passages(self) -> tuple[frozenset[str], ...]:
        """The terms of each stretch that is read at a time."""
        return tuple(run_terms(part) for part in self.passage_texts)

    @cached_property
    def searched(self) -> str:
        """The part of its text that is read."""
        return self.text[:_SEARCHED]

    @property
    def cut(self) -> bool:
        """Whether there is more of it than is read."""
        return len(self.text) > _SEARCHED

    @cached_property
    def passage_texts(self) -> tuple[str, ...]:
        """The stretches that it is read by."""
        return tuple(_passages(self.searched))


class RunRecords:
    """The records of one run, looked up by what an answer may call them."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)
        self.records = tuple(
            record for source in sources if source.is_evidence for record in _records(source)
        )
        self._named = {source.source_id: source for source in sources}

    @cached_property
    def pmids(self) -> frozenset[str]:
        """The PMIDs that the run's records call their own."""
        return frozenset(one for record in self.records for one in record.ids if one.isdigit())

    def with_id(self, identifier: str) -> tuple[RunRecord, ...]:
        """The records that are of that id, else those that mention it; in trace order."""
        wanted = identifier.casefold()
        own = tuple(record for record in self.records if wanted in record.ids)
        if own:
            return own
        whole = re.compile(rf"(?<![\w.]){re.escape(identifier)}(?![\w]|\.\d)", re.I)
        return tuple(record for record in self.records if whole.search(record.text))

    def at_url(self, url: str) -> tuple[RunRecord, ...]:
        """The records of that address: of a source fetched from it, or that hold it."""
        plain = plain_url(url)
        own = [s.source_id for s in self.sources if s.uri and plain_url(s.uri) == plain]
        found = self.of_sources(own)
        return found or tuple(r for r in self.records if plain in plain_url(r.text))

    def asked_for(self, text: str) -> tuple[Source, ...]:
        """The calls whose arguments hold ``text``."""
        return tuple(s for s in self.sources if s.arguments and text in s.arguments)

    def of_sources(self, source_ids: Sequence[str]) -> tuple[RunRecord, ...]:
        """The records of these sources."""
        wanted = frozenset(source_ids)
        return tuple(r for r in self.records if r.place.source_id in wanted)

    def titled(self, text: str) -> tuple[RunRecord, ...]:
        """The records whose title ``text`` holds, or whose title holds it; longest titles first."""
        plain = norm_v1(text)
        found = [
            record
            for record in self.records
            if record.title
            and (record.title in plain or (len(plain) >= 20 and plain in record.title))
        ]
        return tuple(sorted(found, key=lambda record: -len(record.title)))

    def whole(self, source_id: str) -> Source | None:
        """The source of that id."""
        return self._named.get(source_id)

    def same_publication(self, records: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
        """These records and all others that share an id with them."""
        ids = frozenset(one for record in records for one in record.ids)
        return tuple(r for r in self.records if r in records or (ids & r.ids))


def run_terms(text: str) -> frozenset[str]:
    """The content terms of a text, its numbers without their units, and pairs of CJK characters."""
    numbers = (match.group().replace(",", "") for match in _NUMBER.finditer(text))
    pairs = (run[i : i + 2] for run in _CJK.findall(text) for i in range(len(run) - 1))
    plain = (number.rstrip("0").rstrip(".") if "." in number else number for number in numbers)
    # "profitMargins" and "file_size" are read as their words too.
    inner = _INNER.sub(" ", " ".join(_JOINED.findall(text)))
    return content_terms(text) | content_terms(inner) | frozenset(plain) | frozenset(pairs)


def plain_url(text: str) -> str:
    """Addresses in lower case, without scheme, ``www.`` and closing slash."""
    plain = re.sub(r"https?://(?:www\.)?", "", text.casefold())
    return plain.rstrip("/.,;:")


def _records(source: Source) -> Iterator[RunRecord]:
    text = source.text[:_SEARCHED]
    cuts = _record_starts(text)
    if not cuts or len(cuts) > _RECORDS:
        yield _record(source, Span(start=0, end=len(source.text)))
        return
    if cuts[0] > 0 and text[: cuts[0]].strip():
        yield _record(source, trimmed(text, 0, cuts[0]), own=False)
    for start, end in zip(cuts, [*cuts[1:], len(source.text)], strict=True):
        yield _record(source, trimmed(source.text, start, end))


def _record_starts(text: str) -> list[int]:
    """Where the records of an output begin; nothing when it is one record."""
    found = [
        (match["key"].lower().replace("_", ""), match.start("key"))
        for match in _IDENTITY.finditer(text)
    ]
    counts = Counter(key for key, _ in found)
    # An id alone opens anything (a nested object, a row); it is taken when nothing else repeats.
    keys = [key for key, _ in found if counts[key] > 1 and key not in ("id", "source")]
    keys = keys or [key for key, _ in found if counts[key] > 1]
    if not keys:
        return []
    head = keys[0]
    return [_line_start(text, place) for key, place in found if key == head]


def _line_start(text: str, place: int) -> int:
    start = max(text.rfind("\n", 0, place), text.rfind("{", 0, place)) + 1
    return start if place - start < 80 else place


def _record(source: Source, span: Span, own: bool = True) -> RunRecord:
    text = span.cut(source.text)
    title = _TITLE.search(text)
    named = str(source.extra.get("title") or "") if source.extra else ""
    return RunRecord(
        place=CitedPlace(source_id=source.source_id, span=span),
        text=text,
        ids=_own_ids(text) if own else frozenset(),
        title=norm_v1((title["title"] if title else named).strip(" .*\"',")),
        arguments=source.arguments or "",
        lists_tools=is_catalogue(source),
    )


def _passages(text: str) -> Iterator[str]:
    """Overlapping stretches of a text, cut at white space; a short text is one."""
    start = 0
    while True:
        end = min(len(text), start + _PASSAGE)
        yield text[start:end]
        if end == len(text):
            return
        start = text.rfind(" ", start, end - _PASSAGE // 3) + 1 or end - _PASSAGE // 3


def _own_ids(text: str) -> frozenset[str]:
    """The ids that a record gives as its own: in its first fields, not somewhere in its prose."""
    found: set[str] = set()
    for match in (*PMID.finditer(text), *_LABELLED.finditer(text)):
        found.add(match["id"].casefold().rstrip(".,;)"))
        if len(found) > 8:
            break
    return frozenset(found)


_LABELLED = re.compile(
    r"(?:doi|nct_?id|arxiv_?id|paper_?id|entry_?id)[\"'*]*\s*[:=]\s*[\"'*]*"
    r"(?:https?://(?:dx\.)?doi\.org/|https?://arxiv\.org/(?:abs|pdf)/)?"
    r"(?P<id>10\.\d{4,9}/[^\s\"'<>]+|NCT\d{8}|\d{4}\.\d{4,5})",
    re.I,
)
