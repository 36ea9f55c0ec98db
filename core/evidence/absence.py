"""Claims that something is not on record: searched for in everything that was captured whole.

Supported when no record of the searched sources carries the words, contradicted when one is named
by them, silent when an output was cut or when the words are only part of what a record says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.evidence.fact_index import FactIndex
from core.evidence.facts import Record, SourceFacts
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
_PARTS = re.compile(r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)
_LIMITED = re.compile(
    r"\b(?:active|current(?:ly)?|now|new|other|further|more|longer|known|evidence|significant|difference|change|"
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


def check_absence(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check for what the claim says is not there; nothing for other claims."""
    said = _SAYS_NONE.search(claim.text)
    if said is None or said.lastgroup is None or _RECORD_WORDS.search(claim.text) is None:
        return
    phrase = _ENDS.split(said.group(said.lastgroup), maxsplit=1)[0]
    if _FINDING.search(phrase) is not None:
        return
    start = said.start(said.lastgroup)
    span = Span(start=start, end=start + len(phrase))
    wanted = [words for part in _PARTS.split(phrase) if (words := stems(part) - index.people)]
    sources = _searched(claim, index)
    if not wanted or not sources:
        return
    found = [hit for words in wanted for hit in _holding(words, sources)]
    if not found:
        whole = all(source.whole for source in sources)
        count = sum(len(source.records) for source in sources)
        places = tuple(FactPlace(source_id=source.source_id, span=None) for source in sources)
        yield Check(
            check="absence",
            outcome=Outcome.SUPPORTS if whole else Outcome.SILENT,
            reason=f"none of {count} entries searched has {phrase.strip()}"
            + ("" if whole else ", but not all of the output was captured"),
            claim_span=span,
            facts=places,
        )
        return
    source, record, named = found[0]
    limited = _LIMITED.search(claim.text) is not None or bool(read_quantities(claim.text))
    shown = named and not limited and source.whole and _DENIED.search(record.text) is None
    yield Check(
        check="absence",
        outcome=Outcome.CONTRADICTS if shown else Outcome.SILENT,
        reason=f"{record.label[:80]} is on record"
        if shown
        else f"{record.label[:80]} may be meant",
        veto=shown,
        claim_span=span,
        facts=(FactPlace(source_id=source.source_id, span=record.span, path=record.label[:60]),),
    )


def _searched(claim: Claim, index: FactIndex) -> list[SourceFacts]:
    """A person's own sources where the claim is about one, else every output."""
    names = stems(claim.text) & index.people
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
    words: frozenset[str], sources: list[SourceFacts]
) -> Iterator[tuple[SourceFacts, Record, bool]]:
    """The records that carry the words, and whether these name the record."""
    for source in sources:
        for record in source.records:
            held = record.stems | acronyms(record.name)
            head = stems(re.split(r"[(\[,;]", record.name)[0])
            if words <= held or any(_MEMBERS.get(word, frozenset()) & held for word in words):
                yield (
                    source,
                    record,
                    words <= stems(record.kind) or bool(head) and head <= words <= held,
                )
