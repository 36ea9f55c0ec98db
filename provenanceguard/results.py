"""What a verification says, as plain records: no model, no database, nothing internal."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from core import records as core_records
from core.records import Judged, State, answer_state, state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A stretch of a source that was read for a claim; ``text`` is the source's ``[start:end]``."""

    source: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement of the answer.

    ``text`` stands alone; the answer says it at ``span``, code points ``[start, end)``. ``support`` is
    a probability from 0 to 1, None where nothing was judged. ``source`` is the id of the source that
    the claim rests on, ``tool`` that source's tool. ``attribution`` says whether the answer credits
    that source: match, conflation (it credits another one), unavailable or none. ``verdict`` is the
    paper's: supported, unsupported, contradicted, not_enough_evidence, unjudged; None for what
    asserts nothing. ``reasons`` come most serious first.
    """

    id: str
    text: str
    span: tuple[int, int]
    state: State
    support: float | None
    source: str | None
    tool: str | None
    attribution: str
    verdict: str | None
    reasons: tuple[str, ...]
    evidence: tuple[Evidence, ...]

    @property
    def reason(self) -> str:
        """The most serious reason, one sentence or two."""
        return self.reasons[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The verdict on one answer.

    ``state`` is allow, needs_review or block. ``decision`` is the paper's gate: allow, block (also what
    needs review) or unavailable (no answer, or no output was captured). ``claims`` stand in the
    answer's order.
    """

    trace_id: str
    question: str
    answer: str | None
    state: State
    decision: str
    reasons: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def blocked(self) -> tuple[Claim, ...]:
        """The claims that are shown to be wrong or wrongly credited."""
        return tuple(claim for claim in self.claims if claim.state is State.BLOCK)

    @property
    def to_review(self) -> tuple[Claim, ...]:
        """The claims that could not be confirmed."""
        return tuple(claim for claim in self.claims if claim.state is State.NEEDS_REVIEW)

    def to_dict(self) -> dict[str, object]:
        """The same as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """The answer's claims as the terminal shows them, wrong ones first."""
        from provenanceguard.text import block

        return "\n".join(block(self))


def verification_of(found: core_records.Verification) -> Verification:
    """The public record of one verified trace."""
    trace = found.trace
    return Verification(
        trace_id=trace.trace_id,
        question=trace.question,
        answer=trace.answer,
        state=answer_state(found),
        decision=found.answer.decision.value,
        reasons=found.answer.reasons,
        claims=tuple(_claim(verdict, trace) for verdict in found.claims),
    )


def _claim(verdict: core_records.ClaimVerdict, trace: core_records.Trace) -> Claim:
    claim = verdict.claim
    judged = verdict.outcome if isinstance(verdict.outcome, Judged) else None
    premise = judged.premise if judged else None
    return Claim(
        id=claim.claim_id.rsplit("::", 1)[-1],
        text=claim.text,
        span=(claim.span.start, claim.span.end),
        state=state_of(verdict),
        support=judged.support.probability if judged else None,
        source=premise.source_id if premise else None,
        tool=judged.route.tool_name if judged else None,
        attribution=judged.attribution.status.value if judged else "none",
        verdict=verdict.verdict.value if verdict.verdict else None,
        reasons=verdict.reasons,
        evidence=tuple(
            Evidence(
                source=premise.source_id,
                start=span.start,
                end=span.end,
                text=span.cut(trace.source(premise.source_id).text),
            )
            for span in premise.spans
        )
        if premise
        else (),
    )
