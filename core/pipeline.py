"""verify(trace, models, config): the paper's stages in the paper's order, one line each.

Claims are judged one at a time; only the two models work in batches, across claims and traces, so
every window of traces passes through three steps: `rank_claims` up to the pairs that must be read, one
batched reading, and `judge_or_block` for each claim. What a batch holds never shows in a result: where
a bug ends the work on it, it is split until only what the bug is about is left, and that needs review.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from core.attribution.families import OTHER
from core.citations.claims import citations_by_claim, set_entries_aside
from core.config import Config
from core.decomposition.claims import unread_answer
from core.errors import ProvenanceGuardError, StageError, fault_words
from core.identity import rules_digest, unread, with_judge
from core.records import (
    CitationFinding,
    Claim,
    ClaimType,
    ClaimVerdict,
    Judged,
    SetAside,
    Trace,
    Unjudged,
    Verification,
    Versions,
)
from core.records.judge import JudgeVerdict
from core.verification.candidates import Case, rank_claims
from core.verification.decision import (
    counted_share,
    decide_answer,
    decide_claim,
    pass_together,
    prior_worth,
)
from core.verification.features import Pairs
from core.verification.prepare import (
    Models,
    OpenTrace,
    embed_window,
    factual_claims,
    open_window,
)
from core.verification.reading import judge_claim, read_window

__all__ = ["Models", "verify", "verify_all", "verify_claims", "versions"]

WINDOW = 8  # traces whose pairs share a batch
Item = TypeVar("Item")
Window = Sequence[tuple[Trace, tuple[Claim, ...] | None]]  # with its claims where these are frozen
FAULT = "fault"  # the stage of a claim that a bug is about
_log = logging.getLogger(__name__)


def verify(trace: Trace, models: Models, config: Config) -> Verification:
    """The verdict on one trace: every claim, its source, and the answer's gate."""
    return next(verify_all([trace], models, config))


def verify_all(traces: Iterable[Trace], models: Models, config: Config) -> Iterator[Verification]:
    """Verify traces in order; memory holds one window of them at a time."""
    pending = iter(traces)
    while window := list(islice(pending, WINDOW)):
        offline = _verify_or_block([(trace, None) for trace in window], models, config)
        yield from ask_judge(offline, models, config)


def verify_offline(traces: Sequence[Trace], models: Models, config: Config) -> list[Verification]:
    """One window of traces as far as no judge is asked; `ask_judge` does the rest."""
    return _verify_or_block([(trace, None) for trace in traces], models, config)


def ask_judge(
    verified: Sequence[Verification], models: Models, config: Config
) -> Sequence[Verification]:
    """The verifications with what the judge of the models proves of their claims, if there is one."""
    if models.judge is None:
        return verified
    from core.judge.asking import read_by_judge  # imported only where a judge is asked

    judge, which, worth = models.judge, models.judge_for, models.judge_worth
    return _or_block(
        verified,
        lambda some: list(read_by_judge(some, judge, which, config, worth=worth)),
        lambda one, error: _unread(one.trace, None, models, config, error),
    )


def verify_claims(
    frozen: Iterable[tuple[Trace, tuple[Claim, ...]]], models: Models, config: Config
) -> Iterator[Verification]:
    """Like `verify_all` on frozen claims (claim packets): decomposition is not invoked (IV.2)."""
    pending = iter(frozen)
    while window := list(islice(pending, WINDOW * 4)):
        yield from _verify_or_block(window, models, config)


def versions(models: Models, config: Config) -> Versions:
    """What names a run: the same trace under the same versions gives the same bytes."""
    rules = rules_digest()
    if models.judge is not None:
        proves = (JudgeVerdict.SUPPORTED, JudgeVerdict.CONTRADICTED)
        worth = [(models.judge_worth or {}).get(one, prior_worth(one, config)) for one in proves]
        rules = with_judge(rules, models.judge.name, models.judge_for.value, worth)
    return Versions(
        pipeline=rules,
        config_sha256=config.sha256(models.families.digest),
        embedder=models.embedder.name,
        pair_reader=models.nli.name,
        precision=models.nli.precision,
        calibrator=models.calibrator.name,
    )


def _verify_or_block(window: Window, models: Models, config: Config) -> list[Verification]:
    """The window's verdicts, those of traces that a bug is about too."""
    return _or_block(
        window,
        lambda some: _verify_window(some, models, config),
        lambda one, error: _unread(*one, models, config, error),
    )


def _or_block(
    items: Sequence[Item],
    work: Callable[[Sequence[Item]], list[Verification]],
    unread: Callable[[Item, Exception], Verification],
) -> list[Verification]:
    """What comes of the work; what a bug is about gets a verdict that says so, the others their own."""
    try:
        return work(items)
    except ProvenanceGuardError:
        raise
    except Exception as error:
        if len(items) > 1:
            return [made for one in items for made in _or_block([one], work, unread)]
        return [unread(items[0], error)]


def _unread(
    trace: Trace,
    frozen: tuple[Claim, ...] | None,
    models: Models,
    config: Config,
    error: Exception,
) -> Verification:
    fault = _faulty(error)
    claims = frozen or (
        (unread_answer(trace, fault.reason),) if (trace.answer or "").strip() else ()
    )
    verdicts = tuple(decide_claim(claim, fault, config) for claim in claims)
    return Verification(
        trace=trace,
        families={source.source_id: OTHER for source in trace.sources},
        claims=verdicts,
        answer=decide_answer(trace, verdicts),
        versions=_again(versions(models, config)),
        latency_seconds={"total": (0.0,)},
    )


def _faulty(error: Exception) -> Unjudged:
    """What is said of that which a bug is about: its kind and place, no word of a source."""
    words = fault_words(error)
    _log.error("could not be checked: %s", words)
    return Unjudged(stage=FAULT, reason=f"it could not be checked because of {words}")


def _again(made: Versions) -> Versions:
    """The versions of a verdict that stands for none: verifying asks again."""
    return replace(made, pipeline=unread(made.pipeline))


def _verify_window(window: Window, models: Models, config: Config) -> list[Verification]:
    opened = [
        one if one.frozen else replace(one, claims=set_entries_aside(one.trace, one.claims))
        for one in open_window(window, models, config)
    ]
    judged = _judge_window(opened, models, config)
    return [
        _conclude(one, found, models, config) for one, found in zip(opened, judged, strict=True)
    ]


def _judge_window(
    opened: Sequence[OpenTrace], models: Models, config: Config
) -> list[dict[str, Judged | Unjudged]]:
    """What was found of each factual claim, by its id, one a trace."""
    try:
        vectors = embed_window(opened, models.embedder)
        cases = [rank_claims(one, vectors, models, config) for one in opened]
        nli_scores = read_window(opened, cases, models.nli)
    except ProvenanceGuardError:
        raise
    except Exception as error:
        if len(opened) > 1:
            return [found for one in opened for found in _judge_window([one], models, config)]
        (one,) = opened
        if len(one.claims) == 1:
            return [{one.claims[0].claim_id: _faulty(error)}]
        alone = [replace(one, claims=(claim,)) for claim in factual_claims(one)]
        return [
            {k: v for each in alone for k, v in _judge_window([each], models, config)[0].items()}
        ]
    return [
        {
            case.claim.claim_id: judge_or_block(case, one, nli_scores, models, config)
            for case in of_trace
        }
        for one, of_trace in zip(opened, cases, strict=True)
    ]


def judge_or_block(
    case: Case, one: OpenTrace, nli_scores: Pairs, models: Models, config: Config
) -> Judged | Unjudged:
    """Judge one claim; a failed stage blocks it (III.7), and so does a bug."""
    try:
        return judge_claim(case, one, nli_scores, models, config)
    except StageError as error:
        return Unjudged(stage=error.stage, reason=str(error))
    except ProvenanceGuardError:
        raise  # a model that is not there, time that is up: of the run, not of the claim
    except Exception as error:
        return _faulty(error)


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
            _decide_or_block(
                claim,
                outcome_of(claim, judged, config),
                cited.get(claim.claim_id, ()),
                models,
                config,
            )
            for claim in one.claims
        )
        verdicts = pass_together(verdicts, models.calibrator, config)
        answer = decide_answer(one.trace, verdicts)
    made = versions(models, config)
    spent = {stage: tuple(seconds) for stage, seconds in one.clock.seconds.items()}
    verified = Verification(
        trace=one.trace,
        families=one.families,
        claims=verdicts,
        answer=answer,
        versions=made,
        latency_seconds=spent | {"total": (sum(sum(seconds) for seconds in spent.values()),)},
    )
    return verified if fault_of(verified) is None else replace(verified, versions=_again(made))


def fault_of(verification: Verification) -> str | None:
    """Why a claim could not be checked because of a fault in this program; None where all could."""
    outcomes = (verdict.outcome for verdict in verification.claims)
    return next(
        (one.reason for one in outcomes if isinstance(one, Unjudged) and one.stage == FAULT), None
    )


def _decide_or_block(
    claim: Claim,
    outcome: Judged | Unjudged | SetAside,
    citations: tuple[CitationFinding, ...],
    models: Models,
    config: Config,
) -> ClaimVerdict:
    try:
        share = counted_share(models.calibrator, outcome)
        return decide_claim(claim, outcome, config, citations, share)
    except ProvenanceGuardError:
        raise
    except Exception as error:
        return decide_claim(claim, _faulty(error), config, citations)


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
