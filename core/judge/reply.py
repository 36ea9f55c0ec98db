"""The shape of a judge's reply, and reading one without trusting it."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import first_problem
from core.records.judge import (
    CALLS,
    Conflict,
    JudgeQuote,
    JudgeReading,
    JudgeReply,
    JudgeRequest,
    JudgeVerdict,
    MissedStretch,
)

LONGEST_REPLY = 400_000  # characters; the rest of a longer one is no reply
_FENCED = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_Short = Field(max_length=6_000)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class QuoteShape(_Part):
    """A quote, and the label of the source that it is from."""

    source_id: str = _Short
    quote: str = _Short


class ConflictShape(_Part):
    """What a contradicted claim says, and what stands there instead."""

    claim_part: str = _Short
    source_part: str = _Short


class AttributionShape(_Part):
    """The source that shows the claim, and whether the stated one is right."""

    source_id: str | None = None
    stated_is_right: bool | None = None


class ReadingShape(_Part):
    """What is said of a claim or of a missed stretch."""

    verdict: Literal["supported", "contradicted", "not_shown", "not_a_claim"]
    evidence: list[QuoteShape] = []
    calculations: list[str] = []
    conflict: ConflictShape | None = None
    attribution: AttributionShape | None = None
    why: str = ""


class ClaimShape(ReadingShape):
    """What is said of the claim of that number."""

    n: int


class MissedShape(ReadingShape):
    """What is said of a stretch of the answer that is in no claim."""

    quote: str = _Short


class ReplyShape(_Part):
    """A whole reply."""

    claims: list[ClaimShape]
    missed: list[MissedShape] = []


def read_reply(text: str, request: JudgeRequest) -> JudgeReply:
    """The readings of a reply by claim id; whatever of it is unusable is said and counts for nothing.

    A claim that is answered twice is not answered: nobody knows which of the two was meant.
    """
    try:
        shape = ReplyShape.model_validate_json(unfenced(text))
    except ValidationError as error:
        problem = " ".join(first_problem(error))
        return JudgeReply(
            readings={}, problems=(f"the reply is not of the form asked for: {problem}",)
        )
    readings: dict[str, JudgeReading] = {}
    problems: list[str] = []
    numbers = [claim.n for claim in shape.claims]
    for claim in shape.claims:
        if not 1 <= claim.n <= len(request.claims):
            problems.append(f"the reply reads a claim {claim.n} that was not asked")
        elif numbers.count(claim.n) > 1:
            problems.append(f"the reply reads claim {claim.n} more than once")
        else:
            readings[request.claims[claim.n - 1]] = _reading(claim, request)
    unread = len(request.claims) - len(readings)
    if unread:
        problems.append(f"the reply does not read {unread} of {len(request.claims)} claims")
    missed = tuple(
        MissedStretch(quote=stretch.quote, reading=_reading(stretch, request))
        for stretch in shape.missed
    )
    return JudgeReply(readings=readings, missed=missed, problems=tuple(dict.fromkeys(problems)))


def unfenced(text: str) -> str:
    """The JSON of a reply, without the fence that some models put around it; not all of a too long one."""
    fenced = _FENCED.fullmatch(text[:LONGEST_REPLY])
    return fenced.group(1) if fenced else text[:LONGEST_REPLY]


def _reading(shape: ReadingShape, request: JudgeRequest) -> JudgeReading:
    credit = shape.attribution or AttributionShape()
    return JudgeReading(
        verdict=JudgeVerdict(shape.verdict),
        evidence=tuple(
            JudgeQuote(source_id=source_named(quote.source_id, request), quote=quote.quote)
            for quote in shape.evidence
        ),
        calculations=tuple(shape.calculations),
        conflict=None
        if shape.conflict is None
        else Conflict(claim_part=shape.conflict.claim_part, source_part=shape.conflict.source_part),
        source_id=None if credit.source_id is None else source_named(credit.source_id, request),
        stated_is_right=credit.stated_is_right,
        why=" ".join(shape.why.split())[:600],
    )


def source_named(label: str, request: JudgeRequest) -> str:
    """The id behind a label ("S2"); what is no label stays as it is, and names no source then."""
    stripped = label.strip()
    if stripped.upper() == CALLS:
        return CALLS
    match = re.fullmatch(r"[Ss](\d{1,6})", stripped)
    if match and 1 <= int(match.group(1)) <= len(request.labels):
        return request.labels[int(match.group(1)) - 1]
    return stripped
