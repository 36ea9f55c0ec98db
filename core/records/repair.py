"""Edits of an answer and what became of it (III.8)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.records.basics import Span
from core.records.decisions import Verification


class RepairKind(StrEnum):
    """What an edit does, least destructive first; a mend only tidies up after other edits."""

    MEND = "mend"
    ATTRIBUTION = "attribution"
    VALUE = "value"
    QUALIFIER = "qualifier"
    REWORD = "reword"
    PRUNE = "prune"
    FALLBACK = "fallback"


class RepairStatus(StrEnum):
    """How a repair ended; only the first four leave an answer that may be shown."""

    NOT_NEEDED = "not_needed"  # the answer was allowed as it was
    CORRECTED = "corrected"  # every claim is still there, corrected
    PRUNED = "pruned"  # something had to be taken out, and something supported is left
    FALLBACK = "fallback"  # nothing verifiable was left: a conservative non-claim stands instead
    UNRESOLVED = "unresolved"  # the revised answer did not pass the verifier: still blocked
    UNAVAILABLE = "unavailable"  # no answer, or no evidence to repair it from


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """All that a language-model editor ever sees of a trace."""

    claim: str
    premise: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorText:
    """A rewording that an editor gave; the verifier has yet to judge it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorFailure:
    """Why an editor gave no usable rewording; the rules write the text instead."""

    reason: str


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
class Repair:
    """What became of a blocked answer; ``after`` is the verifier's word on the revised one.

    ``actions`` are edits of the original answer in its order, without overlap; ``rounds`` counts the
    calls of the verifier. Without a revised answer there is no ``after``.
    """

    status: RepairStatus
    actions: tuple[RepairAction, ...]
    revised_answer: str | None
    before: Verification
    after: Verification | None
    rounds: int
