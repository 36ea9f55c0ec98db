"""verify_answer, audit_citations, explain_claim: the same for every way to ask."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

from core.citations.answer import audit_citations
from core.citations.claims import cites_too_much
from core.citations.lexical import audit_lexically
from core.citations.report import citations_document
from core.codec import content_hash
from core.config import Config
from core.decomposition.claims import MOST_ANSWER
from core.errors import InputError, Overdue
from core.models.latest import Latest
from core.records import Trace, Verification
from core.workflows.batching import Allowed, BatchingVerifier, Step
from core.workflows.earlier_answers import EarlierAnswers
from service.problems import NotKept, TooLarge, TooLate
from service.replies import (
    CitationsReply,
    ExplainReply,
    VerifyReply,
    citations_reply,
    explain_reply,
    together,
    verify_reply,
)
from service.requests import Asked, ExplainAsked, Limits, VerifyAsked, traces_of

Told = Callable[[Step], Awaitable[None]]
T = TypeVar("T")


class Verbs:
    """The verbs on one warm verifier."""

    def __init__(
        self,
        verifier: BatchingVerifier,
        limits: Limits,
        judged: Callable[[Verification], None] = lambda verification: None,
    ) -> None:
        self.verifier, self.limits, self._judged = verifier, limits, judged
        self.config: Config = verifier.config
        self._kept = Latest[str, Verification](limits.verdicts_kept, limits.verdict_bytes_kept)

    async def verify_answer(self, request: VerifyAsked, told: Told | None = None) -> VerifyReply:
        """The verdict on an answer, and on what the user was told before it in the same run.

        Raises InputError, Busy, TooLate, TooLarge.
        """
        *before, last = await self._read(request)
        return await self._in_time(self._all_verified(before, last, request.repair, told))

    async def _all_verified(
        self, before: Sequence[Trace], last: Trace, repair: bool, told: Told | None
    ) -> VerifyReply:
        # One after the other: a long conversation must not take every place that others wait for.
        judged = [await self._verified(trace, False, None) for trace in before]
        judged.append(await self._verified(last, repair, told))
        said = EarlierAnswers()
        for one in judged:
            said.add(one.trace)
        *earlier, reply = [verify_reply(self._keep(one), one) for one in judged]
        return together(reply, earlier, len(said.not_judged()))

    async def verify_trace(
        self, trace: Trace, repair: bool = False, told: Told | None = None
    ) -> VerifyReply:
        """The verdict on a captured run; raises Busy, TooLate, TooLarge."""
        (trace,) = self._sized([trace])
        verification = await self._verified(trace, repair, told)
        return verify_reply(self._keep(verification), verification)

    async def audit_citations(self, request: Asked) -> CitationsReply:
        """Where everything that the answer cites leads; raises InputError, TooLate, TooLarge."""
        *before, last = await self._read(request)
        reply = await self.audit_trace(last)
        said = EarlierAnswers()
        for trace in (*before, last):
            said.add(trace)
        if earlier := len(before) + len(said.not_judged()):
            told = f"{earlier} earlier answers are not audited with this one"
            return reply.model_copy(update={"notices": [told]})
        return reply

    async def audit_trace(self, trace: Trace) -> CitationsReply:
        """Where everything that a captured answer cites leads; raises TooLate, TooLarge."""
        return await self._in_time(asyncio.to_thread(_audited, *self._sized([trace])))

    async def explain_claim(self, request: ExplainAsked, told: Told | None = None) -> ExplainReply:
        """Why a claim got its verdict; raises NotKept as well."""
        if request.verdict_id is not None:
            return self.explain_kept(request.verdict_id, request.claim_id)
        traces = await self._read(request)
        named = [one for one in traces if request.claim_id.startswith(f"{one.trace_id}::c")]
        verification = await self._verified([*traces, *named][-1], False, told)
        return _explained(self._keep(verification), verification, request.claim_id)

    def explain_kept(self, verdict_id: str, claim_id: str) -> ExplainReply:
        """Why a claim of a verdict given before got its own; raises NotKept."""
        verification = self._kept.get(verdict_id)
        if verification is None:
            raise NotKept("verdict_id: not kept (any more); send the answer again")
        return _explained(verdict_id, verification, claim_id)

    async def _read(self, request: Asked) -> Sequence[Trace]:
        """The traces of a request; when the time is up, the reading ends at its next record."""
        allowed = Allowed(self.limits.seconds)
        reading = asyncio.to_thread(traces_of, request, allowed)
        try:
            return self._sized(await self._in_time(reading))
        finally:
            allowed.end()

    def _sized(self, traces: Sequence[Trace]) -> Sequence[Trace]:
        if any(_size(trace) > self.limits.most_bytes for trace in traces):
            raise TooLarge(self.limits.most_bytes)
        return traces

    async def _verified(self, trace: Trace, repair: bool, told: Told | None) -> Verification:
        """One verification; when the caller goes away or the time is up, the work ends."""
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[Step] = asyncio.Queue()

        def tell(step: Step) -> None:
            with contextlib.suppress(RuntimeError):  # the caller's loop is gone
                loop.call_soon_threadsafe(steps.put_nowait, step)

        submit = self.verifier.submit_repairing if repair else self.verifier.submit
        allowed = Allowed(self.limits.seconds)
        future: Future[Verification] = submit(trace, tell, allowed)
        telling = asyncio.create_task(_tell(steps, told)) if told else None
        try:
            verification = await self._in_time(asyncio.wrap_future(future))
        finally:
            future.cancel()
            allowed.end()  # what has begun stops at its next step
            if telling:
                telling.cancel()
        if told:
            await told(Step.DONE)
        self._judged(verification)
        return verification

    async def _in_time(self, working: Awaitable[T]) -> T:
        try:
            return await asyncio.wait_for(working, self.limits.seconds)
        except (TimeoutError, Overdue):
            raise TooLate(self.limits.seconds) from None

    def _keep(self, verification: Verification) -> str:
        verdict_id = verification.content_hash or content_hash(verification.trace)
        self._kept.put(verdict_id, verification, _size(verification.trace))
        return verdict_id


def _size(trace: Trace) -> int:
    """Bytes of the texts of a trace."""
    texts = (trace.answer or "", *(source.text for source in trace.sources))
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _audited(trace: Trace) -> CitationsReply:
    if len(trace.answer or "") > MOST_ANSWER:
        raise InputError(f"longer than {MOST_ANSWER:,} characters", path="answer")
    if (reason := cites_too_much(trace)) is not None:
        raise InputError(reason, path="answer")
    evidence = "\n".join(source.text for source in trace.sources if source.is_evidence)
    lexical = audit_lexically(trace.answer or "", evidence)
    return citations_reply(citations_document(trace, audit_citations(trace), lexical))


def _explained(verdict_id: str, verification: Verification, claim_id: str) -> ExplainReply:
    for verdict in verification.claims:
        if verdict.claim.claim_id == claim_id:
            return explain_reply(verdict_id, verdict, verification)
    raise NotKept("claim_id: the answer has no such claim")


async def _tell(steps: asyncio.Queue[Step], told: Told) -> None:
    while True:
        await told(await steps.get())
