"""verify(trace, models, config): the paper's stages in the paper's order, one line each.

Claims are judged one at a time; only the two models work in batches, across claims and traces, so
every window of traces passes through three steps: `rank_claims` up to the pairs that must be read, one
batched reading, and `judge_or_block` for each claim. What a batch holds never shows in a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from core.citations.claims import citations_by_claim, set_entries_aside
from core.config import Config
from core.errors import StageError
from core.identity import rules_digest, with_judge
from core.records import (
    Claim,
    ClaimType,
    Judged,
    SetAside,
    Trace,
    Unjudged,
    Verification,
    Versions,
)
from core.verification.candidates import Case, rank_claims
from core.verification.decision import counted_share, decide_answer, decide_claim, pass_together
from core.verification.prepare import (
    Models,
    OpenTrace,
    embed_window,
    open_window,
)
from core.verification.reading import NliScores, judge_claim, read_window

__all__ = ["Models", "verify", "verify_all", "verify_claims", "versions"]

WINDOW = 8  # traces whose pairs share a batch


def verify(trace: Trace, models: Models, config: Config) -> Verification:
    """The verdict on one trace: every claim, its source, and the answer's gate."""
    return next(verify_all([trace], models, config))


def verify_all(traces: Iterable[Trace], models: Models, config: Config) -> Iterator[Verification]:
    """Verify traces in order; memory holds one window of them at a time."""
    pending = iter(traces)
    while window := list(islice(pending, WINDOW)):
        verified = _verify_window([(trace, None) for trace in window], models, config)
        yield from verified if models.judge is None else _read_by_judge(verified, models, config)


def verify_claims(
    frozen: Iterable[tuple[Trace, tuple[Claim, ...]]], models: Models, config: Config
) -> Iterator[Verification]:
    """Like `verify_all` on frozen claims (claim packets): decomposition is not invoked (IV.2)."""
    pending = iter(frozen)
    while window := list(islice(pending, WINDOW * 4)):
        yield from _verify_window(window, models, config)


def versions(models: Models, config: Config) -> Versions:
    """What names a run: the same trace under the same versions gives the same bytes."""
    rules = rules_digest()
    if models.judge is not None:
        rules = with_judge(rules, models.judge.name, models.judge_for.value)
    return Versions(
        pipeline=rules,
        config_sha256=config.sha256(models.families.digest),
        embedder=models.embedder.name,
        pair_reader=models.nli.name,
        precision=models.nli.precision,
        calibrator=models.calibrator.name,
    )


def _read_by_judge(
    verified: Iterator[Verification], models: Models, config: Config
) -> Iterator[Verification]:
    from core.judge.asking import read_by_judge  # imported only where a judge is asked

    assert models.judge is not None
    return read_by_judge(list(verified), models.judge, models.judge_for, config)


def _verify_window(
    window: Sequence[tuple[Trace, tuple[Claim, ...] | None]], models: Models, config: Config
) -> Iterator[Verification]:
    opened = [
        one if one.frozen else replace(one, claims=set_entries_aside(one.trace, one.claims))
        for one in open_window(window, models, config)
    ]
    vectors = embed_window(opened, models.embedder)
    cases = [rank_claims(one, vectors, models, config) for one in opened]
    nli_scores = read_window(opened, cases, models.nli)
    for one, of_trace in zip(opened, cases, strict=True):
        judged = {
            case.claim.claim_id: judge_or_block(case, one, nli_scores, models, config)
            for case in of_trace
        }
        yield _conclude(one, judged, models, config)


def judge_or_block(
    case: Case, one: OpenTrace, nli_scores: NliScores, models: Models, config: Config
) -> Judged | Unjudged:
    """Judge one claim; a failed stage blocks it (III.7). The project's only such ``except``."""
    try:
        return judge_claim(case, one, nli_scores, models, config)
    except StageError as error:
        return Unjudged(stage=error.stage, reason=str(error))


def _conclude(
    one: OpenTrace,
    judged: Mapping[str, Judged | Unjudged],
    models: Models,
    config: Config,
) -> Verification:
    with one.clock("check"):
        # A frozen claim stands alone: the list that its marks point into is not there.
        cited = {} if one.frozen else citations_by_claim(one.trace, one.claims)
    with one.clock("decide"):
        verdicts = tuple(
            decide_claim(
                claim,
                outcome,
                config,
                cited.get(claim.claim_id, ()),
                counted_share(models.calibrator, outcome),
            )
            for claim in one.claims
            for outcome in (outcome_of(claim, judged, config),)
        )
        verdicts = pass_together(verdicts, models.calibrator, config)
        answer = decide_answer(one.trace, verdicts)
    spent = {stage: tuple(seconds) for stage, seconds in one.clock.seconds.items()}
    return Verification(
        trace=one.trace,
        families=one.families,
        claims=verdicts,
        answer=answer,
        versions=versions(models, config),
        latency_seconds=spent | {"total": (sum(sum(seconds) for seconds in spent.values()),)},
    )


def outcome_of(
    claim: Claim, judged: Mapping[str, Judged | Unjudged], config: Config
) -> Judged | Unjudged | SetAside:
    """What was found of a claim: unjudged beyond the limit, set aside only where it claims nothing.

    Raises KeyError for a factual claim within the limit that is not in ``judged``.
    """
    if claim.beyond_limit:
        reason = claim.reason or f"beyond the first {config.max_claims} claims"
        return Unjudged(stage="claims", reason=reason)
    if claim.claim_type is not ClaimType.FACTUAL:
        return SetAside(reason=claim.reason or claim.claim_type.value)
    return judged[claim.claim_id]
