"""How much of a claim an entry of a chart states outright: the share of its words that are accounted for.

A check that finds one word of a claim right says little of the rest. Here every word has to be
somebody's name, the entry's name, a value that the entry has too, or a word that only says how it
stands with the entry; what is none of these is not covered. Unlike the paper, which has no checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.evidence.chart.claims import Assertion
from core.evidence.chart.compare import same_dose, same_frequency
from core.evidence.chart.entries import PERSON
from core.evidence.chart.phrases import lead_of, person_spans, status_spans
from core.evidence.chart.quantities import same_date
from core.evidence.chart.records import ChartEntry, EntryKind, Status, Subject
from core.records import Span

_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
_NAME = re.compile(r"[^\W\d_]{2,}")
_TITLES = frozenset("mr mrs ms miss dr".split())
_PLAIN = frozenset(
    "a an the of for to in on at with by as is are has have had been being be his her their she he "
    "they patient patient's chart chart's record records recorded lists listed list shows states says "
    "that file documented entry there one currently current now still active ongoing present known "
    "confirmed diagnosis diagnosed condition conditions problem problems medication medications "
    "medicine medicines drug drugs prescription prescriptions prescribed order ordered takes taking "
    "take took uses using use receives receiving treated treatment maintained includes include "
    "included regimen therapy dose dosage dosed daily since start started starting began begun first "
    "begin from taken allergic allergy allergies allergen suffers suffering lives living mr mrs ms miss "
    "among carries carry documents established remains stays reports experiences experiencing complains "
    "noted".split()
)
# Words that say how it stands, by what they say: allowed where claim and entry agree on just that.
_SAYS: dict[Status, frozenset[str]] = {
    Status.PAST: frozenset(
        "was were no longer stopped discontinued resolved ended ceased finished past former formerly "
        "previously inactive remission off came".split()
    ),
    Status.CANCELLED: frozenset(
        "was were cancelled canceled never declined refused filled".split()
    ),
    Status.ON_HOLD: frozenset("was were hold held paused suspended withheld".split()),
    Status.ERROR: frozenset("was were made entered error erroneous mistake wrong".split()),
    Status.ABSENT: frozenset(
        "was were no not never without denies denied ruled out excluded refuted screened screening screen "
        "negative does any".split()
    ),
    Status.UNCERTAIN: frozenset(
        "was suspected suspicion possible possibly probable provisional".split()
    ),
}
ENDED = _SAYS[Status.PAST]
# All of them together: words that say of a claim's name no more than that and how it stands there.
STANDING_WORDS = _PLAIN.union(*_SAYS.values())
# What takes back, anywhere in an entry, what the rest of it says; more than the statuses' own words, for
# a row that is read wrongly must not show anything.
_PEOPLE = frozenset(
    "other another mother father brother sister son daughter husband wife partner family aunt uncle "
    "parent parents".split()
)
TAKES_BACK = (
    _PEOPLE
    | frozenset(
        "not non until till unless if then reduced increased changed switched replaced plan planned "
        "consider considered would should could may might query rule template example sample instead "
        "wrong proposed suggested pending awaiting unless advised".split()
    )
    | frozenset(word for words in _SAYS.values() for word in words)
    - frozenset(["was", "were", "any", "out"])
)
_ALLERGY = re.compile(r"allerg|intoleran|sensitiv|anaphyla", re.IGNORECASE)
_EMPTY = re.compile(
    r"^[\w.\[\] -]{1,80}:\s*(?:null|none|n/a|-|\u2014|\[\][^\n]*|\{\}[^\n]*|false)?\s*$",
    re.M | re.I,
)
_FEMALE = r"[Ff]emale|Mrs|Ms|Miss|F(?=\b(?![/-]))"
_MALE = r"[Mm]ale|Mr|Mstr|M(?=\b(?![/-]))"
_DENIALS = (("den",), ("ruled", "exclu", "refut"), ("screen",))
_HOLDS = (Status.ACTIVE, Status.UNSTATED)


def covered(
    text: str,
    said: Assertion,
    entries: Sequence[ChartEntry],
    names: Iterable[str],
    rows: Sequence[str],
    head: str = "",
) -> float:
    """The share of the claim's words that one of the entries accounts for, 0 to 1.

    ``entries`` are all that the charts hold under that name, ``rows`` their texts; ``names`` are the
    patient's own, ``head`` is the record's beginning. 0 where an entry disagrees, or none has
    the claim's status and every value of it.
    """
    people = {word.casefold() for name in names for word in _WORD.findall(name)}
    if not all(_agrees(said, entry) for entry in entries):
        return 0.0
    if said.kind is not EntryKind.ALLERGY and _ALLERGY.search(text):
        return 0.0
    stating = [
        f"{entry.name}\n{row}"
        for entry, row in zip(entries, map(_filled, rows), strict=True)
        if _states(said, entry) and not _taken_back(text, said, row, people)
    ]
    if not stating:
        return 0.0
    if said.status is Status.ABSENT and not _denied_alike(text, " ".join(stating)):
        return 0.0
    spans = [_written_out(text, said, stating), *_values(said), *status_spans(text, said.status)]
    lead = lead_of(text)
    spans += [lead] if lead is not None else []
    spans += [span for span in person_spans(text) if _fits(span.cut(text), head)]
    allowed = _PLAIN | people | _SAYS.get(said.status, frozenset())
    if said.starts:
        allowed |= {"was", "were"}
    if said.subject is Subject.FAMILY:
        allowed |= {"family", "history"}
    if said.subject is not Subject.PATIENT:
        # Whose it is has to stand there in the same word: her mother's is not her sister's.
        allowed |= {word.casefold() for row in stating for word in PERSON.findall(row)}
    words = list(_WORD.finditer(text))
    held = sum(_is_held(word, spans, allowed) for word in words)
    # A guessed name may be longer than the entry's ("gout flares").
    held -= len(_words(said.written) - set().union(*map(_words, stating)))
    return max(0, held) / len(words)


def _fits(said: str, head: str) -> bool:
    """Whether a record's beginning gives the age that "this 54-year-old woman" has, and that sex."""
    age = re.search(r"\d+", said)
    if age is not None and not re.search(rf"(?<![\d./-]){age.group()}(?!\d|[./-]\d)", head):
        return False
    male = re.search(r"\b(?:man|gentleman|boy)\b", said, re.IGNORECASE)
    female = re.search(r"\b(?:woman|lady|girl)\b", said, re.IGNORECASE)
    for this, other in ((male, _FEMALE), (female, _MALE)):
        if this and re.search(rf"(?<![A-Za-z])(?:{other})(?![a-z])", head):
            return False
    return True


def _filled(row: str) -> str:
    """A row without the fields that hold nothing ("until: null")."""
    return _EMPTY.sub("", row)


def one_person(names: Sequence[str]) -> bool:
    """Whether the names can all be of one person: each is part of the longest ("Ms Ruiz", "Ana Ruiz")."""
    each = [{word.casefold() for word in _NAME.findall(name)} - _TITLES for name in names]
    return all(words <= max(each, key=len) for words in each)


def _is_held(
    word: re.Match[str], spans: Sequence[Span], allowed: frozenset[str] | set[str]
) -> bool:
    if any(span.start <= word.start() and word.end() <= span.end for span in spans):
        return True
    plain = re.sub(r"['’]s\Z", "", word.group().casefold())
    return plain in allowed


def _taken_back(text: str, said: Assertion, row: str, people: set[str]) -> bool:
    """Whether the entry's row has a word that could take back what is claimed, and the claim has not."""
    allowed = _words(text) | _SAYS.get(said.status, frozenset())
    if said.subject is not Subject.PATIENT:
        # "A family history" leaves open whose; a mother is named.
        allowed |= _words(row) & _PEOPLE if "family" in allowed else {"family"}
    if said.subject is Subject.OTHER and len(people & _words(row) & _words(text)) > 1:
        allowed |= _PEOPLE  # who it is, by name
    return bool(_words(row) & TAKES_BACK - allowed)


def _words(text: str) -> set[str]:
    return {re.sub(r"['’]s\Z", "", word.casefold()) for word in _WORD.findall(text)}


def _written_out(text: str, said: Assertion, rows: Sequence[str]) -> Span:
    """The name with the words around it that stand around it in a row too ("kidney disease")."""
    plain = [" ".join(row.casefold().split()) for row in rows]
    start, end = said.span.start, said.span.end

    def stands(left: int, right: int) -> bool:
        stretch = " ".join(text[left:right].casefold().split())
        return any(re.search(rf"(?<!\w){re.escape(stretch)}(?!\w)", row) for row in plain)

    for word in _WORD.finditer(text, end):
        if not stands(start, word.end()):
            break
        end = word.end()
    for word in reversed(list(_WORD.finditer(text, 0, start))):
        if not stands(word.start(), end):
            break
        start = word.start()
    return Span(start=start, end=end)


def _values(said: Assertion) -> Iterator[Span]:
    for found in (said.doses, said.frequencies, said.starts, said.ends):
        for value in found:
            yield value.span


def _agrees(said: Assertion, entry: ChartEntry) -> bool:
    """Whether the entry leaves the claim alone: it says the same, or it names the thing in passing."""
    if entry.kind is EntryKind.ALLERGY or said.kind is EntryKind.ALLERGY:
        return entry.kind is said.kind
    if Subject.PATIENT in (said.subject, entry.subject) and said.subject is not entry.subject:
        return True  # what the patient has leaves the family's alone, and theirs the patient's
    if said.subject is not Subject.PATIENT:
        return True
    if entry.status is Status.HYPOTHETICAL and not entry.named:
        return True  # "If a fever comes, stop X" leaves alone that X is taken
    if entry.status is Status.UNSTATED:
        return entry.subject is Subject.PATIENT
    return entry.subject is Subject.PATIENT and _same_standing(said, entry)


def _same_standing(said: Assertion, entry: ChartEntry) -> bool:
    held = _HOLDS if said.subject is Subject.PATIENT else (*_HOLDS, Status.HISTORY)
    return entry.status in held if said.status in held else entry.status is said.status


def _states(said: Assertion, entry: ChartEntry) -> bool:
    """Whether this one entry has the claim's standing and each of its values."""
    if (
        said.subject is Subject.PATIENT
        and entry.status is Status.UNSTATED
        and not (entry.named and said.status in _HOLDS)
    ):
        return False
    return (
        entry.subject is said.subject
        and _same_standing(said, entry)
        and all(any(same_date(one, other) for other in entry.ends) for one in said.ends)
        and all(same_dose(dose, entry, said) for dose in said.doses)
        and all(any(same_frequency(one, o) for o in entry.frequencies) for one in said.frequencies)
        and all(any(same_date(one, other) for other in entry.starts) for one in said.starts)
    )


def _denied_alike(text: str, rows: str) -> bool:
    """Whether what is said not to be there was found out in the same way: denied is not ruled out."""
    claim, chart = text.casefold(), rows.casefold()
    return all(
        any(stem in chart for stem in stems)
        for stems in _DENIALS
        if any(re.search(rf"\b{stem}", claim) for stem in stems)
    )
