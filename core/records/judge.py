"""What a judge is asked, what it replies, and what of the reply is proved.

A judge is a language model that reads claims with their sources. Its verdict counts only as far as its
proof holds, and the proof is checked without any model (``judge/proof.py``).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

from core.records.basics import Span

CALLS = "CALLS"  # the id under which the list of calls is quoted


class JudgeVerdict(StrEnum):
    """What a judge says of one claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_SHOWN = "not_shown"
    NOT_A_CLAIM = "not_a_claim"


# ---------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """One request: messages whose delimiters are ``nonce``, and what its numbers and labels stand for.

    ``claims`` are the claim ids in the order of their numbers, from 1; ``labels`` the source ids in the
    order of their labels, from S1. ``left_out`` names the sources of which a part was sent.
    ``head`` is what the user's message holds before the claims, ``asked`` each claim's text with the
    credit noted.
    """

    system: str
    user: str
    nonce: str
    claims: tuple[str, ...]
    labels: tuple[str, ...]
    tokens: int
    left_out: tuple[str, ...] = ()
    head: str = ""
    asked: tuple[tuple[str, str | None], ...] = ()

    @property
    def keys(self) -> tuple[tuple[str, str | None], ...]:
        """Names what the reply to each claim depends on (instructions, sources, answer, the claim's text),
        with the credit noted: how we read credits is our part of the question, not the answer's."""
        head = [self.system, self.head.replace(self.nonce, "")]
        return tuple((_sha256([*head, text])[:32], credit) for text, credit in self.asked)

    @property
    def digest(self) -> str:
        """Names what is asked; without the nonce, which is another one in each run."""
        return _sha256([self.system, self.user.replace(self.nonce, "")])


def _sha256(texts: list[str]) -> str:
    return hashlib.sha256(json.dumps(texts, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeText:
    """A reply as it came, with what it cost; tokens are None where the endpoint does not count them."""

    text: str
    model: str
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFailure:
    """Why there is no reply, in words for a person."""

    reason: str


# ---------------------------------------------------------------- what it replies


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuote:
    """A stretch that a judge says stands in a source."""

    source_id: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """What a contradicted claim says, and what stands in a quote in its place."""

    claim_part: str
    source_part: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReading:
    """What a judge replies for one claim; ``source_id`` is the source that says it."""

    verdict: JudgeVerdict
    evidence: tuple[JudgeQuote, ...] = ()
    calculations: tuple[str, ...] = ()
    conflict: Conflict | None = None
    source_id: str | None = None
    stated_is_right: bool | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedStretch:
    """A stretch of the answer that asserts something and is in no claim, with its reading."""

    quote: str
    reading: JudgeReading


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReply:
    """The readings by claim id, as far as there are any; ``problems`` say what was unusable."""

    readings: dict[str, JudgeReading]
    missed: tuple[MissedStretch, ...] = ()
    problems: tuple[str, ...] = ()


# ---------------------------------------------------------------- what is proved


class QuotedPart(StrEnum):
    """Which text of a call a quote stands in."""

    OUTPUT = "output"
    ARGUMENTS = "arguments"
    CALLS = "calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotePlace:
    """Where a quote stands: ``span`` in the part's text; ``exact`` is False where it was normalised first.

    ``raw`` are bytes of the source's raw output, for an output whose readable text was made from one.
    """

    source_id: str
    part: QuotedPart
    span: Span
    exact: bool
    raw: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """One expression with its result, as it is shown ("612 − 488 = 124")."""

    expression: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """A verdict, supported or contradicted, every part of whose proof holds."""

    verdict: JudgeVerdict
    places: tuple[QuotePlace, ...]
    calculations: tuple[Calculation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """A verdict that accuses and supports nothing: ``failed`` says which parts of its proof fail, for a
    person, whom a contradiction needs."""

    verdict: JudgeVerdict
    failed: tuple[str, ...]
    places: tuple[QuotePlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotShown:
    """The judge finds the claim neither supported nor contradicted, or no claim at all."""

    why: str


Proof = Proved | Unproved | NotShown


class JudgeFor(StrEnum):
    """Which claims a judge is asked about: those left to a person, all, or those that are blocked."""

    UNSURE = "unsure"
    ALL = "all"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """What was decided of a claim before a judge was asked: its state and calibrated probability."""

    state: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOutcome:
    """What came of asking a judge about one claim; without a ``proof`` there is a ``notice`` why.

    ``source_id`` and ``stated_is_right`` are what it said of the source and of the answer's credit;
    ``offline`` is what stands without it. ``worth`` is the chance that a claim is supported of which it
    proves this verdict.
    """

    by: str
    proof: Proof | None = None
    why: str = ""
    source_id: str | None = None
    stated_is_right: bool | None = None
    notice: str | None = None
    offline: Offline | None = None
    worth: float | None = None

    @property
    def who(self) -> str:
        """Its model and host, without the digest of what it is asked."""
        return self.by.partition("#")[0]

    @property
    def unproved_against(self) -> Unproved | None:
        """A contradiction that it reads and does not prove; None of anything else."""
        found = self.proof if isinstance(self.proof, Unproved) else None
        return found if found and found.verdict is JudgeVerdict.CONTRADICTED else None

    @property
    def word(self) -> str:
        """What came of it: "proved supported", "unproved contradicted", "nothing shown", "not read"."""
        match self.proof:
            case Proved(verdict=verdict):
                return f"proved {verdict.value}"
            case Unproved(verdict=verdict):
                return f"unproved {verdict.value}"
            case NotShown():
                return "nothing shown"
        return "not read"
