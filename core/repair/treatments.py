"""What can be done about a blocked claim, least destructive first, and which of it the verifier accepts."""

from __future__ import annotations

from collections.abc import Sequence

from core.decomposition.clauses import has_finite_verb
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Judged,
    RepairKind,
    Source,
    Span,
    StatedAttribution,
)
from core.repair.candidates import best_line
from core.repair.citing import corrected_citations, is_the_credit, not_cited, with_citations
from core.repair.drafts import (
    Draft,
    Local,
    Plan,
    Recredit,
    Reworded,
    Treatment,
    left_over,
    open_claims,
)
from core.repair.edits import Edit
from core.repair.rewordings import (
    corrected_values,
    credit_noun,
    place_of,
    reworded,
    with_qualifiers,
)
from core.repair.wording import (
    capitalised,
    credited,
    finished,
    lead_of,
    lowered,
    named_families,
    recredit,
)


def choose_treatments(plan: Plan) -> dict[str, Treatment]:
    """For each open claim the least destructive treatment that the verifier accepts."""
    open_ones = {
        one.claim.claim_id: one for one in open_claims(plan.verification, marked=plan.marked)
    }
    offered = {claim_id: _offered(plan, one) for claim_id, one in open_ones.items()}
    trials = {
        claim_id: [_as_sentence(plan, open_ones[claim_id], treatment) for treatment in treatments]
        for claim_id, treatments in offered.items()
    }
    accepted = plan.accepts(_in_turns(list(trials.values())))
    return {
        claim_id: next(
            (
                treatment
                for treatment, sentence in zip(offered[claim_id], trials[claim_id], strict=True)
                # A right credit may still pass where it stands: a heading goes with it there.
                if sentence in accepted or isinstance(treatment, Recredit)
            ),
            left_over(plan, one),
        )
        for claim_id, one in open_ones.items()
    }


def _in_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Everybody's first, then everybody's second: the verifier's room is shared fairly."""
    longest = max((len(one) for one in lists), default=0)
    return [one[turn] for turn in range(longest) for one in lists if turn < len(one)]


def _offered(plan: Plan, verdict: ClaimVerdict) -> list[Treatment]:
    """Treatments that may help a claim and were not tried where it stands, least destructive first."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged) or not plan.corrects:
        return []
    tried = plan.tried.get(verdict.claim.claim_id, frozenset())
    cited = corrected_citations(plan, verdict) if RepairKind.ATTRIBUTION not in tried else ()
    if not_cited(outcome.literals.identity_mismatches, verdict if cited else None):
        return []
    source = plan.trace.source(outcome.route.source_id)
    conflated = outcome.attribution.status is AttributionStatus.CONFLATION
    missing = [
        one
        for one in outcome.literals.missing
        if not_cited([one.value.text], verdict if cited else None)
    ]
    local = corrected_values(plan, verdict, outcome, source, missing) if missing else None
    offered: list[Treatment] = []
    values_done = not missing or local is not None
    if cited and values_done:
        local = with_citations(verdict, cited, local)
        if not conflated or is_the_credit(verdict):
            offered.append(local)
    if conflated and values_done and RepairKind.ATTRIBUTION not in tried:
        offered.append(_right_credit(plan, verdict, outcome, source, local))
    if not conflated and local is not None and not cited and RepairKind.VALUE not in tried:
        offered.append(local)
    if not conflated and RepairKind.QUALIFIER not in tried:
        qualified = with_qualifiers(plan, verdict, outcome, source)
        offered += [qualified] if qualified is not None else []
    if RepairKind.REWORD not in tried:
        rewording = reworded(plan, verdict, outcome)
        offered += [rewording] if rewording is not None else []
    return offered


def _as_sentence(plan: Plan, verdict: ClaimVerdict, treatment: Treatment) -> str:
    """The claim as a treatment leaves it, in a sentence that stands alone."""
    claim = verdict.claim
    if isinstance(treatment, Reworded):
        return treatment.text
    if isinstance(treatment, Recredit):
        text = capitalised(finished(claim.text))
        return with_right_credit(plan, claim.stated, text, treatment)
    assert isinstance(treatment, Local)
    text = capitalised(finished(treatment.restated))
    if claim.stated is None or claim.stated.text in text or not lead_of(claim.stated.text):
        return text
    return f"{capitalised(claim.stated.text.rstrip(' ,:.'))}, {lowered(text, plan.known)}"


def _right_credit(
    plan: Plan, verdict: ClaimVerdict, judged: Judged, source: Source, local: Local | None
) -> Recredit:
    stated = verdict.claim.stated
    family = judged.route.family
    marker = None
    if stated is not None and stated.source_id is not None:
        marks = [c.text for c in plan.trace.citations if c.source_id == source.source_id]
        marker = marks[0] if marks else None
    return Recredit(
        noun=credit_noun(
            plan, source, apart_from=stated.family if stated and stated.source_id else None
        ),
        family=family,
        local=local,
        reason=judged.attribution.reason,
        marker=marker,
    )


def closest_evidence(plan: Plan, verdict: ClaimVerdict) -> tuple[Span, ...]:
    """Where the routed source comes closest to a claim; nothing for one that nobody judged."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged):
        return ()
    line = best_line(verdict.claim.text, outcome.premise.text)
    if line is None:
        return outcome.premise.spans
    return place_of(plan.trace.source(outcome.route.source_id), line, outcome)


def draft_for(
    plan: Plan, verdict: ClaimVerdict, kind: RepairKind, edit: Edit, *reasons: str
) -> Draft:
    """An edit of a claim with the source that it was routed to and where that comes closest."""
    outcome = verdict.outcome
    return Draft(
        kind=kind,
        claim_ids=(verdict.claim.claim_id,),
        edit=edit,
        reasons=reasons,
        source_id=outcome.route.source_id if isinstance(outcome, Judged) else None,
        evidence=closest_evidence(plan, verdict),
    )


def with_right_credit(
    plan: Plan, stated: StatedAttribution | None, text: str, treatment: Recredit
) -> str:
    if treatment.local is not None:
        text = capitalised(finished(treatment.local.restated))
    if stated is not None and treatment.noun is not None and stated.text in text:
        changed = recredit(stated.text, treatment.noun, plan.families)
        right = named_families(treatment.noun, plan.families)
        if changed is not None and named_families(changed, plan.families) == right:
            return text.replace(stated.text, changed, 1)
    if treatment.noun is None:
        return text
    return credited(text, treatment.noun, sentence=has_finite_verb(text), known=plan.known)
