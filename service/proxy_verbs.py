"""The verbs as the proxy offers them: the answer alone is given, the evidence was captured."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from mcp.types import CallToolResult, Tool
from pydantic import BaseModel, ConfigDict, Field

from core.errors import ProvenanceGuardError
from core.workflows.batching import Step
from service.captured import Conversations
from service.mcp_server import READ_ONLY, STEPS
from service.problems import log_crash
from service.replies import CitationsReply, ExplainReply, VerifyReply
from service.requests import asked
from service.verbs import Verbs

Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class AnswerAsked(BaseModel):
    """A final answer, whose evidence was captured in this conversation."""

    model_config = ConfigDict(extra="forbid")

    answer: Annotated[
        str, Field(min_length=1, description="The final answer, as it will be given.")
    ]
    question: Annotated[str, Field(description="What was asked.")] = ""


class VerifyAsked(AnswerAsked):
    """An answer to verify."""

    repair: Annotated[
        bool, Field(description="Also propose edits of a blocked answer; a person decides them.")
    ] = False
    forget: Annotated[
        bool,
        Field(description="Then drop what was captured: the next answer rests on other calls."),
    ] = False


class ExplainAsked(BaseModel):
    """One claim of a verdict given before."""

    model_config = ConfigDict(extra="forbid")

    verdict_id: Annotated[str, Field(description="From verify_answer.")]
    claim_id: Annotated[str, Field(min_length=1, description="As verify_answer names it.")]


_KINDS: dict[str, tuple[type[BaseModel], type[BaseModel], str, str]] = {
    "verify_answer": (
        VerifyAsked, VerifyReply, "Verify an answer",
        "Is each claim of the answer supported by what the tools of this conversation gave, by which "
        "source, and is the right one credited? Give the answer alone: the outputs were captured.",
    ),
    "audit_citations": (
        AnswerAsked, CitationsReply, "Audit what an answer cites",
        "Where everything that the answer cites leads, and whether that says it.",
    ),
    "explain_claim": (
        ExplainAsked, ExplainReply, "Explain a claim's verdict",
        "Why one claim got its verdict: what was read, each check, the ranking of the sources.",
    ),
}  # fmt: skip

OWN_TOOLS = [
    Tool(
        name=name, title=title, description=description, annotations=READ_ONLY,
        input_schema=kind.model_json_schema(), output_schema=reply.model_json_schema(),
    )
    for name, (kind, reply, title, description) in _KINDS.items()
]  # fmt: skip


class OwnVerbs:
    """The verbs on captured conversations; ``loading`` gives the warm models once they are."""

    names = frozenset(_KINDS)

    def __init__(self, loading: asyncio.Future[Verbs], conversations: Conversations) -> None:
        self._loading, self._conversations = loading, conversations

    async def call(
        self, name: str, arguments: Mapping[str, Any], conversation: str, progress: Progress
    ) -> CallToolResult:
        """The result of one verb; what is wrong is told in it."""
        try:
            reply = await self._reply(name, arguments, conversation, progress)
        except ProvenanceGuardError as error:
            return _result(str(error), None)
        except Exception as error:
            return _result(f"the service failed: {log_crash(error)}", None)
        document = reply.model_dump(mode="json")
        return _result(json.dumps(document, ensure_ascii=False), document)

    async def _reply(
        self, name: str, arguments: Mapping[str, Any], conversation: str, progress: Progress
    ) -> BaseModel:
        wanted = asked(_KINDS[name][0], arguments)

        async def told(step: Step) -> None:
            await progress(STEPS[step], STEPS[Step.DONE], step.value)

        verbs = await asyncio.shield(self._loading)
        if isinstance(wanted, ExplainAsked):
            return verbs.explain_kept(wanted.verdict_id, wanted.claim_id)
        assert isinstance(wanted, AnswerAsked)
        trace = await asyncio.to_thread(
            self._conversations.trace, conversation, wanted.answer, wanted.question
        )
        if not isinstance(wanted, VerifyAsked):
            return await verbs.audit_trace(trace)
        reply = await verbs.verify_trace(trace, wanted.repair, told)
        if wanted.forget:
            self._conversations.forget(conversation)
        return reply


def _result(text: str, structured: dict[str, Any] | None) -> CallToolResult:
    fields: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if structured is None:
        return CallToolResult.model_validate(fields | {"isError": True})
    return CallToolResult.model_validate(fields | {"structuredContent": structured})
