"""A source's text in excerpts, and what is lit in it: premises, values, and where they were read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from core.evidence.calls import arguments_begin
from core.records import ClaimVerdict, Judged, Outcome, Source, Span
from pages.widgets.citation_chips import cited_spans
from pages.widgets.claim_checks import found_by_a_check, told_facts, value_places
from pages.widgets.evidence_lines import (
    claim_terms,
    lit_lines,
    nearest_line,
    quoted_lines,
    stands_beside,
    whole_line,
)
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS, choose_excerpts, merge_spans
from pages.widgets.judge_view import quote_kind, quoted_places, quoted_spans
from pages.widgets.offsets import Offsets
from pages.widgets.side_by_side import credited_source, is_conflation
from pages.widgets.source_view import SentText

Json = Mapping[str, object]
SOURCES_SEARCHED_FOR_VALUES = 8
BOXED = 60  # characters; a whole sentence is lit and not boxed


def lay_out_text(
    source_id: str, text: str, kept: Source | None, verdicts: Sequence[ClaimVerdict]
) -> Json:
    """A source's readable text, and its raw output where that is something else, in excerpts."""
    by_claim = {
        verdict.claim.claim_id: list(_premise_spans(verdict, source_id)) for verdict in verdicts
    }
    lit = [span for spans in by_claim.values() for span in spans]
    lit += [span for verdict in verdicts for span, _ in told_facts(verdict, source_id)]
    lit += [span for verdict in verdicts for span in cited_spans(verdict, source_id)]
    lit += [span for verdict in verdicts for span in quoted_spans(verdict, source_id)]
    shown: dict[str, object] = {"readable": _excerpts(text, lit), "raw": None}
    # A verdict of an older version of the trace must not be mapped onto a newer raw output.
    if kept is not None and kept.raw is not None and kept.text == text:
        shown["raw"] = _excerpts(kept.raw, _raw_points(kept, lit))
        shown["raw_marks"] = {
            verdict.claim.claim_id: [
                *_raw_marks(kept, by_claim[verdict.claim.claim_id], "premise"),
                *_raw_marks(kept, list(quoted_spans(verdict, source_id)), quote_kind(verdict)),
            ]
            for verdict in verdicts
        }
    return shown


def _excerpts(text: str, lit: Sequence[Span]) -> Json:
    offsets = Offsets(text)
    return {
        "characters": len(text),
        "parts": [
            {"start": offsets.of_point(span.start), "text": span.cut(text), "after": span.end}
            for span in choose_excerpts(len(text), lit)
        ],
    }


def _premise_spans(verdict: ClaimVerdict, source_id: str) -> Iterator[Span]:
    outcome = verdict.outcome
    if isinstance(outcome, Judged) and outcome.premise.source_id == source_id:
        yield from outcome.premise.spans


def source_marks(
    verdict: ClaimVerdict, sent: Mapping[str, SentText], families: Mapping[str, str]
) -> Json:
    """For each source at hand: the premise, where the claim's values stand in it, and the words looked at.

    In a wrongly credited source its nearest line is marked too, to scroll to and not as evidence.
    """
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return {}
    ranked = judged.route.ranking[:SOURCES_SEARCHED_FOR_VALUES]
    wanted = [judged.route.source_id, *(each.source_id for each in ranked)]
    wanted += [place.source_id for place in quoted_places(verdict)]
    credited = credited_source(verdict, families) if is_conflation(verdict) else None
    marks = {
        source_id: _marks_in(verdict, judged, source_id, sent[source_id])
        for source_id in wanted
        if source_id in sent
    }
    if credited is not None and credited in sent:
        marks[credited] = [
            *_nearest(verdict, sent[credited]),
            *_marks_in(verdict, judged, credited, sent[credited]),
        ]
    return marks


def _nearest(verdict: ClaimVerdict, source: SentText) -> list[Json]:
    near = nearest_line(source.text[:SHOWN_WHOLE_CHARACTERS], claim_terms(verdict.claim.text))
    return [] if near is None else [_mark(near, "near", source.offsets)]


def _marks_in(
    verdict: ClaimVerdict, judged: Judged, source_id: str, source: SentText
) -> list[Json]:
    text, offsets = source.text, source.offsets
    terms = claim_terms(verdict.claim.text)
    premise = merge_spans(list(_premise_spans(verdict, source_id)))
    values = list(_value_marks(verdict, judged, source_id, text, premise))
    told = [
        (whole_line(place, text), check.outcome)
        for span, check in told_facts(verdict, source_id)
        for place in quoted_lines(span, text, check.reason)
    ]
    places = [span for span, _ in (*values, *told)]
    lit = list(lit_lines(merge_spans([*premise, *(span for span, _ in told)]), text, terms, places))
    marks: list[Json] = [_mark(line, "premise", offsets) for line in lit]
    against = dict.fromkeys(line for line, outcome in told if outcome is Outcome.CONTRADICTS)
    marks += [_mark(line, "against", offsets) for line in against]
    marks += [_mark(span, kind, offsets) for span, kind in values]
    if source_id == judged.route.source_id:
        marks += _looked_at(judged, lit, offsets)
    kind = quote_kind(verdict)
    marks += [_mark(span, kind, offsets) for span in quoted_spans(verdict, source_id)]
    return marks


def call_marks(claim: str, judged: Judged) -> list[Json]:
    """The arguments of the call that was read which speak of the claim."""
    call = judged.premise.call
    asked = Span(start=arguments_begin(call), end=len(call))
    values = [
        place
        for checked in judged.literals.values
        for place in _occurrences(checked.value.text, call, [asked])
    ]
    lit = lit_lines([asked], call, claim_terms(claim), values)
    return [_mark(line, "premise", Offsets(call)) for line in lit]


def _looked_at(judged: Judged, lit: Sequence[Span], offsets: Offsets) -> list[Json]:
    """The words of the lit lines that the claim's words looked at, in three steps of the highest."""
    tokens = judged.alignment.source_tokens
    highest = max((token.score for token in tokens), default=0.0)
    return [
        _mark(token.span, f"looked looked-{step}", offsets)
        for token in tokens
        if any(token.span.overlaps(line) for line in lit)
        and (step := _step(token.score, highest)) > 1
    ]


def _step(score: float, highest: float) -> int:
    """The step of four that a score stands on, as the claim's words are shaded."""
    return min(4, 1 + int(4 * score / highest)) if highest > 0 else 1


def _value_marks(
    verdict: ClaimVerdict, judged: Judged, source_id: str, text: str, premise: Sequence[Span]
) -> Iterator[tuple[Span, str]]:
    """Where the claim's values stand: at the facts that a check names, else beside its words."""
    terms = claim_terms(verdict.claim.text)
    where = premise or (Span(start=0, end=len(text)),)
    for checked in judged.literals.values:
        if not checked.settles:
            continue
        if not checked.present and found_by_a_check(verdict, checked.value.span):
            places = value_places(verdict, checked.value.span, source_id)  # in another notation
            yield from ((place, "value") for place in places if len(place.cut(text)) <= BOXED)
            continue
        # Outside the premise a value is only found, not checked, so it is not called missing.
        shown = checked.present or not premise
        sought = checked.value.text if shown else checked.nearest
        kind = "value" if shown else "nearest"
        named = value_places(verdict, checked.value.span, source_id) if shown else []
        found = _occurrences(sought or "", text, where)
        exact = [span for span in found if any(span.overlaps(place) for place in named)]
        for span in exact or [span for span in found if stands_beside(span, text, terms)]:
            yield span, kind


def _occurrences(sought: str, text: str, where: Sequence[Span]) -> list[Span]:
    if not sought.strip():
        return []
    # Spaces in a value match any run of them: "10 mg" is also "10  mg" and "10mg".
    words = [re.escape(word) for word in sought.split()]
    pattern = re.compile(r"(?<!\w)" + r"\s*".join(words) + r"(?!\w)", re.IGNORECASE)
    found = []
    for span in where:
        for match in pattern.finditer(text, span.start, span.end):
            found.append(Span(start=match.start(), end=match.end()))
            if len(found) >= 50:
                return found
    return found


def _mark(span: Span, kind: str, offsets: Offsets) -> Json:
    return {"start": offsets.of_point(span.start), "end": offsets.of_point(span.end), "kind": kind}


def _raw_marks(source: Source, spans: Sequence[Span], kind: str) -> list[Json]:
    """The byte ranges of the raw output behind spans of the readable text."""
    offsets = Offsets(source.raw or "")
    ranges = [
        Span(start=offsets.of_byte(each.raw_start), end=offsets.of_byte(each.raw_end))
        for each in source.raw_map
        if any(span.overlaps(each.text) for span in spans)
    ]
    return [{"start": span.start, "end": span.end, "kind": kind} for span in merge_spans(ranges)]


def _raw_points(source: Source, spans: Sequence[Span]) -> list[Span]:
    """Where in the raw output the lit values are, in its code points, to choose excerpts by."""
    offsets = Offsets(source.raw or "")
    return [
        Span(start=offsets.point_of_byte(each.raw_start), end=offsets.point_of_byte(each.raw_end))
        for each in source.raw_map
        if any(span.overlaps(each.text) for span in spans)
    ]
