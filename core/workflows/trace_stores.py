"""The public REST APIs of trace stores: where they are, what they are asked, and what a page holds.

Endpoints, fields and variables as the official clients have them: Langfuse's observations v2 (langfuse
5.0), LangSmith's runs/query (langsmith 0.15), Phoenix's getSpans (its OpenAPI document).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

from core.capture.carried import CARRIED

PAGE = 100  # records a page: the most that every store gives
Place = tuple[str | int, ...]


class Asked(NamedTuple):
    """What is listed: from when, until when (None: now), and from which page on."""

    project: str
    since: str
    until: str | None
    cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """How a store is addressed, what it is asked, and where its records keep what is needed of them."""

    address: tuple[str, ...]  # variables, the first that is set
    default: str
    keys: tuple[str, ...]
    signed: Callable[[Mapping[str, str]], dict[str, Any]]  # for httpx.Client
    ask: Callable[[Asked], dict[str, Any]]  # for httpx.Client.build_request
    projects: Callable[[str], dict[str, Any]] | None = None
    needs_key: bool = True
    needs_project: bool = True  # else a key is that of one project
    items: Place = ("data",)
    cursor: Place
    trace: Place
    parent: str
    began: str
    ended: str
    continues_by_id: bool = False  # a record's id is the cursor of the page that begins with it


def _langfuse(asked: Asked) -> dict[str, Any]:
    params = {
        "fields": "core,basic,io,metadata",
        "expandMetadata": CARRIED,  # others are cut after 200 characters
        "limit": PAGE,
        "fromStartTime": asked.since,
        "toStartTime": asked.until,
        "cursor": asked.cursor,
    }
    return {"method": "GET", "url": "/api/public/v2/observations", "params": _given(params)}


def _langsmith(asked: Asked) -> dict[str, Any]:
    body = {
        "session": [asked.project],
        "start_time": asked.since,
        "filter": f'lte(start_time, "{asked.until}")' if asked.until else None,
        "select": [
            "id", "name", "run_type", "inputs", "outputs", "error", "extra", "status", "start_time",
            "end_time", "trace_id", "parent_run_id", "dotted_order", "session_id",
        ],
        "limit": PAGE,
        "cursor": asked.cursor,
    }  # fmt: skip
    return {"method": "POST", "url": "/runs/query", "json": _given(body)}


def _phoenix(asked: Asked) -> dict[str, Any]:
    params = {"limit": PAGE, "start_time": asked.since, "cursor": asked.cursor}
    project = quote(asked.project, safe="")
    return {"method": "GET", "url": f"/v1/projects/{project}/spans", "params": _given(params)}


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _bearer(environment: Mapping[str, str]) -> dict[str, Any]:
    key = environment.get("PHOENIX_API_KEY")
    return {"headers": {"Authorization": f"Bearer {key}"} if key else {}}


def _named(project: str) -> dict[str, str]:
    try:
        uuid.UUID(project)
    except ValueError:
        return {"name": project}
    return {"id": project}


STORES: Mapping[str, Store] = {
    "langfuse": Store(
        address=("LANGFUSE_BASE_URL", "LANGFUSE_HOST"),
        default="https://cloud.langfuse.com",
        keys=("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"),
        signed=lambda env: {"auth": (env["LANGFUSE_PUBLIC_KEY"], env["LANGFUSE_SECRET_KEY"])},
        ask=_langfuse,
        projects=lambda _: {"method": "GET", "url": "/api/public/projects"},
        needs_project=False,
        cursor=("meta", "cursor"),
        trace=("traceId",),
        parent="parentObservationId",
        began="startTime",
        ended="endTime",
    ),
    "langsmith": Store(
        address=("LANGSMITH_ENDPOINT",),
        default="https://api.smith.langchain.com",
        keys=("LANGSMITH_API_KEY",),
        signed=lambda env: {
            "headers": _given(
                {"x-api-key": env["LANGSMITH_API_KEY"], "X-Tenant-Id": env.get("LANGSMITH_WORKSPACE_ID")}
            )
        },
        ask=_langsmith,
        projects=lambda name: {"method": "GET", "url": "/sessions", "params": _named(name)},
        items=("runs",),
        cursor=("cursors", "next"),
        trace=("trace_id",),
        parent="parent_run_id",
        began="start_time",
        ended="end_time",
    ),
    "phoenix": Store(
        address=("PHOENIX_COLLECTOR_ENDPOINT",),
        default="http://localhost:6006",
        keys=("PHOENIX_API_KEY",),
        signed=_bearer,
        needs_key=False,
        ask=_phoenix,
        cursor=("next_cursor",),
        trace=("context", "trace_id"),
        parent="parent_id",
        began="start_time",
        ended="end_time",
        continues_by_id=True,
    ),
}  # fmt: skip
