"""What a revision works with: drafts of edits, treatments of claims, and the plan that holds them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.attribution.families import Families
from core.ports import Editor
from core.records import (
    ClaimType,
    ClaimVerdict,
    Decision,
    RepairKind,
    Span,
    Trace,
    VerdictLabel,
    Verification,
)
from core.repair.edits import Edit
from core.repair.layout import LineKind

RULES = "rules"  # who wrote what no language model wrote
TIDIED = "Tidied up after the edits around it."
DESTRUCTIVENESS = tuple(RepairKind)
NOT_CONFIRMED = "[not confirmed]"
CREDIT_NOT_CONFIRMED = "[source not confirmed]"
CONTRADICTED = "[contradicted]"
MARK = re.compile(
    "|".join(re.escape(one) for one in (NOT_CONFIRMED, CREDIT_NOT_CONFIRMED, CONTRADICTED))
)
_MARK_BEHIND = re.compile(rf"[\W_]{{0,8}}(?:{MARK.pattern})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An edit of the answer on its way to becoming a RepairAction."""

    kind: RepairKind
    claim_ids: tuple[str, ...]
    edit: Edit
    reasons: tuple[str, ...]
    source_id: str | None = None
    evidence: tuple[Span, ...] = ()
    editor: str = RULES
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """Small edits inside the claim; ``restated`` is the claim's own text with them made."""

    drafts: tuple[Draft, ...]
    restated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recredit:
    """The claim stays, and the source it belongs to is named ``noun``."""

    noun: str | None  # None: no words can tell the source apart from others
    family: str
    local: Local | None
    reason: str
    marker: str | None = None  # a citation mark that stands for the right source


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworded:
    """A language model's sentence says it instead."""

    text: str
    reason: str
    source_id: str
    evidence: tuple[Span, ...]
    editor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """The claim is taken out."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The claim stays, and ``mark`` behind it says what is not confirmed of it."""

    mark: str
    reason: str


Treatment = Local | Recredit | Reworded | Removed | Marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of the answer that is edited as one: a sentence, an item, a table row."""

    span: Span
    kind: LineKind
    claims: tuple[ClaimVerdict, ...]


@dataclass(slots=True)
class Plan:
    """What a revision of one answer works on."""

    verification: Verification
    families: Families
    accepts: Callable[[Sequence[str]], frozenset[str]]
    editor: Editor | None
    tried: Mapping[str, frozenset[RepairKind]]
    removes: bool  # what could not be confirmed goes, as in the paper
    marked: bool = (
        False  # whether marks of ours stand in the answer; one that it came with is its words
    )
    corrects: bool = True  # else what is blocked is marked or taken out, and nothing is written
    treatments: dict[str, Treatment] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # why no model reworded a claim

    @property
    def trace(self) -> Trace:
        """The trace with the answer that is revised."""
        return self.verification.trace

    @property
    def answer(self) -> str:
        """The answer that is revised."""
        return self.trace.answer or ""

    @property
    def known(self) -> tuple[str, ...]:
        """Texts that show which words are written with a capital."""
        return (self.answer, *(source.text for source in self.trace.sources if source.is_evidence))


def says_something(verification: Verification) -> bool:
    return any(
        verdict.claim.claim_type is ClaimType.FACTUAL and verdict.decision is Decision.ALLOW
        for verdict in verification.claims
    )


def blocked_claims(verification: Verification) -> list[ClaimVerdict]:
    return [one for one in verification.claims if one.decision is Decision.BLOCK]


def open_claims(verification: Verification, *, marked: bool) -> list[ClaimVerdict]:
    """The blocked claims that no mark of ours stands in or behind yet."""
    if not marked:
        return blocked_claims(verification)
    answer = verification.trace.answer or ""
    return [
        one
        for one in blocked_claims(verification)
        if not MARK.search(one.claim.span.cut(answer))
        and not _MARK_BEHIND.match(answer, one.claim.span.end)
    ]


def left_over(plan: Plan, verdict: ClaimVerdict) -> Removed | Marked:
    """What happens to a claim that nothing corrects, with what the verifier found first.

    Only what a check has shown to be wrong is proposed for removal: of the statements that merely
    could not be confirmed more than half are true (docs/decisions).
    """
    first = lower_first(verdict.reasons[0])
    if plan.removes or verdict.verdict is VerdictLabel.CONTRADICTED:
        return Removed(reason=f"Taken out: {first}")
    return marked(verdict)


def marked(verdict: ClaimVerdict) -> Marked:
    """The claim kept, with what is not confirmed of it behind it."""
    mark = NOT_CONFIRMED
    if verdict.verdict is VerdictLabel.CONTRADICTED:
        mark = CONTRADICTED
    elif verdict.verdict is VerdictLabel.SUPPORTED:
        mark = CREDIT_NOT_CONFIRMED
    return Marked(mark=mark, reason=verdict.reasons[0])


def lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
