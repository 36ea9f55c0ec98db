"""Which one source of a trace an attribution cue names: by record id, file, title or person (III.6).

Two papers are one family and two sources. Where the answer says which of them it means ("PMID
30415637", "sales_2023.csv", "Ms. Okoro's chart"), the source is compared, not only its family.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.evidence.names import recorded_names
from core.records import Source

_SEARCHED = 200_000  # characters of a source in which an id or title is looked for
_RECORD_ID = re.compile(
    r"\bNCT\d{8}\b|\b10\.\d{4,9}/[^\s\"<>()\[\]]{3,80}|\bPMC\d{5,8}\b|(?i:\bPMID:?\s*)(?P<pmid>\d{5,8})"
)
_FILE = re.compile(
    r"(?:[\w.-]*/)*[\w-]+(?:\.[\w-]+)*\.(?:csv|tsv|xlsx?|json|ya?ml|md|txt|pdf|docx?|pptx?|html?|py|js|"
    r"sql|log|parquet|toml|ini|cfg|xml)\b",
    re.IGNORECASE,
)
_TICKET = re.compile(r"(?<![\w#])#(?P<number>\d{1,7})\b")
_TITLE = re.compile(r"[\"“](?P<title>[^\"“”]{12,300})[\"”]")
_PERSON = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+)?(?P<name>[A-Z][\w’-]+(?:\s[A-Z][\w’-]+){0,2})(?=['’]s?\s)"
)


class NamedSources:
    """The ids, files, titles and people that the sources of one trace hold, each looked up once."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = [source for source in sources if source.is_evidence]
        self._texts: dict[str, str] = {}
        self._people: dict[str, tuple[str, ...]] = {}

    def meant(self, cue: str) -> tuple[str, ...]:
        """The sources that the words of a cue name, in trace order; none when they name none.

        Naming every source says nothing about which is meant, so that gives none as well.
        """
        for holds in self._questions(cue):
            holders = tuple(source.source_id for source in self._sources if holds(source))
            if holders:
                return holders if len(holders) < len(self._sources) else ()
        return ()

    def _questions(self, cue: str) -> list[Callable[[Source], bool]]:
        """What to ask of each source, most telling first."""
        questions: list[Callable[[Source], bool]] = []
        for match in _RECORD_ID.finditer(cue):
            questions.append(self._writes(match.group("pmid") or match.group().rstrip(".,;")))
        for match in _TICKET.finditer(cue):
            questions.append(self._was_asked_for_number(match.group("number")))
        for match in _FILE.finditer(cue):
            questions += [self._was_asked_for(match.group()), self._writes(match.group())]
        for match in _TITLE.finditer(cue):
            questions.append(self._writes(match.group("title").rstrip(" .,")))
        for match in _PERSON.finditer(cue):
            questions.append(self._is_record_of(match.group("name")))
        return questions

    def _writes(self, wanted: str) -> Callable[[Source], bool]:
        pattern = re.compile(rf"(?<![\w.-]){re.escape(wanted)}(?![\w-])", re.IGNORECASE)
        return lambda source: pattern.search(self._text(source)) is not None

    def _was_asked_for(self, name: str) -> Callable[[Source], bool]:
        wanted = name.casefold()
        return lambda source: wanted in (source.arguments or "").casefold()

    def _was_asked_for_number(self, number: str) -> Callable[[Source], bool]:
        wanted = re.compile(rf"(?<![\w.]){number}(?![\w.])")
        return lambda source: wanted.search(source.arguments or "") is not None

    def _is_record_of(self, name: str) -> Callable[[Source], bool]:
        """Whether a source's record is this person's, or nobody's in particular.

        A list of conditions often leaves the name to the call that found the patient; only a record
        that names somebody else is another's.
        """
        words = frozenset(name.casefold().split())
        known = any(self._names(source, words) for source in self._sources)
        return lambda source: known and (self._names(source, words) or not self._recorded(source))

    def _names(self, source: Source, words: frozenset[str]) -> bool:
        return any(
            words <= frozenset(person.casefold().split()) for person in self._recorded(source)
        )

    def _recorded(self, source: Source) -> tuple[str, ...]:
        if source.source_id not in self._people:
            self._people[source.source_id] = recorded_names(source.text)
        return self._people[source.source_id]

    def _text(self, source: Source) -> str:
        if source.source_id not in self._texts:
            parts = (source.uri or "", source.arguments or "", source.text[:_SEARCHED])
            self._texts[source.source_id] = "\n".join(parts)
        return self._texts[source.source_id]
