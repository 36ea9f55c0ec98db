"""How it stands with a name: status codes of records, and triggers with scopes in prose (ConText)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from core.evidence.chart.labels import LEXICON
from core.evidence.chart.records import Status, Subject
from core.records import Span

# The status said last and most seriously wins: an error is worse than a stop.
_WEIGHT = {
    status: weight
    for weight, status in enumerate(
        (
            Status.UNSTATED, Status.ACTIVE, Status.HISTORY, Status.PLANNED, Status.UNCERTAIN,
            Status.PAST, Status.ON_HOLD, Status.HYPOTHETICAL, Status.CANCELLED, Status.ABSENT,
            Status.ERROR,
        )
    )
}  # fmt: skip
_CODES: dict[str, Status] = {
    code: Status(status)
    for status, codes in LEXICON["status_codes"].items()
    for code in codes.split("|")
}


def status_of_code(value: str) -> Status | None:
    """The status that a field's value stands for; None when it is no known code."""
    plain = re.sub(r"[\s_]+", " ", value).strip(" .*`\"'()[]").casefold()
    return _CODES.get(plain) or _CODES.get(plain.replace(" ", "-"))


def weightier(one: Status, other: Status) -> Status:
    """The one of two statuses that decides when both are said of the same entry."""
    return one if _WEIGHT[one] >= _WEIGHT[other] else other


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a text says of a name in it: status, subject, and the words that say so."""

    status: Status
    subject: Subject
    words: str


@dataclass(frozen=True, slots=True)
class _Scope:
    pattern: re.Pattern[str]
    status: Status | None
    subject: Subject | None
    side: str
    not_before: re.Pattern[str] | None


_CLAUSE = re.compile(
    r";|\n(?=\s*[-*•\d])|[.!?](?=\s+(?-i:[A-Z(]))|\s[|]\s|\bbut\b|\bhowever\b|\balthough\b|\bthough\b|"
    r"\bwhile\b|\bwhereas\b|"
    r"\binstead of\b|\binstead\b|\bexcept(?: for)?\b|\bapart from\b|\breplaced by\b|\bin favou?r of\b|"
    r"(?:,|\band\b|\bthen\b|,\s?and\b|[\u2013\u2014])\s+(?=(?:(?:he|she|they|it|the patient|"
    r"patient|pt|mr|mrs|ms|now|also|currently|"
    r"is|(?:his|her|the|their)\s(?:\w+\s){0,3}?)\.?\s*){0,3}\b(?:has|had|is|was|are|were|takes|"
    r"took|continues|continued|reports|denies|"
    r"uses|used|started|starts|start|stop|stopped|remains|suffers|receives|lives|continue|hold|"
    r"held|begin|began|switched|changed|no longer|"
    r"commenced|allergic|takes|not)\b)|"
    r"(?:,|\band\b)\s+(?!who\b|which\b)(?=(?:[\w-]+\s){1,3}(?:was|were|is|are|has|had|continues|"
    r"continued|remains|"
    r"stopped|started|resolved|persists)\b)|"
    r"(?<!\bin)(?<!\bof)(?<!\bto)(?<!\bby)(?<!\bon)(?<!\bfor)(?<!\bwith)(?<!\bfrom)(?<!\ba)(?<!\baffects)"
    r"(?<!\baffected)(?<!\baffecting)"
    r",?\s+(?:and\s+)?(?=(?:his|her|the patient['’]s)\s(?:mother|father|brother|sister|son|"
    r"daughter|husband|wife|aunt|uncle|partner)\b)",
    re.IGNORECASE,
)  # fmt: skip


_LISTED = re.compile(
    r"(?:[\s,/&+()–-]|and|or|both|oral|tablets?|capsules?|\d[\d.,]*+|mg|mcg|g|ml|units?|once|twice|"
    r"daily|"
    r"times|a|an|day|every|hours?|bid|tid|qd|od|bd|the|his|her|as|needed|at|night|in|morning)*",
    re.IGNORECASE,
)


def standing(text: str, name: Span, others: Sequence[Span] = ()) -> Standing:
    """What the clause around ``name`` says of it; ``others`` are further names in the text.

    A trigger reaches forward to the end of its clause, backward only past no other trigger's verb.
    """
    return _standing(text, name, tuple(others))


@lru_cache(maxsize=16_384)
def _standing(text: str, name: Span, others: tuple[Span, ...]) -> Standing:
    start, end = clause_of(text, name, others)
    status, subject, words = Status.UNSTATED, Subject.PATIENT, ""
    override_at, worst_at = -1, -1
    inside = text[start:end]
    at = Span(start=name.start - start, end=name.end - start)
    seen = [
        Span(start=o.start - start, end=o.end - start) for o in others if start <= o.start < end
    ]
    for found, scope in _triggers(inside, at, [*seen, at]):
        if scope.subject is not None:
            subject, words = scope.subject, words or found.group().strip()
            continue
        assert scope.status is not None
        if scope.status is Status.ACTIVE:
            override_at = max(override_at, found.start())
        if _WEIGHT[scope.status] > _WEIGHT[status]:
            status, words, worst_at = scope.status, found.group().strip(), found.start()
    if subject is Subject.PATIENT:
        subject = _carried_subject(text, start)
    # "Suspected, now confirmed"; "stopped in May, restarted in June".
    soft = (Status.PAST, Status.UNCERTAIN, Status.ON_HOLD, Status.PLANNED)
    if status in soft and override_at > max(worst_at, at.end):
        status = Status.ACTIVE
    return Standing(status=status, subject=subject, words=words)


# "Her niece has multiple sclerosis and takes X", "His twin, Leo, has X": a verb without a subject of
# its own goes on about the relative with whom the sentence begins.
_BARE_VERB = re.compile(
    r"\s*(?:(?:and|also|now|still|currently)\s+)*(?:has|had|is|was|takes|took|uses|used|remains|gets|"
    r"suffers|lives)\b",
    re.IGNORECASE,
)
_OWN_SUBJECT = re.compile(r"\b(?:he|she|they|patient|pt|mr|mrs|ms)\b", re.IGNORECASE)


def _carried_subject(text: str, start: int) -> Subject:
    if start == 0 or _BARE_VERB.match(text, start) is None:
        return Subject.PATIENT
    begun = max((m.end() for m in re.finditer(r"[.!?;\n]\s+", text[:start])), default=0)
    before = text[begun:start]
    for scope in _scopes():
        if scope.subject is None or scope.side != "after":
            continue
        match = scope.pattern.match(before)
        if match is not None and not _OWN_SUBJECT.search(before, match.end()):
            aside = scope.not_before is not None and scope.not_before.match(before, match.end())
            return Subject.PATIENT if aside else scope.subject
    return Subject.PATIENT


# "X was considered, but this has been excluded": a pronoun carries the name into its clause.
_PRONOUN = re.compile(
    r"[^.!?]{0,60}?\b(?:it|this|which|the (?:drug|diagnosis|entry|order|medication))\b[^.!?;]{0,80}",
    re.IGNORECASE,
)


# "X 5 mg daily, stopped in May", "X. Was discontinued.": no subject of its own, so X's; but never
# "stopped smoking".
_NO_SUBJECT = re.compile(
    r"\s*(?:(?:and|but|now|since|then|later|was|were|is|has|have|had|been|currently|temporarily)\s+)*"
    r"(?:stopped|discontinued|ceased|withdrawn|finished|ended|completed|resolved|inactive|paused|held|"
    r"on hold|suspended|withheld|cancell?ed|declined|refused|never \w+|in remission|ruled out|excluded|"
    r"entered in error|no longer \w+)\b"
    r"(?=\W*\Z|\s*[.,;()\n]|\s+(?:in|on|since|at|by|because|due|after|for|from|last|until|when|as|"
    r"before|\d))[^.!?;\n]{0,60}",
    re.IGNORECASE,
)


def clause_of(text: str, name: Span, others: Sequence[Span] = ()) -> tuple[int, int]:
    """Where the clause that says how it stands with a name begins and ends."""
    start, end = 0, len(text)
    for match in _CLAUSE.finditer(text):
        if match.end() <= name.start and not _if_then(text[start : match.end()], match.group()):
            start = match.end()
        elif match.start() >= name.end:
            carried = _PRONOUN.match(text, match.end())
            if carried is not None and match.group().strip() in (";", "but", ",", "and", "though"):
                reach = carried.end()
                if not any(match.end() <= other.start < reach for other in others):
                    return start, reach
            bare = _NO_SUBJECT.match(text, match.end())
            if bare is not None and not any(name.end <= o.start < bare.end() for o in others):
                return start, bare.end()
            end = match.start()
            break
    return start, end


def _if_then(clause: str, boundary: str) -> bool:
    """Whether the clause is a condition, which reaches over its comma into what follows."""
    if not re.match(r"(?:,|then|and|[\u2013\u2014])", boundary.strip(), re.I):
        return False
    return (
        re.match(r"(?:[\w ]{0,40}:)?\W*(?:if|should|when|in case|unless)\b", clause, re.IGNORECASE)
        is not None
    )


def _triggers(text: str, name: Span, names: Sequence[Span]) -> list[tuple[re.Match[str], _Scope]]:
    taken: list[tuple[int, int]] = []
    found: list[tuple[re.Match[str], _Scope]] = []
    for scope in _scopes():
        for match in scope.pattern.finditer(text):
            if match.start() < name.end and name.start < match.end():
                continue
            if scope.not_before is not None and scope.not_before.match(text, match.end()):
                continue
            if _applies(scope.side, text, match, name, names):
                found.append((match, scope))
                taken.append(match.span())
    # The longer of two triggers that overlap is what was written: "no longer takes", not "takes".
    return [
        (match, scope)
        for match, scope in found
        if not any(
            (a, b) != match.span() and a <= match.start() and match.end() <= b for a, b in taken
        )
    ]


_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|got) (?:\w+ly )?\Z", re.IGNORECASE)


def _applies(side: str, text: str, match: re.Match[str], name: Span, names: Sequence[Span]) -> bool:
    if side == "either":
        before = [n for n in names if n.end <= match.start()]
        joined = re.search(
            r"\b(?:and|then|also|he|she|doctor|gp)\s*\Z", text[: match.start()], re.I
        )
        # "Potassium was stopped when X was started": a passive is never said of what follows it.
        passive = _PASSIVE.search(text, 0, match.start())
        side = "before" if passive or (before and not joined) else "after"
    if side == "after":
        return match.end() <= name.start
    if name.end > match.start():
        return False
    # "X was stopped and Y started": what is said of Y is not said of X, unless they are listed.
    between = [o for o in names if name.end <= o.start and o.end <= match.start()]
    return all(_LISTED.fullmatch(text[name.end : o.start]) for o in between[:1])


@lru_cache(maxsize=1)
def _scopes() -> tuple[_Scope, ...]:
    raw = tomllib.loads(
        resources.files("core.evidence.chart").joinpath("lexicons/scopes.toml").read_text("utf-8")
    )
    made = []
    for item in raw["scope"]:
        body = item["words"].replace(" ?", r"\s*").replace(" ", r"\s+")
        pattern = re.compile(rf"(?<![\w-])(?:{body})(?:(?<=[\s?])|(?!\w))", re.IGNORECASE)
        made.append(
            _Scope(
                pattern,
                Status(item["status"]) if "status" in item else None,
                Subject(item["subject"]) if "subject" in item else None,
                item["side"],
                re.compile(item["not_before"].replace(" ", r"\s+", 1), re.I)
                if "not_before" in item
                else None,
            )
        )
    return tuple(made)
