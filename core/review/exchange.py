"""What a packet and a database give each other: evidence, signatures, and what an import kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from core.records import Trace, Verification
from core.review.items import QueueState
from core.review.pre_labels import PreLabel
from core.review.records import Judgement

# 21 CFR 11.50: a signature says what it means.
MEANINGS = ("review", "approval", "responsibility", "authorship")
TAKEN_BACK = "taken back"  # the meaning of a signature by which all before it stand no longer


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSignature:
    """Who put their name under a packet, when and with which meaning.

    The ``signature`` covers all that is said; without one the name proves nothing. ``taken_back`` is
    worked out: a later signature means that those before it stand no longer (`with_taken_back`).
    """

    manifest_sha256: str
    signer: str
    at: datetime
    meaning: str
    taken_back: bool = False
    public_key: str | None = None  # Ed25519, in base64
    signature: str | None = None

    @property
    def stands(self) -> bool:
        """Whether it is there and was not taken back."""
        return not self.taken_back and self.meaning != TAKEN_BACK


def with_taken_back(signatures: Sequence[PacketSignature]) -> tuple[PacketSignature, ...]:
    """The same, each saying whether a later one took it back."""
    until = max((one.at for one in signatures if one.meaning == TAKEN_BACK), default=None)
    if until is None:
        return tuple(signatures)
    return tuple(replace(one, taken_back=one.taken_back or one.at < until) for one in signatures)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClaim:
    """A claim of a database that a label from elsewhere may be about."""

    claim_key: int
    claim_id: str
    trace_id: str
    content_hash: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place of a claim that somebody has: as an annotator or adjudicator, decided or in hand."""

    slot: int
    decided: bool
    draft: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """A claim's sources (id → tool's name), how far it is, and by name who has a place and what they
    say of it now; besides, its pre-label."""

    tools: Mapping[str, str]
    state: QueueState
    places: Mapping[str, Place]
    said: Mapping[str, Judgement]
    pre_label: PreLabel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelImport:
    """One import of labels: its file, and how many annotations or pre-labels were to come in by it.

    ``kept`` of them did; one that is not ``finished`` goes on, or was stopped. ``annotators`` are those
    whose word they are, none where nothing told it.
    """

    key: str
    file: str
    sha256: str
    at: datetime
    by: str
    pre_labels: bool
    planned: int
    annotators: tuple[str, ...] = ()
    kept: int = 0
    finished: bool = False

    @property
    def noun(self) -> str:
        """What the trail calls what it brings."""
        return "pre_labels" if self.pre_labels else "annotations"


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
