"""Claims that something is not on record: searched for in everything that was captured whole.

Supported when no record of the searched sources carries the words, contradicted when one is named
by them, silent when an output was cut or when the words are only part of what a record says. Where
the last word of what is denied names a sort of entry ("drug allergies"), the entries of that sort
decide: beside one of them, a word that narrows it ("known", "food") never makes the claim supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.evidence.chart.labels import kind_of, section_of, section_subject
from core.evidence.chart.names import drug_spans
from core.evidence.chart.records import EntryKind
from core.evidence.denied import Denied, denied_in, holds
from core.evidence.fact_index import FactIndex
from core.evidence.facts import RECORD_CHARACTERS, Record, SourceFacts
from core.evidence.listed import Entry, Says, entries
from core.evidence.quantities import read_quantities
from core.evidence.words import acronyms, stems
from core.records import Check, Claim, FactPlace, Outcome, Span

_SAYS_NONE = re.compile(
    r"\b(?:(?:is|are|was|were|has|have|had|holds?|lists?|shows?|gives?|contains?|includes?|with|found|there['’]s|"
    r"records?|mentions?|returned)\s+no\s+(?P<after>[^.;:]{2,120})"
    r"|(?:\A|[.;:,]\s|\b[Tt]here (?:is|are|was|were) )no\s+(?P<front>[^.;:]{2,120})"
    r"|(?:does|do|did)(?:\s+not|n['’]t)\s+(?:include|contain|mention|list|give|show|have|hold|record|return)\s+"
    r"(?:an?y?\s+|the\s+)?(?P<verb>[^.;:]{2,120})"
    r"|(?:is|are|was|were)(?:\s+not|n['’]t)\s+on\s+(?:an?y?\s+)?(?:of\s+(?:those|these|the)\s+)?(?P<on>[^.;:]{2,120}))",
    re.IGNORECASE,
)
# Where the words of what is absent end: its verb, the place that was searched, a condition.
_ENDS = re.compile(
    r"\s(?:is|are|was|were|has|have|been|in|on|at|for|from|came|appears?|exists?|recorded|listed|documented|found|"
    r"given|stated|noted|reported|available|that|which|who|when|because|since|before|after|within|by|among|"
    r"anywhere|of any kind|yet|so)\b",
    re.IGNORECASE,
)
# A record of that name that says itself that it is not so.
_DENIED = re.compile(
    r"\b(?:no|nil|none|neg(?:ative)?|denie[sd]|absent|false|not (?:present|detected|found)|ruled out|"
    r"excluded|refuted|non-reactive)\b",
    re.IGNORECASE,
)
_LIMITED = re.compile(
    r"\b(?:active|current(?:ly)?|now|new|other|further|more|longer|evidence|significant|relevant|important|major|serious|difference|change|"
    r"repeat\w*|follow-?up|dose[sd]?|since|after|before|only|specific|clear|association|effect|indication|"
    r"reason|level|levels|result|results|history|preventive|recent)\b",
    re.IGNORECASE,
)
# What a study found or did not find is no entry of a record.
_FINDING = re.compile(
    r"\b(?:association|difference|effect|evidence|benefit|change|improvement|increase|decrease|trend|"
    r"relationship|correlation|interaction|reduction|advantage|risk)\b",
    re.IGNORECASE,
)
# Panels whose members a record names instead.
_PANELS = {
    "lipid": "cholesterol triglyceride ldl hdl", "electrolyte": "sodium potassium chloride",
    "liver": "alt ast bilirubin aminotransferase alkaline", "kidney": "creatinine egfr urea",
    "renal": "creatinine egfr urea", "count": "hemoglobin leukocyte platelet erythrocyte",
    "vital": "pressure pulse temperature weight", "thyroid": "tsh thyroxine",
}  # fmt: skip
_MEMBERS = {panel: stems(members) for panel, members in _PANELS.items()}
_RECORD_WORDS = re.compile(
    r"\b(?:chart|record\w*|file|list(?:ed|s)?|documented|coded|prescri\w+|"
    r"on file|report\w*|search\w*|results?|"
    r"found|returned|contain\w*|includ\w*|mention\w*|page|document|output|response|"
    r"abstract|has no|have no)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the records say of one thing that is denied, and where."""

    outcome: Outcome
    reason: str
    place: FactPlace


def check_absence(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check for what the claim says is not there; nothing for other claims."""
    said = _SAYS_NONE.search(claim.text)
    if said is None or said.lastgroup is None:
        return
    phrase = _ENDS.split(said.group(said.lastgroup), maxsplit=1)[0]
    start = said.start(said.lastgroup)
    span = Span(start=start, end=start + len(phrase))
    wanted, sources = denied_in(phrase, index.people), _searched(claim, index)
    if not wanted or not sources or _FINDING.search(phrase):
        return
    # A note's own line ("No known drug allergies.") needs no word for the record that it is of.
    alone = said.start() == 0 and not claim.text[span.end :].strip(" .")
    noted = alone and all(each.kind is not None for each in wanted)
    if not noted and _RECORD_WORDS.search(claim.text) is None:
        return
    limited = bool(_LIMITED.search(claim.text) or read_quantities(claim.text)) or len(wanted) > 1
    yield _judged(phrase, span, wanted, sources, limited)


def _judged(
    phrase: str, span: Span, wanted: Sequence[Denied], sources: Sequence[SourceFacts], limited: bool
) -> Check:
    found = [_found(each, sources, limited) for each in wanted]
    told = [each for each in found if each is not None]
    against = [each for each in told if each.outcome is not Outcome.SUPPORTS]
    if against:
        worst = next((one for one in against if one.outcome is Outcome.CONTRADICTS), against[0])
        return Check(
            check="absence", outcome=worst.outcome, reason=worst.reason, claim_span=span,
            veto=worst.outcome is Outcome.CONTRADICTS, facts=(worst.place,),
        )  # fmt: skip
    whole = all(map(_is_whole, sources))
    count = sum(len(source.records) for source in sources)
    reason = f"none of {count} entries searched has {phrase.strip()}"
    if told:
        reason += f": {told[0].reason}"
    places = tuple(one.place for one in told) if len(told) == len(found) else ()
    return Check(
        check="absence",
        outcome=Outcome.SUPPORTS if whole else Outcome.SILENT,
        reason=reason + ("" if whole else ", but not all of the output was captured"),
        claim_span=span,
        facts=places or tuple(FactPlace(source_id=one.source_id, span=None) for one in sources),
    )


def _found(denied: Denied, sources: Sequence[SourceFacts], limited: bool) -> _Found | None:
    """What is on record of one thing; None where nothing is."""
    if denied.kind is not None:
        return _of_its_sort(denied, sources, limited)
    found = next(_holding(denied, sources), None)
    if found is None:
        return None
    source, record, named = found
    shown = named and not limited and source.whole and _DENIED.search(record.text) is None
    return _told(source, record, record.label, Outcome.CONTRADICTS if shown else Outcome.SILENT)


def _of_its_sort(denied: Denied, sources: Sequence[SourceFacts], limited: bool) -> _Found | None:
    """What the entries of the sort say that the head names: one is enough, whatever narrows it."""
    listed = [
        (source, entry)
        for source in sources
        for entry in entries(source.records)
        if entry.says is not Says.VOID and _may_be(denied, entry)
    ]
    if not listed:
        return None
    denials = [(source, entry) for source, entry in listed if entry.says is Says.DENIED]
    if len(denials) == len(listed):
        source, entry = denials[0]
        return _told(source, entry.record, entry.shown, Outcome.SUPPORTS)
    if not denials and not limited:
        for source, entry in listed:
            if source.whole and entry.says is Says.STATED and _is_it(denied, entry):
                return _told(source, entry.record, entry.shown, Outcome.CONTRADICTS)
    source, entry = next(pair for pair in listed if pair[1].says is not Says.DENIED)
    return _told(source, entry.record, entry.shown, Outcome.SILENT)


def _may_be(denied: Denied, entry: Entry) -> bool:
    """Whether an entry is of the denied sort, or speaks of it; where one thing is named, of that."""
    if denied.narrowing and denied.named:
        return _narrowed(denied, entry)
    if entry.kind is not None:
        return entry.kind is denied.kind and entry.subject is denied.subject
    words = re.findall(r"[^\W_]+", entry.text)
    theirs = section_subject(entry.text) is denied.subject
    return theirs and any(kind_of(word) is denied.kind for word in words)


def _is_it(denied: Denied, entry: Entry) -> bool:
    """Whether an entry's own label is the head of what is denied, and it has all that narrows it."""
    label = stems(section_of(entry.label))
    own = entry.kind is denied.kind and entry.subject is denied.subject
    return own and bool(stems(denied.head) & label) and _narrowed(denied, entry)


def _narrowed(denied: Denied, entry: Entry) -> bool:
    held = stems(entry.shown)
    return all(
        holds(held, word)
        or (kind_of(word) is EntryKind.MEDICATION and bool(drug_spans(entry.text)))
        for word in denied.narrowing
    )


def _told(source: SourceFacts, record: Record, shown: str, outcome: Outcome) -> _Found:
    shown = shown[:80].rstrip(" .")
    words = {Outcome.CONTRADICTS: " is on record", Outcome.SILENT: " may be meant"}
    place = FactPlace(source_id=source.source_id, span=record.span, path=record.label[:60])
    return _Found(outcome=outcome, reason=shown + words.get(outcome, ""), place=place)


def _is_whole(source: SourceFacts) -> bool:
    return source.whole and all(len(one.text) < RECORD_CHARACTERS for one in source.records)


def _searched(claim: Claim, index: FactIndex) -> list[SourceFacts]:
    """A person's own sources where the claim is about one, else every output."""
    # Of a chart in one line more than the name is read as the patient's: names begin with a capital.
    names = stems(" ".join(re.findall(r"\b[^\W\da-z_][\w'’-]*", claim.text))) & index.people
    if names:
        return [
            source
            for source in index.outputs
            if any(
                fact.path.lower() == "patient" and stems(fact.value) & names
                for fact in source.facts
            )
        ]
    return list(index.outputs)


def _holding(
    denied: Denied, sources: Sequence[SourceFacts]
) -> Iterator[tuple[SourceFacts, Record, bool]]:
    """The records that carry the words, and whether these name the record."""
    words = stems(" ".join(denied.words))
    for source in sources:
        for record in source.records:
            held = record.stems | acronyms(record.name)
            head = stems(re.split(r"[(\[,;]", record.name)[0])
            member = any(_MEMBERS.get(word, frozenset()) & held for word in words)
            if member or all(holds(held, word) for word in denied.words):
                named = words <= stems(record.kind) or bool(head) and head <= words <= held
                yield source, record, named
