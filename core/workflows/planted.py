"""What the verifier and repair make of wrong credits planted in whole answers, and of their right twins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.config import Config
from core.evaluation.planting import Planted, with_answer
from core.pipeline import Models, verify
from core.ports import Progress
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Decision,
    Judged,
    RepairStatus,
    Trace,
)
from core.workflows.one_place import verify_place
from core.workflows.remembering import remembering
from core.workflows.repair import repair_verified


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What was made of the planted sentence: ``accused`` of a wrong credit, in whatever words.

    ``conflated`` is accused by the attribution itself; ``read`` says that a claim of it was checked.
    """

    read: bool
    accused: bool
    conflated: bool
    blocked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What repair made of the probe's answer; ``retained`` keeps the wrong credit and is allowed.

    ``blocked_before`` and ``twin_blocked`` are the gate's word on both answers as they were.
    """

    blocked_before: bool
    twin_blocked: bool
    resolved: bool
    fallback: bool
    allowed: bool
    retained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedOutcome:
    """A probe, its twin, and what became of both; ``mended`` is None where only the sentence was read."""

    planted: Planted
    probe: Sentence
    twin: Sentence
    mended: Mended | None


def run_planted(
    planted: Sequence[Planted],
    traces: Sequence[Trace],
    models: Models,
    config: Config,
    *,
    repair: bool = False,
    progress: Progress = lambda done, total, what: None,
) -> list[PlantedOutcome]:
    """What the verifier makes of every planted sentence and its twin, in the order given.

    Answers are split whole; with ``repair`` all their claims are judged too, and the probes repaired.
    """
    by_id = {trace.trace_id: trace for trace in traces}
    found: dict[str, PlantedOutcome] = {}
    # Probes of one answer share nearly all that is read.
    for trace_id in dict.fromkeys(one.trace_id for one in planted):
        remembered = remembering(models)
        for one in (one for one in planted if one.trace_id == trace_id):
            found[one.probe_id] = _outcome(one, by_id[trace_id], remembered, config, repair)
            progress(len(found), len(planted), "probes")
    return [found[one.probe_id] for one in planted]


def _outcome(
    one: Planted, trace: Trace, models: Models, config: Config, repair: bool
) -> PlantedOutcome:
    wrong = with_answer(trace, one.wrong_answer, one.probe_id)
    right = with_answer(trace, one.right_answer, f"{one.probe_id}-twin")
    return PlantedOutcome(
        planted=one,
        probe=_sentence(verify_place(wrong, one.wrong_sentence, models, config)),
        twin=_sentence(verify_place(right, one.right_sentence, models, config)),
        mended=_mended(one, wrong, right, models, config) if repair else None,
    )


def _sentence(inside: Sequence[ClaimVerdict]) -> Sentence:
    return Sentence(
        read=any(isinstance(one.outcome, Judged) for one in inside),
        accused=any(_accused(one) for one in inside),
        conflated=any(_conflated(one) for one in inside),
        blocked=any(one.decision is Decision.BLOCK for one in inside),
    )


def _conflated(verdict: ClaimVerdict) -> bool:
    outcome = verdict.outcome
    return (
        isinstance(outcome, Judged) and outcome.attribution.status is AttributionStatus.CONFLATION
    )


def _accused(verdict: ClaimVerdict) -> bool:
    """By the attribution, by a citation that says otherwise, or as another person's record."""
    outcome = verdict.outcome
    return (
        _conflated(verdict)
        or any(one.outcome.blocks for one in verdict.citations)
        or (isinstance(outcome, Judged) and bool(outcome.literals.identity_mismatches))
    )


def _mended(one: Planted, wrong: Trace, right: Trace, models: Models, config: Config) -> Mended:
    twin = verify(right, models, config)
    paper = replace(config, repair_removes_unconfirmed=True)
    repair = repair_verified(verify(wrong, models, config), models, paper)
    before = repair.before.answer.decision is Decision.BLOCK
    after = repair.after or repair.before
    revised = repair.revised_answer if repair.revised_answer is not None else one.wrong_answer
    allowed = after.answer.decision is Decision.ALLOW
    unresolved = repair.status in (RepairStatus.UNRESOLVED, RepairStatus.UNAVAILABLE)
    return Mended(
        blocked_before=before,
        twin_blocked=twin.answer.decision is Decision.BLOCK,
        resolved=before and not unresolved,
        fallback=repair.status is RepairStatus.FALLBACK,
        allowed=allowed,
        retained=allowed and _still_credits(one, revised),
    )


def _still_credits(one: Planted, revised: str) -> bool:
    """Whether the wrong credit stands as often as in the probe; by words alone, not by our reading."""
    credited = one.credited.removeprefix("the ").casefold()
    planted = one.wrong_answer.casefold().count(credited)
    return revised.casefold().count(credited) >= planted


def groups(outcomes: Sequence[PlantedOutcome]) -> Iterator[tuple[str, list[PlantedOutcome]]]:
    """All outcomes, then those of each kind, each direction and each form, under a name."""
    yield "all", list(outcomes)
    for name in ("kind", "direction", "form"):
        values = sorted({str(getattr(one.planted, name)) for one in outcomes})
        for value in values:
            yield (
                f"{name}: {value}",
                [one for one in outcomes if getattr(one.planted, name) == value],
            )
