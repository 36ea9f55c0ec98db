"""The public REST APIs of trace stores: where they are, what they are asked and told, what a page holds.

Endpoints, fields and variables as the official clients have them: Langfuse's observations v2 and
scores (langfuse 5.0), LangSmith's runs/query and feedback (langsmith 0.15), Phoenix's getSpans,
annotateTraces and listTraceAnnotationsByTraceIds (its OpenAPI document).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
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
class Mark:
    """What is told of a trace: a label or a number under a name, with a comment; ``id`` is a UUID."""

    id: str
    trace: str
    name: str
    value: str | float
    comment: str
    metadata: Mapping[str, object]
    at: str  # when it was made, ISO 8601: a store may need it to find a mark again


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """How marks are written: ``body`` of one, and the requests that list and write some of them.

    One that is there already is written again only where a field of ``compared`` differs.
    """

    at_once: int  # marks a request; all are of one trace, so that one which is not there is told
    listed: Callable[[str, Sequence[Mark]], dict[str, Any]]
    items: Place
    key: str  # the field that holds our id
    compared: tuple[str, ...]
    body: Callable[[Mark, str, Mapping[str, Any] | None], dict[str, Any]]
    written: Callable[
        [list[dict[str, Any]], bool], dict[str, Any]
    ]  # whether they are there already
    uuids: bool = False  # a trace whose id is none cannot be there


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """How a store is addressed, what it is asked, and where its records keep what is needed of them."""

    address: tuple[str, ...]  # variables, the first that is set
    default: str
    keys: tuple[str, ...]
    signed: Callable[[Mapping[str, str]], dict[str, Any]]  # for httpx.Client
    ask: Callable[[Asked], dict[str, Any]]  # for httpx.Client.build_request
    marking: Marking
    projects: Callable[[str], dict[str, Any]] | None = None
    needs_key: bool = True
    needs_project: bool = True  # else a key is that of one project
    items: Place = ("data",)
    cursor: Place
    trace: Place
    parent: str
    began: str = "start_time"
    ended: str = "end_time"
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


def _langfuse_score(mark: Mark, _: str, there: Mapping[str, Any] | None) -> dict[str, Any]:
    # A score is found again by its id and its time together.
    return {
        "id": mark.id,
        "traceId": mark.trace,
        "name": mark.name,
        "value": mark.value,
        "dataType": "CATEGORICAL" if isinstance(mark.value, str) else "NUMERIC",
        "comment": mark.comment,
        "metadata": mark.metadata,
        "timestamp": (there or {}).get("timestamp") or mark.at,
    }


def _langsmith_feedback(mark: Mark, project: str, _: Mapping[str, Any] | None) -> dict[str, Any]:
    told = "value" if isinstance(mark.value, str) else "score"
    return {
        "id": mark.id,
        "run_id": mark.trace,
        "trace_id": mark.trace,
        "key": mark.name,
        told: mark.value,
        "comment": mark.comment,
        "extra": mark.metadata,
        "feedback_source": {"type": "model", "metadata": {}},
        "session_id": project,
        "created_at": mark.at,
        "extend_trace_retention": False,  # traces that were to go are not kept for our word on them
    }


def _phoenix_annotation(mark: Mark, _: str, __: Mapping[str, Any] | None) -> dict[str, Any]:
    told = "label" if isinstance(mark.value, str) else "score"
    return {
        "trace_id": mark.trace,
        "name": mark.name,
        "identifier": mark.id,
        "annotator_kind": "CODE",
        "result": {told: mark.value, "explanation": mark.comment},
        "metadata": mark.metadata,
    }


def _langsmith_written(bodies: list[dict[str, Any]], there: bool) -> dict[str, Any]:
    (body,) = bodies
    if not there:
        return {"method": "POST", "url": "/feedback", "json": body}
    changed = {key: body.get(key) for key in ("score", "value", "comment")}
    return {"method": "PATCH", "url": f"/feedback/{body['id']}", "json": changed}


def _phoenix_listed(project: str, marks: Sequence[Mark]) -> dict[str, Any]:
    params = {
        "trace_ids": marks[0].trace,
        "identifier": [mark.id for mark in marks],
        "limit": 1_000,
    }
    url = f"/v1/projects/{quote(project, safe='')}/trace_annotations"
    return {"method": "GET", "url": url, "params": params}


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
        marking=Marking(
            at_once=PAGE,
            listed=lambda _, marks: {
                "method": "GET",
                "url": "/api/public/v3/scores",
                "params": {
                    "id": ",".join(mark.id for mark in marks), "fields": "details", "limit": PAGE,
                },
            },
            items=("data",),
            key="id",
            compared=("name", "value", "comment"),
            body=_langfuse_score,
            written=lambda bodies, _: {
                "method": "POST", "url": "/api/public/scores", "json": bodies
            },
        ),
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
        marking=Marking(
            at_once=1,
            listed=lambda _, marks: {"method": "GET", "url": f"/feedback/{marks[0].id}"},
            items=(),
            key="id",
            compared=("key", "score", "value", "comment"),
            body=_langsmith_feedback,
            written=_langsmith_written,
            uuids=True,
        ),
        projects=lambda name: {"method": "GET", "url": "/sessions", "params": _named(name)},
        items=("runs",),
        cursor=("cursors", "next"),
        trace=("trace_id",),
        parent="parent_run_id",
    ),
    "phoenix": Store(
        address=("PHOENIX_COLLECTOR_ENDPOINT",),
        default="http://localhost:6006",
        keys=("PHOENIX_API_KEY",),
        signed=_bearer,
        needs_key=False,
        ask=_phoenix,
        marking=Marking(
            at_once=PAGE,
            listed=_phoenix_listed,
            items=("data",),
            key="identifier",
            compared=("name", "result"),
            body=_phoenix_annotation,
            written=lambda bodies, _: {
                "method": "POST", "url": "/v1/trace_annotations", "params": {"sync": True},
                "json": {"data": bodies},
            },
        ),
        cursor=("next_cursor",),
        trace=("context", "trace_id"),
        parent="parent_id",
        continues_by_id=True,
    ),
}  # fmt: skip
