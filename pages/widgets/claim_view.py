"""One claim laid out for the evidence view: its words, what was measured of it, and what it says."""

from __future__ import annotations

from collections.abc import Mapping

from core.causes import told_apart
from core.records import (
    Alignment,
    AttributionStatus,
    ClaimVerdict,
    Judged,
    Probabilities,
    Span,
    StatedAttribution,
)
from pages.widgets.citation_chips import citation_chips
from pages.widgets.claim_checks import (
    check_lines,
    found_by_a_check,
    not_found,
    said_of_something_else,
)
from pages.widgets.headline import (
    headline,
    is_shown_supported,
    plain_reason,
    tells_the_credit,
)
from pages.widgets.palette import LOOKS, Kind, family_words
from pages.widgets.side_by_side import attribution_of, lay_out_sides, stated_sources
from pages.widgets.source_marks import call_marks, source_marks
from pages.widgets.source_view import SentText

Json = Mapping[str, object]
RANKED_SENT = 200


def lay_out_claim(
    number: int,
    verdict: ClaimVerdict,
    kind: Kind,
    names: Mapping[str, str],
    families: Mapping[str, str],
    sent: Mapping[str, SentText],
) -> Json:
    """One claim as the view shows it, with all that was measured of it."""
    claim = verdict.claim
    offsets = {source_id: one.offsets for source_id, one in sent.items()}
    attribution = attribution_of(verdict)
    told = attribution.reason if tells_the_credit(verdict, kind) else None
    reasons = [reason for reason in verdict.reasons if reason != told]
    return {
        "id": claim.claim_id,
        "number": number + 1,
        "kind": kind.value,
        "mark": LOOKS[kind].mark,
        "word": LOOKS[kind].word,
        "headline": (line := headline(verdict, kind, names)),
        # The line goes on with the first reason, without what it says already.
        "because": _goes_on(line, plain_reason(next(iter(reasons), ""), verdict.outcome, names)),
        "reasons": reasons,
        "checks": check_lines(verdict, names, offsets),
        "citations": citation_chips(verdict, names, offsets),
        "not_found": not_found(verdict),
        "pieces": _claim_pieces(verdict),
        "context": " › ".join(claim.context),
        "said": claim.said,
        "credit": _credit(claim.stated, names),
        "instead": ("Says it" if is_shown_supported(verdict) else "Closest")
        if attribution.status is AttributionStatus.CONFLATION
        else None,
        "stated": stated_sources(verdict, families),
        **_measured(verdict),
        "marks": source_marks(verdict, sent, families),
        "sides": lay_out_sides(verdict, families, offsets),
    }


def _goes_on(line: str, reason: str) -> str:
    """What a reason adds to the line, which may say its beginning, alone or behind "and" and "but"."""
    for said in (line, line.rpartition(", and ")[2], line.rpartition(", but ")[2]):
        reason = reason.removeprefix(said)
    return reason.strip(" .:;,")


def _measured(verdict: ClaimVerdict) -> Json:
    """What was measured of a claim; nothing of one that was not judged."""
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return {
            "values": [],
            "unwritten": [],
            "routed": None,
            "score": None,
            "margin": None,
            "ranking": [],
            "nli": None,
            "support": None,
            "support_words": None,
            "threshold": None,
            "tokens": None,
            "words": [],
        }
    return {
        "values": [
            {
                "text": checked.value.text,
                "kind": checked.value.kind,
                "present": checked.present or found_by_a_check(verdict, checked.value.span),
                "elsewhere": said_of_something_else(verdict, checked.value.span),
                "nearest": checked.nearest,
            }
            for checked in judged.literals.values
            if checked.settles
        ],
        "unwritten": [checked.value.text for checked in judged.literals.unwritten],
        "routed": judged.route.source_id,
        "score": judged.route.score,
        "margin": judged.route.margin,
        "ranking": [
            {
                "source": ranked.source_id,
                "score": ranked.score,
                "nli": ranked.probabilities and _reading(ranked.probabilities),
            }
            for ranked in judged.route.ranking[:RANKED_SENT]
        ],
        "nli": _reading(judged.entailment.probabilities),
        "support": judged.support.probability,
        "support_words": list(told_apart(judged.support.probability, judged.support.threshold)),
        "threshold": judged.support.threshold,
        "tokens": _token_count(judged.alignment),
        "words": [
            {"text": token.text, "score": token.score, "weak": token.weak}
            for token in judged.alignment.tokens
        ],
        "call_read": judged.premise.call,
        "call_marks": call_marks(verdict.claim.text, judged),
    }


def likelihood(verdict: ClaimVerdict, prior: float | None) -> str:
    """The probability as a share of claims, at the prior that is stated beside it; empty without one."""
    judged = verdict.outcome
    if prior is None or not isinstance(judged, Judged):
        return ""
    chance = judged.support.at_prior(prior)
    if chance is None:
        return ""
    return (
        f"Of 100 such claims about {round(100 * chance)} are supported, if {round(100 * prior)} of 100 "
        "claims of this agent are"
    )


def _credit(stated: StatedAttribution | None, names: Mapping[str, str]) -> Json | None:
    if stated is None:
        return None
    words = names.get(stated.source_id or "") or family_words(stated.family)
    return {"text": stated.text, "source": words}


def _claim_pieces(verdict: ClaimVerdict) -> list[Json]:
    """The claim's text cut at its words and values; the pieces join to the text.

    ``share`` is a word's alignment score by the claim's highest, 0 to 1.
    """
    text, judged = verdict.claim.text, verdict.outcome
    tokens = judged.alignment.tokens if isinstance(judged, Judged) else ()
    values = judged.literals.values if isinstance(judged, Judged) else ()
    edges = {0, len(text)}
    for span in (*(token.span for token in tokens), *(each.value.span for each in values)):
        edges |= {span.start, span.end}
    top = max((token.score for token in tokens), default=0.0)
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(text))
    pieces: list[Json] = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        here = Span(start=start, end=end)
        piece: dict[str, object] = {"text": text[start:end]}
        for token in tokens:
            if token.span.start <= start and end <= token.span.end:
                piece["score"] = token.score
                piece["share"] = token.score / top if top > 0 else 0.0
                piece["weak"] = token.weak
        for checked in values:
            if checked.value.span.overlaps(here):
                missing = "missing" if checked.settles else "unwritten"
                found = checked.present or found_by_a_check(verdict, checked.value.span)
                piece["value"] = "present" if found else missing
                piece["nearest"] = checked.nearest
                piece["opens"] = checked.value.span.start == start
                piece["closes"] = checked.value.span.end == end
        pieces.append(piece)
    return pieces


def _token_count(alignment: Alignment) -> Json:
    return {
        "ratio": alignment.supported_token_ratio,
        "weak": [token.text for token in alignment.tokens if token.weak],
    }


def _reading(probabilities: Probabilities) -> Json:
    """Label probabilities with the most probable relation: the word and its number are one reading.

    Where a claim's own words rescue it, what is decided from changes, and not what was read.
    """
    return {
        "relation": probabilities.relation.value,
        "entailment": probabilities.entailment,
        "neutral": probabilities.neutral,
        "contradiction": probabilities.contradiction,
    }
