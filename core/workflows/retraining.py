"""Retraining: from a database's labels to a candidate, compared with what decides, to all answers."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from core.attribution.families import load_families
from core.bootstrap import trace_numbers
from core.calibration.gain import gain_of
from core.calibration.rows import SHIPPED_ROWS, KeptRows, TrainingRow, read_training_rows
from core.calibration.threshold import GRID
from core.config import Config
from core.errors import ComponentUnavailable, InputError
from core.evaluation.threshold_view import (
    ThresholdView,
    bands_of,
    costs_at,
    view_claims,
)
from core.identity import rules_digest
from core.models.forest import ADJUSTED, Forest
from core.models.loading import BUNDLED
from core.ports import Calibrator, Progress
from core.records import Features, JsonObject, VerdictLabel, Versions
from core.review.adjudication import should_block
from core.review.calibrators import Step, StoredCalibrator
from core.review.items import Guideline
from core.review.nli_choice import CurrentNliModel
from core.review.records import SPLIT_WORDS, Person, Project, ReviewedClaim, Role, Split
from core.review.roles import require
from core.site_config import site_config
from core.statistics import exact_binomial_interval
from core.workflows.models import ActiveCalibrator, active_forest
from core.workflows.rescore import (
    RescoreReport,
    RescoringStore,
    effect_on_stored,
    rescore_stored,
)
from core.workflows.verify import silent

GIVEN_BACK = "no final label: annotations are still to come, or two annotations differ"
NOT_A_CLAIM = "reviewers say that it is no claim, or was cut wrongly"
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
    def site(self) -> KeptRows:
        """What may be fitted to."""
        return KeptRows(
            train=tuple(one.row for one in self.train),
            validation=tuple(one.row for one in self.validation),
        )

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
        supported_by_route=supported
        and (not final.source_ids or signal.routed_source_id in final.source_ids),
        should_block=should_block(final),
        forced=signal.gated,
        contradicted=final.support is VerdictLabel.CONTRADICTED,
        held_out=split is Split.HELD_OUT,
    )


def _why_left_out(
    claim: ReviewedClaim, runs: Mapping[str, Versions], made_by: Versions | None
) -> str | None:
    if claim.resolution.final is None:
        return GIVEN_BACK
    if claim.resolution.final.label is None:
        return NOT_A_CLAIM
    if claim.signal is None or claim.signal.features is None:
        return NOT_JUDGED
    by = runs.get(claim.signal.run_key)
    if by is None or made_by is None or _nli_models(by) != _nli_models(made_by):
        return OTHER_MODELS
    return None


def _nli_models(made: Versions) -> tuple[str, ...]:
    return (made.pipeline, made.config_sha256, made.embedder, made.pair_reader, made.precision)


FLIPS_NAMED = 2_000


def compare(
    material: Material,
    shipped: KeptRows | None,
    candidate: Calibrator,
    current: Calibrator,
    *,
    moved_only: bool = False,
) -> JsonObject:
    """Both calibrators on the same claims: error curves, both rates at each own threshold, flips.

    On every side that has claims: validation, held out, and the shipped validation rows where they
    were used. Intervals are of the trace bootstrap, and exact ones where no or every claim is an
    error. A claim that something else than the probability blocks stays blocked under both.

    ``gain`` is what the labels show of the candidate as one: on claims that it was not grown on, and on
    all of them where only its calibration was moved (``moved_only``), by one number.
    """
    sides: dict[str, JsonObject] = {}
    flips: list[JsonObject] = []
    for side, rows in (
        (Side.VALIDATION, material.validation),
        (Side.HELD_OUT, material.held_out),
    ):
        plain = [one.row for one in rows]
        sides[side.value] = _side(plain, candidate, current)
        flips += _flips(side, rows, candidate, current)
    if shipped is not None and shipped.validation:
        sides[Side.SHIPPED.value] = _side(shipped.validation, candidate, current)
    counted = material.rows if moved_only else (*material.validation, *material.held_out)
    return {
        "current": {"name": current.name, "threshold": current.threshold},
        "candidate": {"threshold": candidate.threshold},
        "moved_only": moved_only,
        "gain": asdict(gain_of([one.row for one in counted], candidate, current)),
        "sides": sides,
        "flips": sorted(flips, key=_harm)[:FLIPS_NAMED],
        "flips_in_all": len(flips),
    }


def _side(rows: Sequence[TrainingRow], candidate: Calibrator, current: Calibrator) -> JsonObject:
    return {
        "claims": len(rows),
        "traces": len({row.trace_id for row in rows}),
        "to_block": sum(row.should_block for row in rows),
        "to_pass": sum(not row.should_block for row in rows),
        "candidate": _measured(rows, candidate),
        "current": _measured(rows, current),
    }


def _measured(rows: Sequence[TrainingRow], calibrator: Calibrator) -> JsonObject | None:
    if not rows:
        return None
    view = _view(rows, calibrator)
    thresholds = (calibrator.threshold, *GRID)
    points: list[dict[str, object]] = [
        {
            "threshold": cost.threshold,
            "good_blocked": cost.good_blocked,
            "good": cost.good,
            "bad_passed": cost.bad_passed,
            "bad": cost.bad,
            "false_block_rate": _rounded(cost.false_block_rate),
            "false_block_ci95": band["false_block_rate"],
            "false_pass_rate": _rounded(cost.false_pass_rate),
            "false_pass_ci95": band["false_pass_rate"],
        }
        for cost, band in zip(
            costs_at(view, thresholds),
            bands_of(view, thresholds),
            strict=True,
        )
    ]
    return {"at": _with_exact_ends(points[0]), "curve": points[1:]}


def _with_exact_ends(point: dict[str, object]) -> dict[str, object]:
    """Where no claim or every claim is an error, resampling sees no spread: the exact interval does."""
    found = dict(point)
    for errors, among, name in (
        ("good_blocked", "good", "false_block_ci95"),
        ("bad_passed", "bad", "false_pass_ci95"),
    ):
        count, whole = cast(int, point[errors]), cast(int, point[among])
        if whole and count in (0, whole):
            ends = exact_binomial_interval(count, whole)
            found[name] = None if ends is None else [round(end, 6) for end in ends]
    return found


def _view(rows: Sequence[TrainingRow], calibrator: Calibrator) -> ThresholdView:
    return view_claims(
        _probabilities([row.features for row in rows], calibrator),
        np.array([row.should_block for row in rows], dtype=np.bool_),
        np.array([row.forced for row in rows], dtype=np.bool_),
        trace_numbers([row.trace_id for row in rows]),
    )


def _flips(
    side: Side, rows: Sequence[LabelledRow], candidate: Calibrator, current: Calibrator
) -> list[JsonObject]:
    """The claims that the two decide differently."""
    features = [one.row.features for one in rows]
    now, then = _probabilities(features, candidate), _probabilities(features, current)
    found: list[JsonObject] = []
    for one, new, old in zip(rows, now.tolist(), then.tolist(), strict=True):
        blocks = [new < candidate.threshold, old < current.threshold]
        if one.row.forced or blocks[0] == blocks[1]:
            continue
        found.append(
            {
                "claim_id": one.claim.claim_id,
                "trace_id": one.claim.trace_id,
                "text": one.claim.text,
                "side": side.value,
                "should_block": one.row.should_block,
                "candidate_blocks": blocks[0],
                "candidate_probability": new,
                "current_probability": old,
            }
        )
    return found


def _harm(flip: JsonObject) -> tuple[bool, bool]:
    """Bad claims that now pass come first, then good ones that are now blocked."""
    bad, blocks = flip["should_block"], flip["candidate_blocks"]
    return (not (bad and not blocks), not (blocks and not bad))


def _probabilities(rows: Sequence[Features], calibrator: Calibrator) -> NDArray[np.float64]:
    return calibrator.probabilities(rows) if rows else np.zeros(0)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def lineage(material: Material, shipped: KeptRows | None, fitted: Fitted) -> JsonObject:
    """guideline → annotations → forest → threshold: what a candidate rests on, as JSON."""
    used = (*material.train, *material.validation)
    guidelines = Counter(_guideline_of(one.claim) for one in used)
    reviewers = Counter(annotation.reviewer for one in used for annotation in one.claim.annotations)
    labels = [_label(one) for one in used]
    return {
        "format": "provenanceguard-lineage",
        "version": 1,
        "guideline": [
            {"version": version, "claims": claims} for version, claims in sorted(guidelines.items())
        ],
        "votes": {
            "claims": len(used),
            "votes": sum(len(one.claim.annotations) for one in used),
            "adjudications": sum(one.claim.adjudication is not None for one in used),
            "by_status": dict(Counter(one.claim.resolution.status.value for one in used)),
            "by_reviewer": dict(sorted(reviewers.items())),
            "sha256": hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest(),
            "labels": labels,
        },
        "split": {
            split.value: {
                "claims": len(rows),
                "traces": len({one.claim.trace_id for one in rows}),
            }
            for split, rows in (
                (Split.TRAIN, material.train),
                (Split.VALIDATION, material.validation),
                (Split.HELD_OUT, material.held_out),
            )
        },
        "shipped_rows": None
        if shipped is None
        else {"train": len(shipped.train), "validation": len(shipped.validation)},
        "left_out": dict(material.left_out),
        "forest": {"settings": fitted.card["settings"], "made_by": fitted.card["made_by"]},
        "threshold": {
            "value": fitted.card["threshold"],
            "rule": fitted.card["threshold_rule"],
            "met": fitted.card["threshold_rule_met"],
            "kept": ADJUSTED in fitted.card,
        },
        "pipeline": rules_digest(),
    }


def _label(one: LabelledRow) -> JsonObject:
    claim, final = one.claim, one.claim.resolution.final
    assert final is not None  # gather leaves the others out
    return {
        "claim_id": claim.claim_id,
        "trace_id": claim.trace_id,
        "content_hash": claim.content_hash,
        "split": one.split.value,
        "status": claim.resolution.status.value,
        "support": final.support.value,
        "source_id": final.source_id,
        "more_source_ids": list(final.more_source_ids),
        "conflation": final.conflation,
        "votes": [annotation.vote_id for annotation in claim.annotations],
        "adjudication": claim.adjudication.adjudication_id if claim.adjudication else None,
        "guideline_version": _guideline_of(claim),
        "supported_by_route": one.row.supported_by_route,
    }


def _guideline_of(claim: ReviewedClaim) -> int:
    """The guideline under which its label was settled."""
    if claim.adjudication is not None:
        return claim.adjudication.guideline_version
    return max(annotation.guideline_version for annotation in claim.annotations)


# Below the leaf size of Table 1 no tree could tell the two kinds apart.
LEAST_TRAIN = 8
# Beside the shipped rows, from how many labels of a site on, and of claims to block among them, a forest
# is grown anew. Stated, not yet measured over sites.
LEAST_LABELS, LEAST_BAD = 50, 10
SITE_WEIGHT = 3.0  # what a site's row counts beside a shipped one
LEAST_VALIDATION = 4
LOOKED_THROUGH = 500  # traces, for one of a side: three of five are to train


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A kind of label that there are too few of."""

    side: Split
    kind: str
    have: int
    least: int

    @property
    def words(self) -> str:
        """ "2 more claims to block on validation traces (there are 2; at least 4)"."""
        more = self.least - self.have
        return (
            f"{more} more {self.kind} on {SPLIT_WORDS[self.side]} traces "
            f"(there {'is' if self.have == 1 else 'are'} {self.have}; at least {self.least})"
        )


def moves_only_calibration(site: KeptRows) -> bool:
    """Whether there are too few labels to grow a forest beside the shipped rows."""
    rows = (*site.train, *site.validation)
    return len(rows) < LEAST_LABELS or sum(row.should_block for row in rows) < LEAST_BAD


class Fitted(Protocol):
    """What a fit gives: a card, a forest that decides, and an artifact folder."""

    @property
    def card(self) -> dict[str, object]:
        """What it says of itself."""
        ...

    def forest(self) -> Forest:
        """The calibrator, ready to use."""
        ...

    def save(self, folder: Path) -> str:
        """Write the artifact folder; returns the calibrator's name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fitted forest with how it compares and where it comes from, ready to be kept."""

    fitted: Fitted
    comparison: JsonObject
    lineage: JsonObject


# ---------------------------------------------------------------- labels


def needs(material: Material, shipped: KeptRows | None) -> tuple[Need, ...]:
    """The kinds of labels that there are too few of to fit a candidate; empty when there are enough.

    With the shipped rows one new label on a training trace is enough.
    """
    train = [one.row for one in material.train]
    if shipped is not None and shipped.validation:
        have = len(train)
        return () if have else (Need(side=Split.TRAIN, kind="label", have=0, least=1),)
    validation = [one.row for one in material.validation]
    asked = [
        (Split.TRAIN, "supported claims", sum(r.supported_by_route for r in train), LEAST_TRAIN),
        (
            Split.TRAIN,
            "claims that the routed source does not support",
            sum(not r.supported_by_route for r in train),
            LEAST_TRAIN,
        ),
        (
            Split.VALIDATION,
            "claims to pass",
            sum(not r.should_block for r in validation),
            LEAST_VALIDATION,
        ),
        (
            Split.VALIDATION,
            "claims to block",
            sum(r.should_block for r in validation),
            LEAST_VALIDATION,
        ),
    ]
    if shipped is not None:  # rows to train on, none to choose a threshold on
        asked = asked[2:]
    return tuple(
        Need(side=side, kind=kind, have=have, least=least)
        for side, kind, have, least in asked
        if have < least
    )


# ---------------------------------------------------------------- fitting


def fit_candidate(material: Material, shipped: KeptRows | None, current: Calibrator) -> Candidate:
    """A candidate forest, grown on training labels, compared with ``current`` on the other sides.

    It is fitted as what ships is: the same features, directions, guarantee and calibration, with the
    site's rows weighing ``SITE_WEIGHT`` each. With the shipped rows and fewer than ``LEAST_LABELS``
    labels or ``LEAST_BAD`` claims to block, the forest and its thresholds stay and the calibration alone
    is moved. Raises InputError when there are too few labels, naming how many of which kind are missing.
    """
    missing = needs(material, shipped)
    if missing:
        raise InputError("too few labels: " + "; ".join(need.words for need in missing))
    made = material.made_by
    made_with = {} if made is None else made.fitted_with()
    fitted = fit_site(material.site, shipped, current, made_with)
    forest = fitted.forest()
    return Candidate(
        fitted=fitted,
        comparison=compare(
            material,
            shipped,
            forest,
            current,
            moved_only=shipped is not None and moves_only_calibration(material.site),
        ),
        lineage=lineage(material, shipped, fitted),
    )


def fit_site(
    site: KeptRows,
    shipped: KeptRows | None,
    current: Calibrator,
    made_with: dict[str, str],
) -> Fitted:
    """A calibrator of a site's rows, as ``fit_candidate`` says; nothing is compared."""
    # Imported here: who only looks at labels and candidates does not wait for scikit-learn.
    from core.calibration.fit import ForestSettings, adjusted, fit_calibrator, settings_of

    if shipped is not None and isinstance(current, Forest) and moves_only_calibration(site):
        return adjusted(current, site.train, made_with)
    settings = settings_of(current.card) if isinstance(current, Forest) else ForestSettings()
    more = shipped or KeptRows(train=(), validation=())
    return fit_calibrator(
        [*site.train, *more.train],
        [*site.validation, *more.validation],
        settings=settings,
        made_with=made_with,
        weights=[SITE_WEIGHT] * len(site.train) + [1.0] * len(more.train),
    )


# ---------------------------------------------------------------- comparing


class KeptCalibrators(ActiveCalibrator, Protocol):
    """A repository of fitted calibrators and of what leads decided about them."""

    def kept(self, name: str) -> StoredCalibrator:
        """One of them; raises NotFound."""

    def steps(self) -> Sequence[Step]:
        """Every decision about calibrators, the first first."""

    def keep(self, folder: Path, comparison: JsonObject, lineage: JsonObject, by: Person) -> str:
        """Keep a fitted calibrator with what was compared and where it comes from; its name."""


class SettledLabels(Protocol):
    """A repository of what people said about claims, and of what waits for them."""

    def waiting_traces(self, most: int) -> Sequence[str]:
        """The traces with a claim that nobody has taken, the first of the queue first."""

    def reviewed(self) -> Sequence[ReviewedClaim]:
        """The claims whose annotations are all in."""


class TraceSplits(Protocol):
    """A repository of the side that each trace stands on."""

    def of(self, trace_ids: Collection[str]) -> Mapping[str, Split]:
        """The side of each of these traces; one without a side gets one."""


class GuidelineVersions(Protocol):
    """A repository of guidelines."""

    def versions(self) -> Sequence[Guideline]:
        """All versions, the first first."""


class NliInUse(Protocol):
    """What says which NLI model a database verifies with."""

    def current(self) -> CurrentNliModel:
        """What reads now."""


class RetrainingWorkspace(Protocol):
    """A database with labels, calibrators and stored answers."""

    @property
    def calibrators(self) -> KeptCalibrators:
        """Its calibrators."""

    @property
    def labels(self) -> SettledLabels:
        """What people said."""

    @property
    def splits(self) -> TraceSplits:
        """The sides of traces."""

    @property
    def guidelines(self) -> GuidelineVersions:
        """The guideline's versions."""

    @property
    def nli_models(self) -> NliInUse:
        """What reads."""

    @property
    def rescoring(self) -> RescoringStore:
        """The stored answers, to be decided again."""

    def project(self) -> Project:
        """The default project."""

    def run_versions(self) -> Mapping[str, Versions]:
        """What produced the verdicts: run key → versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraining:
    """The loop from labels back to decisions, on one database."""

    workspace: RetrainingWorkspace
    shipped_rows: Path = SHIPPED_ROWS

    def material(self) -> Material:
        """The settled claims of the default project by side; traces without a side get theirs."""
        self.workspace.project()  # made where nobody has reviewed yet
        reviewed = self.workspace.labels.reviewed()
        splits = self.workspace.splits.of({claim.trace_id for claim in reviewed})
        return gather(reviewed, splits, self.workspace.run_versions())

    def shipped(self) -> KeptRows | None:
        """The rows that the shipped calibrator was fitted on; None when they are not there.

        Nor where another NLI model reads: its labels and theirs would not be of one kind.
        """
        if self._reads_otherwise():
            return None
        try:
            return read_training_rows(self.shipped_rows)
        except ComponentUnavailable:
            return None

    def _reads_otherwise(self) -> bool:
        return self.workspace.nli_models.current().nli != BUNDLED

    def fit(
        self,
        user: Person,
        *,
        with_shipped: bool,
        progress: Progress = silent,
        config: Config | None = None,
    ) -> str:
        """Fit, compare and keep a candidate; its name. It decides nothing until it is promoted.

        The comparison says too what the candidate would make of every stored answer.

        Raises NotAllowed, and InputError naming the labels that are missing.
        """
        require(user.name, user.roles, Role.LEAD, "fit a calibrator")
        progress(0, 3, "collecting labels")
        material = self.material()
        if with_shipped and self._reads_otherwise():
            raise InputError("the shipped rows were read by the bundled reader: fit without them")
        shipped = read_training_rows(self.shipped_rows) if with_shipped else None
        progress(1, 3, "growing the forest")
        candidate = fit_candidate(material, shipped, active_forest(self.workspace.calibrators))
        config = config or site_config()
        progress(2, 3, "deciding the stored answers by it, without keeping that")
        effect = effect_on_stored(
            self.workspace.rescoring, candidate.fitted.forest(), load_families(), config
        )
        candidate = replace(candidate, comparison={**candidate.comparison, "stored": effect})
        with tempfile.TemporaryDirectory(prefix="provenanceguard-fit-") as folder:
            candidate.fitted.save(Path(folder))
            name = self.workspace.calibrators.keep(
                Path(folder), candidate.comparison, self._with_guidelines(candidate.lineage), user
            )
        progress(3, 3, "done")
        return name

    def to_label(self, side: Split) -> str | None:
        """The trace of that side whose claims come first in the queue; None where none waits."""
        waiting = self.workspace.labels.waiting_traces(LOOKED_THROUGH)
        sides = self.workspace.splits.of(waiting)
        return next((trace_id for trace_id in waiting if sides[trace_id] is side), None)

    def waiting(self) -> int:
        """How many stored answers were decided by another calibrator than the active one."""
        return self.workspace.rescoring.count_to_rescore(self.workspace.calibrators.current().label)

    def rescore(self, config: Config, progress: Progress = silent) -> RescoreReport:
        """Decide every stored answer again by the active calibrator, from stored features."""
        return rescore_stored(
            self.workspace.rescoring,
            active_forest(self.workspace.calibrators),
            load_families(),
            config,
            progress,
        )

    def lineage(self, name: str) -> JsonObject:
        """The lineage of one calibrator with every decision about it; raises NotFound."""
        kept = self.workspace.calibrators.kept(name)
        return {
            **kept.lineage,
            "calibrator": {
                "name": kept.name,
                "threshold": kept.threshold,
                "standing": kept.standing.value,
                "artifact_sha256": kept.artifact_sha256,
                "by": kept.by,
                "at": kept.at.isoformat(),
            },
            "steps": [
                {
                    "step": step.step,
                    "action": step.action.value,
                    "threshold": step.threshold,
                    "reason": step.reason,
                    "by": step.by,
                    "at": step.at.isoformat(),
                }
                for step in self.workspace.calibrators.steps()
                if step.calibrator == name
            ],
        }

    def _with_guidelines(self, lineage: JsonObject) -> JsonObject:
        """The lineage with who wrote each guideline version that its labels were given under."""
        versions = {
            guideline.version: guideline for guideline in self.workspace.guidelines.versions()
        }
        entries = lineage["guideline"]
        assert isinstance(entries, list)
        return {**lineage, "guideline": [_entry(entry, versions) for entry in entries]}


def _entry(entry: Mapping[str, int], versions: Mapping[int, Guideline]) -> JsonObject:
    version = versions.get(entry["version"])
    if version is None:
        return dict(entry)
    said = {"author": version.author, "change": version.change, "at": version.at.isoformat()}
    return {**entry, **said}


def lineage_json(lineage: JsonObject) -> str:
    """The lineage as it is exported."""
    return json.dumps(lineage, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
