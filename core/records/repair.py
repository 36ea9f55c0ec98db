"""What an editor is asked and answers, and what became of an answer (III.8)."""

from __future__ import annotations

from dataclasses import dataclass

from core.records.decisions import Verification
from core.records.edits import RepairAction, RepairStatus


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
