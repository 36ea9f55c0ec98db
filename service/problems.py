"""What a caller is told when something is wrong; what the log is told says no word of a claim."""

from __future__ import annotations

import logging

from core.errors import ProvenanceGuardError, fault_words

log = logging.getLogger("provenanceguard.service")


class TooLate(ProvenanceGuardError):
    """No verdict within the time limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no verdict within {seconds:g} s")


class TooLarge(ProvenanceGuardError):
    """More was sent than is read."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"larger than {most_bytes:,} bytes")


class NotKept(ProvenanceGuardError):
    """The verdict or the claim that was asked for is not here (any more)."""


def log_crash(error: BaseException) -> str:
    """Log a plain bug by its kind and place, and say it: its message may quote a claim."""
    said = fault_words(error)
    log.error("a request failed: %s", said)
    return said
