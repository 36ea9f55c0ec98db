"""Jobs: traces that wait for workers, and the rules of trying again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

ATTEMPTS = 3  # a trace that fails as often is given up
FIRST_BACKOFF_SECONDS = 10
LEASE_SECONDS = 60.0
JOBS_AT_ONCE = 8  # one batch over the models


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A trace version in a worker's hand; ``attempts`` counts this one."""

    position: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How the queue stands; ``workers`` have something in hand now."""

    waiting: int
    taken: int
    done: int
    given_up: int
    workers: int

    @property
    def open(self) -> int:
        """How many are still to be judged."""
        return self.waiting + self.taken


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A job that failed, and why; ``next_at`` None means that nobody tries it again by itself."""

    position: int
    trace_id: str
    attempts: int
    reason: str
    next_at: datetime | None


def backoff(attempts: int) -> timedelta:
    """How long a job waits that has failed so often: 10 s, 20 s, 40 s …"""
    return timedelta(seconds=FIRST_BACKOFF_SECONDS * 2 ** (attempts - 1))
