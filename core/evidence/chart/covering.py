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
from core.evidence.chart.names import drug_spans, words_in
from core.evidence.chart.phrases import lead_of, person_spans, status_spans
from core.evidence.chart.quantities import find_dates, same_date
from core.evidence.chart.records import ChartEntry, EntryKind, Status, Subject, When
from core.evidence.chart.status import clause_of
from core.evidence.names import MONTHS
from core.evidence.words import stem
from core.records import Span
from core.text.tokens import words_joined_by

_WORD = words_joined_by("-'’.,")
_BIRTH = re.compile(r"\b(?:dob|born|birth ?date|date of birth)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
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
    "course among carries carry documents established remains stays reports experiences experiencing "
    "complains noted".split()
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
        "was suspected suspicion possible possibly probable provisional queried query may might could "
        "likely consider considered".split()
    ),
    Status.HYPOTHETICAL: frozenset(
        "if should would could may might then when case only be given add added begin start started use "
        "used needed advised advice consider considered discussed planned plan instruction becomes "
        "become told gets get was were will".split()
    ),
    Status.PLANNED: frozenset(
        "is planned plan plans proposed proposal suggested intended considered consider pending "
        "starting adding beginning discussed yet not will be was were".split()
    ),
}
ENDED = _SAYS[Status.PAST]
_OVER = (Status.PAST, Status.CANCELLED, Status.ON_HOLD, Status.ERROR)
_SAID = frozenset[str]().union(*_SAYS.values())
# All of them together: words that say of a claim's name no more than that and how it stands there.
STANDING_WORDS = _PLAIN.union(
    *(
        words
        for status, words in _SAYS.items()
        if status not in (Status.HYPOTHETICAL, Status.PLANNED)
    )
)
# Words that weigh in a claim whatever stands beside them in the entry; and those that lead up to what does.
_WEIGHS = frozenset(
    "no not never none neither nor only all each both before without until unless again than few other "
    "another".split()
)
_LINKS = frozenset(
    "because due owing with by which that it its who from on in into via through and or some any be "
    "will".split()
)
_TIMES = frozenset("after when while under over until before".split())
# What is done to a drug that is taken; of two conditions with other words of these neither says the other.
_CHANGES = frozenset(
    "stop stopping halve halved reduce increase double switch avoid omit withhold hold skip".split()
)
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
    | frozenset(
        word
        for status, words in _SAYS.items()
        for word in words
        if status not in (Status.HYPOTHETICAL, Status.PLANNED)
    )
    - frozenset(["was", "were", "any", "out", "likely"])
)
_ALLERGY = re.compile(r"allerg|intoleran|sensitiv|anaphyla", re.IGNORECASE)
_EMPTY = re.compile(
    r"^[\w.\[\] -]{1,80}:\s*(?:null|none|n/a|-|\u2014|\[\][^\n]*|\{\}[^\n]*|false)?\s*$",
    re.M | re.I,
)
_FEMALE = r"[Ff]emale|Mrs|Ms|Miss|F(?=\b(?![/-]))"
_MALE = r"[Mm]ale|Mr|Mstr|M(?=\b(?![/-]))"
_DENIALS = (
    ("den", "reported", "asked", "said no", "says no"),
    ("ruled", "exclu", "refut"),
    ("screen",),
)
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
        if _states(said, entry, row) and not _taken_back(text, said, row, people)
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
        allowed |= {"family", "history", "affects", "affected", "runs", "in"}
    if said.subject is not Subject.PATIENT:
        # Whose it is has to stand there in the same word: her mother's is not her sister's.
        allowed |= {word.casefold() for row in stating for word in PERSON.findall(row)}
    words = list(_WORD.finditer(text))
    rest = [word for word in words if not _is_held(word, spans, allowed)]
    held = (
        len(words)
        - len(rest)
        + max(_told_beside(words, rest, text, stretch) for stretch in stating)
    )
    # A guessed name may be longer than the entry's ("gout flares").
    if not any(_same_name(said.written, stretch) for stretch in stating):
        held -= sum(
            not any(stands_in(word, stretch) for stretch in stating)
            for word in told_words(said.written) - allowed
        )
    return max(0, held) / len(words)


def _told_beside(
    words: Sequence[re.Match[str]], rest: Sequence[re.Match[str]], text: str, stretch: str
) -> int:
    """How many of the words that say more than the entry's name stand in its own stretch as well.

    A word that joins ("because of mouth ulcers") counts with the one that it joins.
    """
    open_words = {word.start() for word in rest}
    days = list(_days_told(text, stretch))
    told, following = 0, False
    for word in reversed(words):
        plain = re.sub(r"['’]s\Z", "", word.group().casefold())
        if word.start() not in open_words:
            following = True
            continue
        if plain in _LINKS:
            told += following
            continue
        dated = any(day.start <= word.start() < day.end for day in days)
        if plain in _WEIGHS or plain in STANDING_WORDS or (plain in TAKES_BACK and plain in _SAID):
            following = False
        elif plain in _TIMES:
            following = following and plain in told_words(stretch)
        else:
            following = dated or _stands(word, text, stretch)
        told += following
    return told


def _stands(word: re.Match[str], text: str, stretch: str) -> bool:
    plain = word.group().casefold()
    if _YEAR.fullmatch(plain) or plain in MONTHS:
        return stands_in(plain, stretch) and not _of_another_time(plain, stretch)
    if plain[0].isdigit():
        return number_stands(text, word.start(), word.end(), stretch)
    return stands_in(word.group(), stretch)


def _days_told(text: str, stretch: str) -> Iterator[Span]:
    """The claim's dates that are the one date of the stretch."""
    there = list(find_dates(stretch))
    for day in find_dates(text):
        if there and all(same_date(day, other) for other in there):
            yield day.span


def _of_another_time(word: str, stretch: str) -> bool:
    """Whether a month or a year stands beside others in the stretch: which is meant is open."""
    if word in MONTHS:
        return len({MONTHS[w] for w in told_words(stretch) if w in MONTHS and w != "may"}) > 1
    return len(set(_YEAR.findall(stretch))) > 1


def _same_name(written: str, stretch: str) -> bool:
    """Whether the name, its short forms made long, stands in the stretch ("OSA")."""
    meant = {word.text for word in words_in(written)}
    return bool(meant) and meant <= {word.text for word in words_in(stretch)}


def _fits(said: str, head: str) -> bool:
    """Whether a record's beginning gives the age that "this 54-year-old woman" has, and that sex."""
    age = re.search(r"\d+", said)
    if age is not None and not (
        re.search(rf"(?<![\d./-]){age.group()}(?!\d|[./-]\d)", head) or _is_age(age.group(), head)
    ):
        return False
    male = re.search(r"\b(?:man|gentleman|boy)\b", said, re.IGNORECASE)
    female = re.search(r"\b(?:woman|lady|girl)\b", said, re.IGNORECASE)
    for this, other in ((male, _FEMALE), (female, _MALE)):
        if this and re.search(rf"(?<![A-Za-z])(?:{other})(?![a-z])", head):
            return False
    return True


def _is_age(age: str, head: str) -> bool:
    """Whether somebody born on the head's birth date is that old at one of the record's dates."""
    birth = _BIRTH.search(head)
    born = next(find_dates(head[birth.end() : birth.end() + 40]), None) if birth else None
    if born is None:
        return False
    return any(
        int(age)
        == day.year
        - born.year
        - ((day.month or 12, day.day or 31) < (born.month or 1, born.day or 1))
        for day in find_dates(head)
        if day.year > born.year
    )


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
    allowed = told_words(text) | _SAYS.get(said.status, frozenset())
    if said.status in _OVER:  # "no longer wanted, not for her" bear out that it is over
        allowed |= {"not"}.union(*(_SAYS[status] for status in _OVER[:2]))
    if said.status is Status.ABSENT:
        allowed |= {"longer"}
    if said.subject is not Subject.PATIENT:
        # "A family history" leaves open whose; a mother is named.
        allowed |= told_words(row) & _PEOPLE if "family" in allowed else {"family"}
    if said.subject is Subject.OTHER and len(people & told_words(row) & told_words(text)) > 1:
        allowed |= _PEOPLE  # who it is, by name
    if said.subject is Subject.PATIENT and PERSON.search(row):
        return True
    if said.status is Status.HYPOTHETICAL and _CHANGES & (told_words(row) ^ told_words(text)):
        return True
    return bool(told_words(row) & TAKES_BACK - allowed)


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
    if entry.kind is EntryKind.ALLERGY and said.kind is EntryKind.MEDICATION:
        return said.status in _OVER  # what is an allergy may well have been stopped
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
    if said.starts and not said.current and entry.status in (Status.PAST, Status.ON_HOLD):
        return entry.subject is Subject.PATIENT  # it was started then, whatever came of it
    return entry.subject is Subject.PATIENT and _same_standing(said, entry)


def _same_standing(said: Assertion, entry: ChartEntry) -> bool:
    held = _HOLDS if said.subject is Subject.PATIENT else (*_HOLDS, Status.HISTORY)
    return entry.status in held if said.status in held else entry.status is said.status


def _states(said: Assertion, entry: ChartEntry, row: str) -> bool:
    """Whether this one entry has the claim's standing and each of its values."""
    if (
        said.subject is Subject.PATIENT
        and entry.status is Status.UNSTATED
        and not (said.status in _HOLDS and (entry.named or entry.kind is EntryKind.ALLERGY))
    ):
        return False
    return (
        entry.subject is said.subject
        and _same_standing(said, entry)
        and all(_is_at(one, entry.ends, said, row) for one in said.ends)
        and all(same_dose(dose, entry, said) for dose in said.doses)
        and all(any(same_frequency(one, o) for o in entry.frequencies) for one in said.frequencies)
        and all(_is_at(one, entry.starts, said, row) for one in said.starts)
    )


def _is_at(one: When, held: Sequence[When], said: Assertion, row: str) -> bool:
    """Whether it began or ended then; of what is over the one day of its stretch says when."""
    if any(same_date(one, other) for other in held):
        return True
    there = list(find_dates(row)) if said.status in _OVER else []
    return bool(there) and all(same_date(one, other) for other in there)


def _denied_alike(text: str, rows: str) -> bool:
    """Whether what is said not to be there was found out in the same way: denied is not ruled out."""
    claim, chart = text.casefold(), rows.casefold()
    return all(
        any(stem in chart for stem in stems)
        for stems in _DENIALS
        if any(re.search(rf"\b{stem}", claim) for stem in stems)
    )


# Where what is said of something else begins: a part, another field's line, a sentence, a mark-up tag.
_APART = re.compile(
    r";|\b(?:but|however|although|though|whereas|while)\b|\n(?=[\w.\[\] -]{1,80}:\s)|"
    r"[.!?],?\s+(?=[A-Z(])|</?\w+>"
)
_POSSESSIVE = re.compile(r"['’]s\Z")
# The month, which is no "may be".
_MAY = re.compile(
    r"(?<=\d)[ -]?May\b|\bMay(?=[ ,-]*\d)|\b(?:in|since|by|until|of|from|last|early|late|mid)[ -]May\b"
)
_JOINS = frozenset("is was of at a an the to be it by with came stood stands".split())
_LOWER, _UPPER = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"[<≤]|\b(?:below|under|less|lower|falls?|drops?|dropp\w+|fell)\b",
        r"[>≥]|\b(?:above|over|more|higher|exceeds?|exceeded|rises?|longer)\b",
    )
)


def told_words(text: str) -> set[str]:
    """The words of a text in lower case, without possessive endings and without the month of May."""
    plain = _MAY.sub(" ", text)
    return {_POSSESSIVE.sub("", word.casefold()) for word in _WORD.findall(plain)}


def stretch_of(text: str, entry: ChartEntry) -> str:
    """The entry's row; of a row that only mentions it the part that does, and of several drugs its own.

    ``text`` is the source's.
    """
    row = text[entry.span.start : entry.span.end]
    at = Span(
        start=entry.name_span.start - entry.span.start, end=entry.name_span.end - entry.span.start
    )
    if entry.named:
        return row
    start, end = _part(row, at)
    names = [name for name in drug_spans(row) if start <= name.start < end]
    if not any(name.start <= at.start < name.end for name in names):
        return row[start:end]
    first = names[0].start
    nexts = [name.start for name in names if name.start > at.start]
    return f"{row[start:first]} {row[at.start : min(nexts, default=end)]}"


def _part(row: str, at: Span) -> tuple[int, int]:
    """From where the name's sentence, field or part begins to where its clause's ends."""
    left, right = 0, len(row)
    _, end = clause_of(row, at)
    for match in _APART.finditer(row):
        if match.end() <= at.start:
            left = match.end()
        elif match.start() >= end or (match.start() >= at.end and match.group()[0] in "\n<"):
            right = match.start()
            break
    return left, right


def stands_in(word: str, stretch: str) -> bool:
    """Whether a word stands in a stretch: in another inflection, spelling or short form, or as a sign."""
    if _LOWER.fullmatch(word):
        return _LOWER.search(stretch) is not None
    if _UPPER.fullmatch(word):
        return _UPPER.search(stretch) is not None
    if word.casefold() in MONTHS:
        return MONTHS[word.casefold()] in {MONTHS.get(each) for each in told_words(stretch)}
    meant = {stem(each.text) for each in words_in(word)}
    held = {stem(each.text) for each in words_in(stretch)}
    if not meant:  # a word that tells no two names apart ("disease") is compared as written
        return word.casefold() in told_words(stretch)
    return meant <= held


def number_stands(text: str, start: int, end: int, stretch: str) -> bool:
    """Whether a number of a text stands in a stretch behind the same word or sign: "ABPI of 1.1"."""
    number = re.escape(text[start:end])
    before = _measure_of(text[:start])
    return any(
        _same_measure(before, _measure_of(stretch[: match.start()]))
        for match in re.finditer(rf"(?<![\w.,/]){number}(?!\w|[.,/]\d)", stretch)
    )


def _measure_of(before: str) -> str:
    """The last word or sign that says what a number is of, without the words that only join."""
    found = re.findall(r"[<>≤≥]|[^\W\d_]{2,}|(?<=\s)[A-Z](?=[\s=:])", before[-60:])
    said = [word for word in found if word.casefold() not in _JOINS]
    return said[-1] if said else ""


def _same_measure(one: str, other: str) -> bool:
    if not one or not other:
        return False
    signs = (_LOWER, _UPPER)
    if any(sign.fullmatch(one) and sign.fullmatch(other) for sign in signs):
        return True
    return stem(one) == stem(other)
