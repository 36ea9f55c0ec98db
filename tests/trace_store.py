"""A server over HTTP that lists recorded records and keeps marks as Langfuse, LangSmith and Phoenix do."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from langfuse.api.core.serialization import convert_and_respect_annotation_metadata as convert
from langfuse.api.scores.types.create_score_request import CreateScoreRequest
from langsmith.schemas import FeedbackCreate

FIXTURES = Path(__file__).parent / "core/capture/formats/fixtures"
SECRET = "sk-7c1f-never-shown"
PROJECT = "0b6d3ce4-3a52-4a9c-8a10-0c1c6d0f7a11"
STORES = ("langfuse", "langsmith", "phoenix")
AT_ONCE = 2  # records a page
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
NOW = "2026-11-29T12:00:00.000Z"
MARKS = (
    "/api/public/v3/scores", "/api/public/scores", "/feedback", "/v1/trace_annotations",
    "/v1/projects/the%20clinic/trace_annotations",
)  # fmt: skip
# TraceAnnotationData of Phoenix's OpenAPI document.
PHOENIX_FIELDS = {"trace_id", "name", "annotator_kind", "result", "metadata", "identifier"}


def recorded(store: str) -> list[dict[str, Any]]:
    """The records of one trace as the store's API sends them, the newest first."""
    if store == "langfuse":
        found = json.loads((FIXTURES / "langfuse/observations.json").read_text("utf-8"))["data"]
    elif store == "langsmith":
        text = (FIXTURES / "langsmith/langchain_runs.jsonl").read_text("utf-8")
        found = [json.loads(line) for line in text.splitlines()]
    else:
        text = (FIXTURES / "openinference/flat.jsonl").read_text("utf-8")
        found = [as_phoenix(n, json.loads(line)) for n, line in enumerate(text.splitlines())]
    began = "startTime" if store == "langfuse" else "start_time"
    return sorted(found, key=lambda record: str(record[began]), reverse=True)


def as_phoenix(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """A row of Phoenix's data frame as its REST API sends the span: the kind beside the attributes."""
    attributes = {k.removeprefix("attributes."): v for k, v in row.items() if "attributes." in k}
    return {
        "id": base64.b64encode(f"Span:{number}".encode()).decode(),
        "name": row["name"],
        "context": {"trace_id": row["context.trace_id"], "span_id": row["context.span_id"]},
        "span_kind": attributes.pop("openinference.span.kind"),
        "parent_id": row["parent_id"],
        "start_time": row["start_time"],
        "end_time": row["start_time"],
        "status_code": row["status_code"],
        "status_message": "",
        "attributes": attributes,
        "events": row.get("events", []),
    }


class Served:
    """One store behind HTTP: what it lists, what it was asked, and what it answers instead."""

    def __init__(self, store: str, port: int) -> None:
        self.store, self.records = store, recorded(store)
        self.asked: list[dict[str, Any]] = []
        self.instead: list[tuple[int, dict[str, str], bytes] | None] = []
        self.marks: dict[tuple[str, ...], dict[str, Any]] = {}
        self.writes: list[Any] = []
        url = f"http://127.0.0.1:{port}"
        self.environment = {
            "langfuse": {
                "LANGFUSE_BASE_URL": url,
                "LANGFUSE_PUBLIC_KEY": "pk-1",
                "LANGFUSE_SECRET_KEY": SECRET,
            },
            "langsmith": {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": SECRET},
            "phoenix": {"PHOENIX_COLLECTOR_ENDPOINT": url, "PHOENIX_API_KEY": SECRET},
        }[store]

    def allowed(self, headers: Any) -> bool:
        basic = "Basic " + base64.b64encode(f"pk-1:{SECRET}".encode()).decode()
        given = {"langsmith": headers["x-api-key"]}.get(self.store, headers["Authorization"])
        return bool(
            given == {"langfuse": basic, "langsmith": SECRET}.get(self.store, f"Bearer {SECRET}")
        )

    def answer(self, path: str, query: dict[str, str], body: dict[str, Any]) -> object:
        """What the store says: its projects, or a page of its records."""
        if path == "/api/public/projects":
            return {"data": [{"id": "p-1", "name": "clinic"}]}
        if path == "/sessions":
            named = query.get("name") == "clinic" or query.get("id") == PROJECT
            return [{"id": PROJECT, "name": "clinic"}] if named else []
        asked = {**query, **body}
        self.asked.append(asked)
        until, began = asked.get("toStartTime"), "start_time"
        if self.store == "langfuse":
            began = "startTime"
            assert path == "/api/public/v2/observations" and "io" in asked["fields"]
        elif self.store == "langsmith":
            assert path == "/runs/query" and asked["session"] == [PROJECT]
            until = asked.get("filter", "").removeprefix('lte(start_time, "').removesuffix('")')
        else:
            assert path == "/v1/projects/the%20clinic/spans"
        upper = until[:19] if until else "9"
        listed = [record for record in self.records if record[began][:19] <= upper]
        ids = [one.get("id") for one in listed]
        first = ids.index(asked["cursor"]) if "cursor" in asked else 0
        page, rest = listed[first : first + AT_ONCE], listed[first + AT_ONCE :]
        following = rest[0]["id"] if rest else None
        return {
            "langfuse": {"data": page, "meta": {"cursor": following} if following else {}},
            "langsmith": {"runs": page, "cursors": {"next": following}},
            "phoenix": {"data": page, "next_cursor": following},
        }[self.store]

    def marked(
        self, method: str, path: str, query: dict[str, list[str]], body: Any
    ) -> tuple[int, object] | None:
        """What the store says when marks are listed or written; None for all else."""
        if path not in MARKS and not path.startswith("/feedback/"):
            return None
        if method != "GET":
            self.writes.append(body)
        return getattr(self, f"_{self.store}_marks")(method, path, query, body)

    def _langfuse_marks(
        self, method: str, path: str, query: dict[str, list[str]], body: Any
    ) -> tuple[int, object]:
        if path == "/api/public/v3/scores":
            wanted = query["id"][0].split(",")
            assert len(wanted) <= 100 and query["fields"] == ["details"]
            limit = int(query.get("limit", ["50"])[0])
            found = [mark for key, mark in self.marks.items() if key[0] in wanted]
            return 200, {"data": found[:limit], "meta": {"limit": limit}}
        for one in body:
            named = convert(object_=one, annotation=CreateScoreRequest, direction="read")
            asked = CreateScoreRequest.model_validate(named, extra="forbid")
            assert isinstance(asked.value, str) == (asked.data_type == "CATEGORICAL")
            old = self.marks.get((one["id"], one["timestamp"]), {})
            kept = {k: v for k, v in one.items() if k != "traceId"}
            self.marks[one["id"], one["timestamp"]] = {
                "projectId": "p-1", "source": "API", "environment": "default", "configId": None,
                "createdAt": NOW, **old, **kept, "updatedAt": NOW,
            }  # fmt: skip
        return 202, {"message": "Accepted"}

    def _langsmith_marks(
        self, method: str, path: str, query: dict[str, list[str]], body: Any
    ) -> tuple[int, object]:
        key = (path.removeprefix("/feedback/"),)
        if method == "GET":
            return (200, self.marks[key]) if key in self.marks else (404, {"detail": "not found"})
        if method == "PATCH":
            assert set(body) <= {"score", "value", "comment"}
            self.marks[key].update(body)
            return 200, self.marks[key]
        asked = FeedbackCreate.model_validate(body, extra="forbid")
        if body["trace_id"] not in {one["trace_id"] for one in self.records}:
            return 404, {"detail": "no such run"}
        assert str(asked.session_id) == PROJECT and (str(asked.id),) not in self.marks
        blank = dict.fromkeys(("score", "value", "correction"))
        self.marks[(str(asked.id),)] = blank | asked.model_dump(mode="json") | {"modified_at": NOW}
        return 200, {}

    def _phoenix_marks(
        self, method: str, path: str, query: dict[str, list[str]], body: Any
    ) -> tuple[int, object]:
        if method == "GET":
            listed = [
                {**mark, "result": {"label": None, "score": None, **mark["result"]}}
                for mark in self.marks.values()
                if mark["trace_id"] in query["trace_ids"]
                and mark["identifier"] in query["identifier"]
            ]
            return 200, {"data": listed, "next_cursor": None}
        assert query["sync"] == ["true"]
        for one in body["data"]:
            assert set(one) <= PHOENIX_FIELDS and one["annotator_kind"] in ("LLM", "CODE", "HUMAN")
            assert set(one["result"]) <= {"label", "score", "explanation"}
            if one["trace_id"] not in {each["context"]["trace_id"] for each in self.records}:
                return 404, f"Traces with IDs {one['trace_id']} do not exist."
        for one in body["data"]:
            self.marks[one["name"], one["trace_id"], one["identifier"]] = one
        return 200, {"data": [{"id": "VHJhY2VBbm5vdGF0aW9uOjE="} for _ in body["data"]]}


@contextmanager
def serving(name: str) -> Iterator[Served]:
    """The store, as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            parts = urlsplit(self.path)
            asked = json.loads(body or b"{}")
            many = parse_qs(parts.query)
            query = {name: values[-1] for name, values in many.items()}
            instead = store.instead.pop(0) if store.instead else None
            if not store.allowed(self.headers):
                instead = (401, {}, f"no such key: {dict(self.headers)}".encode())
            if instead is None:
                found = store.marked(self.command, parts.path, many, asked)
                code, value = found or (200, store.answer(parts.path, query, asked))
                instead = (code, {}, json.dumps(value).encode())
            status, headers, reply = instead
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(reply))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        do_POST = do_PATCH = do_GET

        def log_message(self, *_: object) -> None:
            """Says nothing of its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        store = Served(name, server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield store
        server.shutdown()
        thread.join()


each_store = pytest.mark.parametrize("served", STORES, indirect=True)
