"""Retraining: from a database's labels to a candidate, to what decides, to every stored answer.

Who may do it is asked in the transaction that writes it down.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.attribution.families import load_families
from core.calibration.rows import SHIPPED_ROWS, KeptRows, read_training_rows
from core.config import Config
from core.errors import ComponentUnavailable, InputError
from core.models.loading import BUNDLED
from core.ports import Progress
from core.records import JsonObject, Versions
from core.review.calibrators import Step, StoredCalibrator
from core.review.items import Guideline
from core.review.reader_choice import CurrentReader
from core.review.records import Person, Project, ReviewedClaim, Role, Split
from core.review.roles import require
from core.workflows.calibrators import ActiveCalibrator, active_forest
from core.workflows.rescore import RescoreReport, RescoringStore, rescore_stored
from core.workflows.retrain import fit_candidate
from core.workflows.reviewed_material import Material, gather
from core.workflows.verify import silent


class KeptCalibrators(ActiveCalibrator, Protocol):
    """A repository of fitted calibrators and of what leads decided about them."""

    def kept(self, name: str) -> StoredCalibrator:
        """One of them; raises NotFound."""
        ...

    def steps(self) -> Sequence[Step]:
        """Every decision about calibrators, the first first."""
        ...

    def keep(self, folder: Path, comparison: JsonObject, lineage: JsonObject, by: Person) -> str:
        """Keep a fitted calibrator with what was compared and where it comes from; its name."""
        ...


class SettledLabels(Protocol):
    """A repository of what people said about claims."""

    def reviewed(self, project_id: int) -> Sequence[ReviewedClaim]:
        """The claims of a project whose annotations are all in."""
        ...


class TraceSplits(Protocol):
    """A repository of the side that each trace stands on."""

    def of(self, trace_ids: Collection[str]) -> Mapping[str, Split]:
        """The side of each of these traces; one without a side gets one."""
        ...


class GuidelineVersions(Protocol):
    """A repository of guidelines."""

    def versions(self) -> Sequence[Guideline]:
        """All versions, the first first."""
        ...


class ReaderInUse(Protocol):
    """What says which pair reader a database verifies with."""

    def current(self) -> CurrentReader:
        """What reads now."""
        ...


class RetrainingWorkspace(Protocol):
    """A database with labels, calibrators and stored answers."""

    @property
    def calibrators(self) -> KeptCalibrators:
        """Its calibrators."""
        ...

    @property
    def labels(self) -> SettledLabels:
        """What people said."""
        ...

    @property
    def splits(self) -> TraceSplits:
        """The sides of traces."""
        ...

    @property
    def guidelines(self) -> GuidelineVersions:
        """The guideline's versions."""
        ...

    @property
    def readers(self) -> ReaderInUse:
        """What reads."""
        ...

    @property
    def rescoring(self) -> RescoringStore:
        """The stored answers, to be decided again."""
        ...

    def project(self) -> Project:
        """The default project."""
        ...

    def run_versions(self) -> Mapping[str, Versions]:
        """What produced the verdicts: run key → versions."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraining:
    """The loop from labels back to decisions, on one database."""

    workspace: RetrainingWorkspace
    shipped_rows: Path = SHIPPED_ROWS

    def material(self) -> Material:
        """The settled claims of the default project by side; traces without a side get theirs."""
        project = self.workspace.project()
        reviewed = self.workspace.labels.reviewed(project.project_id)
        splits = self.workspace.splits.of({claim.trace_id for claim in reviewed})
        return gather(reviewed, splits, self.workspace.run_versions())

    def shipped(self) -> KeptRows | None:
        """The rows that the shipped calibrator was fitted on; None when they are not there.

        Nor where another reader reads: its labels and theirs would not be of one kind.
        """
        if self._reads_otherwise():
            return None
        try:
            return read_training_rows(self.shipped_rows)
        except ComponentUnavailable:
            return None

    def _reads_otherwise(self) -> bool:
        return self.workspace.readers.current().reader != BUNDLED

    def fit(self, user: Person, *, with_shipped: bool, progress: Progress = silent) -> str:
        """Fit, compare and keep a candidate; its name. It decides nothing until it is promoted.

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
        progress(2, 3, "keeping the candidate")
        with tempfile.TemporaryDirectory(prefix="provenanceguard-fit-") as folder:
            candidate.fitted.save(Path(folder))
            name = self.workspace.calibrators.keep(
                Path(folder), candidate.comparison, self._with_guidelines(candidate.lineage), user
            )
        progress(3, 3, "done")
        return name

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
