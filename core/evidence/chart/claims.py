"""What a claim says of a patient: names with kind, stance, dose, schedule and start."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.evidence.chart.labels import RELATIVES
from core.evidence.chart.mentions import doses_of, ends_of, frequencies_of, is_allergy, starts_of
from core.evidence.chart.names import core_words, drug_spans, is_disorder_name, places_of
from core.evidence.chart.phrases import without_lead
from core.evidence.chart.records import Dose, EntryKind, Frequency, Status, Subject, When
from core.evidence.chart.status import standing
from core.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One thing that a claim says of a patient; ``current`` where it is said to hold now.

    ``asserted`` says that the claim itself tells of having, taking or being allergic, ``taken`` that a
    word of taking stands right before a drug.
    """

    name: tuple[str, ...]
    written: str
    span: Span
    kind: EntryKind
    status: Status
    subject: Subject
    current: bool
    asserted: bool
    taken: bool = False
    doses: tuple[Dose, ...] = ()
    frequencies: tuple[Frequency, ...] = ()
    starts: tuple[When, ...] = ()
    ends: tuple[When, ...] = ()
    whole_day: bool = False  # the dose is said to be a day's total


_TAKES = (
    r"takes?|taking|is on|are on|was on|been on|remains on|stays on|receives?|receiving|uses|using|"
    r"is prescribed|"
    r"is being (?:given|treated with)|is (?:currently |still |now )?(?:treated with|maintained on|"
    r"taking|receiving)|"
    r"continues(?: on| with| to take)?|currently on|now on|(?:is |was )?given|was prescribed|has "
    r"been prescribed|"
    r"was started on|started(?: on)?|medications? (?:are|is|include|includes)|meds?(?: \(\w+\))? "
    r"(?:are|is|include)|"
    r"prescriptions? (?:are|is|for|include|includes)|regimen (?:is|includes)|therapy (?:is|with|"
    r"includes)|"
    r"an? (?:\w+ )?(?:prescription|order) for|treated with|managed with|controlled with"
)
_HAS = (
    r"has|have|had|suffers from|suffered from|suffering from|lives with|living with|diagnosed with|"
    r"(?:is )?known to have|"
    r"history of|diagnosis of|diagnoses (?:are|include)|conditions? (?:are|is|include)|problem "
    r"list (?:includes|contains|shows)|"
    r"problems (?:are|include)|positive for|comorbid|complains of|reports|developed|experienced|"
    r"experiences|"
    r"(?:charts?|records?|notes?|file|letter) (?:lists?|documents?|shows?|records?|includes?)|experiencing|"
    r"treated for|presents with|presented with|being treated for|denies|no|not have|without|never "
    r"had|with"
)
_WHOLE_DAY = re.compile(r"\b(?:a|per|each) day\b|\bdaily (?:dose|total)\b|\btotal", re.IGNORECASE)
_OBJECT = re.compile(
    rf"\b(?P<cue>{_TAKES}|{_HAS}|allergic to|allergy to|allergies to)\s+(?:(?:a|an|the|any|both|"
    rf"active|chronic-?|"
    r"current|currently|an? (?:current|active|known|confirmed) |(?:an? )?(?:known |active |past |"
    r"personal |documented |confirmed |"
    r"medical )*(?:history|diagnosis|allergy|case) (?:of|to))\s+)*"
    r"(?P<object>[A-Za-z][\w'’-]*(?:[ /-][A-Za-z0-9][\w'’-]*){0,6})",
    re.IGNORECASE,
)
_OBJECT_END = re.compile(
    r"\b(?:since|for|in|at|on|from|until|which|that|who|and|or|but|with|without|because|due|after|"
    r"before|"
    r"as|by|during|last|this|early|late|over|lasting|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|once|twice|daily|every|currently|now|\d+|is|was|"
    r"are|were|has|had|been|of record|to|today|recorded|listed|"
    r"documented|confirmed|according|per|diagnosed|when|while)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:(?:known|current|active|documented|prior|previous|recent|suspected|possible|probable|"
    r"presumed|queried|established|confirmed|definite|firm)\s+)+",
    re.I,
)
_TAKEN = re.compile(
    r"\b(?:takes?|taking|is (?:(?:currently|still|now) )?(?:on|taking|prescribed)|receives?|receiving|"
    r"uses?|using|medications? (?:include|are)|treated with)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_CUE = re.compile(rf"\b(?:{_TAKES}|{_HAS}|allergic to|allergy to|allergies to)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:['’]s\s+|\b(?:his|her|their|the)\s+|\A)(?P<object>[a-z][\w'’-]*(?: [\w-]+){0,4}?)\s+"
    r"(?:is|was|has|remains|continues|appears|had|are|were|runs)\b",
    re.IGNORECASE,
)
# Behind a name: what the name only qualifies ("carbamazepine level", "hepatitis A vaccine").
_QUALIFIES = re.compile(
    r"(?:\s+[A-Z])?[\s-]+(?:\w+[\s-]+)?(?:levels?|drugs?|tests?|screen(?:ing)?|vaccin\w+|shots?|"
    r"jabs?|preventives?|"
    r"prophyla\w+|readings?|scores?|panels?|work-?up|control|clinic|specialist|risk|medications?|"
    r"agents?|"
    r"treatments?|doses? of|genotyp\w+|antibod\w+|serology|titers?|titres?|cultures?|referrals?|"
    r"boosters?)\b"
    r"|\s+[A-Z] doses?\b",
    re.IGNORECASE,
)
_CURRENT_BEFORE = re.compile(
    r"\b(?:takes|taking|is (?:\w+ )?on|are on|(?:has|have) been (?:on|taking)|remains on|stays on|"
    r"has|have|"
    r"is (?:\w+ )?allergic|is being (?:given|treated with)|receives|uses|is (?:\w+ )?(?:prescribed|"
    r"treated with|maintained on|taking|receiving)|"
    r"suffers from|lives with|living with|suffering from|continues|currently|now|still|current|"
    r"active|medications? (?:are|is|include|includes)|"
    r"meds(?: \(\w+\))? (?:are|is)|regimen|on|ongoing|allerg(?:y|ies|ic) to|known to have|"
    r"manages)\b(?! had\b)[^.;]{0,80}\Z",
    re.IGNORECASE,
)
_NOT_CURRENT = re.compile(
    r"\b(?:has had|have had|had|was|were|history|hx|in the past|previously|used to|formerly|ever|"
    r"has been (?:prescribed|given|treated|diagnosed|told|ordered)|once|until|episodes?|bouts?|on "
    r"file|on record|"
    r"on (?:\d|the \d|the day|the first|the same|\w+day|"
    r"January|February|March|April|May|June|July|August|September|October|November|December))\b",
    re.IGNORECASE,
)
_DENIES_OTHER = re.compile(
    r"\b(?:no|not|without|never|denie[sd]|neither|nor)\b[^.;]*\b(?:for|are|is|was|were|given|among|"
    r"about|on)\b[^.;]*\Z",
    re.IGNORECASE,
)
_CURRENT_BEHIND = re.compile(
    r"[^.;,]{0,60}?\b(?:(?:is|are|remains?|stays?) (?:[^.;]{0,50}\b)?(?:active|ongoing|current|open|"
    r"present|taken|prescribed|on (?:[\w.'’]+ ){1,3}(?:\w+ )?(?:list|chart)|"
    r"regular|being taken|in use)\b|continues|\bas an? (?:active|current|ongoing)\b)",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"\b(?:patients|participants|subjects|mice|rats|women|men|adults|children|trial|trials|study|"
    r"studies|cohort|"
    r"paper|papers|authors|meta-analysis|review|guidelines?|randomi[sz]ed|placebo|volunteers|"
    r"users|(?<!heart )(?<!respiratory )(?<!filtration )rate|risk|abstract|group|groups|literature|"
    r"evidence|researchers|PMID|"
    r"(?:treatment|control|comparator|intervention|placebo|study|each|both) arms?)\b",
    re.IGNORECASE,
)
# No condition, whatever has it: "with meals", "with breakfast".
_NO_CONDITION = RELATIVES | frozenset(
    "meal food water breakfast dinner supper lunch patient currently now still also".split()
)
_ABOUT_PATIENT = re.compile(
    r"\b(?:the patient|this patient|patient['’]s|pt|he|she|his|her|the chart|chart|record|records|"
    r"on file|medication list|"
    r"problem list|mr|mrs|ms|miss|takes|allergic to|the medical record|allerg(?:y|ies))\b",
    re.IGNORECASE,
)


def about_patient(text: str, patients: Iterable[str], specific: bool) -> bool:
    """Whether a claim is about somebody's own record, and not about studies or groups of people."""
    if _PEOPLE.search(without_lead(text)):
        return False
    words = set(re.findall(r"[^\W\d_]{3,}", text.casefold()))
    named = any(words & set(re.findall(r"[^\W\d_]{3,}", who.casefold())) for who in patients)
    return specific or named or _ABOUT_PATIENT.search(text) is not None


def assertions(
    text: str, listed: Sequence[tuple[EntryKind, tuple[str, ...]]], patients: Sequence[str]
) -> list[Assertion]:
    """What the claim says, one assertion for each drug, condition or listed entry that it names."""
    people = {word for who in patients for word in core_words(who)}
    found: list[tuple[Span, tuple[str, ...], EntryKind | None]] = []
    for span in drug_spans(text):
        found.append((span, core_words(text[span.start : span.end]), EntryKind.MEDICATION))
    for kind, name in listed:
        if set(name) & people:
            continue
        for span in places_of(name, text)[:2]:
            found.append((span, name, kind))
    for span in _objects(text):
        words = core_words(text[span.start : span.end])
        if words and not set(words) & people and not set(words) <= _NO_CONDITION:
            found.append((span, words, None))
    kept = [item for item in _longest(found) if not _only_qualifies(text, item[0])]
    spans = [span for span, _, _ in kept]
    return [_assertion(text, span, name, kind, spans) for span, name, kind in kept]


def _only_qualifies(text: str, span: Span) -> bool:
    """Whether the name stands for something else: a level, a vaccine, a class of drugs."""
    last = re.search(r"[\s-][\w-]+\Z", text[span.start : span.end])
    if last is not None and _QUALIFIES.match(last.group()):
        return True
    return _QUALIFIES.match(text, span.end) is not None


def _objects(text: str) -> Iterable[Span]:
    # From each cue anew: in "has had gout" the second cue has the object.
    for cue in _CUE.finditer(text):
        match = _OBJECT.match(text, cue.start())
        if match is None:
            continue
        stop = _OBJECT_END.search(match["object"])
        end = match.start("object") + (stop.start() if stop else len(match["object"]))
        span = _trimmed(text, match.start("object"), end)
        if span is not None and is_disorder_name(core_words(text[span.start : span.end])):
            yield span
    for match in _SUBJECT.finditer(text):
        span = _trimmed(text, match.start("object"), match.end("object"))
        if span is not None and is_disorder_name(core_words(text[span.start : span.end])):
            yield span


def _trimmed(text: str, start: int, end: int) -> Span | None:
    # "A week of acute bronchitis", "the day his knee osteoarthritis": the name stands behind.
    for match in re.finditer(
        r"\b(?:(?:days?|weeks?|months?|years?|bouts?|episodes?|history|diagnosis|case|spell|course|signs?|"
        r"symptoms?|risk|onset|form) of|his|her|their|day|week|month|year|same)\s+",
        text[start:end],
    ):
        start = max(start, start + match.end()) if match.end() < end - start else start
        break
    # "No known heart failure": what only qualifies the name belongs to what is said of it.
    lead = _LEADING.match(text, start, end)
    start = lead.end() if lead is not None else start
    words = text[start:end].strip(" -/,")
    if not words:
        return None
    left = text.index(words, start)
    return Span(start=left, end=left + len(words))


def _longest(
    found: Sequence[tuple[Span, tuple[str, ...], EntryKind | None]],
) -> list[tuple[Span, tuple[str, ...], EntryKind | None]]:
    """Of overlapping names the one with most words; a listed or known name before a guessed one."""
    order = sorted(found, key=lambda item: (-len(item[1]), item[2] is None, item[0].start))
    kept: list[tuple[Span, tuple[str, ...], EntryKind | None]] = []
    for item in order:
        if not any(item[0].overlaps(k[0]) for k in kept):
            kept.append(item)
    return sorted(kept, key=lambda item: item[0].start)


def _assertion(
    text: str, span: Span, name: tuple[str, ...], kind: EntryKind | None, names: Sequence[Span]
) -> Assertion:
    said = standing(text, span, names)
    before = text[: span.start]
    current = _CURRENT_BEFORE.search(before) is not None or (
        _CURRENT_BEHIND.match(text, span.end) is not None
    )
    if _NOT_CURRENT.search(_clause_before(before)) or re.match(
        r"[^.;]{0,40}?\b(?:was|were|had)\b", text[span.end :]
    ):
        current = False
    if said.status not in (Status.ACTIVE, Status.UNSTATED):
        current = False
    # "No doses are given for X" does not deny X.
    aside = said.status is Status.ABSENT and _DENIES_OTHER.search(before) is not None
    allergy = is_allergy(text, span)
    if allergy:
        kind = EntryKind.ALLERGY
    elif kind is None or (kind is EntryKind.ALLERGY and drug_spans(text[span.start : span.end])):
        kind = (
            EntryKind.MEDICATION if drug_spans(text[span.start : span.end]) else EntryKind.CONDITION
        )
    if kind is EntryKind.OBSERVATION and re.search(
        r"\b(?:has|have|had|with|positive for)\s+(?:\w+\s)?\Z", before
    ):
        # "Has HIV" where the record lists a test of that name.
        kind = EntryKind.CONDITION
    cues = _HAS if kind is EntryKind.CONDITION else f"{_TAKES}|{_HAS}|on"
    near = r"(?:[\s,/-]+[\w.'’-]+){0,5}[\s(:]*\Z"
    cue = re.compile(rf"\b(?:{cues}|allergic|allergy)\b{near}", re.IGNORECASE)
    return Assertion(
        name=name, written=text[span.start : span.end], span=span, kind=kind,
        status=Status.UNSTATED if aside else said.status,
        subject=said.subject,
        current=current or (allergy and said.status in (Status.ACTIVE, Status.UNSTATED)),
        asserted=allergy or current or cue.search(before) is not None,
        taken=_TAKEN.search(before) is not None,
        doses=tuple(doses_of(text, names, span)), frequencies=tuple(frequencies_of(text, names, span)),
        starts=tuple(starts_of(text, names, span)), ends=tuple(ends_of(text, names, span)),
        whole_day=_WHOLE_DAY.search(text) is not None,
    )  # fmt: skip


def _clause_before(before: str) -> str:
    return re.split(r"[;:]|, (?:and|but) ", before)[-1]
