"""Edits of an answer, and what a verdict tells of its repair (III.8)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.records.basics import Decision, Span


class RepairKind(StrEnum):
    """What an edit does, least destructive first.

    A mend only tidies up after other edits; a mark keeps a statement and says that it is not
    confirmed.
    """

    MEND = "mend"
    MARK = "mark"
    ATTRIBUTION = "attribution"
    VALUE = "value"
    QUALIFIER = "qualifier"
    REWORD = "reword"
    PRUNE = "prune"
    FALLBACK = "fallback"


class RepairStatus(StrEnum):
    """What a repair proposes; the verifier passes the proposed text of the first four alone.

    All of them are proposals until a person has decided every edit and the text that results was
    verified as it stands.
    """

    NOT_NEEDED = "not_needed"  # the answer was allowed as it was
    CORRECTED = "corrected"  # every claim is still there, corrected
    PRUNED = "pruned"  # something had to be taken out, and something supported is left
    FALLBACK = "fallback"  # nothing verifiable was left: a conservative non-claim stands instead
    MARKED = "marked"  # statements that could not be confirmed are kept, each with a mark: blocked
    UNRESOLVED = "unresolved"  # the revised answer did not pass the verifier: still blocked
    UNAVAILABLE = "unavailable"  # no answer, or no evidence to repair it from


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairAction:
    """One edit of the answer: ``before == answer[span.start:span.end]`` becomes ``after``.

    ``evidence`` are spans in the text of the source ``source_id``, on which the edit rests. ``editor``
    says who wrote ``after``: "rules" or the name of a language model; ``note`` says what else a
    reviewer must know (why a configured model was not used).
    """

    action_id: str
    kind: RepairKind
    claim_ids: tuple[str, ...]
    span: Span
    before: str
    after: str
    reason: str
    source_id: str | None
    evidence: tuple[Span, ...]
    editor: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSavings:
    """What one repair kept of an answer; ``words_kept`` is None for an answer without words."""

    supported_before: int
    supported_kept: int
    lost: tuple[str, ...]
    words_kept: float | None
    wrong_attributions_before: int
    wrong_attributions_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOutcome:
    """A repair as a verdict tells it; ``removed`` are the stretches that were taken out whole."""

    status: RepairStatus
    actions: tuple[RepairAction, ...]
    revised_answer: str | None
    decision_after: Decision
    reasons_after: tuple[str, ...]
    rounds: int
    removed: tuple[str, ...]
    saved: RepairSavings
