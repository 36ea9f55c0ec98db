"""summarise: what lists, filters and gates need of a verification, counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.records.basics import AttributionStatus, ClaimType, Decision, VerdictLabel
from core.records.decisions import Judged, Verification, Versions
from core.records.judge import Proved
from core.records.state import State, answer_state, state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSummary:
    """One verification in numbers, of its factual claims; ``by_verdict`` has every label,
    ``by_claim_state`` every state, and ``blocked`` counts what the paper's gate stops."""

    trace_id: str
    decision: Decision
    state: State
    by_verdict: Mapping[VerdictLabel, int]
    by_claim_state: Mapping[State, int]
    set_aside: int
    blocked: int
    conflations: int
    versions: Versions


def summarise(verification: Verification) -> VerdictSummary:
    """The counts of one verification; a claim of no type but factual is set aside.

    Of conflations those that are shown: what is only probable needs a person.
    """
    by_verdict = dict.fromkeys(VerdictLabel, 0)
    by_claim_state = dict.fromkeys(State, 0)
    set_aside = blocked = conflations = 0
    for verdict in verification.claims:
        if verdict.claim.claim_type is not ClaimType.FACTUAL:
            set_aside += 1
            continue
        by_verdict[verdict.verdict or VerdictLabel.UNJUDGED] += 1
        by_claim_state[state_of(verdict)] += 1
        blocked += verdict.decision is Decision.BLOCK
        conflations += (
            isinstance(verdict.outcome, Judged)
            and verdict.outcome.attribution.status is AttributionStatus.CONFLATION
            and not verdict.outcome.attribution.probable
        )
    return VerdictSummary(
        trace_id=verification.trace.trace_id,
        decision=verification.answer.decision,
        state=answer_state(verification),
        by_verdict=by_verdict,
        by_claim_state=by_claim_state,
        set_aside=set_aside,
        blocked=blocked,
        conflations=conflations,
        versions=verification.versions,
    )


def judge_lines(verified: Iterable[Verification]) -> Iterator[str]:
    """What became of asking a judge, in counts, for people; nothing where none was asked."""
    claims = [verdict.outcome for one in verified for verdict in one.claims]
    asked = [one.judge for one in claims if isinstance(one, Judged) and one.judge is not None]
    if asked:
        proved = sum(isinstance(one.proof, Proved) for one in asked)
        yield f"claims that {asked[0].by} was asked about: {len(asked)}; proved: {proved}"
    unread = Counter(one.notice for one in asked if one.notice is not None)
    for why, count in sorted(unread.items()):
        yield f"claims not read by the judge: {count} ({why})"
