"""Retraining: from a store's labels to a candidate, to what decides, to every stored answer.

Who may do it is asked in the transaction that writes it down.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.attribution.families import load_families
from core.calibration.rows import SHIPPED_ROWS, KeptRows, read_training_rows
from core.config import Config
from core.errors import ComponentUnavailable, InputError
from core.models.loading import BUNDLED
from core.ports import Progress
from core.records import JsonObject
from core.review.items import Guideline
from core.review.records import Person, Role
from core.review.roles import require
from core.workflows.rescore import RescoreReport, rescore_stored
from core.workflows.retrain import Material, fit_candidate, gather
from core.workflows.verify import silent
from storage.calibrators import Calibrators
from storage.guidelines import Guidelines
from storage.labels import Labels
from storage.projects import Projects
from storage.readers import Readers
from storage.rescoring import Rescoring
from storage.splits import Splits
from storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraining:
    """The loop from labels back to decisions, on one store."""

    store: SqlStore
    calibrators: Calibrators
    shipped_rows: Path = SHIPPED_ROWS

    def material(self) -> Material:
        """The settled claims of the default project by side; traces without a side get theirs."""
        project = Projects(store=self.store).default()
        reviewed = Labels(store=self.store).reviewed(project.project_id)
        splits = Splits(store=self.store).of({claim.trace_id for claim in reviewed})
        runs = {run.run_key: run.versions for run in self.store.runs()}
        return gather(reviewed, splits, runs)

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
        return Readers(store=self.store).current().reader != BUNDLED

    def fit(self, who: Person, *, with_shipped: bool, progress: Progress = silent) -> str:
        """Fit, compare and keep a candidate; its name. It decides nothing until it is promoted.

        Raises NotAllowed, and InputError naming the labels that are missing.
        """
        require(who.name, who.roles, Role.LEAD, "fit a calibrator")
        progress(0, 3, "collecting labels")
        material = self.material()
        if with_shipped and self._reads_otherwise():
            raise InputError("the shipped rows were read by the bundled reader: fit without them")
        shipped = read_training_rows(self.shipped_rows) if with_shipped else None
        progress(1, 3, "growing the forest")
        candidate = fit_candidate(material, shipped, self.calibrators.forest())
        progress(2, 3, "keeping the candidate")
        with tempfile.TemporaryDirectory(prefix="provenanceguard-fit-") as folder:
            candidate.fitted.save(Path(folder))
            name = self.calibrators.keep(
                Path(folder), candidate.comparison, self._with_guidelines(candidate.lineage), who
            )
        progress(3, 3, "done")
        return name

    def waiting(self) -> int:
        """How many stored answers were decided by another calibrator than the one in force."""
        return Rescoring(store=self.store).count_to_rescore(self.calibrators.current().label)

    def rescore(self, config: Config, progress: Progress = silent) -> RescoreReport:
        """Decide every stored answer again by what is in force, from stored features."""
        return rescore_stored(
            Rescoring(store=self.store),
            self.calibrators.forest(),
            load_families(),
            config,
            progress,
        )

    def lineage(self, name: str) -> JsonObject:
        """The lineage of one calibrator with every decision about it; raises NotFound."""
        kept = self.calibrators.kept(name)
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
                for step in self.calibrators.steps()
                if step.calibrator == name
            ],
        }

    def _with_guidelines(self, lineage: JsonObject) -> JsonObject:
        """The lineage with who wrote each guideline version that its labels were given under."""
        versions = {one.version: one for one in Guidelines(store=self.store).versions()}
        entries = lineage["guideline"]
        assert isinstance(entries, list)
        return {**lineage, "guideline": [_entry(entry, versions) for entry in entries]}


def _entry(entry: Mapping[str, int], versions: Mapping[int, Guideline]) -> JsonObject:
    found = versions.get(entry["version"])
    if found is None:
        return dict(entry)
    return {**entry, "author": found.author, "change": found.change, "at": found.at.isoformat()}


def lineage_json(lineage: JsonObject) -> str:
    """The lineage as it is exported."""
    return json.dumps(lineage, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
