"""III.5 to III.7: from what was measured of a claim to its verdict, and to the answer's.

Calibrated probability, veto, threshold and attribution give what is judged of a claim; findings in order
of seriousness its verdict and reasons; all claims together the answer's gate, which fails closed. The
pipeline decides what it has just read, and rescoring what was kept, by these same functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from core.attribution.attribute import attribute
from core.attribution.families import OTHER, Families
from core.binding.bind import BINDINGS, Bond
from core.causes import Cause, below, say, told_apart
from core.config import Config
from core.errors import NliError
from core.ports import Calibrator, policy_of
from core.records import (
    SHOWN_FEATURE,
    SHOWN_WRONG,
    VETOES_FEATURE,
    Against,
    AnswerDecision,
    AttributionStatus,
    CheckedValue,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    Claim,
    ClaimType,
    ClaimVerdict,
    ContradictedShare,
    Decision,
    Features,
    Judged,
    LiteralCheck,
    Measurements,
    Outcome,
    Relation,
    Route,
    SetAside,
    ShownShare,
    SourceStatus,
    Support,
    Together,
    Trace,
    Unjudged,
    VerdictLabel,
    state_of,
)
from core.records.judge import JudgeOutcome, JudgeVerdict, Offline, Proved, Unproved
from core.text.addressed import addressed_to_model

LEAST_CLAIMS = 8  # of an answer that may pass as a whole
MOST_WEAKEST = 8  # a quarter of the longest labelled answers
FLOOR = 0.35  # below it a claim passes with no answer
SUREST_WRONG = 0.01  # as low as a probability counts
_MOST_QUOTED = 120  # characters of a source's words in a reason
OWN_WORDS = "own_words"  # the check that finds a claim only in what the agent itself said
_IDENTITY, _VETO, _CITATION, _CONFLATION, _VALUE, _TOKENS, _SUPPORT = range(7)
_PREFIXES = {
    CitationKind.PMID: "PMID ",
    CitationKind.ARXIV: "arXiv ",
}  # where a mark is digits alone
_LEADS = {
    CitationOutcome.RESOLVES_TO_NOTHING: Cause.CITATION_TO_NOTHING,
    CitationOutcome.SAYS_OTHERWISE: Cause.CITATION_SAYS_OTHERWISE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """The calibrated probabilities of one claim: of the routed source, and of the others in order."""

    routed: float
    others: tuple[float, ...]


def calibrate(measured: Sequence[Measurements], calibrator: Calibrator) -> list[Chances]:
    """The chances of each claim; the calibrator is asked once for all of them."""
    rows: list[Features] = []
    for one in measured:
        rows += [one.features, *(other.features for other in one.others)]
    found = iter(map(float, calibrator.probabilities(rows))) if rows else iter(())
    return [_chances(one, found) for one in measured]


def _chances(measured: Measurements, found: Iterator[float]) -> Chances:
    routed = next(found)
    return Chances(routed=routed, others=tuple(next(found) for _ in measured.others))


def held_by_veto(probability: float, threshold: float) -> float:
    """The support of a claim that a check vetoes: below any threshold, whatever calibrator gave it."""
    return max(0.0, min(probability, round(threshold - 0.0001, 4)))


def decide_support(
    probability: float,
    threshold: float,
    review_from: float | None = None,
    base_rate: float | None = None,
) -> Support:
    """Supported when the calibrated probability reaches the threshold; all in [0, 1].

    ``review_from`` is where a blocked claim becomes one that needs a person; ``base_rate`` as in
    ``Support``.
    """
    if not 0.0 <= probability <= 1.0:
        raise NliError(f"the calibrator gave {probability!r}, which is no probability")
    return Support(
        probability=round(probability, 4),
        threshold=threshold,
        review_from=review_from,
        base_rate=base_rate,
    )


def lacks_nothing(literals: LiteralCheck) -> bool:
    """Whether no value that settles is missing, and nobody else is meant."""
    return not literals.missing and not literals.identity_mismatches


def holds_all(literals: LiteralCheck) -> bool:
    """Whether another source than the routed one writes every literal: only then may it speak."""
    return lacks_nothing(literals) and not literals.unwritten


def says_it(probability: float, threshold: float, config: Config) -> bool:
    """Whether a source that holds all the claim's literals says it (III.6).

    By the gate's measure, or by the lower one of attribution. What the NLI model took the pair for is
    not asked: a source that is rightly credited, and read as neutral, would leave the credit to
    another that says the same.
    """
    return probability >= min(threshold, config.attribution_support_probability)


def judge(
    claim: Claim,
    measured: Measurements,
    chances: Chances,
    calibrator: Calibrator,
    *,
    families: Mapping[str, str],
    catalogue: Families,
    config: Config,
) -> Judged:
    """The claim with its support and attribution; ``families`` are those of the trace's sources."""
    policy = policy_of(calibrator)
    threshold = policy.threshold
    vetoed = any(check.veto for check in measured.checks)
    routed = held_by_veto(chances.routed, threshold) if vetoed else chances.routed
    support = decide_support(routed, threshold, policy.review_from, policy.base_rate)
    candidates = [
        (other.source_id, chance)
        for other, chance in zip(measured.others, chances.others, strict=True)
    ]
    if lacks_nothing(measured.literals):
        candidates.append((measured.route.source_id, chances.routed))
    supporters = frozenset(
        source_id for source_id, chance in candidates if says_it(chance, support.threshold, config)
    )
    attribution = attribute(
        claim,
        measured.route,
        families=families,
        supporters=supporters,
        catalogue=catalogue,
        lead=config.attribution_lead,
    )
    kept = {field.name: getattr(measured, field.name) for field in fields(Measurements)}
    return Judged(**kept, support=support, attribution=attribution)


def decide(
    claims: Sequence[Claim],
    measured: Sequence[Measurements],
    calibrator: Calibrator,
    *,
    families: Mapping[str, str],
    catalogue: Families,
    config: Config,
) -> list[Judged]:
    """The claims of one trace, judged by ``calibrator`` from what was measured of them."""
    return [
        judge(
            claim,
            one,
            chances,
            calibrator,
            families=families,
            catalogue=catalogue,
            config=config,
        )
        for claim, one, chances in zip(
            claims, measured, calibrate(measured, calibrator), strict=True
        )
    ]


def measurements_of(judged: Judged) -> Measurements:
    """What was measured of a judged claim, without what was decided from it."""
    return Measurements(
        **{field.name: getattr(judged, field.name) for field in fields(Measurements)}
    )


def against(features: Features) -> Against:
    """What speaks against a claim, by what the stages measured of it."""
    told = features.numeric
    if told.get("checks_contradicts", 0.0) >= 1.0:
        return Against.SHOWN if told.get(VETOES_FEATURE, 0.0) >= 1.0 else Against.HELD
    read = features.categorical.get("verifier_label") == Relation.CONTRADICTION.value
    return Against.READ if read else Against.NOTHING


def counted_share(
    calibrator: Calibrator, outcome: Judged | Unjudged | SetAside
) -> ContradictedShare | ShownShare | None:
    """What labels say of claims like this one: how often they were supported where a source's entry
    states all of it, else how often they were contradicted; None where nobody counted."""
    if not isinstance(outcome, Judged):
        return None
    policy = policy_of(calibrator)
    if policy.shown is not None and outcome.features.numeric.get(SHOWN_FEATURE, 0.0) >= 1.0:
        return policy.shown
    return policy.contradicted.get(against(outcome.features))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that speaks against a claim; lower ranks are more serious."""

    rank: int
    reason: str


def decide_claim(
    claim: Claim,
    outcome: Judged | Unjudged | SetAside,
    config: Config,
    citations: tuple[CitationFinding, ...] = (),
    counted: ContradictedShare | ShownShare | None = None,
) -> ClaimVerdict:
    """The verdict on one claim, and whether it passes; reasons come most serious first (III.7).

    ``citations`` are what the answer cites for it; one that leads nowhere, or to a source that says
    something else, blocks like a wrong credit does: the claim itself may still be supported.
    ``counted`` says how often claims like it were contradicted, or supported where an entry of the
    source states all of it; a claim that is called so says it with its reasons.
    """
    if isinstance(outcome, SetAside):
        return ClaimVerdict(
            claim=claim,
            outcome=outcome,
            verdict=None,
            decision=Decision.ALLOW,
            reasons=(outcome.reason,),
            citations=citations,
        )
    wrong = _wrong_citations(citations)
    if isinstance(outcome, Unjudged):
        return ClaimVerdict(
            claim=claim,
            outcome=outcome,
            verdict=VerdictLabel.UNJUDGED,
            decision=Decision.BLOCK,
            reasons=(say(Cause.NOT_JUDGED, why=outcome.reason), *(one.reason for one in wrong)),
            citations=citations,
        )
    if (judge := outcome.judge) is not None and _decides(judge, outcome.support):
        assert isinstance(judge.proof, Proved)
        return _by_proof(claim, outcome, judge, judge.proof, citations, wrong)
    findings = [*_findings(claim, outcome, config), *wrong]
    open_ = [] if findings else _left_open(judge)
    found = open_ or sorted(findings, key=lambda finding: finding.rank)
    against_support = [f for f in found if f.rank not in (_CONFLATION, _CITATION)]
    verdict = _verdict(outcome, config) if against_support else VerdictLabel.SUPPORTED
    reasons = tuple(f.reason for f in found) or (_praise(claim, outcome, citations),)
    if verdict is VerdictLabel.CONTRADICTED and isinstance(counted, ContradictedShare):
        reasons = (*reasons, _how_often(counted))
    if not found and isinstance(counted, ShownShare):
        reasons = (*reasons, _how_often_shown(counted))
    if judge is not None and not open_:
        reasons = (*reasons, *told_without_proof(judge))
    return ClaimVerdict(
        claim=claim,
        outcome=outcome,
        verdict=verdict,
        decision=Decision.BLOCK if found else Decision.ALLOW,
        reasons=reasons,
        citations=citations,
    )


def of_proof(
    proved: JudgeVerdict,
    *,
    worth: float | None,
    shown: bool,
    wrong_credit: bool,
    stated_is_right: bool | None,
) -> tuple[Decision, VerdictLabel]:
    """What follows from a judge's proved verdict beside what is ``shown`` against the claim by ours.

    ``wrong_credit`` is our own accusation of the credit, which a judge that finds it right outvotes.
    A contradiction is shown where it is as surely right as a check that vetoes (``SHOWN_WRONG``).
    """
    if proved is JudgeVerdict.CONTRADICTED and (worth is None or worth <= SHOWN_WRONG):
        return Decision.BLOCK, VerdictLabel.CONTRADICTED
    if shown or proved is JudgeVerdict.CONTRADICTED:
        return Decision.BLOCK, VerdictLabel.NOT_ENOUGH_EVIDENCE
    credited = stated_is_right or (stated_is_right is None and not wrong_credit)
    return Decision.ALLOW if credited else Decision.BLOCK, VerdictLabel.SUPPORTED


def _by_proof(
    claim: Claim,
    judged: Judged,
    judge: JudgeOutcome,
    proof: Proved,
    citations: tuple[CitationFinding, ...],
    wrong: Sequence[Finding],
) -> ClaimVerdict:
    """The verdict where a judge's reading is proved: it outranks scores, and no shown contradiction."""
    source = ", ".join(dict.fromkeys(place.source_id for place in proof.places))
    told = {"judge": judge.who, "source": source}
    shown = [check.reason for check in judged.checks if check.veto]
    if judged.literals.identity_mismatches:
        who = ", ".join(judged.literals.identity_mismatches)
        shown.append(say(Cause.WRONG_RECORD, source=_named(judged.route), who=who))
    credit = judged.attribution.status is AttributionStatus.CONFLATION
    reasons = tuple(finding.reason for finding in wrong)
    decision, verdict = of_proof(
        proof.verdict,
        worth=judge.worth,
        shown=bool(shown),
        wrong_credit=credit,
        stated_is_right=judge.stated_is_right,
    )
    if proof.verdict is JudgeVerdict.CONTRADICTED and verdict is not VerdictLabel.CONTRADICTED:
        reasons = (_doubted(judge, proof), *reasons)
    elif verdict is VerdictLabel.CONTRADICTED:
        reasons = (say(Cause.JUDGE_CONTRADICTS, **told, why=judge.why or claim.text), *reasons)
    elif shown:
        reasons = (say(Cause.JUDGE_DISPUTED, **told, check=" ".join(shown)), *reasons)
    elif judge.stated_is_right is False:
        reasons = (say(Cause.JUDGE_CREDITS_ELSEWHERE, **told), *reasons)
    elif decision is Decision.BLOCK:
        reasons = (judged.attribution.reason, *reasons)
    return ClaimVerdict(
        claim=claim,
        outcome=judged,
        verdict=verdict,
        decision=Decision.BLOCK if wrong else decision,
        reasons=reasons or (say(Cause.JUDGE_SUPPORTS, **told),),
        citations=citations,
    )


def decide_with_judge(
    verdict: ClaimVerdict, found: JudgeOutcome | None, config: Config
) -> ClaimVerdict:
    """The offline verdict with what came of asking a judge, None where none was asked."""
    outcome = verdict.outcome
    if found is None or not isinstance(outcome, Judged):
        return verdict
    before = Offline(state=state_of(verdict).value, probability=outcome.support.probability)
    found = replace(found, offline=before)
    if isinstance(found.proof, Proved) and found.worth is None:
        found = replace(found, worth=prior_worth(found.proof.verdict, config))
    outcome = replace(outcome, judge=found)
    if _decides(found, outcome.support):
        assert found.worth is not None
        # Unlike others, its support has no middle band: what is proved is enough for the threshold or not.
        support = Support(probability=found.worth, threshold=outcome.support.threshold)
        outcome = replace(outcome, support=support)
    elif not (verdict.decision is Decision.ALLOW and found.unproved_against):
        # Nothing is proved: the verdict stands as it was given, with what became of the question.
        reasons = (*verdict.reasons, *told_without_proof(found))
        return replace(verdict, outcome=outcome, reasons=reasons)
    again = decide_claim(verdict.claim, outcome, config, verdict.citations)
    return replace(again, extra=verdict.extra)


def prior_worth(verdict: JudgeVerdict, config: Config) -> float:
    """The chance that a claim is supported of which a judge proves this, before a site's labels say."""
    if verdict is JudgeVerdict.CONTRADICTED:
        return config.judge_proved_contradiction
    return config.judge_proved_support


def _decides(judge: JudgeOutcome, support: Support) -> bool:
    """Whether a judge's reading decides: proved, and a support of it is worth what is asked of claims."""
    if not isinstance(judge.proof, Proved):
        return False
    contradicts = judge.proof.verdict is JudgeVerdict.CONTRADICTED
    return contradicts or judge.worth is None or judge.worth >= support.threshold


def _left_open(judge: JudgeOutcome | None) -> list[Finding]:
    """What a contradiction that a judge reads and does not prove says against a claim: it accuses
    nothing, and nothing passes by itself that somebody who read all sources calls contradicted."""
    if judge is None or (proof := judge.unproved_against) is None:
        return []
    reason = say(Cause.JUDGE_OPEN, judge=judge.who, failed=proof.failed[0])
    return [Finding(rank=_SUPPORT, reason=reason)]


def _doubted(judge: JudgeOutcome, proof: Proved) -> str:
    worth = judge.worth or 0.0
    right = 1.0 - worth if proof.verdict is JudgeVerdict.CONTRADICTED else worth
    verdict, share = proof.verdict.value, f"{100 * right:.0f}"
    return say(Cause.JUDGE_DOUBTED, judge=judge.who, verdict=verdict, right=share)


def told_without_proof(judge: JudgeOutcome) -> Iterator[str]:
    """What is told beside the offline verdict where a judge was asked and nothing is proved."""
    if judge.notice is not None:
        yield say(Cause.NOT_READ, why=judge.notice)
    elif isinstance(judge.proof, Proved):
        yield _doubted(judge, judge.proof)
    elif isinstance(judge.proof, Unproved):
        verdict, failed = judge.proof.verdict.value, judge.proof.failed[0]
        yield say(Cause.JUDGE_UNPROVED, judge=judge.who, verdict=verdict, failed=failed)


def _findings(claim: Claim, judged: Judged, config: Config) -> list[Finding]:
    """What blocks the claim. Only what is shown vetoes: a check that contradicts, a wrong record."""
    found = []
    name = _named(judged.route)
    if judged.literals.identity_mismatches:
        who = ", ".join(judged.literals.identity_mismatches)
        found.append(Finding(rank=_IDENTITY, reason=say(Cause.WRONG_RECORD, source=name, who=who)))
    vetoes = [check.reason for check in judged.checks if check.veto]
    disputed = judged.support.probability > SHOWN_WRONG
    if vetoes and disputed:
        numbers = f"{judged.support.probability:.2f}"
        reason = say(Cause.DISPUTED, source=name, support=numbers, check=" ".join(vetoes))
        found.append(Finding(rank=_VETO, reason=reason))
    else:
        found += [Finding(rank=_VETO, reason=reason) for reason in vetoes]
    if judged.attribution.status is AttributionStatus.CONFLATION:
        found.append(Finding(rank=_CONFLATION, reason=judged.attribution.reason))
    if config.profile == "strict":
        found += _strict_findings(judged, name, config)
    if judged.support.supported:
        found += _of_a_person(claim, judged, name)
    elif not (vetoes and disputed):
        found += [
            Finding(rank=_VALUE, reason=_missing(checked.value.text, checked.nearest, name))
            for checked in _nowhere(judged)
            if config.profile != "strict"
        ]
        alone = not found
        # What a check holds against the claim does not block by itself; of a blocked claim it says why.
        found += [Finding(rank=_VALUE, reason=reason) for reason in _against(judged)]
        found += [
            Finding(rank=_VALUE, reason=f"{check.reason[:1].upper()}{check.reason[1:]}.")
            for check in judged.checks
            if check.check == Bond.OTHERWISE
        ]
        found.append(Finding(rank=_SUPPORT, reason=_unsupported(judged, name, alone=alone)))
    return found


def _wrong_citations(citations: Sequence[CitationFinding]) -> list[Finding]:
    """What a claim's citations say against it."""
    wrong = [one for one in citations if one.outcome.blocks]
    reasons = (say(_LEADS[one.outcome], cited=_cited_as(one), why=one.reason) for one in wrong)
    return [Finding(rank=_CITATION, reason=reason) for reason in dict.fromkeys(reasons)]


def _cited_as(finding: CitationFinding) -> str:
    """A citation as the answer writes it, with what its digits are where they stand alone."""
    prefix = _PREFIXES.get(finding.kind, "") if finding.text[:1].isdigit() else ""
    return f"{prefix}{finding.text}"


def _of_a_person(claim: Claim, judged: Judged, name: str) -> Iterator[Finding]:
    """What leaves a claim of enough support to a person: findings outrank scores, both ways."""
    if words := addressed_to_model(judged.premise.text):
        reason = say(Cause.ADDRESSED_TO_MODEL, source=name, words=_shortened(words))
        yield Finding(rank=_VALUE, reason=reason)
    support = f"{judged.support.probability:.2f}"
    for check in _against(judged):
        reason = say(Cause.DISPUTED, source=name, support=support, check=check)
        yield Finding(rank=_VALUE, reason=reason)
    for one in judged.checks:
        if one.check == Bond.OTHERWISE:
            yield Finding(rank=_VALUE, reason=say(Cause.STATED_OTHERWISE, why=one.reason))
    if values := open_values(claim, judged):
        listed = ", ".join(f"“{value}”" for value in values)
        yield Finding(rank=_VALUE, reason=say(Cause.VALUE_OPEN, values=listed))


def _shortened(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _MOST_QUOTED else f"{words[:_MOST_QUOTED].rstrip()} …"


def _against(judged: Judged) -> list[str]:
    """What checks hold against the claim without a veto."""
    return [
        check.reason
        for check in judged.checks
        if check.outcome is Outcome.CONTRADICTS and not check.veto
    ]


def _nowhere(judged: Judged) -> list[CheckedValue]:
    """The values that the source lacks and that no check has found, derived or answered otherwise."""
    told = [
        check.claim_span
        for check in judged.checks
        if check.outcome is not Outcome.SILENT and check.claim_span is not None
    ]
    return [
        checked
        for checked in judged.literals.missing
        if not checked.value.identity and not any(map(checked.value.span.overlaps, told))
    ]


def open_values(claim: Claim, judged: Judged) -> list[str]:
    """The claim's values that no output, no call and nothing that follows from them gives, in its words.

    Of a verdict from before values were bound, those that stand nowhere in its source.
    """
    found = {
        check.claim_span: check.claim_span.cut(claim.text)
        for check in judged.checks
        if check.check == Bond.OPEN and check.claim_span is not None
    }
    bound = [
        check.claim_span
        for check in judged.checks
        if check.check in BINDINGS and check.claim_span is not None
    ]
    for checked in _nowhere(judged):
        if not any(map(checked.value.span.overlaps, bound)):
            found[checked.value.span] = checked.value.text
    return [text for _, text in sorted(found.items(), key=lambda item: item[0].start)]


def _strict_findings(judged: Judged, name: str, config: Config) -> list[Finding]:
    found = [
        Finding(rank=_VALUE, reason=_missing(checked.value.text, checked.nearest, name))
        for checked in _nowhere(judged)
    ]
    alignment = judged.alignment
    # Not for exact records that were rescued by their words: there the words are all present.
    if (
        alignment.supported_token_ratio < config.min_supported_token_ratio
        and not judged.literals.rescued
    ):
        weak = [token.text for token in alignment.tokens if token.weak]
        listed = ", ".join(f"“{word}”" for word in weak[:5]) or "its words"
        found.append(
            Finding(rank=_TOKENS, reason=say(Cause.WORDS_NOT_GROUNDED, source=name, words=listed))
        )
    return found


def _unsupported(judged: Judged, name: str, *, alone: bool) -> str:
    """Why the support is too low; only what nothing else blocks (``alone``) needs a person."""
    support, relation = judged.support, judged.literals.relation
    otherwise = relation is Relation.CONTRADICTION
    if not alone:
        cause = Cause.SUPPORT_TOO_LOW
    elif support.needs_review:
        cause = Cause.PERSON_OTHERWISE if otherwise else Cause.PERSON
    elif otherwise:
        cause = Cause.READ_OTHERWISE
    else:
        cause = Cause.NOT_CONFIRMED if relation is Relation.NEUTRAL else Cause.READ_AS_SAYING_IT
    numbers = below(support.probability, support.threshold, support.threshold_kind)
    return say(cause, source=name, numbers=numbers)


def _missing(text: str, nearest: str | None, name: str) -> str:
    if nearest is None:
        return say(Cause.VALUE_NOWHERE, value=text, source=name)
    return say(Cause.VALUE_OTHERWISE, value=text, source=name, nearest=nearest)


def _verdict(judged: Judged, config: Config) -> VerdictLabel:
    """Which of the paper's labels a claim has that did not pass.

    Contradicted is what a check has shown and the NLI score does not dispute. What the NLI model alone
    takes for a contradiction is one in 3 of 26 claims of the development packets (14 of 18 where a
    check shows it), so that it is told as a suspicion, in the reason; the strict profile keeps the
    paper's reading of it.
    """
    literals = judged.literals
    shown = any(check.veto and check.outcome is Outcome.CONTRADICTS for check in judged.checks)
    if shown and judged.support.probability <= SHOWN_WRONG:
        return VerdictLabel.CONTRADICTED
    if any(check.check == OWN_WORDS for check in judged.checks):
        return VerdictLabel.NOT_ENOUGH_EVIDENCE
    if (
        config.profile == "strict"
        and literals.relation is Relation.CONTRADICTION
        and judged.entailment.score >= config.contradiction_block_probability
    ):
        return VerdictLabel.CONTRADICTED
    entailed = literals.relation is Relation.ENTAILMENT
    about_it = entailed or literals.term_overlap >= config.about_it_overlap
    if literals.identity_mismatches or (literals.missing and about_it):
        return VerdictLabel.UNSUPPORTED
    return VerdictLabel.NOT_ENOUGH_EVIDENCE


def _praise(claim: Claim, judged: Judged, citations: Sequence[CitationFinding]) -> str:
    name = _named(judged.route)
    lacking = [*judged.literals.unwritten, *_nowhere(judged)]
    unwritten = ", ".join(dict.fromkeys(f"“{checked.value.text}”" for checked in lacking))
    notes = [say(Cause.NOT_WRITTEN_AS_SUCH, values=unwritten)] if unwritten else []
    if together := judged.support.together:
        weakest, asked = told_apart(together.weakest, together.asked.threshold)
        support = f"{judged.support.probability:.2f}"
        notes.append(say(Cause.PASSES_TOGETHER, support=support, weakest=weakest, asked=asked))
    unseen = [one for one in citations if one.outcome is CitationOutcome.NOT_RESOLVABLE_HERE]
    cause = Cause.SUPPORTED
    if unseen:
        cited = ", ".join(dict.fromkeys(_cited_as(one) for one in unseen))
        notes.append(say(Cause.NOT_RESOLVABLE, cited=cited))
    elif _is_as_credited(claim, judged):
        cause = Cause.SUPPORTED_AS_CREDITED
    return " ".join([say(cause, source=name), *notes])


def _is_as_credited(claim: Claim, judged: Judged) -> bool:
    """Whether the answer credits the very source that the claim was checked against, or its kind.

    A credit may be right for another source that says the same, or where the answer credits none.
    """
    stated, attribution, source_id = claim.stated, judged.attribution, judged.route.source_id
    if stated is None or attribution.status is not AttributionStatus.MATCH:
        return False
    if source_id in (stated.source_id, *stated.also):
        return True
    return stated.source_id is None and attribution.stated_family == attribution.routed_family


def _how_often(share: ContradictedShare) -> str:
    return say(
        Cause.HOW_OFTEN_CONTRADICTED,
        chance=f"{share.share:.2f}",
        low=f"{share.low:.2f}",
        high=f"{share.high:.2f}",
        contradicted=share.contradicted,
        claims=share.claims,
        answers=share.answers,
    )


def _how_often_shown(share: ShownShare) -> str:
    return say(
        Cause.HOW_OFTEN_SHOWN,
        claims=share.claims,
        answers=share.answers,
        supported=share.supported,
    )


def _named(route: Route) -> str:
    if route.family == OTHER:
        return route.tool_name
    return f"{route.tool_name} ({route.family.replace('_', ' ')})"


def weakest_together(probabilities: Sequence[float]) -> float | None:
    """What an answer's weakest claims have together, in [0, 1]: the geometric mean of the lowest quarter.

    Unlike the paper, which asks every claim by itself: an answer has some twenty, and where one in
    five right ones stays below any useful threshold no right answer passes. Of the ways to take the
    lowest ones together (the lowest, three, five, a fifth, a third, a product) this needs nearly
    the same threshold in answers of 8 claims as of 30, on the development packets and on draws of
    their claims. None for fewer than ``LEAST_CLAIMS``: in those one wrong claim hides too easily. Never
    more than ``MOST_WEAKEST`` count, so that a long answer's easy claims cannot outweigh a wrong one.
    """
    if len(probabilities) < LEAST_CLAIMS:
        return None
    lowest = sorted(probabilities)[: min(MOST_WEAKEST, (len(probabilities) + 2) // 4)]
    return math.exp(math.fsum(math.log(max(one, SUREST_WRONG)) for one in lowest) / len(lowest))


def holds_together(probabilities: Sequence[float], threshold: float) -> bool:
    """Whether an answer of such claims passes as a whole: no claim below ``FLOOR``, and the weakest
    together at ``threshold`` or above."""
    weakest = weakest_together(probabilities)
    return weakest is not None and min(probabilities) >= FLOOR and round(weakest, 4) >= threshold


def pass_together(
    verdicts: Sequence[ClaimVerdict], calibrator: Calibrator, config: Config
) -> tuple[ClaimVerdict, ...]:
    """The verdicts on an answer's claims, those of too little support passing with it where it holds
    as a whole: only by a calibrator that was asked to, and only where nothing else blocks."""
    point = policy_of(calibrator).whole
    factual = [v.outcome for v in verdicts if not isinstance(v.outcome, SetAside)]
    judged = [outcome for outcome in factual if isinstance(outcome, Judged)]
    chances = [one.support.probability for one in judged]
    if point is None or len(judged) < len(factual) or not holds_together(chances, point.threshold):
        return tuple(verdicts)
    together = Together(weakest=round(weakest_together(chances) or 0.0, 4), asked=point)
    passing = tuple(_with_its_answer(one, together, calibrator, config) for one in verdicts)
    if any(one.decision is Decision.BLOCK for one in passing):
        return tuple(verdicts)
    return passing


def _with_its_answer(
    verdict: ClaimVerdict, together: Together, calibrator: Calibrator, config: Config
) -> ClaimVerdict:
    outcome = verdict.outcome
    if not isinstance(outcome, Judged) or outcome.support.supported:
        return verdict
    support = replace(
        outcome.support, threshold=FLOOR, review_from=None, threshold_kind=None, together=together
    )
    outcome = replace(outcome, support=support)
    share = counted_share(calibrator, outcome)
    again = decide_claim(verdict.claim, outcome, config, verdict.citations, share)
    return replace(again, extra=verdict.extra)


def decide_certain(
    verdict: ClaimVerdict, judged: Judged, config: Config, *, supported: bool = True
) -> ClaimVerdict:
    """The claim as it would be decided were its support certain: what blocks it then is another check.

    With ``supported`` false: were it certain that nothing supports it.
    """
    support = Support(probability=1.0 if supported else 0.0, threshold=0.5)
    return decide_claim(verdict.claim, replace(judged, support=support), config, verdict.citations)


def decide_answer(trace: Trace, verdicts: Sequence[ClaimVerdict]) -> AnswerDecision:
    """Block when any claim blocks; unavailable without an answer or without captured evidence."""
    if trace.answer is None or not trace.answer.strip():
        return AnswerDecision(decision=Decision.UNAVAILABLE, reasons=(say(Cause.NO_ANSWER),))
    captured = [s for s in trace.sources if s.status is not SourceStatus.NOT_CAPTURED]
    if not captured:
        cause = Cause.OUTPUTS_NOT_CAPTURED if trace.sources else Cause.NO_OUTPUTS
        return AnswerDecision(decision=Decision.UNAVAILABLE, reasons=(say(cause),))
    blocked = [verdict for verdict in verdicts if verdict.decision is Decision.BLOCK]
    if blocked:
        return AnswerDecision(decision=Decision.BLOCK, reasons=_summary(blocked))
    factual = [v for v in verdicts if v.claim.claim_type is ClaimType.FACTUAL]
    if together := [one for one in map(_together, factual) if one is not None]:
        return AnswerDecision(
            decision=Decision.ALLOW, reasons=(_as_a_whole(together, count=len(factual)),)
        )
    if not factual:
        return AnswerDecision(
            decision=Decision.ALLOW,
            reasons=(say(Cause.NO_FACTUAL_CLAIM),),
        )
    return AnswerDecision(
        decision=Decision.ALLOW,
        reasons=(say(Cause.ALL_CLAIMS_SUPPORTED, count=len(factual)),)
        if len(factual) > 1
        else (say(Cause.ONE_CLAIM_SUPPORTED),),
    )


def _together(verdict: ClaimVerdict) -> Together | None:
    outcome = verdict.outcome
    return outcome.support.together if isinstance(outcome, Judged) else None


def _as_a_whole(together: Sequence[Together], *, count: int) -> str:
    one = together[0]
    weakest, asked = told_apart(one.weakest, one.asked.threshold)
    return say(
        Cause.PASSES_AS_A_WHOLE,
        alone=count - len(together),
        count=count,
        weakest=weakest,
        asked=asked,
        bad=one.asked.bad,
        passed=one.asked.bad_passed,
    )


def _summary(blocked: Sequence[ClaimVerdict]) -> tuple[str, ...]:
    """Each blocked claim's first reason, most serious kinds first, claims in answer order."""
    return tuple(
        f"{verdict.claim.claim_id.rsplit('::', 1)[-1]}: {verdict.reasons[0]}"
        for verdict in sorted(blocked, key=_seriousness)
    )


def _seriousness(verdict: ClaimVerdict) -> int:
    outcome = verdict.outcome
    if isinstance(outcome, Unjudged):
        return 4
    if isinstance(outcome, Judged) and outcome.literals.identity_mismatches:
        return 0
    if verdict.verdict is VerdictLabel.CONTRADICTED:
        return 1
    if verdict.verdict is VerdictLabel.SUPPORTED:
        return 2
    return 3
