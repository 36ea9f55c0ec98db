"""Facts of an answer whose source is known without the verifier: by gold labels, or by exact values.

A fact is a whole sentence of the answer, all of whose labelled claims are supported by one and the
same source. Without labels it is a sentence with several values that all stand in one source and in
no other. Nothing here asks what the verifier makes of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.evaluation.origins import Origin
from core.evaluation.packets import PacketRow
from core.records import AttributionStatus, Span, Trace, VerdictLabel
from core.text.sentences import sentence_spans

MAX_WORDS = 45
TELLING_VALUES = 2  # without labels, and of three digits: others may stand anywhere by chance
# What a source cannot be said to state: what the agent did, asked, concluded or did not find.
_NOT_STATED = frozenset({"absence", "inference", "action", "arguments"})
_VALUE = re.compile(r"\d+(?:[.,:/]\d+)*")
_SECOND = re.compile(r"[.!?]\s+[A-Z*]")  # two sentences that the splitter left together
_LIST_MARK = re.compile(r"^(?:[-*•‣]\s+|\d{1,2}[.)]\s+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFact:
    """A sentence of an answer, and the place that says it.

    ``sentence`` is in the answer; ``credits`` are the labelled words in it that credit a source;
    ``values`` are what must not all stand in a place for it to be credited wrongly.
    """

    sentence: Span
    origin: Origin
    values: tuple[str, ...]
    credits: tuple[str, ...]


def labelled_facts(
    trace: Trace, rows: Sequence[PacketRow], origins: Sequence[Origin]
) -> Iterator[PlantedFact]:
    """Sentences whose labelled claims are all supported by one source, at its paper where it has some."""
    for sentence in _prose(trace.answer or ""):
        inside = [row for row in rows if (at := _span(row)) and at.overlaps(sentence)]
        if not inside or not all(_stated_by_one(row) for row in inside):
            continue
        named = {row.gold_source_ids for row in inside}
        if len(named) != 1:
            continue
        text = sentence.cut(trace.answer or "")
        values = tuple(dict.fromkeys(value for row in inside for value in _values(row)))
        credits_inside = tuple(
            dict.fromkeys(
                row.stated_attribution
                for row in inside
                if row.stated_attribution and row.stated_attribution in text
            )
        )
        for origin in _of_gold(next(iter(named))[0], inside, origins):
            yield PlantedFact(
                sentence=sentence,
                origin=origin,
                values=values or values_of(text),
                credits=credits_inside,
            )


def valued_facts(trace: Trace, origins: Sequence[Origin]) -> Iterator[PlantedFact]:
    """Sentences with several values that all stand in one source, or one paper, and in no other."""
    for sentence in _prose(trace.answer or ""):
        values = values_of(sentence.cut(trace.answer or ""))
        if sum(sum(map(str.isdigit, value)) >= 3 for value in values) < TELLING_VALUES:
            continue
        for parts in (False, True):
            holding = [
                origin
                for origin in origins
                if bool(origin.part) == parts and holds_all(values, origin)
            ]
            if len(holding) == 1:
                yield PlantedFact(sentence=sentence, origin=holding[0], values=values, credits=())


def holds_all(values: Sequence[str], origin: Origin) -> bool:
    """Whether every value stands there as it is written; False for none."""
    return bool(values) and all(
        re.search(rf"(?<![\w.,]){re.escape(value)}(?![\w]|[.,]\d)", origin.text, re.IGNORECASE)
        for value in values
    )


def values_of(text: str) -> tuple[str, ...]:
    """The numbers of a text as written, each once; single digits stand anywhere and tell nothing."""
    return tuple(dict.fromkeys(value for value in _VALUE.findall(text) if len(value) > 1))


def by_trace(rows: Sequence[PacketRow]) -> Mapping[str, list[PacketRow]]:
    """The labelled rows of each trace; what is held out is never among them."""
    found: dict[str, list[PacketRow]] = {}
    for row in rows:
        if row.scored and not row.held_out:
            found.setdefault(row.trace_id, []).append(row)
    return found


def _prose(answer: str) -> Iterator[Span]:
    """The sentences of the answer that stand on one line and are no heading, table or code."""
    for sentence in sentence_spans(answer):
        text = sentence.cut(answer)
        mark = _LIST_MARK.match(text)
        start = sentence.start + (mark.end() if mark else 0)
        text = answer[start : sentence.end]
        plain = not any(sign in text for sign in ("\n", "|", "```", "#")) and text[:1] != "("
        one = not _SECOND.search(text)
        if plain and one and 4 <= len(text.split()) <= MAX_WORDS and text.count("**") % 2 == 0:
            yield Span(start=start, end=sentence.end)


def _stated_by_one(row: PacketRow) -> bool:
    return (
        row.label is VerdictLabel.SUPPORTED
        and row.gold_attribution in (None, AttributionStatus.MATCH)
        and len(row.gold_source_ids) == 1
        and row.extra.get("how") not in _NOT_STATED
        and row.extra.get("confidence") != "low"
    )


def _of_gold(gold: str, rows: Sequence[PacketRow], origins: Sequence[Origin]) -> Iterator[Origin]:
    """The source that the labels name, and the one paper of it that holds every deciding quote."""
    # Packets of imported runs name a source by its call alone.
    of_source = [
        one for one in origins if one.source_id == gold or one.source_id.endswith(f"#{gold}")
    ]
    yield from (one for one in of_source if one.part is None)
    papers = [one for one in of_source if one.part is not None]
    quotes = [str(row.extra.get("evidence") or "") for row in rows]
    holding = [one for one in papers if all(_quoted(quote, one) for quote in quotes)]
    if len(holding) == 1:
        yield holding[0]


def _quoted(quote: str, origin: Origin) -> bool:
    text = " ".join(origin.text.split()).casefold()
    pieces = [" ".join(piece.split()).casefold() for piece in re.split(r"\n|\.\.\.|…", quote)]
    return any(len(piece) >= 12 for piece in pieces) and all(
        piece in text for piece in pieces if len(piece) >= 12
    )


def _span(row: PacketRow) -> Span | None:
    found = row.extra.get("span")
    if isinstance(found, list) and len(found) == 2 and all(isinstance(at, int) for at in found):
        start, end = found
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end:
            return Span(start=start, end=end)
    return None


def _values(row: PacketRow) -> tuple[str, ...]:
    found = row.extra.get("values")
    return tuple(str(value) for value in found) if isinstance(found, list) else ()
