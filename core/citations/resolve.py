"""Where a citation leads in the captured run: to records, to nothing, or to what cannot be seen here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.citations.mentions import Mention, ReferenceList, mentions_in
from core.citations.records_of import RunRecord, RunRecords
from core.records import Citation, CitationKind, CitationOutcome, Source
from core.text.citation_marks import order_doubt

_IDENTIFIERS = {
    CitationKind.PMID: "PMID",
    CitationKind.DOI: "DOI",
    CitationKind.NCT: "trial",
    CitationKind.ARXIV: "arXiv id",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The records that a citation names; without any, ``outcome`` and ``reason`` say why.

    ``acted`` marks what a call was asked with (a file that was written, a page that was opened):
    it exists, and what it says may not have been captured.
    """

    records: tuple[RunRecord, ...] = ()
    outcome: CitationOutcome | None = None
    reason: str = ""
    acted: bool = False


def resolve_mention(
    mention: Mention, run: RunRecords, listed: ReferenceList, answer: str, question: str = ""
) -> Resolution:
    """What one citation of an answer leads to."""
    kind, key = mention.kind, mention.key
    if kind in _IDENTIFIERS:
        return _identifier(kind, key, run, question)
    if kind in (CitationKind.URL, CitationKind.LINK):
        return _address(key, run)
    if kind is CitationKind.PATH:
        return _path(key, run, question)
    if kind is CitationKind.TOOL:
        sources = [s.source_id for s in run.sources if s.tool_name == key]
        # That a call gave nothing is often just what the answer says of it.
        return Resolution(
            records=run.of_sources(sources), acted=True, reason=f"{key} was called in this run"
        )
    if kind is CitationKind.TITLE:
        return _found(run.titled(key), "no record has this title")
    if kind is CitationKind.AUTHOR_YEAR:
        return _author_year(key, run)
    if kind is CitationKind.PROVENANCE:
        return _provenance(key, run, question)
    return _mark(mention, run, listed, answer, question)


def resolve_annotation(citation: Citation, run: RunRecords) -> Resolution:
    """What a citation that a provider annotated leads to."""
    if citation.source_id is not None and run.whole(citation.source_id) is not None:
        records = run.of_sources([citation.source_id])
        return _found(records, f"{citation.source_id} gave no evidence")
    if citation.url:
        return _address(citation.url, run)
    return _nothing("the annotation names no source of this run")


def _found(records: Sequence[RunRecord], otherwise: str) -> Resolution:
    if records:
        return Resolution(records=tuple(records))
    return _nothing(otherwise)


def _nothing(reason: str) -> Resolution:
    return Resolution(outcome=CitationOutcome.RESOLVES_TO_NOTHING, reason=reason)


def _identifier(kind: CitationKind, key: str, run: RunRecords, question: str) -> Resolution:
    records = run.with_id(key)
    if records:
        return Resolution(records=run.same_publication(records))
    if key in question or run.asked_for(key):
        return Resolution(acted=True, reason=f"{key} was asked for, and no output is of it")
    known = sorted(run.pmids) if kind is CitationKind.PMID else []
    held = f"; the run holds {', '.join(known[:6])}" if known else ""
    return _nothing(f"no source of this run has the {_IDENTIFIERS[kind]} {key}{held}")


def _address(url: str, run: RunRecords) -> Resolution:
    records = run.at_url(url)
    if records:
        return Resolution(records=records)
    if run.asked_for(url.rstrip("/")):
        return Resolution(acted=True, reason=f"{url} was opened, and its text was not captured")
    return Resolution(
        outcome=CitationOutcome.NOT_RESOLVABLE_HERE,
        reason=f"{url} was not captured with this run, so that what it says cannot be seen here",
    )


def _path(path: str, run: RunRecords, question: str) -> Resolution:
    records = tuple(record for record in run.records if path in record.text)
    asked = run.asked_for(path) or run.asked_for(path.rsplit("/", 1)[-1])
    if asked or path in question:
        return Resolution(
            records=run.of_sources([s.source_id for s in asked]) or records,
            acted=True,
            reason=f"{path} was asked for",
        )
    return _found(records, f"no call of this run names {path}")


def _author_year(key: str, run: RunRecords) -> Resolution:
    name, year = key.rsplit(" ", 1)
    written = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    named = tuple(record for record in run.records if written.search(record.text))
    dated = tuple(record for record in named if year in record.text)
    if named and not dated:
        years = sorted({y for r in named for y in re.findall(r"\b(?:19|20)\d\d\b", r.text)})
        if years and len(named) == 1:
            return _nothing(f"{name} is of {', '.join(years[:4])} here, not of {year}")
    return _found(dated or named, f"no source of this run names {name}")


def _provenance(key: str, run: RunRecords, question: str) -> Resolution:
    form, _, value = key.partition(":")
    if form == "web":
        return _address(value, run)
    if form == "file":
        return _path(value.rsplit(":", 1)[0], run, question)
    records = tuple(record for record in run.records if value in record.text)
    return _found(records, f"no source of this run holds the {form} {value}")


# -- marks -----------------------------------------------------------------------------------------


def _mark(
    mention: Mention, run: RunRecords, listed: ReferenceList, answer: str, question: str
) -> Resolution:
    """What ``[7]`` or ``¹`` stands for: its entry, the run's own number, or the n-th source."""
    if mention.key in listed.entries:
        return resolve_entry(mention.key, run, listed, question)
    if mention.kind is CitationKind.FOOTNOTE or (
        listed.entries and mention.kind is not CitationKind.POINTER
    ):
        return _nothing("it is not in the list of references, and no tool returned it")
    numbered = _own_number(mention.key, run)
    if numbered:
        return Resolution(records=numbered)
    return _counted(mention, run, answer)


def resolve_entry(
    label: str, run: RunRecords, listed: ReferenceList, question: str = ""
) -> Resolution:
    """Where an entry of a list of references leads: by its identifiers, then its words."""
    entry = listed.entries[label]
    named = [s.source_id for s in run.sources if len(s.source_id) > 3 and s.source_id in entry]
    if named:
        longest = max(named, key=len)  # "call_12" also holds "call_1"
        return _found(run.of_sources([longest]), f"{longest} gave no evidence")
    inner = mentions_in(entry, run, ReferenceList(entries={}, body_end=len(entry)))
    found = [
        resolve_mention(one, run, ReferenceList(entries={}, body_end=0), entry, question)
        for one in inner
        if one.kind not in (CitationKind.NUMBER, CitationKind.POINTER)
    ]
    for resolution in found:
        if resolution.records or resolution.acted:
            return resolution
    records = run.titled(_title_of(entry))
    if records:
        return Resolution(records=records)
    tools = {s.tool_name for s in run.sources if len(s.tool_name) > 3 and s.tool_name in entry}
    if len(tools) == 1:
        return _found(
            run.of_sources([s.source_id for s in run.sources if s.tool_name in tools]), ""
        )
    if found:
        return found[0]
    return _nothing(f"no source of this run is the reference {entry[:80]!r}")


def _title_of(entry: str) -> str:
    """The longest sentence of an entry: authors, journal and year stand in shorter ones."""
    parts = re.split(r"[.?!](?:\s|$)|[\"“”*]", entry)
    return max(parts, key=len).strip() if parts else entry


def _own_number(key: str, run: RunRecords) -> tuple[RunRecord, ...]:
    """The records of the one source that numbers its own lines with that mark."""
    label = re.compile(rf"(?:^|\n|(?<=[.;] ))[ \t]*\[{re.escape(key)}\]")
    holding = [record for record in run.records if label.search(record.text)]
    sources = {record.place.source_id for record in holding}
    return tuple(holding) if len(sources) == 1 else ()


def _counted(mention: Mention, run: RunRecords, answer: str) -> Resolution:
    """The n-th source or the n-th record, where the mark can only count these."""
    number = int(mention.key.lstrip("E"))
    usable = [source for source in run.sources if source.is_evidence]
    doubt = order_doubt(answer, run.sources)
    if mention.kind is CitationKind.NUMBER and doubt is None and number <= len(run.sources):
        return _found(run.of_sources([run.sources[number - 1].source_id]), "that call gave nothing")
    if mention.kind is CitationKind.POINTER and number <= len(usable):
        return _found(run.of_sources([usable[number - 1].source_id]), "")
    if number > max(len(run.sources), len(run.records), _highest_own_number(run.sources)):
        return _nothing(
            "there is no list of references, and no tool returned as many: the run has "
            f"{len(run.sources)} sources with {len(run.records)} records"
        )
    return Resolution(outcome=CitationOutcome.SILENT, reason=doubt or "the mark may count anything")


def _highest_own_number(sources: Sequence[Source]) -> int:
    """The highest label that any source gives its own lines."""
    labels = (
        int(number)
        for source in sources
        for number in re.findall(r"(?:^|\n)[ \t]*\[?(\d{1,3})[\].)]", source.text[:200_000])
    )
    return max(labels, default=0)
