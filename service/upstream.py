"""The MCP servers behind the proxy: how they are started, and under which names they are offered."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import IncomingMessage, MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.errors import ComponentUnavailable, ConfigError, first_problem

BETWEEN = "__"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*")
_MOST_PAGES = 100
T = TypeVar("T")


class ServerSettings(BaseModel):
    """One server as clients describe it: a command to start, or the address of a running one."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_kind(self) -> ServerSettings:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url")
        return self


def read_settings(path: Path) -> dict[str, ServerSettings]:
    """The servers of a client's settings file (``{"mcpServers": {NAME: …}}``); raises ConfigError."""
    try:
        servers = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
        found = {name: ServerSettings.model_validate(value) for name, value in servers.items()}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        place, why = first_problem(error)
        raise ConfigError(f"{path}: mcpServers: {place + ': ' if place else ''}{why}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f'{path}: expected JSON with {{"mcpServers": {{NAME: ...}}}}') from None
    if not found:
        raise ConfigError(f"{path}: mcpServers: expected a server, found none")
    for name in found:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{path}: mcpServers: {name!r}: expected letters, digits, '.', '-' and single '_'"
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A running server and our connection to it."""

    name: str
    client: Client


Changed = Callable[[ServerEvent], Awaitable[None]]
_EVENTS: dict[type, ServerEvent] = {
    ToolListChangedNotification: ToolsListChanged(),
    PromptListChangedNotification: PromptsListChanged(),
    ResourceListChangedNotification: ResourcesListChanged(),
}


@asynccontextmanager
async def connected(
    name: str, settings: ServerSettings, changed: Changed
) -> AsyncIterator[Upstream]:
    """The server, started or reached; ``changed`` is told when what it offers changes.

    Raises ComponentUnavailable when it cannot be had.
    """

    async def message_handler(message: IncomingMessage) -> None:
        event = _EVENTS.get(type(message))
        if event is not None:
            await changed(event)

    try:
        client = await _opened(settings, message_handler).__aenter__()
    except Exception as error:
        raise ComponentUnavailable(f"{name}: the server cannot be had: {_reason(error)}") from None
    try:
        yield Upstream(name=name, client=client)
    finally:
        await client.__aexit__(*sys.exc_info())


async def watch(upstream: Upstream) -> None:
    """Ask for news of changes, where a server sends them to those alone who ask (2026-07-28)."""
    offered = upstream.client.server_capabilities
    tools = bool(offered.tools and offered.tools.list_changed)
    prompts = bool(offered.prompts and offered.prompts.list_changed)
    resources = bool(offered.resources and offered.resources.list_changed)
    if upstream.client.protocol_version < "2026" or not (tools or prompts or resources):
        return
    async with upstream.client.listen(
        tools_list_changed=tools, prompts_list_changed=prompts, resources_list_changed=resources
    ) as events:
        async for _ in events:  # the handler of the connection was told
            pass


def _opened(settings: ServerSettings, heard: MessageHandlerFnT) -> Client:
    if settings.command is not None:
        started = StdioServerParameters(
            command=settings.command, args=settings.args, env=settings.env, cwd=settings.cwd
        )
        return Client(started, message_handler=heard, cache=None)
    # A server of one's own network, not the proxy of an environment variable.
    http = httpx2.AsyncClient(headers=settings.headers, timeout=300, trust_env=False)
    transport = streamable_http_client(str(settings.url), http_client=http)
    return Client(transport, message_handler=heard, cache=None)


def _reason(error: BaseException) -> str:
    """What went wrong, without what a server may have said of a patient."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return (
        "it did not answer as an MCP server"
        if isinstance(error, MCPError)
        else type(error).__name__
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered(Generic[T]):
    """Something of one server under the name that clients know it by."""

    name: str
    upstream: Upstream
    own: T
    own_name: str


def offered_names(
    own: Sequence[tuple[Upstream, Any]], taken: Iterable[str] = ()
) -> dict[str, Offered[Any]]:
    """What servers offer, by name: ``server__name`` for what several have, or what we call our own."""
    names = [one.name for _, one in own]
    # A name with a server before it may be that of another server's tool: then that one is told apart too.
    for _ in own:
        count = Counter([*names, *taken])
        told = [
            f"{upstream.name}{BETWEEN}{one.name}" if count[name] > 1 else name
            for name, (upstream, one) in zip(names, own, strict=True)
        ]
        if told == names:
            break
        names = told
    return {
        name: Offered(name=name, upstream=upstream, own=one, own_name=one.name)
        for name, (upstream, one) in zip(names, own, strict=True)
    }


async def all_pages(client: Client, what: str) -> list[Any]:
    """All tools, prompts, resources or resource_templates that a server lists, page by page."""
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await getattr(client, f"list_{what}")(cursor=cursor)
        found.extend(getattr(page, what))
        cursor = page.next_cursor
        if cursor is None:
            break
    return found


def one_server(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, ServerSettings]:
    """The server that a command line starts, with this process's environment."""
    settings = ServerSettings(command=command[0], args=list(command[1:]), env=dict(environment))
    return {"server": settings}
