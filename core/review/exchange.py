"""What a packet and a database give each other: evidence, signatures, and what an import kept."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime

from core.records import Trace, Verification

# 21 CFR 11.50: a signature says what it means.
MEANINGS = ("review", "approval", "responsibility", "authorship")


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSignature:
    """Who put their name under a packet, when and with which meaning.

    ``taken_back`` is set when the packet was unlocked since: the signature no longer stands. The
    ``signature`` covers all of it but that; without one the name proves nothing.
    """

    manifest_sha256: str
    signer: str
    at: datetime
    meaning: str
    taken_back: bool = False
    public_key: str | None = None  # Ed25519, in base64
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A trace with the verdict that its reviewers were shown, None where there is none."""

    trace: Trace
    verdict: Verification | None


@dataclass(slots=True, kw_only=True)
class ReviewsPut:
    """How many annotations and adjudications were new or already there, and what could not be kept."""

    votes: int = 0
    votes_known: int = 0
    adjudications: int = 0
    adjudications_known: int = 0
    people: int = 0
    splits: int = 0
    skipped: list[str] = field(default_factory=list)

    def add(self, other: ReviewsPut) -> None:
        """Count another batch with this one."""
        for field_ in fields(self):
            name = field_.name
            setattr(self, name, getattr(self, name) + getattr(other, name))
