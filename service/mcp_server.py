"""The verbs as tools of an MCP server, over stdio and streamable HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from core.errors import ProvenanceGuardError
from service.problems import log_crash
from service.replies import CitationsReply, ExplainReply, VerifyReply
from service.requests import Asked, ExplainAsked, ToolOutput, VerifyAsked, asked

if TYPE_CHECKING:  # a client is told the tools before what judges is loaded
    from core.workflows.batching import Step
    from service.verbs import Told, Verbs

INSTRUCTIONS = (
    "Before you give an answer that rests on tool outputs, call verify_answer with the answer and "
    "every raw tool output behind it, unchanged. Say only what is allowed; explain_claim tells why "
    "a claim is blocked."
)
STAYS = "Nothing that is sent here leaves this machine."
ASKED = "A language model is asked about claims too: {judge}."
READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
STEPS = {"waiting": 0.0, "judging": 1.0, "repairing": 2.0, "done": 3.0}

Trace = Annotated[
    dict[str, Any] | list[Any] | str | None,
    Field(
        description="One captured run in any format that is read: native record, chat, Responses, "
        "Anthropic, MCP log, OpenTelemetry, OpenInference, LangSmith, Langfuse, Inspect AI; as JSON "
        "or as the text of a JSON (Lines) file. Else give answer and tool_outputs."
    ),
]
Answer = Annotated[str | None, Field(description="The final answer, with tool_outputs.")]
Outputs = Annotated[
    list[ToolOutput] | None, Field(description="Every raw tool output behind the answer.")
]
T = TypeVar("T")


def mcp_server(verbs: Callable[[], Awaitable[Verbs]], judge: str | None) -> MCPServer[Any]:
    """The server with its three tools; output schemas are published with them.

    A call waits for ``verbs``; a client is told who the ``judge`` is, if there is one.
    """
    where = STAYS if judge is None else ASKED.format(judge=judge)
    server: MCPServer[Any] = MCPServer(
        "provenanceguard",
        title="ProvenanceGuard",
        instructions=f"{INSTRUCTIONS} {where}",
        version=_version(),
        log_level="ERROR",  # below it, the library logs what callers sent
    )

    @server.tool(title="Verify an answer", annotations=READ_ONLY)
    async def verify_answer(
        context: Context[Any, Any],
        trace: Trace = None,
        answer: Answer = None,
        tool_outputs: Outputs = None,
        question: str = "",
        format: str = "auto",
        repair: bool = False,
    ) -> VerifyReply:
        """Is each claim supported, by which source, and is the right one credited? With reasons,
        places in answer and source, and with `repair` edits that a person decides."""
        request = _asked(VerifyAsked, trace, answer, tool_outputs, question, format, repair=repair)
        return await _told(verbs, lambda ready: ready.verify_answer(request, _telling(context)))

    @server.tool(title="Audit what an answer cites", annotations=READ_ONLY)
    async def audit_citations(
        trace: Trace = None,
        answer: Answer = None,
        tool_outputs: Outputs = None,
        question: str = "",
        format: str = "auto",
    ) -> CitationsReply:
        """Where everything that the answer cites leads, and whether that says it."""
        request = _asked(Asked, trace, answer, tool_outputs, question, format)
        return await _told(verbs, lambda ready: ready.audit_citations(request))

    @server.tool(title="Explain a claim's verdict", annotations=READ_ONLY)
    async def explain_claim(
        context: Context[Any, Any],
        claim_id: str,
        verdict_id: Annotated[
            str | None, Field(description="As verify_answer gave it; else give the answer again.")
        ] = None,
        trace: Trace = None,
        answer: Answer = None,
        tool_outputs: Outputs = None,
        question: str = "",
        format: str = "auto",
    ) -> ExplainReply:
        """Why one claim got its verdict: what was read, each check, the ranking of the sources."""
        request = _asked(
            ExplainAsked, trace, answer, tool_outputs, question, format,
            claim_id=claim_id, verdict_id=verdict_id,
        )  # fmt: skip
        return await _told(verbs, lambda ready: ready.explain_claim(request, _telling(context)))

    return server


A = TypeVar("A", bound=Asked)


def _asked(
    kind: type[A],
    trace: Any,
    answer: str | None,
    tool_outputs: list[ToolOutput] | None,
    question: str,
    format: str,
    **more: Any,
) -> A:
    outputs = None if tool_outputs is None else [one.model_dump() for one in tool_outputs]
    given = {"trace": trace, "answer": answer, "tool_outputs": outputs}
    try:
        return asked(kind, given | {"question": question, "format": format} | more)
    except ProvenanceGuardError as error:
        raise ToolError(str(error)) from None


def _telling(context: Context[Any, Any]) -> Told:
    async def tell(step: Step) -> None:
        await context.report_progress(STEPS[step], STEPS["done"], step.value)

    return tell


async def _told(verbs: Callable[[], Awaitable[Verbs]], work: Callable[[Verbs], Awaitable[T]]) -> T:
    """The reply; our own errors as they are, a plain bug by its kind and place alone."""
    try:
        return await work(await verbs())
    except ProvenanceGuardError as error:
        raise ToolError(str(error)) from None
    except Exception as error:
        raise ToolError(f"the service failed: {log_crash(error)}") from None


def _version() -> str:
    try:
        return version("provenanceguard-workbench")
    except PackageNotFoundError:
        return "0"
