"""What a judge said of one claim, laid out: its verdict, what is proved of it, its quotes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.judge.testimony import list_of_calls
from core.records import ClaimVerdict, Judged, Span, State, Trace
from core.records.judge import JudgeOutcome, JudgeVerdict, Proved, QuotedPart, QuotePlace, Unproved
from pages.widgets.offsets import Offsets

Json = Mapping[str, object]
QUOTE_CHARACTERS = 160
STATES = {State.ALLOW: "passes", State.NEEDS_REVIEW: "needs a person", State.BLOCK: "blocked"}
CREDITS: Mapping[bool | None, str] = {
    None: "",
    True: "It calls the credit right.",
    False: "It calls the credited source wrong.",
}


def outcome_of(verdict: ClaimVerdict) -> JudgeOutcome | None:
    """What came of asking a judge about the claim; None where none was asked."""
    return verdict.outcome.judge if isinstance(verdict.outcome, Judged) else None


def quoted_places(verdict: ClaimVerdict) -> tuple[QuotePlace, ...]:
    """Where the judge's quotes stand, those of a verdict that is not proved too."""
    outcome = outcome_of(verdict)
    proof = outcome.proof if outcome is not None else None
    return proof.places if isinstance(proof, Proved | Unproved) else ()


def quoted_spans(verdict: ClaimVerdict, source_id: str) -> Iterator[Span]:
    """Where the judge's quotes stand in the text of one output."""
    for place in quoted_places(verdict):
        if place.source_id == source_id and place.part is QuotedPart.OUTPUT:
            yield place.span


def quote_kind(verdict: ClaimVerdict) -> str:
    """How its quotes are lit."""
    outcome = outcome_of(verdict)
    proof = outcome.proof if outcome is not None else None
    against = isinstance(proof, Proved) and proof.verdict is JudgeVerdict.CONTRADICTED
    return "judged against" if against else "judged"


def lay_out_judge(
    verdict: ClaimVerdict, trace: Trace, names: Mapping[str, str], offsets: Mapping[str, Offsets]
) -> Json | None:
    """What the view shows of the judge; None where none was asked."""
    outcome = outcome_of(verdict)
    if outcome is None:
        return None
    proof = outcome.proof
    tone, mark, word = _word(outcome)
    return {
        "by": outcome.who,
        "tone": tone,
        "mark": mark,
        "word": word,
        "why": outcome.why,
        "failed": list(proof.failed) if isinstance(proof, Unproved) else [],
        "calculations": [
            f"{made.expression} = {made.result}"
            for made in (proof.calculations if isinstance(proof, Proved) else ())
        ],
        "credit": CREDITS[outcome.stated_is_right],
        "quotes": [
            _quote(place, trace, names, offsets, quote_kind(verdict))
            for place in quoted_places(verdict)
        ],
        "offline": _offline(outcome),
    }


def _word(outcome: JudgeOutcome) -> tuple[str, str, str]:
    match outcome.proof:
        case Proved(verdict=JudgeVerdict.CONTRADICTED):
            return "against", "✕", "Contradicted, and the proof holds"
        case Proved():
            return "proved", "✓", "Supported, and the proof holds"
        case Unproved(verdict=said):
            return (
                "open",
                "?",
                f"It says {said.value}; the proof does not hold, so it counts for nothing",
            )
        case None:
            return "open", "⊘", f"Not read: {outcome.notice}"
    return "open", "?", "It finds this neither shown nor contradicted"


def _offline(outcome: JudgeOutcome) -> str:
    before = outcome.offline
    if before is None:
        return ""
    return f"Without the judge: {STATES[State(before.state)]}, chance of support {before.probability:.2f}"


def _quote(
    place: QuotePlace,
    trace: Trace,
    names: Mapping[str, str],
    offsets: Mapping[str, Offsets],
    kind: str,
) -> Json:
    source = next((one for one in trace.sources if one.source_id == place.source_id), None)
    if source is None:
        text, called, sources = list_of_calls(trace), "the list of calls", []
    else:
        asked = place.part is QuotedPart.ARGUMENTS
        text = (source.arguments or "") if asked else source.text
        called, sources = names.get(source.source_id, source.source_id), [source.source_id]
    at = offsets.get(place.source_id) if place.part is QuotedPart.OUTPUT else None
    quote = " ".join(place.span.cut(text).split())
    return {
        "text": quote[:QUOTE_CHARACTERS] + ("…" if len(quote) > QUOTE_CHARACTERS else ""),
        "reason": "" if source else "It quotes which calls were made",
        "sources": sources,
        "called": [called],
        "outcome": kind,
        "asked": place.part is QuotedPart.ARGUMENTS,
        "places": []
        if at is None
        else [
            {
                "source": place.source_id,
                "start": at.of_point(place.span.start),
                "end": at.of_point(place.span.end),
            }
        ],
    }
