"""How an answer would cite another record of the run in the style that it cites in already."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from core.citations.mentions import Mention
from core.citations.records_of import URL, RunRecord, RunRecords
from core.records import CitationKind

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_GROUPED = frozenset({CitationKind.NUMBER, CitationKind.POINTER})
_ID_FORMS: Mapping[CitationKind, tuple[str, Callable[[str], str]]] = {
    CitationKind.PMID: (r"\d{5,9}", str),
    CitationKind.DOI: (r"10\.\d{4,9}/\S+", str),
    CitationKind.NCT: (r"nct\d{8}", str.upper),
    CitationKind.ARXIV: (r"\d{4}\.\d{4,5}", str),
}


def mark_of(
    record: RunRecord | None,
    mention: Mention,
    run: RunRecords,
    entries: Mapping[str, tuple[RunRecord, ...]],
) -> str | None:
    """The mark that cites ``record`` where ``mention`` stands; None when the style has none for it.

    ``entries`` are the records that each entry of the answer's list of references leads to. One of
    several numbers in a mark that has no other record to cite, or one that stands there already, is
    left out.
    """
    wanted = _name_of(record, mention, run, entries) if record is not None else None
    numbers = re.findall(r"E?\d+", mention.text) if mention.kind in _GROUPED else []
    if len(numbers) > 1 and (wanted is None or wanted in numbers):
        left = [one for one in numbers if one != mention.key]
        return f"[{', '.join(left)}]" if len(left) < len(numbers) else None
    key, text = mention.key, mention.text
    if mention.kind is CitationKind.SUPERSCRIPT:
        key = key.translate(_RAISED)
    if wanted is None or text.count(key) != 1:
        return None
    return text.replace(key, wanted)


def _name_of(
    record: RunRecord,
    mention: Mention,
    run: RunRecords,
    entries: Mapping[str, tuple[RunRecord, ...]],
) -> str | None:
    kind = mention.kind
    if kind in _ID_FORMS:
        form, written = _ID_FORMS[kind]
        ids = sorted(one for one in record.ids if re.fullmatch(form, one))
        return written(ids[0]) if ids else None
    if kind in (CitationKind.URL, CitationKind.LINK):
        return _address_of(record, run)
    if kind is CitationKind.POINTER and not entries:
        usable = [source.source_id for source in run.sources if source.is_evidence]
        return f"E{usable.index(record.place.source_id) + 1}"
    if kind in (CitationKind.NUMBER, CitationKind.SUPERSCRIPT, CitationKind.FOOTNOTE):
        label = _label_of(record, entries)
        if label is not None and kind is CitationKind.SUPERSCRIPT:
            return label.translate(_RAISED)
        return label
    return None


def _label_of(record: RunRecord, entries: Mapping[str, tuple[RunRecord, ...]]) -> str | None:
    """The one entry that leads to the record; where several do, the one that leads to least else."""
    holding = [
        (len(records), label)
        for label, records in entries.items()
        if any(one is record or (one.ids & record.ids) for one in records)
    ]
    if not holding:
        return None
    least = min(count for count, _ in holding)
    labels = [label for count, label in holding if count == least]
    return labels[0] if len(labels) == 1 else None


def _address_of(record: RunRecord, run: RunRecords) -> str | None:
    """The address that a record was fetched from, or the only one that it holds."""
    source = run.whole(record.place.source_id)
    if source is not None and source.uri and source.uri.startswith("http"):
        return source.uri
    held = {match.group().rstrip(".,;:*_") for match in URL.finditer(record.text)}
    return held.pop() if len(held) == 1 else None
