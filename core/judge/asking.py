"""Asking a judge about verified answers: which claims, what is proved of its reply, what follows.

The offline verdict stands wherever nothing is proved: a failure, an unusable reply or an unproved
verdict is told with it and moves nothing.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from core.config import Config
from core.errors import ProvenanceGuardError, fault_words
from core.identity import unread
from core.judge.proof import prove
from core.judge.reply import read_reply
from core.judge.request import RequestLimits, new_requests
from core.judge.testimony import Material, material_of
from core.ports import Judge
from core.records import (
    Claim,
    ClaimVerdict,
    Decision,
    Judged,
    Trace,
    VerdictLabel,
    Verification,
)
from core.records.judge import (
    JudgeFailure,
    JudgeFor,
    JudgeOutcome,
    JudgeRequest,
    JudgeVerdict,
    Proved,
)
from core.verification.decision import decide_answer, decide_with_judge

AT_ONCE = 8  # answers that are asked about side by side


def read_by_judge(
    verified: Sequence[Verification],
    judge: Judge,
    which: JudgeFor,
    config: Config,
    *,
    worth: Mapping[JudgeVerdict, float] | None = None,
) -> Iterator[Verification]:
    """The verifications with what a judge proves of their claims, in order.

    ``worth`` is the chance that a claim is supported of which it proves a verdict; None takes the prior.
    """
    secret = secrets.token_bytes(32)

    def one(verification: Verification) -> Verification:
        return _read(verification, judge, which, secret, config, worth or {})

    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        yield from threads.map(one, verified)


def limits_of(config: Config) -> RequestLimits:
    """How much a request may hold by a site's settings."""
    return RequestLimits(source_tokens=config.judge_source_tokens)


def ask(
    trace: Trace,
    claims: Sequence[Claim],
    judge: Judge,
    secret: bytes,
    limits: RequestLimits = RequestLimits(),  # noqa: B008 - frozen
) -> dict[str, JudgeOutcome]:
    """What came of asking about each claim of an answer, by claim id; ``secret`` makes the marks."""
    found: dict[str, JudgeOutcome] = {}
    by_id = {claim.claim_id: claim for claim in claims}
    material = material_of(trace)
    for request in new_requests(trace, claims, secret, limits=limits) if claims else ():
        try:
            found |= _replied(request, by_id, judge, material)
        except ProvenanceGuardError:
            raise
        except Exception as error:  # a bug on one reply is not the other claims' fault
            failed = JudgeOutcome(by=judge.name, notice=fault_words(error))
            found |= dict.fromkeys(request.claims, failed)
    return found


def _replied(
    request: JudgeRequest, claims: Mapping[str, Claim], judge: Judge, material: Material
) -> dict[str, JudgeOutcome]:
    reply = judge.judge(request)
    if isinstance(reply, JudgeFailure):
        return dict.fromkeys(request.claims, JudgeOutcome(by=judge.name, notice=reply.reason))
    read = read_reply(reply.text, request)
    material = replace(material, narrowed=frozenset(request.left_out))
    why = read.problems[0] if read.problems else "it replied nothing of this claim"
    return {
        claim_id: JudgeOutcome(by=judge.name, notice=why)
        if reading is None
        else JudgeOutcome(
            by=judge.name,
            proof=prove(claims[claim_id], reading, material),
            why=reading.why,
            source_id=reading.source_id,
            stated_is_right=reading.stated_is_right,
        )
        for claim_id in request.claims
        for reading in (read.readings.get(claim_id),)
    }


def _read(
    verification: Verification,
    judge: Judge,
    which: JudgeFor,
    secret: bytes,
    config: Config,
    worth: Mapping[JudgeVerdict, float],
) -> Verification:
    start = time.perf_counter()
    asked = [verdict.claim for verdict in verification.claims if _is_asked(verdict, which)]
    if not asked:
        return verification
    outcomes = {
        name: replace(one, worth=worth.get(one.proof.verdict))
        if isinstance(one.proof, Proved)
        else one
        for name, one in ask(verification.trace, asked, judge, secret, limits_of(config)).items()
    }
    verdicts = tuple(
        decide_with_judge(verdict, outcomes.get(verdict.claim.claim_id), config)
        for verdict in verification.claims
    )
    spent = (time.perf_counter() - start,)
    made = verification.versions
    if any(one.notice is not None for one in outcomes.values()):
        made = replace(made, pipeline=unread(made.pipeline))
    return replace(
        verification,
        versions=made,
        claims=verdicts,
        answer=decide_answer(verification.trace, verdicts),
        latency_seconds={**verification.latency_seconds, "judge": spent},
    )


def _is_asked(verdict: ClaimVerdict, which: JudgeFor) -> bool:
    """Whether a claim is one that the judge is asked about; what no stage could judge blocks anyway."""
    if not isinstance(verdict.outcome, Judged):
        return False
    blocked = verdict.decision is Decision.BLOCK
    if which is JudgeFor.UNSURE:
        return blocked and verdict.verdict is not VerdictLabel.CONTRADICTED
    return blocked or which is JudgeFor.ALL
