"""What charts say of a claim about their patient: status, subject, dose, schedule, start, name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.evidence.chart.claims import Assertion, about_patient, assertions
from core.evidence.chart.compare import differs, dose_differs, frequency_differs, start_differs
from core.evidence.chart.covering import STANDING_WORDS, covered, one_person, stretch_of
from core.evidence.chart.entries import MOST_ENTRIES, Chart, entries_of, read_chart
from core.evidence.chart.labels import RELATIVES, words_of
from core.evidence.chart.labs import lab_checks, screen_checks
from core.evidence.chart.names import core_words, places_of, words_in
from core.evidence.chart.people import meant_patient, named_other, words_of_name
from core.evidence.chart.phrases import lead_of, subject_span
from core.evidence.chart.quantities import find_dates, find_doses
from core.evidence.chart.records import ChartEntry, EntryKind, Status, Subject
from core.evidence.names import MONTHS
from core.evidence.words import STOP
from core.records import Check, Claim, FactPlace, Outcome, Source, SourceStatus, Trace
from core.text.tokens import words_joined_by

_RECORD = re.compile(
    r"^(?:Patient|MedicationRequest|MedicationStatement|Condition|AllergyIntolerance|Observation|"
    r"Procedure|Immunization)\b|\bpatient[.:]|\bmedications?\b|\ballerg(?:y|ies|ic)\b|\bproblem list\b|"
    r"\bdiagnos[ei]s\b|\bPMH\b|\bDOB\b|\bMRN\b|\bDear (?:Dr|Doctor|colleague)|\bclinicalStatus\b|"
    r"\b(?:Mr|Mrs|Ms)\b\.?|"
    r"\bdate of birth\b|\bborn\b|\bthe patient\b|\bdosage|\bprescri|\bhistory of\b|\bdose\b|"
    r"\bcondition\b|\bdrug\b|\bdenies\b|"
    r"\bPMHx?\b|\b[FD]Hx?\b|\bHPI\b|\bO/E\b|\bADRs?\b|\bNKDA\b|\bRx\b|\bPt\b|\bA/P\b|\bc/o\b|"
    r"\b(?:clinic|progress|ED) note\b|\bmeds\b|\b(?:problems?|conditions?|allerg\w+)\b|"
    r"\d ?mg (?:OD|BD|TDS|BID|TID|QDS|daily|once|twice|at night)\b|"
    r"\btakes\b|\bstatus\b|\b(?:his|her|she|he)\b",
    re.IGNORECASE | re.MULTILINE,
)
_LITERATURE = re.compile(
    r"\b(?:PMID|abstract|participants|randomi[sz]ed|placebo|cohort|meta-analysis|et al|doi|"
    r"we (?:found|investigated|aimed|report|studied|conclude)|mice|patients (?:were|with|who|received)|"
    r"confidence interval|trial|journal|odds ratio|hazard ratio|guideline|contraindicat\w+|"
    r"recommended dose|prescribing information)\b",
    re.IGNORECASE,
)
_MOST_HEAD = 4_000  # characters in which a record says how old and of which sex somebody is
# What tells that a text is about one person, in a call's arguments or in the text itself.
_SOMEBODY = re.compile(
    r"(?<![A-Za-z])(?:mrn|dob|date of birth|birthdate|patient|pt|subject|person|encounter|bed|born|"
    r"mr|mrs|ms|miss|he|she|his|her)(?![a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartFacts:
    """The charts of a trace, read once."""

    charts: tuple[Chart, ...]
    alone: bool = False  # no other evidence in the trace
    beside: tuple[str, ...] = ()  # texts that read as a record and do not say whose


def is_chart(source: Source) -> bool:
    """Whether a source reads as a patient's record and not as literature or a drug leaflet."""
    text = source.text[:40_000]
    record = len({match.group().casefold() for match in _RECORD.finditer(text)})
    papers = len({match.group().casefold() for match in _LITERATURE.finditer(text)})
    return record >= 1 and record >= papers


def read_chart_facts(trace: Trace) -> ChartFacts:
    """The patients' records among the trace's sources that can be evidence."""
    evidence = [source for source in trace.sources if source.is_evidence]
    charts = tuple(read_chart(source) for source in evidence if is_chart(source))
    # Beside records of somebody, a text of doses that names nobody is a reference, not a record.
    own = tuple(chart for chart in charts if chart.patients or _is_somebodys(chart.source))
    beside = tuple(chart.source.text for chart in charts if own and chart not in own)
    return ChartFacts(charts=own or charts, alone=len(charts) == len(evidence), beside=beside)


def _is_somebodys(source: Source) -> bool:
    return any(_SOMEBODY.search(text) for text in (source.arguments or "", source.text))


def chart_checks(claim: Claim, facts: ChartFacts) -> tuple[Check, ...]:
    """What the charts say of one claim about a patient, name by name; empty for other claims."""
    charts = _charts_of(claim.text, facts.charts)
    patients = [who for chart in charts for who in chart.patients]
    if not charts or not about_patient(claim.text, patients, claim.patient_specific or facts.alone):
        return ()
    listed = [item for chart in charts for item in chart.listed]
    texts = [chart.source.text for chart in charts]
    other, meant = named_other(claim.text, patients, texts), meant_patient(claim.text, patients)
    made: list[Check] = []
    if other is None:
        made = [*lab_checks(claim.text, charts), *screen_checks(claim.text, charts)]
    told = list(_told(claim.text, assertions(claim.text, listed, patients), charts, other, meant))
    made += told
    if all(check.check == "name" and not check.veto for check in told) and not any(
        check.binding == 1.0 for check in made
    ):
        said = _by_own_words(claim.text, charts, patients)
        # Of a name that is only the chart's own wording no more is told than what is shown outright.
        own = _told(claim.text, said, charts, other, meant)
        made += [check for check in own if check.veto or check.binding == 1.0]
    return tuple(check for check in made if not _is_named_beside(check, claim.text, facts))


def _is_named_beside(check: Check, text: str, facts: ChartFacts) -> bool:
    """Whether what the charts name nowhere stands in a letter or note that does not say whose it is."""
    if check.check != "name" or check.claim_span is None:
        return False
    name = re.compile(rf"(?<!\w){re.escape(check.claim_span.cut(text))}(?!\w)", re.IGNORECASE)
    return any(name.search(other) for other in facts.beside)


def _told(
    text: str,
    said: Sequence[Assertion],
    charts: Sequence[Chart],
    other: str | None,
    meant: str | None,
) -> Iterator[Check]:
    """What the charts' entries say of each thing that the claim says."""
    for assertion in said:
        entries = [entry for chart in charts for entry in entries_of(chart, assertion.name)]
        if len(entries) >= MOST_ENTRIES:
            continue  # too many to read all of them, and one that is not read may agree
        if other is not None:
            assertion = replace(assertion, subject=Subject.OTHER)
        entries = list(_of_whom(entries, other, meant))
        if other is not None and not entries:
            continue
        # A condition has names of its own ("if the bone scan is positive"), all of them in one stretch.
        single = len(said) == 1 or assertion.status is Status.HYPOTHETICAL
        whole = _share(text, assertion, entries, charts, other, meant) if single else None
        yield from _judge(assertion, entries, charts, whole)


def _by_own_words(text: str, charts: Sequence[Chart], patients: Sequence[str]) -> list[Assertion]:
    """What the claim says of something that only the chart's own words name: a symptom, a habit."""
    dosed = own_drug(text, charts)
    if dosed is not None:
        return assertions(text, [(EntryKind.MEDICATION, dosed)], patients)
    people = frozenset[str]().union(*map(words_of_name, patients))
    name = own_name(text, charts, people)
    if name is None:
        return []
    return assertions(text, [(EntryKind.CONDITION, name)], patients)


def _of_whom(
    entries: Sequence[ChartEntry], other: str | None, meant: str | None
) -> Iterator[ChartEntry]:
    """The entries with the subject as seen from whom the claim is about."""
    for entry in entries:
        if other is not None:
            if words_of_name(other) <= words_of_name(f"{entry.whose} {entry.around}"):
                yield replace(entry, subject=Subject.OTHER)
            continue
        apart = meant is not None and entry.whose and not _same(entry.whose, meant)
        yield replace(entry, subject=Subject.OTHER) if apart else entry


def _same(one: str, other: str) -> bool:
    first, second = words_of_name(one), words_of_name(other)
    return first <= second or second <= first


def _share(
    text: str,
    said: Assertion,
    entries: Sequence[ChartEntry],
    charts: Sequence[Chart],
    other: str | None,
    meant: str | None,
) -> float | None:
    """The share of the claim that the entries account for; None where it may be about somebody else."""
    holding = {entry.source_id for entry in entries}
    people = [who for chart in charts for who in chart.patients]
    owned = {entry.whose for entry in entries}
    if meant is not None and "" not in owned and said.subject is Subject.PATIENT:
        # Of several people's record, the entries that are all this one's by name.
        theirs = [entry.subject is Subject.OTHER or _same(entry.whose, meant) for entry in entries]
        people = [meant] if all(theirs) else people
    elif said.subject is Subject.OTHER and other is not None:
        people = [other]
    if len(holding) != 1 or not one_person(people):
        return None
    texts = {chart.source.source_id: chart.source.text for chart in charts}
    rows = [stretch_of(texts[entry.source_id], entry) for entry in entries]
    head = texts[entries[0].source_id][:_MOST_HEAD]
    return round(covered(text, said, entries, people, rows, head), 4)


def _charts_of(text: str, charts: Sequence[Chart]) -> list[Chart]:
    """The charts of the person whom the claim names, and those that name nobody; all when it names none
    of theirs."""
    words = set(re.findall(r"[^\W\d_]{3,}", text.casefold()))
    named = [
        any(words & set(re.findall(r"[^\W\d_]{3,}", who.casefold())) for who in chart.patients)
        for chart in charts
    ]
    if not any(named):
        return list(charts)
    return [
        chart
        for chart, is_named in zip(charts, named, strict=True)
        if is_named or not chart.patients
    ]


def _judge(
    said: Assertion,
    entries: Sequence[ChartEntry],
    charts: Sequence[Chart],
    share: float | None,
) -> Iterator[Check]:
    if said.kind not in (EntryKind.MEDICATION, EntryKind.CONDITION, EntryKind.ALLERGY):
        return
    if not entries:
        yield from _unnamed(said, charts)
        return
    same = _of_kind(said, entries)
    if not same:
        yield from _only_an_allergy(said, entries)
        return
    told = [entry for entry in same if entry.named or entry.status is not Status.UNSTATED]
    if all(entry.status is Status.HYPOTHETICAL for entry in told):
        told = []  # "If headaches worsen" says nothing of the headaches told elsewhere
        plain = [e for e in same if e.status is Status.UNSTATED and e.subject is Subject.PATIENT]
        told = plain or same
    objections = [(entry, differs(said, entry)) for entry in told]
    agreeing = [entry for entry, reason in objections if reason is None]
    if not agreeing:
        entry, reason = objections[0]
        yield Check(
            check="status" if entry.subject is said.subject else "subject",
            outcome=Outcome.CONTRADICTS, reason=reason or "", veto=True, claim_span=said.span,
            facts=_places(entry for entry, _ in objections),
        )  # fmt: skip
        return
    # A passing mention carries values too ("She takes X. X is 5 mg a day"), an objecting entry none.
    values = agreeing + [
        entry for entry in same if entry not in told and differs(said, entry) is None
    ]
    problems = list(_value_checks(said, values, entries, charts))
    yield from problems
    told_of = [
        e
        for e in agreeing
        if e.status is not Status.UNSTATED
        or e.named
        or e.subject is not Subject.PATIENT
        or e.kind is EntryKind.ALLERGY
    ]
    # A test's name says nothing of its result; a sentence does.
    if not problems and any(e.kind is not EntryKind.OBSERVATION or not e.named for e in told_of):
        entry = agreeing[0]
        yield Check(
            check="status", outcome=Outcome.SUPPORTS, claim_span=said.span, facts=_places(agreeing),
            reason=f"The chart has {entry.name} as {entry.kind.value}, {_status_words(entry)}.",
            binding=share,
        )  # fmt: skip


def _of_kind(said: Assertion, entries: Sequence[ChartEntry]) -> list[ChartEntry]:
    if said.kind is EntryKind.ALLERGY:
        return [entry for entry in entries if entry.kind is EntryKind.ALLERGY]
    return [entry for entry in entries if entry.kind is not EntryKind.ALLERGY]


def _only_an_allergy(said: Assertion, entries: Sequence[ChartEntry]) -> Iterator[Check]:
    """ "Takes X", or a dose of it, where X is only an allergy."""
    taken = said.current and (said.taken or said.doses or said.frequencies)
    if said.kind is EntryKind.MEDICATION and taken:
        yield Check(
            check="binding",
            outcome=Outcome.CONTRADICTS,
            reason=f"The chart names {said.written} only as an allergy.",
            veto=True,
            claim_span=said.span,
            facts=_places(entries),
        )


def _unnamed(said: Assertion, charts: Sequence[Chart]) -> Iterator[Check]:
    """The record names it nowhere: said of a drug or an allergy that somebody has, that contradicts.

    Not of a condition, which records name in words of their own, and where what the claim names is a guess:
    of 29 such claims of answers by other authors 3 were wrong.
    """
    if said.kind is EntryKind.CONDITION or said.status not in (
        Status.ACTIVE,
        Status.UNSTATED,
        Status.PAST,
        Status.HISTORY,
        Status.ON_HOLD,
    ):
        return
    if said.subject is not Subject.PATIENT or not said.asserted:
        return
    whole = all(chart.source.status is not SourceStatus.TRUNCATED for chart in charts)
    yield Check(
        check="name",
        outcome=Outcome.CONTRADICTS if whole else Outcome.SILENT,
        reason=f"The record names no {said.written}.",
        # A sign: what goes by another name in the record, or stands in another source, is named
        # nowhere either (right on 18 of 33 claims by authors who had not seen the checks).
        veto=False,
        claim_span=said.span,
        facts=tuple(FactPlace(source_id=chart.source.source_id, span=None) for chart in charts),
    )


def _value_checks(
    said: Assertion, entries: Sequence[ChartEntry], every: Sequence[ChartEntry], charts: Sequence[Chart]
) -> Iterator[Check]:  # fmt: skip
    for kind, found in (
        ("dose", dose_differs(said, entries, charts)),
        ("schedule", frequency_differs(said, entries, charts)),
        ("start", start_differs(said, entries)),
    ):
        if found is not None:
            yield Check(
                check=kind, outcome=Outcome.CONTRADICTS, reason=found.reason, veto=True,
                claim_span=found.span, facts=_places(entries),
            )  # fmt: skip


def _status_words(entry: ChartEntry) -> str:
    return "listed" if entry.status is Status.UNSTATED else entry.status.value


def _places(entries: Iterator[ChartEntry] | Sequence[ChartEntry]) -> tuple[FactPlace, ...]:
    return tuple(FactPlace(source_id=entry.source_id, span=entry.span) for entry in entries)[:5]


_WORD = words_joined_by("-'’")
_ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9]{2,}\b")
_MOST_TEXT = 1_000_000  # characters
_MOST_WORDS = 6
# Behind a first word that is somebody's name, and no finding's.
_SPEAKS = re.compile(
    r"\s+(?:said|says|den(?:ies|ied)|report(?:s|ed)|answer(?:s|ed)|complain(?:s|ed)|t(?:akes|ook)|told|"
    r"drinks|smokes|gets|got|had|gave|confirm(?:s|ed))\b"
)
# Words that say how something is told, planned or asked, and never what: no name begins or ends with one.
_NEVER_A_NAME = (
    STANDING_WORDS
    | STOP
    | RELATIVES
    | frozenset(
        "none nothing yes asked answered said says told advised given added planned considered discussed "
        "if would "
        "could should may might will must needed awaiting pending booked today time year years month "
        "months week weeks day days since until when because note entry row line text question form "
        "result results test tests shows showed suffers drinks drinking smokes smoking affects carries "
        "gets got having become becomes history record counselled referred reviewed seen score positive "
        "negative likely possible possibility suspected query queried established new".split()
    )
)


def own_name(text: str, charts: Sequence[Chart], people: frozenset[str]) -> tuple[str, ...] | None:
    """The longest run of the claim's words that some row of the charts has side by side."""
    if next(find_doses(text), None) is not None or _is_measured(text):
        return None
    held = frozenset[str]().union(*(_words_of(chart.source.text) for chart in charts))
    lead = lead_of(text)
    words = list(_WORD.finditer(text, lead.end if lead is not None else 0))
    plain = [re.sub(r"['’]s\Z", "", w.group().casefold()) for w in words]
    who = subject_span(text)
    says = [
        not (word in _NEVER_A_NAME or word in people or word in MONTHS or word[0].isdigit())
        and (who is None or at.start() >= who.end)
        for at, word in zip(words, plain, strict=True)
    ]
    for size in range(min(_MOST_WORDS, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            inside = plain[at : at + size]
            if not (says[at] and says[at + size - 1]) or any(word.isdigit() for word in inside):
                continue
            if (
                at == 0
                and words[0].group().istitle()
                and _SPEAKS.match(text, words[size - 1].end())
            ):
                continue
            written = text[words[at].start() : words[at + size - 1].end()]
            name = core_words(written)
            if (
                name
                and held.issuperset(name)
                and (_is_name(name) or _ABBREVIATION.search(written))
                and _stands(name, charts)
            ):
                return name
    return None


def _is_measured(text: str) -> bool:
    """Whether the claim gives a value, and not only a date or the limit of a condition."""
    if re.search(r"\b(?:if|should|unless)\b", text, re.IGNORECASE):
        return False
    days = [day.span for day in find_dates(text)]
    return any(
        not any(day.start <= number.start() < day.end for day in days)
        for number in re.finditer(r"(?<![\w-])\d+(?:\.\d+)?(?![\w-])", text)
    )


@lru_cache(maxsize=4)
def _words_of(text: str) -> frozenset[str]:
    """The comparable words of a whole source; none of one that is too long to look through."""
    if len(text) > _MOST_TEXT:
        return frozenset()
    return frozenset(word.text for line in text.split("\n") for word in words_in(_apart(line)))


def _apart(line: str) -> str:
    """A line with the parts of its label written apart ("kidneyStones" is two words)."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", line) + " " + line


def _stands(name: tuple[str, ...], charts: Sequence[Chart]) -> bool:
    return any(
        places_of(name, row.text) or any(places_of(name, _label(f.label)) for f in row.fields)
        for chart in charts
        for row in chart.rows
    )


@lru_cache(maxsize=8192)
def _label(label: str) -> str:
    return " ".join(words_of(label.rpartition(".")[2]))


def own_drug(text: str, charts: Sequence[Chart]) -> tuple[str, ...] | None:
    """What the claim gives a dose of, where the charts give one of it too: "sodium bicarbonate 500 mg"."""
    for dose in find_doses(text):
        before = re.search(r"(?:[^\W\d_][\w-]+ ){1,3}\Z", text[: dose.span.start])
        words = before.group().split() if before is not None else []
        for at in range(len(words)):
            name = core_words(" ".join(words[at:]))
            said = all(word.casefold() not in _NEVER_A_NAME for word in words[at:])
            if said and name and _is_name(name) and _is_dosed(words[at:], charts):
                return name
    return None


def _is_dosed(words: Sequence[str], charts: Sequence[Chart]) -> bool:
    written = r"\s+".join(map(re.escape, words))
    pattern = re.compile(rf"\b{written}(?:\s*\[\w+\])?\W{{0,12}}\d", re.IGNORECASE)
    return any(pattern.search(row.text) for chart in charts for row in chart.rows)


def _is_name(name: tuple[str, ...]) -> bool:
    return any(len(word) > 3 and word.isalpha() for word in name) or len(name) > 1
