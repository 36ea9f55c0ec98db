"""What reviewers settled, as rows to fit and to measure a calibrator on; and what is left out, why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from core.calibration.rows import TrainingRow
from core.errors import InputError
from core.records import VerdictLabel, Versions
from core.review.records import Judgement, ReviewedClaim, Split

if TYPE_CHECKING:
    pass


GIVEN_BACK = "no final label: readings are still to come, or two readings differ"
NOT_JUDGED = "the verifier could not judge it, so that there is nothing to learn from"
OTHER_MODELS = "read by other models or settings than the latest run: verify its trace again"


class Side(StrEnum):
    """Which claims a calibrator is measured on."""

    VALIDATION = "validation"
    HELD_OUT = "held_out"
    SHIPPED = "shipped"  # the validation rows that come with the program


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRow:
    """One settled claim as the forest takes it, with the claim that it comes from."""

    row: TrainingRow
    split: Split
    claim: ReviewedClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Settled claims that can be learned from, by side, and how many cannot, by reason."""

    train: tuple[LabelledRow, ...]
    validation: tuple[LabelledRow, ...]
    held_out: tuple[LabelledRow, ...]
    left_out: Mapping[str, int]
    made_by: Versions | None  # whose features these are

    @property
    def rows(self) -> tuple[LabelledRow, ...]:
        """All of them."""
        return (*self.train, *self.validation, *self.held_out)


def gather(
    reviewed: Sequence[ReviewedClaim],
    splits: Mapping[str, Split],
    runs: Mapping[str, Versions],
) -> Material:
    """The settled claims by side; ``runs`` maps run keys to versions, the latest run first.

    Only features of one pair of models under one config are put together: those of the latest run.
    """
    made_by = next(iter(runs.values()), None)
    sides: dict[Split, list[LabelledRow]] = {split: [] for split in Split}
    left_out: Counter[str] = Counter()
    for claim in reviewed:
        reason = _why_left_out(claim, runs, made_by)
        if reason is not None:
            left_out[reason] += 1
            continue
        split = splits[claim.trace_id]
        sides[split].append(LabelledRow(row=training_row(claim, split), split=split, claim=claim))
    return Material(
        train=tuple(sides[Split.TRAIN]),
        validation=tuple(sides[Split.VALIDATION]),
        held_out=tuple(sides[Split.HELD_OUT]),
        left_out=dict(left_out),
        made_by=made_by,
    )


def training_row(claim: ReviewedClaim, split: Split) -> TrainingRow:
    """A settled claim as the forest takes it (formats.md, section 2); needs a label and features.

    The target is 1 only when it is supported and the reviewers name the routed source.
    """
    final, signal = claim.resolution.final, claim.signal
    if final is None or signal is None or signal.features is None:
        raise InputError(f"claim {claim.claim_id!r:.200} has no label or no features")
    supported = final.support is VerdictLabel.SUPPORTED
    return TrainingRow(
        claim_id=claim.claim_id,
        trace_id=claim.trace_id,
        features=signal.features,
        supported_by_route=supported and final.source_id in (None, signal.routed_source_id),
        should_block=should_block(final),
        forced=signal.gated,
        contradicted=final.support is VerdictLabel.CONTRADICTED,
        held_out=split is Split.HELD_OUT,
    )


def should_block(final: Judgement) -> bool:
    """Whether blocking is right: not supported, or credited to the wrong source."""
    return final.support is not VerdictLabel.SUPPORTED or final.conflation is True


def _why_left_out(
    claim: ReviewedClaim, runs: Mapping[str, Versions], made_by: Versions | None
) -> str | None:
    if claim.resolution.final is None:
        return GIVEN_BACK
    if claim.signal is None or claim.signal.features is None:
        return NOT_JUDGED
    by = runs.get(claim.signal.run_key)
    if by is None or made_by is None or _readers(by) != _readers(made_by):
        return OTHER_MODELS
    return None


def _readers(made: Versions) -> tuple[str, ...]:
    return (made.pipeline, made.config_sha256, made.embedder, made.pair_reader, made.precision)
