"""What is answered: records of the core as models whose JSON Schema is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, Field

from core.codec import citation_document, repair_document
from core.records import (
    Claim,
    ClaimVerdict,
    Decision,
    FactPlace,
    Judged,
    Source,
    Span,
    State,
    Trace,
    Verification,
    answer_state,
    judge_lines,
    needs_review,
    state_of,
    worst_state,
)
from core.records.judge import JudgeOutcome, Unproved


class Place(BaseModel):
    """A stretch of text: of the answer, or of the source that is named."""

    start: Annotated[int, Field(description="First code point.")]
    end: Annotated[int, Field(description="One behind the last code point.")]
    source_id: str | None = None
    text: str


class SourceReply(BaseModel):
    """A tool output as it was understood."""

    source_id: str
    tool_name: str
    family: str
    status: str


class JudgeReply(BaseModel):
    """What came of asking a language model about one claim; it counts only where it is proved."""

    by: Annotated[str, Field(description="The model, its host and a digest of the prompt.")]
    outcome: Annotated[
        str,
        Field(
            description="proved supported or proved contradicted; else the verdict is the one without "
            "it: unproved supported, unproved contradicted, nothing shown, not read."
        ),
    ]
    why: Annotated[str, Field(description="Its sentence, what of its proof fails, or why none.")]


class ClaimReply(BaseModel):
    """One claim of the answer with its verdict."""

    claim_id: str
    text: str
    place: Annotated[Place, Field(description="Where the answer says it.")]
    claim_type: str
    verdict: Annotated[
        str | None,
        Field(
            description="supported, unsupported, contradicted, not_enough_evidence, unjudged; "
            "null for what claims nothing."
        ),
    ]
    state: Annotated[
        str, Field(description="allow, needs_review (not confirmed) or block (shown to be wrong).")
    ]
    decision: Annotated[
        str, Field(description="allow or block; what needs review counts as block.")
    ]
    reasons: Annotated[list[str], Field(description="Most serious first.")]
    support_probability: float | None
    threshold: float | None
    needs_a_person: bool
    source_id: Annotated[str | None, Field(description="The source that it rests on.")]
    evidence: Annotated[list[Place], Field(description="What was read of that source.")]
    attribution: Annotated[
        str, Field(description="match, conflation, unavailable or none: whom the answer credits.")
    ]
    stated_family: str | None
    routed_family: str | None
    judge: Annotated[JudgeReply | None, Field(description="Null where none was asked.")] = None


class RepairReply(BaseModel):
    """Edits of the answer for a person to decide; a fixed text is verified before it is used."""

    state: Annotated[str, Field(description="Always proposal: nobody has decided the edits.")]
    status: str
    revised_answer: str | None
    decision_after: str
    actions: list[dict[str, Any]]


class AnswerReply(BaseModel):
    """The verdict on one answer."""

    verdict_id: Annotated[str, Field(description="Names the run that was judged, by content.")]
    trace_id: str
    state: Annotated[
        str, Field(description="allow, needs_review (not confirmed) or block (shown to be wrong).")
    ]
    decision: Annotated[str, Field(description="allow, block or unavailable.")]
    reasons: list[str]
    claims: list[ClaimReply]
    sources: list[SourceReply]
    repair: RepairReply | None = None
    versions: Annotated[dict[str, str], Field(description="What judged: rules, models, settings.")]
    notices: Annotated[
        list[str],
        Field(
            description="What was left out when the run was read, and what became of asking a judge."
        ),
    ]


class VerifyReply(AnswerReply):
    """The same with what was said before it. Not one class of itself: MCP asks a schema's top for its
    properties, and a class that holds itself has but a reference there."""

    earlier: Annotated[
        list[AnswerReply],
        Field(description="The verdicts on what the user was told before, the oldest first."),
    ] = []


class CitationsReply(BaseModel):
    """Where everything that one answer cites leads, and whether that says it."""

    trace_id: str
    decision: Annotated[str, Field(description="allow or block.")]
    counts: Annotated[dict[str, int], Field(description="Citations by outcome.")]
    citations: list[dict[str, Any]]
    lexical: Annotated[
        dict[str, Any] | None, Field(description="The answer's words against all evidence.")
    ] = None
    notices: Annotated[list[str], Field(description="What was not audited, in words.")] = []


class CheckReply(BaseModel):
    """One typed comparison of the claim with stated facts."""

    check: str
    outcome: Annotated[str, Field(description="supports, contradicts or silent.")]
    reason: str
    veto: bool
    places: list[Place]


class RankedReply(BaseModel):
    """One source as a candidate for the claim."""

    source_id: str
    score: float
    probabilities: dict[str, float] | None


class ExplainReply(BaseModel):
    """Why one claim got its verdict: everything that the stages left."""

    verdict_id: str
    claim: ClaimReply
    premise: Annotated[str | None, Field(description="What the model was given to read.")]
    probabilities: Annotated[
        dict[str, float] | None, Field(description="entailment, neutral, contradiction.")
    ]
    checks: list[CheckReply]
    ranking: Annotated[list[RankedReply], Field(description="The sources, nearest first.")]
    missing_values: Annotated[list[str], Field(description="Values that the premise lacks.")]
    weak_words: Annotated[list[str], Field(description="Words with little ground in it.")]
    citations: list[dict[str, Any]]


def verify_reply(verdict_id: str, verification: Verification) -> VerifyReply:
    """The reply to verify_answer."""
    return VerifyReply(
        verdict_id=verdict_id,
        trace_id=verification.trace.trace_id,
        state=answer_state(verification).value,
        decision=verification.answer.decision.value,
        reasons=list(verification.answer.reasons),
        claims=[claim_reply(verdict, verification.trace) for verdict in verification.claims],
        sources=[
            _source_reply(source, verification.families) for source in verification.trace.sources
        ],
        repair=None
        if verification.repair is None
        else RepairReply.model_validate(repair_document(verification.repair)),
        versions=asdict(verification.versions),
        notices=[*verification.trace.notices, *judge_lines([verification])],
    )


def together(reply: VerifyReply, earlier: list[VerifyReply], unjudged: int) -> VerifyReply:
    """The reply on a whole conversation: it is allowed when everything that was said in it is, and
    has the worst of its states.

    ``unjudged`` texts stated something before any tool had been called.
    """
    told = {Decision.BLOCK.value: "is blocked", Decision.UNAVAILABLE.value: "could not be verified"}
    reasons = [
        f"what was said before it {told[one.decision]}: {one.trace_id}"
        for one in earlier
        if one.decision != Decision.ALLOW.value
    ]
    if unjudged:
        reasons.append(
            f"{unjudged} texts before it state something, and no tool had been called by then"
        )
    decision = Decision.BLOCK.value if reasons else reply.decision
    states = [State(one.state) for one in (reply, *earlier)]
    states += [State.NEEDS_REVIEW] if unjudged else []
    return reply.model_copy(
        update={
            "state": worst_state(states).value,
            "decision": decision,
            "reasons": [*reasons, *reply.reasons] if reasons else reply.reasons,
            "earlier": earlier,
        }
    )


def claim_reply(verdict: ClaimVerdict, trace: Trace) -> ClaimReply:
    """One claim of a reply."""
    claim, outcome = verdict.claim, verdict.outcome
    judged = outcome if isinstance(outcome, Judged) else None
    support = judged.support if judged else None
    attribution = judged.attribution if judged else None
    premise = judged.premise if judged else None
    return ClaimReply(
        claim_id=claim.claim_id,
        text=claim.text,
        place=_said(claim),
        claim_type=claim.claim_type.value,
        verdict=verdict.verdict.value if verdict.verdict else None,
        state=state_of(verdict).value,
        decision=verdict.decision.value,
        reasons=list(verdict.reasons),
        support_probability=support.probability if support else None,
        threshold=support.threshold if support else None,
        needs_a_person=needs_review(verdict),
        source_id=premise.source_id if premise else None,
        evidence=[]
        if premise is None
        else [_place(trace, premise.source_id, span) for span in premise.spans],
        attribution=attribution.status.value if attribution else "none",
        stated_family=claim.stated.family if claim.stated else None,
        routed_family=attribution.routed_family if attribution else None,
        judge=None if judged is None or judged.judge is None else _judge_reply(judged.judge),
    )


def explain_reply(
    verdict_id: str, verdict: ClaimVerdict, verification: Verification
) -> ExplainReply:
    """The reply to explain_claim."""
    trace = verification.trace
    judged = verdict.outcome if isinstance(verdict.outcome, Judged) else None
    return ExplainReply(
        verdict_id=verdict_id,
        claim=claim_reply(verdict, trace),
        premise=judged.premise.text if judged else None,
        probabilities=asdict(judged.entailment.probabilities) if judged else None,
        checks=[
            CheckReply(
                check=check.check,
                outcome=check.outcome.value,
                reason=check.reason,
                veto=check.veto,
                places=[_fact_place(trace, fact) for fact in check.facts],
            )
            for check in (judged.checks if judged else ())
        ],
        ranking=[
            RankedReply(
                source_id=ranked.source_id,
                score=ranked.score,
                probabilities=asdict(ranked.probabilities) if ranked.probabilities else None,
            )
            for ranked in (judged.route.ranking if judged else ())
        ],
        missing_values=[one.value.text for one in (judged.literals.missing if judged else ())],
        weak_words=[
            token.text for token in (judged.alignment.tokens if judged else ()) if token.weak
        ],
        citations=[dict(citation_document(one)) for one in verdict.citations],
    )


def citations_reply(document: Mapping[str, Any]) -> CitationsReply:
    """The reply to audit_citations, from the published document."""
    return CitationsReply.model_validate(document)


def _judge_reply(judge: JudgeOutcome) -> JudgeReply:
    why = judge.notice or judge.why
    if isinstance(judge.proof, Unproved):
        why = " ".join(judge.proof.failed)
    return JudgeReply(by=judge.by, outcome=judge.word, why=why)


def _said(claim: Claim) -> Place:
    return Place(start=claim.span.start, end=claim.span.end, text=claim.said)


def _place(trace: Trace, source_id: str, span: Span) -> Place:
    text = span.cut(trace.source(source_id).text)
    return Place(start=span.start, end=span.end, source_id=source_id, text=text)


def _fact_place(trace: Trace, fact: FactPlace) -> Place:
    if fact.span is None:  # the call's arguments, or a part that was searched whole
        return Place(start=0, end=0, source_id=fact.source_id, text=fact.path or "")
    return _place(trace, fact.source_id, fact.span)


def _source_reply(source: Source, families: Mapping[str, str]) -> SourceReply:
    return SourceReply(
        source_id=source.source_id,
        tool_name=source.tool_name,
        family=families[source.source_id],
        status=source.status.value,
    )
