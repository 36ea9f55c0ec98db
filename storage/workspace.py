"""Workspace: one database, opened once, with a repository for each noun that it keeps.

A workflow says as a Protocol which of these it needs and is given the workspace itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from core.records import Versions
from core.review.calibrators import CalibratorFiles
from core.review.records import Person, Project
from storage.calibrators import Calibrators, NliModels
from storage.engine import ENVIRONMENT_VARIABLE
from storage.guidelines import Guidelines
from storage.jobs import Jobs
from storage.judges import Judges
from storage.label_intake import LabelIntake
from storage.labels import Labels
from storage.packet_intake import PacketIntake
from storage.packets import Packets, PacketSignatures
from storage.people import People
from storage.pre_labels import PreLabels
from storage.preferences import KeyBindings, WordLists
from storage.projects import Projects
from storage.repairs import Repairs
from storage.reviews import ReviewSession
from storage.rounds import Rounds
from storage.splits import Splits
from storage.store import Rescoring, SqlStore, open_store
from storage.trail import Trail
from storage.triage import Triage


def open_workspace(
    given: str | None = None, *, actor: str = "local", files: CalibratorFiles
) -> Workspace:
    """The workspace at ``given`` (a file or URL), else at PROVENANCEGUARD_DB, else data/workbench.db.

    Creates or upgrades the schema. Raises ConfigError, ComponentUnavailable, StoreError.
    """
    return Workspace(store=open_store(given, actor=actor), files=files)


class _OnAStore(Protocol):
    def __init__(self, *, store: SqlStore) -> None: ...


Kind = TypeVar("Kind", bound=_OnAStore)


class _Repository(Generic[Kind]):
    """An attribute of a workspace: the repository of that kind on its store."""

    def __init__(self, kind: type[Kind]) -> None:
        self.kind = kind

    def __get__(self, workspace: Workspace, _owner: type) -> Kind:
        return self.kind(store=workspace.store)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The repositories of one database; ``files`` reads folders of calibrators for one of them."""

    store: SqlStore
    files: CalibratorFiles

    @property
    def name(self) -> str:
        """Where the data is, without a password."""
        return self.store.name

    @property
    def data_folder(self) -> Path:
        """Where files about this database lie: beside its file, or in the project's data folder."""
        return self.store.database.folder

    @property
    def environment(self) -> Mapping[str, str]:
        """What tells another process of this program to open the same database."""
        url = self.store.database.engine.url
        return {ENVIRONMENT_VARIABLE: url.render_as_string(hide_password=False)}

    def written_by(self, actor: str) -> Workspace:
        """The same database; the trail names ``actor`` for what is written through it."""
        return replace(self, store=replace(self.store, actor=actor))

    def close(self) -> None:
        """Give the connections back."""
        self.store.close()

    # ------------------------------------------------------------ one repository a noun

    guidelines = _Repository(Guidelines)  # the guideline's versions
    jobs = _Repository(Jobs)  # the traces that wait for workers
    key_bindings = _Repository(KeyBindings)  # which keys people chose for themselves
    judges = _Repository(Judges)  # the language model that is asked too, if any
    labels = _Repository(Labels)  # what people said about claims, and what stands
    packet_signatures = _Repository(PacketSignatures)  # who has signed which packet
    people = _Repository(People)  # the users and their roles
    pre_labels = _Repository(
        PreLabels
    )  # what two judges said of claims, for after one's own answer
    projects = _Repository(Projects)  # how claims are reviewed
    repairs = _Repository(Repairs)  # repairs of answers, and which edits people chose
    rescoring = _Repository(Rescoring)  # the stored answers, to be decided again
    rounds = _Repository(Rounds)  # agreement rounds, and what was said in them
    splits = _Repository(Splits)  # the side that each trace stands on
    trail = _Repository(Trail)  # the audit trail as people read it
    triage = _Repository(Triage)  # what people say of traces, who reads which first, and what goes
    word_lists = _Repository(WordLists)  # which words people want lit

    @property
    def calibrators(self) -> Calibrators:
        """Fitted calibrators, and which one is active."""
        return Calibrators(store=self.store, files=self.files)

    @property
    def nli_models(self) -> NliModels:
        """Which NLI model was chosen."""
        return NliModels(store=self.store, calibrators=self.calibrators)

    def packets(self) -> Packets:
        """The packets of the project."""
        return Packets(store=self.store, project=self.project())

    def packet_intake(self) -> PacketIntake:
        """Where packets are imported to."""
        return PacketIntake(store=self.store, project=self.project())

    def label_intake(self) -> LabelIntake:
        """Where labels are imported to."""
        return LabelIntake(store=self.store, project=self.project())

    def reviews(self, user: Person) -> ReviewSession:
        """What that person does with claims: assignments and annotations."""
        return ReviewSession(store=self.store, project=self.project(), user=user)

    # ------------------------------------------------------------ read across repositories

    def project(self) -> Project:
        """The project."""
        return self.projects.default()

    def run_versions(self) -> Mapping[str, Versions]:
        """What produced the verdicts: run key → versions."""
        return {run.run_key: run.versions for run in self.store.runs()}
