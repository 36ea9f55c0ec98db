"""What bears on the task and the answer is silent on, weighed; the most serious few are listed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from core.evidence.chart.checks import ChartFacts
from core.evidence.chart.entries import entries_of
from core.evidence.chart.records import ChartEntry, EntryKind, Status, Subject
from core.evidence.words import stem
from core.provenance.records import Omission, RiskLevel
from core.records import FactPlace, Source, Span, Trace

_SEVERITY = ((0.75, RiskLevel.CRITICAL), (0.50, RiskLevel.HIGH), (0.25, RiskLevel.MEDIUM))
_NEVER = re.compile(
    r"\bno (?:known )?(?:drug )?allerg|\bNKDA\b|\bnot (?:abnormal|contraindicated)\b|\bno abnormal",
    re.IGNORECASE,
)
_PLAIN_WORDS = frozenset(
    stem(word)
    for word in "oral tablet capsule solution injection extended release mg mcg ml hr day use daily "
    "allergy substance disorder finding situation product patient status active stopped medication "
    "condition the of and to in with for acute chronic hydrochloride sodium was were has due because "
    "after observation value code date".split()
)  # fmt: skip
_LONGEST_LINE = 400
_MOST_FACTS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """One category of facts: how much it weighs, and which entries and lines belong to it."""

    category: str
    weight: float
    kinds: frozenset[EntryKind]
    statuses: frozenset[Status]
    lines: re.Pattern[str] | None
    asked: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionWeights:
    """The list that a lead can edit; ``beside`` weighs what the task does not ask after."""

    weights: tuple[Weight, ...]
    beside: float
    listed: int
    listed_from: float


def read_weights(path: Path) -> OmissionWeights:
    """Another list of weights, in the packaged one's form."""
    return _weights(tomllib.loads(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def packaged_weights() -> OmissionWeights:
    """The list of weights that is shipped."""
    place = resources.files("core.provenance").joinpath("lexicons", "omissions.toml")
    return _weights(tomllib.loads(place.read_text(encoding="utf-8")))


def _weights(raw: Mapping[str, object]) -> OmissionWeights:
    rows = raw["weigh"]
    assert isinstance(rows, list)
    return OmissionWeights(
        weights=tuple(
            Weight(
                category=str(row["category"]),
                weight=float(row["weight"]),
                kinds=frozenset(EntryKind(kind) for kind in row.get("kinds", [])),
                statuses=frozenset(Status(status) for status in row.get("statuses", [])),
                lines=re.compile(row["lines"], re.IGNORECASE) if "lines" in row else None,
                asked=re.compile(rf"\b(?:{row['asked']})\b", re.IGNORECASE),
            )
            for row in rows
        ),
        beside=float(str(raw["beside"])),
        listed=int(str(raw["listed"])),
        listed_from=float(str(raw["listed_from"])),
    )


def find_omissions(
    trace: Trace, charts: ChartFacts, weights: OmissionWeights
) -> tuple[tuple[Omission, ...], int]:
    """The omissions to list, the most serious first, and how many there are in all."""
    answer = frozenset(stem(word) for word in re.findall(r"[^\W_]+", trace.answer or ""))
    task = frozenset(stem(word) for word in re.findall(r"[^\W_]+", trace.question))
    found: dict[tuple[str, str], Omission] = {}
    for fact in _facts(trace, charts, weights):
        if _covered(fact.name, answer):
            continue
        key = (fact.weight.category, fact.name.casefold())
        if key not in found:
            found[key] = _omission(fact, trace.question, task, weights)
    ordered = sorted(found.values(), key=lambda each: (-each.score, each.category, each.name))
    listed = [each for each in ordered if each.score >= weights.listed_from]
    return tuple(listed[: weights.listed]), len(ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    weight: Weight
    name: str
    text: str
    place: FactPlace


def _facts(trace: Trace, charts: ChartFacts, weights: OmissionWeights) -> Iterator[_Weighed]:
    charted = {chart.source.source_id for chart in charts.charts}
    for chart in charts.charts:
        names = chart.listed[:_MOST_FACTS]
        for _, name in names:
            entries = [e for e in entries_of(chart, name) if e.named]
            weighed = _of_entries(entries, weights.weights)
            if weighed is not None:
                weight, entry = weighed
                place = FactPlace(source_id=entry.source_id, span=entry.span)
                text = chart.source.text[entry.span.start : entry.span.end]
                yield _Weighed(weight=weight, name=entry.name, text=text[:200], place=place)
    for source in trace.sources:
        if source.is_evidence:
            yield from _lines(source, weights.weights, source.source_id in charted)


def _of_entries(
    entries: Sequence[ChartEntry], weights: Sequence[Weight]
) -> tuple[Weight, ChartEntry] | None:
    """The heaviest category of an entry of the patient's own; a drug that is also active is not stopped."""
    own = [e for e in entries if e.subject is Subject.PATIENT]
    active = any(e.status is Status.ACTIVE for e in own)
    for weight in sorted(weights, key=lambda each: -each.weight):
        for entry in own:
            if entry.kind not in weight.kinds:
                continue
            if not weight.statuses and entry.status not in (Status.ABSENT, Status.ERROR):
                return weight, entry
            stopped = weight.statuses and Status.ACTIVE not in weight.statuses
            if entry.status in weight.statuses and not (stopped and active):
                return weight, entry
    return None


def _lines(source: Source, weights: Sequence[Weight], charted: bool) -> Iterator[_Weighed]:
    """The lines that a category's words are in; a line of a record is told under the record's first."""
    head, at = "", 0
    for line in source.text.splitlines(keepends=True):
        start, at = at, at + len(line)
        text = line.strip()
        if not text:
            head = ""
            continue
        head = head or text
        if len(text) > _LONGEST_LINE or _NEVER.search(text):
            continue
        for weight in weights:
            if weight.lines is None or (charted and weight.kinds) or not weight.lines.search(text):
                continue
            span = Span(start=start, end=start + len(line.rstrip()))
            place = FactPlace(source_id=source.source_id, span=span)
            of_record = _FIELD.match(text) is not None and _FIELD.match(head) is not None
            named = head if of_record else text
            shown = text if named == text else f"{head}; {text}"
            yield _Weighed(
                weight=weight, name=_name_of(named, weight), text=shown[:200], place=place
            )
            break


_FIELD = re.compile(r"[\w ()\[\]/-]{1,60}: ")


def _name_of(line: str, weight: Weight) -> str:
    """What a line is about: its words without those that made it count."""
    bare = weight.lines.sub(" ", line) if weight.lines is not None else line
    words = re.findall(r"[^\W\d_][\w-]+", bare)
    return " ".join([w for w in words if stem(w) not in _PLAIN_WORDS][:4]) or line[:60]


def _covered(name: str, answer: frozenset[str]) -> bool:
    """Whether the answer names what the fact is about: half of the name's own words, at least one."""
    wanted = {stem(w) for w in re.findall(r"[^\W\d_]{3,}", name)} - _PLAIN_WORDS
    return not wanted or 2 * len(wanted & answer) >= len(wanted)


def _omission(
    fact: _Weighed, question: str, task: frozenset[str], weights: OmissionWeights
) -> Omission:
    wanted = {stem(w) for w in re.findall(r"[^\W\d_]{3,}", fact.name)} - _PLAIN_WORDS
    bears = fact.weight.asked.search(question) is not None or bool(wanted & task)
    score = round(fact.weight.weight * (1.0 if bears else weights.beside), 4)
    severity = next((s for bound, s in _SEVERITY if score >= bound), RiskLevel.LOW)
    return Omission(
        severity=severity,
        category=fact.weight.category,
        name=fact.name,
        text=fact.text,
        place=fact.place,
        score=score,
    )
