"""Counters for Prometheus: numbers and closed choices, never a word of an answer, source or name."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from core.records import Verification
from core.workflows.batching import Batch

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
TRACES = (1, 2, 3, 4, 6, 8)


class Metrics:
    """What one service has done since it started."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        named = {"registry": self._registry, "namespace": "provenanceguard"}
        self._requests = Counter("requests", "Requests answered", ["verb", "status"], **named)
        self._seconds = Histogram(
            "request_seconds", "Request to reply", ["verb"], buckets=SECONDS, **named
        )
        self._answers = Counter("answers", "Answers verified", ["decision"], **named)
        self._claims = Counter("claims", "Claims judged", ["verdict"], **named)
        self._batch = Histogram("batch_traces", "Traces in one batch", buckets=TRACES, **named)
        self._batch_seconds = Histogram(
            "batch_seconds", "Time to judge one batch", buckets=SECONDS, **named
        )
        self._waited = Histogram(
            "waited_seconds", "Wait of the first of a batch", buckets=SECONDS, **named
        )
        self._waiting = Gauge("waiting", "Answers that wait or are being judged", **named)

    def answered(self, verb: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(verb, str(status)).inc()
        self._seconds.labels(verb).observe(seconds)

    def judged(self, verification: Verification) -> None:
        """Count one verdict."""
        self._answers.labels(verification.answer.decision.value).inc()
        for claim in verification.claims:
            self._claims.labels(claim.verdict.value if claim.verdict else "set_aside").inc()

    def batch(self, batch: Batch) -> None:
        """Count one pass over the models."""
        self._batch.observe(batch.traces)
        self._batch_seconds.observe(batch.seconds)
        self._waited.observe(batch.waited_seconds)

    def watch_waiting(self, waiting: Callable[[], float]) -> None:
        """Read from then on how many wait when asked."""
        self._waiting.set_function(waiting)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)
