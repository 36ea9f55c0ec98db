"""rescore: stored verdicts decided again by another calibrator or threshold, without reading anything.

A verdict holds every NLI score and every feature that its decision rests on, so the stages from III.5
on run again as they are: calibration, attribution, decision. What no calibrator can change (claims
set aside, claims that no stage could judge) stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Protocol

from core.attribution.families import Families
from core.config import Config
from core.identity import rules_digest, rules_of
from core.ports import Calibrator, Progress
from core.records import (
    ClaimVerdict,
    Decision,
    JsonObject,
    Judged,
    State,
    Verification,
    answer_state,
    state_of,
)
from core.records.judge import JudgeOutcome
from core.verification.decision import (
    counted_share,
    decide,
    decide_answer,
    decide_claim,
    decide_with_judge,
    measurements_of,
    pass_together,
)
from core.workflows.models import fitted_for
from core.workflows.verify import run_key, silent

OTHER_SETTINGS = "verified under other settings or by another version of the pipeline"
OTHER_NLI_MODEL = "read by another NLI model than the calibrator was fitted on"
WITHOUT_FEATURES = "verified before the features of all sources were kept"


class RescoringStore(Protocol):
    """A store that gives its latest verdicts back to be decided again."""

    def count_to_rescore(self, calibrator: str) -> int:
        """How many newest traces have a latest verdict by another calibrator."""

    def verdicts_to_rescore(self, calibrator: str) -> Iterator[Sequence[Verification]]:
        """Those verdicts, each with its trace's content hash, window by window."""

    def put_verdicts(self, run_key: str, verdicts: Sequence[Verification]) -> None:
        """Keep verdicts in one transaction."""


@dataclass(slots=True, kw_only=True)
class RescoreReport:
    """What a rescoring did: answers decided again, those that changed, and those left out by reason."""

    calibrator: str
    rescored: int = 0
    now_blocked: int = 0
    now_allowed: int = 0
    claims_changed: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def rescore_stored(
    store: RescoringStore,
    calibrator: Calibrator,
    families: Families,
    config: Config,
    progress: Progress = silent,
) -> RescoreReport:
    """Decide every stored answer again by ``calibrator``; each window is kept in one transaction.

    A rescoring that was stopped goes on where it was. What cannot be decided again keeps its old
    verdict, waits for the models, and is counted with the reason.
    """
    report = RescoreReport(calibrator=calibrator.name)
    total, done = store.count_to_rescore(calibrator.name), 0
    progress(0, total, "answers")
    for window in store.verdicts_to_rescore(calibrator.name):
        before: list[Verification] = []
        for verification in window:
            reason = why_not(verification, families, config, calibrator)
            if reason is None:
                before.append(verification)
            else:
                report.left_out[reason] += 1
        after = [rescore(one, calibrator, families, config) for one in before]
        for old, new in zip(before, after, strict=True):
            _count(report, old, new)
        after.sort(key=_key)  # stable: the order within a run stays
        for key, group in groupby(after, key=_key):
            store.put_verdicts(key, list(group))
        done += len(window)
        progress(done, max(total, done), "answers")
    return report


def effect_on_stored(
    store: RescoringStore, calibrator: Calibrator, families: Families, config: Config
) -> JsonObject:
    """What ``calibrator`` would make of every stored answer, by state before and after; nothing is kept.

    ``{"answers": 3, "before": {"allow": 1, ...}, "after": {...}, "claims_before": ..., "left_out": 0}``.
    """
    before, after = Counter[str](), Counter[str]()
    claims_before, claims_after = Counter[str](), Counter[str]()
    left_out = 0
    for window in store.verdicts_to_rescore(calibrator.name):
        for old in window:
            if why_not(old, families, config, calibrator) is not None:
                left_out += 1
                continue
            new = rescore(old, calibrator, families, config)
            before[answer_state(old).value] += 1
            after[answer_state(new).value] += 1
            claims_before.update(state_of(one).value for one in old.claims)
            claims_after.update(state_of(one).value for one in new.claims)

    def by_state(counts: Counter[str]) -> JsonObject:
        return {state.value: counts[state.value] for state in State}

    return {
        "answers": before.total(),
        "left_out": left_out,
        "before": by_state(before),
        "after": by_state(after),
        "claims_before": by_state(claims_before),
        "claims_after": by_state(claims_after),
    }


def why_not(
    verification: Verification,
    families: Families,
    config: Config,
    calibrator: Calibrator | None = None,
) -> str | None:
    """Why a verdict cannot be decided again without the models; None when it can."""
    made = verification.versions
    if calibrator is not None and not fitted_for(calibrator, made.pair_reader):
        return OTHER_NLI_MODEL
    if rules_of(made.pipeline) != rules_digest() or made.config_sha256 != config.sha256(
        families.digest
    ):
        return OTHER_SETTINGS
    outcomes = [verdict.outcome for verdict in verification.claims]
    if not all(outcome.others_kept for outcome in outcomes if isinstance(outcome, Judged)):
        return WITHOUT_FEATURES
    return None


def rescore(
    verification: Verification, calibrator: Calibrator, families: Families, config: Config
) -> Verification:
    """The verification as the pipeline would have given it with ``calibrator``, latency aside.

    Nobody asks a judge again: what it said of a claim decides as it did.
    A repair stays where its answer's claims are decided as before; else it is taken out, since it
    was made for other decisions.
    """
    judged = [verdict for verdict in verification.claims if isinstance(verdict.outcome, Judged)]
    again = iter(
        decide(
            [verdict.claim for verdict in judged],
            [measurements_of(outcome) for outcome in _outcomes(judged)],
            calibrator,
            families=verification.families,
            catalogue=families,
            config=config,
        )
    )
    claims = tuple(
        replace(
            decide_claim(
                verdict.claim,
                outcome,
                config,
                verdict.citations,
                counted_share(calibrator, outcome),
            ),
            extra=verdict.extra,
        )
        if isinstance(verdict.outcome, Judged) and (outcome := next(again))
        else verdict
        for verdict in verification.claims
    )
    claims = tuple(
        decide_with_judge(one, _heard(before), config)
        for one, before in zip(
            pass_together(claims, calibrator, config), verification.claims, strict=True
        )
    )
    same = _decisions(claims) == _decisions(verification.claims)
    return replace(
        verification,
        claims=claims,
        answer=decide_answer(verification.trace, claims),
        versions=replace(verification.versions, calibrator=calibrator.name),
        repair=verification.repair if same else None,
    )


def _heard(verdict: ClaimVerdict) -> JudgeOutcome | None:
    return verdict.outcome.judge if isinstance(verdict.outcome, Judged) else None


def _outcomes(verdicts: Sequence[ClaimVerdict]) -> list[Judged]:
    return [verdict.outcome for verdict in verdicts if isinstance(verdict.outcome, Judged)]


def _decisions(verdicts: Sequence[ClaimVerdict]) -> list[Decision]:
    return [verdict.decision for verdict in verdicts]


def _key(verification: Verification) -> str:
    return run_key(verification.versions)


def _count(report: RescoreReport, old: Verification, new: Verification) -> None:
    report.rescored += 1
    if old.answer.decision is not new.answer.decision:
        blocked = new.answer.decision is Decision.BLOCK
        report.now_blocked += blocked
        report.now_allowed += not blocked
    pairs = zip(_decisions(old.claims), _decisions(new.claims), strict=True)
    report.claims_changed += sum(before is not after for before, after in pairs)
