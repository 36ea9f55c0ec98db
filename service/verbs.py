"""verify_answer, audit_citations, explain_claim: the same for every way to ask."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from core.citations.answer import audit_citations
from core.citations.lexical import audit_lexically
from core.citations.report import citations_document
from core.codec import content_hash
from core.config import Config
from core.records import Trace, Verification
from core.workflows.batching import BatchingVerifier, Step
from service.problems import NotKept, TooLarge, TooLate
from service.replies import (
    CitationsReply,
    ExplainReply,
    VerifyReply,
    citations_reply,
    explain_reply,
    verify_reply,
)
from service.requests import Asked, ExplainAsked, VerifyAsked, trace_of

Told = Callable[[Step], Awaitable[None]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request may cost, and how many verdicts are kept for explain_claim."""

    most_bytes: int = 8 * 1024 * 1024
    seconds: float = 60.0
    verdicts_kept: int = 256


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
        self._kept: OrderedDict[str, Verification] = OrderedDict()
        self._keeping = threading.Lock()

    async def verify_answer(self, request: VerifyAsked, told: Told | None = None) -> VerifyReply:
        """The verdict on an answer; raises InputError, Busy, TooLate, TooLarge."""
        trace = await asyncio.to_thread(self._trace, request)
        verification = await self._verified(trace, request.repair, told)
        return verify_reply(self._keep(verification), verification)

    async def audit_citations(self, request: Asked) -> CitationsReply:
        """Where everything that the answer cites leads; raises InputError, TooLate, TooLarge."""
        return await self._in_time(asyncio.to_thread(self._audited, request))

    async def explain_claim(self, request: ExplainAsked, told: Told | None = None) -> ExplainReply:
        """Why a claim got its verdict; raises NotKept as well."""
        if request.verdict_id is None:
            trace = await asyncio.to_thread(self._trace, request)
            verification = await self._verified(trace, False, told)
            verdict_id = self._keep(verification)
        else:
            verdict_id = request.verdict_id
            with self._keeping:
                found = self._kept.get(verdict_id)
            if found is None:
                raise NotKept("verdict_id: not kept (any more); send the answer again")
            verification = found
        for verdict in verification.claims:
            if verdict.claim.claim_id == request.claim_id:
                return explain_reply(verdict_id, verdict, verification)
        raise NotKept("claim_id: the answer has no such claim")

    def _trace(self, request: Asked) -> Trace:
        trace = trace_of(request, self.config)
        size = len((trace.answer or "").encode("utf-8", "replace")) + sum(
            len(source.text.encode("utf-8", "replace")) for source in trace.sources
        )
        if size > self.limits.most_bytes:
            raise TooLarge(self.limits.most_bytes)
        return trace

    def _audited(self, request: Asked) -> CitationsReply:
        trace = self._trace(request)
        evidence = "\n".join(source.text for source in trace.sources if source.is_evidence)
        lexical = audit_lexically(trace.answer or "", evidence)
        return citations_reply(citations_document(trace, audit_citations(trace), lexical))

    async def _verified(self, trace: Trace, repair: bool, told: Told | None) -> Verification:
        """One verification; when the caller goes away or the time is up, it is not waited for."""
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[Step] = asyncio.Queue()

        def tell(step: Step) -> None:
            with contextlib.suppress(RuntimeError):  # the caller's loop is gone
                loop.call_soon_threadsafe(steps.put_nowait, step)

        submit = self.verifier.submit_repairing if repair else self.verifier.submit
        future: Future[Verification] = submit(trace, tell)
        telling = asyncio.create_task(_tell(steps, told)) if told else None
        try:
            verification = await self._in_time(asyncio.wrap_future(future))
        finally:
            future.cancel()
            if telling:
                telling.cancel()
        if told:
            await told(Step.DONE)
        self._judged(verification)
        return verification

    async def _in_time(self, working: Awaitable[T]) -> T:
        try:
            return await asyncio.wait_for(working, self.limits.seconds)
        except TimeoutError:
            raise TooLate(self.limits.seconds) from None

    def _keep(self, verification: Verification) -> str:
        verdict_id = verification.content_hash or content_hash(verification.trace)
        with self._keeping:
            self._kept[verdict_id] = verification
            self._kept.move_to_end(verdict_id)
            while len(self._kept) > self.limits.verdicts_kept:
                self._kept.popitem(last=False)
        return verdict_id


async def _tell(steps: asyncio.Queue[Step], told: Told) -> None:
    while True:
        await told(await steps.get())
