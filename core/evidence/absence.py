"""Claims that something is not on record: searched for in everything that was captured whole.

Supported when no record of the searched sources carries the words, contradicted when one is named
by them, silent when an output was cut or when the words are only part of what a record says. Where
the last word of what is denied names a sort of entry ("drug allergies"), the entries of that sort
decide: beside one of them, a word that narrows it ("known", "food") never makes the claim supported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from core.evidence.chart.labels import RELATIVES, is_section, kind_of, section_of, section_subject
from core.evidence.chart.names import drug_spans, is_disorder_name, words_in
from core.evidence.chart.records import EntryKind, Subject
from core.evidence.fact_index import FactIndex
from core.evidence.facts import RECORD_CHARACTERS, Record, SourceFacts
from core.evidence.quantities import read_quantities
from core.evidence.words import STOP, acronyms, stem, stems
from core.records import Check, Claim, FactPlace, Outcome, Span
from core.text.tokens import PLAIN_WORD, words_joined_by

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
    words = PLAIN_WORD.findall(entry.text)
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
                yield source, record, bool(head) and head <= words <= held


_PARTS = re.compile(r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)
_TOKEN = words_joined_by("-'’.")
# What qualifies something that is denied without saying what it is.
_QUALIFIES = frozenset(
    "known documented recorded reported listed noted stated charted confirmed relevant significant "
    "clinically important notable major serious apparent obvious active current currently ongoing "
    "existing present past prior previous previously any other further additional new formal specific "
    "particular personal own single such".split()
)
_HOLDER = re.compile(r"\b(?:history|record|records|mention|documentation|entry|entries) of\b", re.I)
_BEHIND = re.compile(r"\s(?:of|to|with|about|regarding|against)\s", re.IGNORECASE)
# A result's words stand in every answer of a search: they head no list of a chart.
_SORTS = frozenset(EntryKind) - {EntryKind.OBSERVATION, EntryKind.OTHER}
_ADJECTIVE = re.compile(r"(?:ic|ac|al|ous|ary|ive|ent|ant)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """One thing that is denied; ``narrowing`` are its words beside the head, qualifiers left out."""

    words: tuple[str, ...]
    head: str
    narrowing: tuple[str, ...]
    kind: EntryKind | None
    subject: Subject

    @property
    def named(self) -> bool:
        """Whether what narrows it names one thing, which its entry would name too.

        A class does not: an entry of penicillin need not say "drug", nor one of sumatriptan "migraine".
        """
        if any(re.search(r"[^\W\d_][A-Z]|\d", word) for word in self.narrowing):
            return True
        text = " ".join(self.narrowing)
        if self.kind is EntryKind.CONDITION:
            folded = [word.text for word in words_in(text)]
            return is_disorder_name(folded) and not any(map(_ADJECTIVE.search, self.narrowing))
        return bool(drug_spans(text))


def denied_in(phrase: str, people: frozenset[str]) -> tuple[Denied, ...]:
    """The things that a phrase behind "no" names, in order; people's names are left out."""
    found = []
    for part in _PARTS.split(_HOLDER.sub(" ", phrase)):
        front, *behind = _BEHIND.split(part, maxsplit=1)
        said = [_kept(text, people) for text in (front, *behind)]
        words = [word for each in said for word in each]
        kept = [word for word in words if word.lower() not in _QUALIFIES] or words
        heads = [word for word in said[0] if word in kept] or kept
        if kept:
            found.append(_denied(kept, heads[-1]))
    return tuple(found)


def _kept(text: str, people: frozenset[str]) -> list[str]:
    words = [word for word in _TOKEN.findall(text) if word.lower() not in STOP]
    return [word for word in words if stems(word) - people or not word[0].isupper()]


def _denied(words: list[str], head: str) -> Denied:
    at = len(words) - 1 - words[::-1].index(head)
    kind = kind_of(head)
    narrowing = words[:at] + words[at + 1 :]
    family = any(word.lower() in RELATIVES for word in narrowing)
    return Denied(
        words=tuple(words),
        head=head,
        narrowing=tuple(word for word in narrowing if word.lower() not in RELATIVES),
        kind=kind if kind in _SORTS else None,
        subject=Subject.FAMILY if family else Subject.PATIENT,
    )


def holds(held: frozenset[str], word: str) -> bool:
    """Whether stems hold a word, as it is said or by all that it stands for ("BP")."""
    every = stems(word)
    own = {stem(part) for part in re.findall(r"[^\W_]+", word)} & every
    longer = every - own
    return own <= held or bool(longer) and longer <= held


class Says(Enum):
    """What an entry says of what it is about; ``OPEN`` is both or neither, ``VOID`` is withdrawn."""

    STATED = auto()
    DENIED = auto()
    OPEN = auto()
    VOID = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a record says; ``label`` is the heading or key over it, empty where none is."""

    record: Record
    label: str
    text: str

    @property
    def kind(self) -> EntryKind | None:
        """Which sort of entry its label heads."""
        return kind_of(section_of(self.label)) if self.label else None

    @property
    def subject(self) -> Subject:
        """Whom its label is about."""
        return section_subject(section_of(self.label))

    @property
    def shown(self) -> str:
        """The entry as a person reads it, in one line."""
        return " ".join(f"{self.label}: {self.text}".split() if self.label else self.text.split())

    @property
    def says(self) -> Says:
        """Whether it states something, denies it, withdraws it, or leaves it open."""
        if _VOID.search(self.text):
            return Says.VOID
        if not self.label:
            return Says.DENIED if _DENIES.search(self.text) else Says.STATED
        # The fields of a resource ("severity: none") do not deny what its first line names.
        first = self.text.partition("\n")[0]
        parts = [part for part in re.split(r"[;,]\s*", first) if re.search(r"\w", part)]
        denied = [_NONE.match(part) is not None for part in parts]
        if not parts or any(denied) != all(denied) or _OPEN.search(self.text):
            return Says.OPEN
        return Says.DENIED if all(denied) else Says.STATED


_NONE = re.compile(
    r"\W*(?:(?:the )?(?:patient|pt|he|she)\s+)?(?:has\s+)?(?:no|nil|none|not|never|NKD?F?A|neg(?:ative)?|"
    r"denie[sd]|without|absent|false|0)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:no|not|nil|none|never|neg(?:ative)?|denie[sd]|denying|without|absent|false|excluded|NKD?F?A)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
_VOID = re.compile(r"\b(?:refuted|entered[- ]in[- ]error|ruled out|erroneous)\b", re.IGNORECASE)
# What leaves open whether an entry holds: nobody asked, it stands elsewhere, it holds no longer.
_OPEN = re.compile(
    r"\b(?:unknown|unable|unclear|see|pending|to be|unconfirmed|provisional|suspected|possibl[ey]|"
    r"query|inactive|resolved|stopped|discontinued|cancelled|n/a|"
    r"not (?:recorded|asked|assessed|documented))\b|\?",
    re.IGNORECASE,
)
_KEY = re.compile(r"\W{0,6}([A-Za-z][\w .\[\]/()-]{0,60}?)\W{0,4}[:：]\W{0,2}(?:\s+|$)")
_HEADING = re.compile(r"\W{0,6}([A-Za-z][A-Za-z /()-]{0,60}?)\W{0,4}")
_MARKER = re.compile(r"\A(?:[-*•]|\[?\d{1,3}[\].)])\s+")
_PIECE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|;\s+(?=[A-Z][\w ]{0,40}:\s)")


def entries(records: Sequence[Record]) -> Iterator[Entry]:
    """What the records of a source say, in order; a heading that stands alone heads the next record."""
    reader = _Reader()
    for record in records:
        yield from reader.read(record)
    yield from reader.empty()


class _Reader:
    """Walks through records and keeps under which heading or resource it stands."""

    def __init__(self) -> None:
        self.heading = ""
        self.alone: Entry | None = None  # the heading's own, while nothing stands under it
        self.resource: Entry | None = None  # the one whose fields are being read

    def read(self, record: Record) -> Iterator[Entry]:
        """The entries of one record."""
        self.heading = self.heading if self.alone else ""
        for line in record.text.splitlines():
            for piece in _PIECE_ENDS.split(line):
                if piece.strip():
                    yield from self.piece(record, piece.strip())
        yield from self.ended()

    def piece(self, record: Record, piece: str) -> Iterator[Entry]:
        key = _KEY.match(piece)
        label, said = (key.group(1), piece[key.end() :]) if key is not None else ("", piece)
        whole = _HEADING.fullmatch(piece) if key is None else None
        if (label and not said and _is_label(label)) or (whole and _heads(whole.group(1), piece)):
            yield from self.ended()
            yield from self.empty()
            self.heading = label or (whole.group(1) if whole else "")
            self.alone = Entry(record=record, label=self.heading, text="")
        elif label and _is_label(label):
            yield from self.ended()
            yield from self.empty()
            entry = Entry(record=record, label=label, text=said)
            self.heading = ""
            if is_section(label):
                yield entry
            else:
                self.resource = entry
        elif label and self.resource is not None:
            self.resource = replace(self.resource, text=f"{self.resource.text}\n{piece}")
        else:
            yield from self.ended()
            self.alone = None
            yield Entry(record=record, label=self.heading, text=_MARKER.sub("", piece))

    def ended(self) -> Iterator[Entry]:
        """The resource that was being read."""
        if self.resource is not None:
            yield self.resource
        self.resource = None

    def empty(self) -> Iterator[Entry]:
        """The heading that nothing stood under: what it heads was not found, not denied."""
        if self.alone is not None:
            yield self.alone
        self.alone = None


def _heads(label: str, line: str) -> bool:
    """Whether a line without a colon is a heading: "NKDA" and "No known allergies" are entries."""
    return is_section(label) and _NONE.match(label) is None and not line.endswith((".", ";", ","))


def _is_label(label: str) -> bool:
    return is_section(label) or kind_of(section_of(label)) is not None
