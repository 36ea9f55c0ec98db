"""The lexical audit: does an answer repeat its evidence, by quote, span, paraphrase or entity (002)?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from core.citations.normal import (
    STOP_WORDS,
    Context,
    digit_runs,
    is_prose,
    norm_v1,
    paraphrase_tokens,
    trimmed,
)
from core.records import Span

MIN_QUOTE_CHARACTERS = 8
MIN_SPAN_CHARACTERS = 12
PARAPHRASE_COVERAGE = 0.85
PARAPHRASE_TOKENS = 4
PROSE_TOKENS = 2
CLUSTER_ENTITIES = 3
CLUSTER_CHARACTERS = 300


class AuditMode(StrEnum):
    """How much of what was checked stands in the evidence: all, some, none."""

    STRICT = "STRICT"
    HYBRID = "HYBRID"
    UNGROUNDED = "UNGROUNDED"


class EntityPolicy(StrEnum):
    """What names alone may prove."""

    STRICT = "strict"
    HYBRID = "hybrid"
    DROP = "drop"
    PROXIMITY = "proximity"


class UnitStatus(StrEnum):
    """What became of one unit of an answer."""

    VERIFIED_QUOTE = "VERIFIED_QUOTE"
    SUPPORTED_PARAPHRASE = "SUPPORTED_PARAPHRASE"
    UNSUPPORTED = "UNSUPPORTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedUnit:
    """A quote, sentence or name of the answer, at ``span`` of it, and how it was found."""

    text: str
    span: Span
    status: UnitStatus
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalAudit:
    """The audit of one answer; ``covered`` is the share of its characters that its units are."""

    mode: AuditMode
    method: str
    units: tuple[AuditedUnit, ...]
    covered: float

    @property
    def verified(self) -> int:
        """How many units stand in the evidence."""
        return sum(unit.status is not UnitStatus.UNSUPPORTED for unit in self.units)

    @property
    def unverified(self) -> tuple[str, ...]:
        """The units that do not."""
        return tuple(u.text for u in self.units if u.status is UnitStatus.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    span: Span


def audit_lexically(
    answer: str,
    evidence: str | Context,
    *,
    entity_policy: EntityPolicy = EntityPolicy.PROXIMITY,
    near: int = CLUSTER_ENTITIES,
    window: int = CLUSTER_CHARACTERS,
) -> LexicalAudit:
    """Check an answer against its evidence by the first of quote, span and entity that finds anything.

    By the policy *proximity* names prove what they stand for where ``near`` of them stand within
    ``window`` characters of the evidence, as in a cast list.
    """
    context = evidence if isinstance(evidence, Context) else Context(evidence)
    quotes = quoted_units(answer)
    if quotes:
        found = [_verbatim(unit, context, "quote") for unit in quotes]
        return _audit(answer, found, _mode(found), "quote")
    found = [_span_or_paraphrase(unit, context) for unit in span_units(answer)]
    if any(unit.status is not UnitStatus.UNSUPPORTED for unit in found):
        paraphrased = any(unit.method == "paraphrase" for unit in found)
        return _audit(answer, found, _mode(found), "paraphrase" if paraphrased else "span")
    if entity_policy is not EntityPolicy.DROP:
        names = [_verbatim(unit, context, "entity") for unit in entity_units(answer)]
        if any(unit.status is UnitStatus.VERIFIED_QUOTE for unit in names):
            mode = _entity_mode(answer, names, context, entity_policy, near, window)
            return _audit(answer, names, mode, "entity")
    # Unlike the seed, what was looked for and not found is told: an empty list would hide it.
    return _audit(answer, found, AuditMode.UNGROUNDED, "none")


def _audit(answer: str, units: Sequence[AuditedUnit], mode: AuditMode, method: str) -> LexicalAudit:
    written = len(answer.strip())
    covered = sum(unit.span.end - unit.span.start for unit in units)
    return LexicalAudit(
        mode=mode,
        method=method,
        units=tuple(units),
        covered=round(min(1.0, covered / written), 4) if written else 0.0,
    )


def _mode(units: Sequence[AuditedUnit]) -> AuditMode:
    good = sum(unit.status is not UnitStatus.UNSUPPORTED for unit in units)
    if not good:
        return AuditMode.UNGROUNDED
    return AuditMode.STRICT if good == len(units) else AuditMode.HYBRID


def _verbatim(unit: _Unit, context: Context, method: str) -> AuditedUnit:
    held = context.holds(unit.text)
    status = UnitStatus.VERIFIED_QUOTE if held else UnitStatus.UNSUPPORTED
    return AuditedUnit(text=unit.text, span=unit.span, status=status, method=method)


def _span_or_paraphrase(unit: _Unit, context: Context) -> AuditedUnit:
    verbatim = _verbatim(unit, context, "span")
    if verbatim.status is UnitStatus.VERIFIED_QUOTE or not _paraphrased(unit.text, context):
        return verbatim
    status = UnitStatus.SUPPORTED_PARAPHRASE
    return AuditedUnit(text=unit.text, span=unit.span, status=status, method="paraphrase")


def _paraphrased(text: str, context: Context) -> bool:
    """Whether prose shares its words with the evidence and states no number that it lacks."""
    if not is_prose(text, PROSE_TOKENS):
        return False
    tokens = paraphrase_tokens(text)
    if len(tokens) < PARAPHRASE_TOKENS or not context.covers(tokens, PARAPHRASE_COVERAGE):
        return False
    runs = digit_runs(text)
    return not runs or runs <= context.digit_runs


# -- what of an answer is checked ------------------------------------------------------------------

_CURLY = re.compile(r"“([^“”]*)”")
_BULLET = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+|#{1,6}[ \t]+)?")
_SENTENCE = re.compile(r"[.!?][\"”)\]*]*\s+(?=[A-Z\"“(\[])")
_INITIAL = re.compile(r"(?:^|[ .])[A-Z]\Z")
_FRAMING = re.compile(
    r"(?:based on|according to|as (?:stated|described|reported) in|per)\s+(?:the|your)\s+"
    r"(?:provided |given |above |retrieved )?(?:source|document|context|passage|text)s?\s*[,:]\s*",
    re.I,
)
_ABSTAINS = re.compile(
    r"(?:the\s+)?(?:provided |given )?(?:source|document|context|passage|text)s?\s+"
    r"(?:do|does|did)(?: not|n't|n’t)\b",
    re.I,
)
_TRAILING = re.compile(
    r"\s*\(\s*(?:(?:sources?|src|citing|see|refs?|references?|from)\b\s*:?[^()]*(?:\([^()]*\))?[^()]*"
    r"|https?://\S+?\s*[^()\s]*)\s*\)(?=[.!?]?\s*$)|\s*\[(?:E?\d+(?:\s*,\s*E?\d+)*)\](?=[.!?]?\s*$)",
    re.I,
)
# Two capitalised words and more; a phrase never crosses a line.
_NAME = re.compile(r"\b[A-Z][\w'’\-]*(?:[ \t]+(?:[A-Z]\.|[A-Z][\w'’\-]+))+")


def quoted_units(answer: str) -> tuple[_Unit, ...]:
    """What the answer puts between curly or straight double quotes, from eight characters on."""
    spans = [match.span(1) for match in _CURLY.finditer(answer)] if "“" in answer else []
    opened: int | None = None
    mark = answer.find('"')
    while mark >= 0:
        if opened is not None and "\n\n" in answer[opened:mark]:
            opened = None  # straight quotes pair in order inside a paragraph
        if opened is not None:
            spans.append((opened, mark))
            opened = None
        elif not answer[mark - 1 : mark].isdigit():  # an inch mark can only close
            opened = mark + 1
        mark = answer.find('"', mark + 1)
    trimmed_spans = (trimmed(answer, *span) for span in sorted(spans))
    return tuple(
        _Unit(span.cut(answer), span)
        for span in trimmed_spans
        if span.end - span.start >= MIN_QUOTE_CHARACTERS
    )


def span_units(answer: str) -> tuple[_Unit, ...]:
    """The sentences and list items of an answer, without bullets, framing and a closing citation."""
    units: list[_Unit] = []
    offset = 0
    for line in answer.split("\n"):
        bullet = _BULLET.match(line)
        head = bullet.end() if bullet else 0
        ends = (m.end() for m in _SENTENCE.finditer(line, head) if not _initial(line, m.start()))
        cuts = [head, *ends, len(line)]
        for start, end in pairwise(cuts):
            unit = _bare(answer, trimmed(answer, offset + start, offset + end))
            if unit is not None:
                units.append(unit)
        offset += len(line) + 1
    return tuple(units)


def _initial(line: str, stop: int) -> bool:
    """Whether the stop at that place belongs to an initial: "Thomas A. Anders"."""
    return _INITIAL.search(line[max(0, stop - 2) : stop]) is not None


def _bare(answer: str, span: Span) -> _Unit | None:
    framing = _FRAMING.match(answer, span.start, span.end)
    start = framing.end() if framing else span.start
    if _ABSTAINS.match(answer, start, span.end):
        return None  # what the sources do not say is an abstention, not a span of theirs
    text = answer[start : span.end]
    closed = text.rstrip(".!? ")[-1:] in (")", "]")
    if closed and (citation := _TRAILING.search(text)):
        text = text[: citation.start()]
    text = text.rstrip().strip("*_ ")
    if len(text) < MIN_SPAN_CHARACTERS or text.endswith(":"):
        return None
    begin = answer.index(text, start)
    return _Unit(text, Span(start=begin, end=begin + len(text)))


def entity_units(answer: str) -> tuple[_Unit, ...]:
    """The names of two words and more, each once."""
    seen: dict[str, _Unit] = {}
    for match in _NAME.finditer(answer):
        text = match.group().rstrip(".") if match.group()[-2:-1].islower() else match.group()
        span = Span(start=match.start(), end=match.start() + len(text))
        seen.setdefault(norm_v1(text), _Unit(text, span))
    return tuple(seen.values())


# -- what names alone prove ------------------------------------------------------------------------


def _entity_mode(
    answer: str,
    names: Sequence[AuditedUnit],
    context: Context,
    policy: EntityPolicy,
    near: int,
    window: int,
) -> AuditMode:
    """What the names that stand in the evidence prove; called with one at least."""
    if policy is EntityPolicy.STRICT:
        return _mode(names)
    if policy is EntityPolicy.HYBRID:
        return AuditMode.HYBRID
    held = [unit for unit in names if unit.status is UnitStatus.VERIFIED_QUOTE]
    if _clustered(held, context, near, window):
        return AuditMode.STRICT if len(held) == len(names) else AuditMode.HYBRID
    if len(held) == 1 and _one_sentence(answer) and _says_what_is_not_there(answer, context):
        return AuditMode.UNGROUNDED
    return AuditMode.HYBRID


def _clustered(held: Sequence[AuditedUnit], context: Context, near: int, window: int) -> bool:
    places = sorted(place for unit in held if (place := context.place(unit.text)) is not None)
    return any(places[i + near - 1] - places[i] <= window for i in range(len(places) - near + 1))


def _one_sentence(text: str) -> bool:
    return re.search(r"[.!?](?=\s)", text.strip()) is None


def _says_what_is_not_there(answer: str, context: Context) -> bool:
    """Whether a capitalised word or a number of the answer is nowhere in the evidence."""
    if not digit_runs(answer) <= context.digit_runs:
        return True
    words = (raw.strip(".,;:!?\"'()[]{}“”*_") for raw in answer.split())
    named = (word for word in words if len(word) > 4 and word[0].isupper())
    return any(
        word.lower() not in STOP_WORDS and norm_v1(word) not in context.text for word in named
    )
