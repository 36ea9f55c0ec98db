"""What came of asking a judge, as the ``judge`` field of a claim's document, and back."""

from __future__ import annotations

from core.codec.fields import Fields
from core.records import JsonObject, Span
from core.records.judge import (
    Calculation,
    JudgeOutcome,
    JudgeVerdict,
    NotShown,
    Proof,
    Proved,
    QuotedPart,
    QuotePlace,
    Unproved,
)


def judge_document(outcome: JudgeOutcome) -> JsonObject:
    """``by``, and either a ``notice`` why nothing was read or what was said and is proved of it.

    ``proof`` is "proved", "unproved" or "nothing"; ``verdict`` is null for the last.
    """
    proof = outcome.proof
    document: JsonObject = {"by": outcome.by, "notice": outcome.notice}
    if proof is None:
        return document
    kind = {Proved: "proved", Unproved: "unproved", NotShown: "nothing"}[type(proof)]
    return {
        **document,
        "proof": kind,
        "verdict": None if isinstance(proof, NotShown) else proof.verdict.value,
        "why": outcome.why,
        "source_id": outcome.source_id,
        "stated_is_right": outcome.stated_is_right,
        "failed": list(proof.failed) if isinstance(proof, Unproved) else [],
        "quotes": [] if isinstance(proof, NotShown) else [_place(one) for one in proof.places],
        "calculations": [
            {"expression": one.expression, "result": one.result} for one in proof.calculations
        ]
        if isinstance(proof, Proved)
        else [],
    }


def judge_from_fields(read: Fields) -> JudgeOutcome:
    """The outcome that a document tells; raises BadRecord."""
    kind = read.optional_string("proof")
    proof: Proof | None = None
    if kind is not None:
        places = tuple(_read_place(one) for one in read.objects("quotes"))
        if kind == "proved":
            proof = Proved(
                verdict=read.choice(JudgeVerdict, "verdict"),
                places=places,
                calculations=tuple(
                    Calculation(expression=one.string("expression"), result=one.string("result"))
                    for one in read.objects("calculations")
                ),
            )
        elif kind == "unproved":
            proof = Unproved(
                verdict=read.choice(JudgeVerdict, "verdict"),
                failed=tuple(read.strings("failed")),
                places=places,
            )
        else:
            proof = NotShown(why=read.string("why"))
    right = read.get("stated_is_right")
    return JudgeOutcome(
        by=read.string("by"),
        proof=proof,
        why=read.optional_string("why") or "",
        source_id=read.optional_string("source_id"),
        stated_is_right=right if isinstance(right, bool) else None,
        notice=read.optional_string("notice"),
    )


def _place(place: QuotePlace) -> JsonObject:
    return {
        "source_id": place.source_id,
        "part": place.part.value,
        "start": place.span.start,
        "end": place.span.end,
        "exact": place.exact,
        "raw": None if place.raw is None else list(place.raw),
    }


def _read_place(read: Fields) -> QuotePlace:
    raw = read.numbers("raw") if read.get("raw") is not None else None
    return QuotePlace(
        source_id=read.string("source_id"),
        part=read.choice(QuotedPart, "part"),
        span=Span(start=int(read.number("start")), end=int(read.number("end"))),
        exact=read.boolean("exact"),
        raw=None if raw is None else (int(raw[0]), int(raw[1])),
    )
