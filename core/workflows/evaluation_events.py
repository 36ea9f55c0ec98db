"""Verdicts as OpenTelemetry GenAI evaluation events (``gen_ai.evaluation.result``), in OTLP's JSON.

One event an answer and one a judged claim, as log records; they stand beside the trace where that
has an OpenTelemetry id. What claims say is left out unless it is asked for: telemetry is read by
more people than answers are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection

from core.errors import ComponentUnavailable
from core.models.chat_client import http_address
from core.records import ClaimVerdict, Judged, Verification, answer_state, state_of

EVENT = "gen_ai.evaluation.result"
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.0"
ANSWER, CLAIM = "provenanceguard.answer", "provenanceguard.claim"
EVENTS_A_REQUEST = 500
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_SECONDS = 30.0


def evaluation_logs(
    verified: Iterable[Verification], now_nanoseconds: int, *, explained: bool = False
) -> Iterator[dict[str, object]]:
    """OTLP requests (ExportLogsServiceRequest as JSON), each with a bounded number of events."""
    pending: list[dict[str, object]] = []
    for verification in verified:
        pending += _events(verification, str(now_nanoseconds), explained)
        if len(pending) >= EVENTS_A_REQUEST:
            yield _request(pending)
            pending = []
    if pending:
        yield _request(pending)


def send_logs(endpoint: str, requests: Iterable[Mapping[str, object]]) -> int:
    """Post each request to ``<endpoint>/v1/logs``; how many went. No redirect is followed.

    Raises ConfigError for an address that is none, ComponentUnavailable when it is not taken.
    """
    address = http_address("--otlp-endpoint", endpoint)
    assert address.hostname is not None
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    path = address.path.rstrip("/")
    path = path if path.endswith("/v1/logs") else path + "/v1/logs"
    sent = 0
    connection = kind(address.hostname, address.port, timeout=_SECONDS)
    try:
        for request in requests:
            body = json.dumps(request, ensure_ascii=False).encode("utf-8")
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise ComponentUnavailable(f"{endpoint}: answered {response.status}")
            sent += 1
    except (OSError, HTTPException) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ComponentUnavailable(f"{endpoint}: {reason}") from None
    finally:
        connection.close()
    return sent


def _request(events: list[dict[str, object]]) -> dict[str, object]:
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes({"service.name": "provenanceguard"})},
                "scopeLogs": [
                    {
                        "scope": {"name": "provenanceguard"},
                        "schemaUrl": SCHEMA_URL,
                        "logRecords": events,
                    }
                ],
            }
        ]
    }


def _events(one: Verification, now: str, explained: bool) -> Iterator[dict[str, object]]:
    whole = {"gen_ai.evaluation.name": ANSWER}
    whole["gen_ai.evaluation.score.label"] = one.answer.decision.value
    whole["provenanceguard.state"] = answer_state(one).value
    if explained:
        whole["gen_ai.evaluation.explanation"] = "; ".join(one.answer.reasons)
    yield _event(one, whole, now)
    for claim in one.claims:
        if claim.verdict is not None:
            yield _event(one, _claim(claim, explained), now)


def _claim(claim: ClaimVerdict, explained: bool) -> dict[str, object]:
    found: dict[str, object] = {
        "gen_ai.evaluation.name": CLAIM,
        "gen_ai.evaluation.score.label": str(claim.verdict),
        "provenanceguard.claim.id": claim.claim.claim_id,
        "provenanceguard.state": state_of(claim).value,
        "provenanceguard.decision": claim.decision.value,
    }
    if isinstance(claim.outcome, Judged):
        found["gen_ai.evaluation.score.value"] = claim.outcome.support.probability
        found["provenanceguard.attribution"] = claim.outcome.attribution.status.value
        found["provenanceguard.source.id"] = claim.outcome.premise.source_id
    if explained:
        found["gen_ai.evaluation.explanation"] = "; ".join(claim.reasons)
    return found


def _event(one: Verification, told: Mapping[str, object], now: str) -> dict[str, object]:
    trace_id = one.trace.trace_id
    event: dict[str, object] = {
        "timeUnixNano": now,
        "observedTimeUnixNano": now,
        "severityNumber": 9,  # INFO
        "eventName": EVENT,
        "attributes": _attributes({**told, "gen_ai.response.id": trace_id}),
    }
    if _TRACE_ID.fullmatch(trace_id):
        event["traceId"] = trace_id
    return event


def _attributes(told: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"key": key, "value": _value(value)} for key, value in told.items()]


def _value(value: object) -> dict[str, object]:
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
