"""Counters for Prometheus: numbers and closed choices, never a word of an answer, source or name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from core.records import Judged, Verification, answer_state
from core.workflows.batching import Batch

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SERVICE = "provenanceguard"
SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
TRACES = (1, 2, 3, 4, 6, 8)


class Metrics:
    """What one service has done since it started."""

    def __init__(self) -> None:
        kept = self._registry = CollectorRegistry()
        self._requests = Counter(
            f"{SERVICE}_requests", "Requests answered", ["verb", "status"], registry=kept
        )
        self._seconds = Histogram(
            f"{SERVICE}_request_seconds",
            "Request to reply",
            ["verb"],
            buckets=SECONDS,
            registry=kept,
        )
        self._answers = Counter(
            f"{SERVICE}_answers", "Answers verified", ["decision"], registry=kept
        )
        self._states = Counter(
            f"{SERVICE}_answer_states", "Answers by state", ["state"], registry=kept
        )
        self._claims = Counter(f"{SERVICE}_claims", "Claims judged", ["verdict"], registry=kept)
        self._judge = Counter(
            f"{SERVICE}_judge_claims", "Claims a judge was asked about", ["outcome"], registry=kept
        )
        self._batch = Histogram(
            f"{SERVICE}_batch_traces", "Traces in one batch", buckets=TRACES, registry=kept
        )
        self._batch_seconds = Histogram(
            f"{SERVICE}_batch_seconds", "Time to judge one batch", buckets=SECONDS, registry=kept
        )
        self._waited = Histogram(
            f"{SERVICE}_waited_seconds", "First wait of a batch", buckets=SECONDS, registry=kept
        )
        self._waiting = Gauge(
            f"{SERVICE}_waiting", "Answers that wait or are being judged", registry=kept
        )

    def answered(self, verb: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(verb, str(status)).inc()
        self._seconds.labels(verb).observe(seconds)

    def judged(self, verification: Verification) -> None:
        """Count one verdict."""
        self._answers.labels(verification.answer.decision.value).inc()
        self._states.labels(answer_state(verification).value).inc()
        for claim in verification.claims:
            self._claims.labels(claim.verdict.value if claim.verdict else "set_aside").inc()
            if isinstance(claim.outcome, Judged) and claim.outcome.judge is not None:
                self._judge.labels(claim.outcome.judge.word).inc()

    def batch(self, batch: Batch) -> None:
        """Count one pass over the models."""
        self._batch.observe(batch.traces)
        self._batch_seconds.observe(batch.seconds)
        self._waited.observe(batch.waited_seconds)

    def watch_waiting(self, waiting: Callable[[], float]) -> None:
        """Read from then on how many wait when asked."""
        self._waiting.set_function(waiting)

    def watch_arrivals(
        self, states: Sequence[str], counts: Callable[[], Mapping[str, int]]
    ) -> None:
        """Read from then on what became of the traces whose spans came, when asked."""
        gauge = Gauge(
            f"{SERVICE}_arrived_traces", "Traces from spans", ["state"], registry=self._registry
        )
        for state in states:
            gauge.labels(state).set_function(partial(_count, counts, state))

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)


def _count(counts: Callable[[], Mapping[str, int]], state: str) -> float:
    return float(counts()[state])
