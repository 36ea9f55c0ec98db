"""A proxy between an MCP client and its servers: it keeps what passes and adds the verbs.

The agent gives its final answer alone: the evidence is what the servers said in this conversation,
as they said it. Everything else passes: tools, resources, prompts, progress, cancellation, and news
of changed lists. What a server would ask back (sampling, elicitation, roots) is not offered to it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    event_to_notification,
)
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    ReadResourceRequestParams,
    ReadResourceResult,
    Tool,
)
from pydantic import BaseModel

from core.capture.turns import CapturedCall
from core.capture.values import written
from core.errors import ProvenanceGuardError
from service.captured import Conversations, PassedLog, Room
from service.problems import log_crash
from service.proxy_verbs import OWN_TOOLS, OwnVerbs
from service.upstream import (
    Offered,
    ServerSettings,
    Upstream,
    all_pages,
    connected,
    offered_names,
    watch,
)
from service.verbs import Verbs

CONVERSATION = "provenanceguard/conversation"  # in a request's _meta; else the connection is one
INSTRUCTIONS = (
    "The outputs of these tools are kept. Before you give an answer that rests on them, call "
    "verify_answer with the answer; say only what is allowed."
)
T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


class Proxy:
    """What passes between one client and the servers behind, with what is kept of it."""

    def __init__(
        self, verbs: OwnVerbs, conversations: Conversations, log: PassedLog | None
    ) -> None:
        self._verbs, self._conversations, self._log = verbs, conversations, log
        self._upstreams: list[Upstream] = []
        self._tools: dict[str, Offered[Tool]] = {}
        self._prompts: dict[str, Offered[Prompt]] = {}
        self._resources: dict[str, Upstream] = {}
        self._news = InMemorySubscriptionBus()
        self._client: ServerSession | None = None

    async def run(self, servers: dict[str, ServerSettings]) -> None:
        """Serve on stdin and stdout until the client hangs up; raises ComponentUnavailable."""
        async with AsyncExitStack() as stack:
            for name, settings in servers.items():
                opened = connected(name, settings, self._changed)
                self._upstreams.append(await stack.enter_async_context(opened))
            watching = [asyncio.create_task(watch(each)) for each in self._upstreams]
            try:
                await self._serve()
            finally:
                for task in watching:
                    task.cancel()
                await asyncio.gather(*watching, return_exceptions=True)

    async def _serve(self) -> None:
        server: Server[Any] = Server(
            "provenanceguard-proxy",
            title="ProvenanceGuard",
            instructions="\n\n".join(
                [
                    INSTRUCTIONS,
                    *(u.client.instructions for u in self._upstreams if u.client.instructions),
                ]
            ),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self._news),
        )
        options = server.create_initialization_options(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        )
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, options)

    async def _changed(self, event: ServerEvent) -> None:
        match event:
            case PromptsListChanged():
                self._prompts = {}
            case ResourcesListChanged():
                self._resources = {}
            case _:
                self._tools = {}
        await self._news.publish(event)
        # Before 2026-07-28 a client is told without having asked.
        if self._client is not None and self._client.protocol_version < "2026":
            await self._client.send_notification(event_to_notification(event, {}))

    async def _list_tools(self, ctx: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        self._client = ctx.session
        await self._read_tools()
        passed = [one.own.model_copy(update={"name": name}) for name, one in self._tools.items()]
        return ListToolsResult(tools=[*passed, *OWN_TOOLS])

    async def _read_tools(self) -> None:
        found = await self._listed("tools")
        self._tools = offered_names(found, [tool.name for tool in OWN_TOOLS])

    async def _call_tool(self, ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        self._client = ctx.session
        conversation = str((params.meta or {}).get(CONVERSATION, ""))
        arguments = params.arguments or {}
        if params.name in self._verbs.names:
            # Of the servers' tools none has this name: it would stand behind its server's.
            return await self._verbs.call(
                params.name, arguments, conversation, ctx.session.report_progress
            )
        if params.name not in self._tools:
            await self._read_tools()
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"no server has a tool {params.name!r}")
        asked = {"name": tool.own_name, "arguments": arguments}

        async def call() -> CallToolResult:
            return await tool.upstream.client.call_tool(
                tool.own_name, arguments, progress_callback=ctx.session.report_progress
            )

        return await self._passed(
            ctx, conversation, tool.upstream, "tools/call", asked, tool.own_name, arguments, call
        )

    async def _read_resource(
        self, ctx: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        conversation = str((params.meta or {}).get(CONVERSATION, ""))
        upstream = await self._holder(ctx, uri)
        return await self._passed(
            ctx, conversation, upstream, "resources/read", {"uri": uri}, "resources/read", uri,
            partial(upstream.client.read_resource, uri),
        )  # fmt: skip

    async def _holder(self, ctx: Context, uri: str) -> Upstream:
        """The server that has a resource: the one that lists it, else the first that can read it."""
        if uri not in self._resources:
            await self._list_resources(ctx, None)
        holders = [self._resources[uri]] if uri in self._resources else self._having("resources")
        if not holders:
            raise MCPError(INVALID_PARAMS, "no server has resources")
        for upstream in holders[:-1]:
            try:
                await upstream.client.read_resource(uri)
            except MCPError:
                continue
            return upstream
        return holders[-1]

    async def _passed(
        self, ctx: Context, conversation: str, upstream: Upstream, method: str,
        asked: dict[str, Any], tool: str, arguments: object, call: Callable[[], Awaitable[T]],
    ) -> T:  # fmt: skip
        """What the server gives, kept before it is passed on; so are its errors."""
        call_id = None if ctx.request_id is None else str(ctx.request_id)
        number = self._log.asked(upstream.name, method, asked) if self._log else 0

        def keep(output: dict[str, Any] | None, failed: bool, note: str | None = None) -> None:
            text = None if output is None else written(_content(method, output))
            self._conversations.keep(
                conversation,
                CapturedCall(
                    tool=tool, server=upstream.name, call_id=call_id, failed=failed, note=note,
                    arguments=written(arguments), output=text,
                ),
            )  # fmt: skip

        try:
            result = await call()
        except MCPError as error:
            told = error.error.model_dump(mode="json", exclude_none=True)
            keep(told, True, "JSON-RPC error")
            if self._log:
                self._log.answered(upstream.name, number, {"error": told})
            raise
        except Exception as error:
            # The server is gone, or said what is no result: what it said is not repeated.
            keep(None, True, "no usable result came")
            raise MCPError(INTERNAL_ERROR, f"{upstream.name}: {log_crash(error)}") from None
        assert isinstance(result, BaseModel)
        found = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        keep(found, bool(found.get("isError")))
        if self._log:
            self._log.answered(upstream.name, number, {"result": found})
        return result

    async def _list_resources(
        self, ctx: Context, _: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        self._client = ctx.session
        found = await self._listed("resources")
        # An address is one resource, whoever has it: the first server is asked.
        self._resources = {str(resource.uri): upstream for upstream, resource in reversed(found)}
        return ListResourcesResult(
            resources=[one for upstream, one in found if self._resources[str(one.uri)] is upstream]
        )

    async def _list_templates(
        self, ctx: Context, _: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        found = await self._listed("resource_templates", "resources")
        return ListResourceTemplatesResult(resource_templates=[one for _, one in found])

    async def _list_prompts(
        self, ctx: Context, _: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        self._client = ctx.session
        self._prompts = offered_names(await self._listed("prompts"))
        passed = [one.own.model_copy(update={"name": name}) for name, one in self._prompts.items()]
        return ListPromptsResult(prompts=passed)

    async def _get_prompt(self, ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name not in self._prompts:
            await self._list_prompts(ctx, None)
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"no server has a prompt {params.name!r}")
        return await prompt.upstream.client.get_prompt(prompt.own_name, params.arguments)

    def _having(self, what: str) -> list[Upstream]:
        return [
            u for u in self._upstreams if getattr(u.client.server_capabilities, what) is not None
        ]

    async def _listed(self, what: str, of: str | None = None) -> list[tuple[Upstream, Any]]:
        """What each server lists; nothing of one that is gone, so that the others go on."""
        found: list[tuple[Upstream, Any]] = []
        for upstream in self._having(of or what):
            try:
                found += [(upstream, one) for one in await all_pages(upstream.client, what)]
            except ProvenanceGuardError:
                raise
            except Exception as error:
                log_crash(error)
        return found


def _content(method: str, result: dict[str, Any]) -> dict[str, Any]:
    """A resource that was read, in the form of a tool's result."""
    if method != "resources/read" or "contents" not in result:
        return result
    return {"content": [{"type": "resource", "resource": one} for one in result["contents"]]}


async def serve_proxy(
    servers: dict[str, ServerSettings], load: Callable[[], Verbs], room: Room, log: Path | None
) -> None:
    """The proxy on stdin and stdout, until the client hangs up; raises ComponentUnavailable.

    The servers are started first, so that a client need not wait for the models that ``load`` loads.
    """
    loading = asyncio.ensure_future(asyncio.to_thread(load))
    # Whoever asks first is told what is missing; until then nobody waits for it.
    loading.add_done_callback(lambda done: done.cancelled() or done.exception())
    conversations = Conversations(room)
    with contextlib.ExitStack() as stack:
        passed = stack.enter_context(contextlib.closing(PassedLog(log))) if log else None
        try:
            await Proxy(OwnVerbs(loading, conversations), conversations, passed).run(servers)
        finally:
            with contextlib.suppress(Exception):
                (await loading).verifier.close()
