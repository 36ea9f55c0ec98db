"""What an answer cites, where that leads, and whether the place says what it is cited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.records.basics import Span


class CitationKind(StrEnum):
    """How an answer names what it cites."""

    NUMBER = "number"
    SUPERSCRIPT = "superscript"
    FOOTNOTE = "footnote"
    POINTER = "pointer"
    PMID = "pmid"
    DOI = "doi"
    NCT = "nct"
    ARXIV = "arxiv"
    URL = "url"
    LINK = "link"
    PATH = "path"
    TOOL = "tool"
    TITLE = "title"
    AUTHOR_YEAR = "author_year"
    PROVENANCE = "provenance"
    ANNOTATION = "annotation"


class CitationOutcome(StrEnum):
    """What became of a citation; the second and the fourth block."""

    SAYS_IT = "says_it"
    SAYS_OTHERWISE = "says_otherwise"
    SILENT = "silent"
    RESOLVES_TO_NOTHING = "resolves_to_nothing"
    NOT_RESOLVABLE_HERE = "not_resolvable_here"

    @property
    def blocks(self) -> bool:
        """Whether a claim that is cited so may not pass."""
        return self in (CitationOutcome.SAYS_OTHERWISE, CitationOutcome.RESOLVES_TO_NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPlace:
    """A place of the captured run: a range of a source's text, or with ``span`` None the whole source."""

    source_id: str
    span: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationFinding:
    """One citation of an answer; ``span`` is its mark and ``covers`` what it is cited for, both in it.

    ``better`` is a place of the run that says what is cited, where the cited place does not, and
    ``instead`` what the mark would have to be in the same style; None where there is no such mark.
    """

    text: str
    span: Span
    covers: Span
    kind: CitationKind
    resolves_to: CitedPlace | None = None
    outcome: CitationOutcome
    reason: str
    better: CitedPlace | None = None
    instead: str | None = None
