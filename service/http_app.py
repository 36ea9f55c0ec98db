"""The verbs as an HTTP API; its OpenAPI document stands at /openapi.json."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from core.errors import Busy, ComponentUnavailable, InputError, ProvenanceGuardError, json_path
from core.models.latest import Latest
from service.arrivals import Arrivals
from service.metrics import CONTENT_TYPE, Metrics
from service.otlp import JSON, PATH, PROTOBUF, SpanFile
from service.problems import NotKept, TooLarge, TooLate, log_crash
from service.replies import CitationsReply, ExplainReply, VerifyReply
from service.requests import Asked, ExplainAsked, VerifyAsked, asked, body_value
from service.verbs import Verbs

KEYS_KEPT = 1_024
KEY_BYTES_KEPT = 32 * 1024 * 1024  # of replies
Described = dict[int | str, dict[str, Any]]
PROBLEM = "application/problem+json"
IdempotencyKey = Annotated[
    str | None,
    Header(
        max_length=200,
        pattern="^[!-~]+$",
        description="The same key with the same body gives the first reply again.",
    ),
]


class Problem(BaseModel):
    """What was wrong (RFC 9457); ``path`` is the JSON path of bad input."""

    title: str
    status: int
    detail: str
    path: str | None = None


class KeyReused(ProvenanceGuardError):
    """An idempotency key came again with another body."""


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    body_sha256: str
    work: asyncio.Future[BaseModel]


class Replies:
    """Replies by idempotency key: the same request is judged once, also while it is under way.

    In memory alone, within a number and within bytes: a verb changes nothing, and the same body has
    the same verdict, so that a key that is forgotten costs time and gives no other reply.
    """

    def __init__(self, most: int = KEYS_KEPT, most_bytes: int = KEY_BYTES_KEPT) -> None:
        self._kept = Latest[str, _Kept](most, most_bytes)

    async def once(
        self, key: tuple[str, str, str], body: bytes, work: Callable[[], Awaitable[BaseModel]]
    ) -> BaseModel:
        """The reply to that key; raises KeyReused for another body."""
        digest = hashlib.sha256(body).hexdigest()
        # Of the token that is part of the key, a digest.
        name = hashlib.sha256("\x1f".join(key).encode("utf-8", "replace")).hexdigest()
        kept = self._kept.get(name)
        if kept is None:
            kept = _Kept(digest, asyncio.ensure_future(work()))
            self._kept.put(name, kept, 0)
            kept.work.add_done_callback(partial(self._weigh, name, kept))
        elif kept.body_sha256 != digest:
            raise KeyReused("Idempotency-Key: it came with another body before")
        try:
            return await asyncio.shield(kept.work)
        except ProvenanceGuardError:
            self._kept.drop(name, kept)  # what failed may be tried again
            raise

    def _weigh(self, name: str, kept: _Kept, done: asyncio.Future[BaseModel]) -> None:
        """Count the bytes of a reply once it is there, whether or not its caller still waits."""
        if not done.cancelled() and done.exception() is None:
            self._kept.put(name, kept, len(done.result().model_dump_json()))


_PROBLEMS: dict[int, str] = {
    400: "The body cannot be used; `path` says where",
    401: "No token, or an unknown one",
    403: "The token is for something else",
    404: "The verdict or the claim is not here",
    405: "Another method is needed",
    408: "The body did not come in time",
    413: "Larger than is read",
    415: "The body is not application/json",
    422: "The idempotency key came with another body, or a header cannot be used",
    429: "As much waits as may wait; see Retry-After",
    500: "The service failed",
    503: "No verdict within the time limit, or a component is not there",
}


_VERBS: tuple[tuple[str, type[Asked], type[BaseModel], str], ...] = (
    ("verify_answer", VerifyAsked, VerifyReply, "The verdict on an answer"),
    ("audit_citations", Asked, CitationsReply, "Where everything that it cites leads"),
    ("explain_claim", ExplainAsked, ExplainReply, "Why a claim got its verdict"),
)


def http_app(verbs: Verbs, metrics: Metrics, spans: SpanFile | Arrivals | None = None) -> FastAPI:
    """The API on these verbs; put a Guard before it. ``spans``: where spans that come are kept."""
    # The pages with documentation load scripts from elsewhere: the document itself is published.
    app = FastAPI(
        title="ProvenanceGuard", version="1", docs_url=None, redoc_url=None,
        description="Does each claim of an answer rest on the source it credits?",
    )  # fmt: skip
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    replies = Replies()

    def publish(verb: str, kind: type[Asked], reply: type[BaseModel], summary: str) -> None:
        work: Callable[[Any], Awaitable[BaseModel]] = getattr(verbs, verb)

        async def endpoint(request: Request, idempotency_key: IdempotencyKey = None) -> Response:
            started, status = time.monotonic(), 500
            try:
                response = await answered(request, idempotency_key)
                status = response.status_code
                return response
            finally:
                metrics.answered(verb, status, time.monotonic() - started)

        async def answered(request: Request, key: str | None) -> Response:
            try:
                body = await _body(request, verbs.limits.most_bytes)
                wanted = asked(kind, body_value(body))
                if key is None:
                    found = await _unless_gone(request, work(wanted))
                else:
                    who = request.headers.get("authorization", "")
                    found = await replies.once((who, verb, key), body, lambda: work(wanted))
            except ProvenanceGuardError as error:
                return problem_of(error)
            except HTTPException as error:
                return problem(error.status_code, str(error.detail))
            except Exception as error:
                return problem(500, log_crash(error))
            return Response(found.model_dump_json(), media_type="application/json")

        body = {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}
        app.add_api_route(
            f"/v1/{verb}", endpoint, methods=["POST"], response_model=None, summary=summary,
            operation_id=verb,
            responses={200: {"model": reply}, **_described(*_PROBLEMS)},
            openapi_extra={"requestBody": {"required": True, "content": body},
                           "security": [{"bearer": []}]},
        )  # fmt: skip

    for one in _VERBS:
        publish(*one)
    _watching(app, verbs, metrics)
    if spans is not None:
        _receiving(app, spans, verbs.limits.most_bytes)
    return app


def _receiving(app: FastAPI, spans: SpanFile | Arrivals, most_bytes: int) -> None:
    """OTLP's endpoint, which OpenTelemetry describes and our document does not."""

    @app.post(PATH, include_in_schema=False)
    async def traces(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        encoding = request.headers.get("content-encoding", "")
        if encoding not in ("", "identity", "gzip"):
            return problem(415, "expected gzip, or no encoding")
        try:
            body = await _body(request, most_bytes, (JSON, PROTOBUF))
            await asyncio.to_thread(spans.keep, body, kind, encoding, most_bytes)
        except ProvenanceGuardError as error:
            return problem_of(error)
        return Response(b"{}" if kind == JSON else b"", media_type=kind)


def _watching(app: FastAPI, verbs: Verbs, metrics: Metrics) -> None:
    """Health, readiness, metrics, and how errors of the framework are told."""

    @app.get("/healthz", summary="The process answers", response_model=dict[str, str])
    async def healthz() -> Any:
        return {"status": "ok"}

    @app.get("/readyz", summary="It takes answers", response_model=dict[str, str],
             responses=_described(503))  # fmt: skip
    async def readyz() -> Any:
        return {"status": "ok"} if verbs.verifier.running else problem(503, "stopping")

    @app.get("/metrics", summary="Counters for Prometheus",
             openapi_extra={"security": [{"bearer": []}]},
             response_class=Response,
             responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
                        **_described(401)})  # fmt: skip
    async def metrics_text() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @app.exception_handler(RequestValidationError)
    async def bad_header(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return problem(422, str(first["msg"]), json_path(first["loc"]))

    @app.exception_handler(HTTPException)
    async def framework(request: Request, error: HTTPException) -> Response:
        response = problem(error.status_code, str(error.detail))
        response.headers.update(error.headers or {})
        return response


async def _body(request: Request, most_bytes: int, kinds: Sequence[str] = (JSON,)) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip() not in kinds:
        raise HTTPException(415, f"expected {' or '.join(kinds)}")
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > most_bytes:
                raise TooLarge(most_bytes)
    except ClientDisconnect:
        raise HTTPException(408, "the body did not come whole, or not in time") from None
    return bytes(body)


async def _unless_gone(request: Request, work: Awaitable[BaseModel]) -> BaseModel:
    """The reply; when the caller hangs up before, the work is cancelled."""
    working = asyncio.ensure_future(work)

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await working
            raise HTTPException(499, "the caller hung up")
        return working.result()
    finally:
        leaving.cancel()


# The first that an error is one of says its status.
_STATUSES: dict[type[ProvenanceGuardError], int] = {
    TooLarge: 413, NotKept: 404, KeyReused: 422, Busy: 429, TooLate: 503, ComponentUnavailable: 503,
}  # fmt: skip


def problem_of(error: ProvenanceGuardError) -> Response:
    """What a caller is told of one of our own errors."""
    if isinstance(error, InputError):
        return problem(400, error.message, error.path)
    for kind, status in _STATUSES.items():
        if isinstance(error, kind):
            response = problem(status, str(error))
            if status in (429, 503):
                response.headers["Retry-After"] = str(getattr(error, "retry_seconds", 1))
            return response
    return problem(500, log_crash(error))


def problem(status: int, detail: str, path: str | None = None) -> Response:
    """One problem document."""
    title = _PROBLEMS.get(status, "Error").partition(";")[0]
    found = Problem(title=title, status=status, detail=detail, path=path)
    return JSONResponse(found.model_dump(exclude_none=True), status, media_type=PROBLEM)


def _described(*statuses: int) -> Described:
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {
        status: {"description": _PROBLEMS[status], "content": {PROBLEM: schema}}
        for status in statuses
    }


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document with the models of the bodies, which it does not read itself."""
    if app.openapi_schema is None:
        document = FastAPI.openapi(app)
        components = document.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        schemas.pop("HTTPValidationError", None)
        schemas.pop("ValidationError", None)
        for kind in (VerifyAsked, Asked, ExplainAsked, Problem):
            schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[kind.__name__] = schema
        components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        app.openapi_schema = document
    return app.openapi_schema
