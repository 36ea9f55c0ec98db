"""A small office for tests of review: verified traces in a real store, people, a project, a clock."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builders import a_source, a_trace
from databases import copied, workspace_of
from verdicts import Said, a_verification, fill

from core.records import VerdictLabel, Verification
from core.review.exchange import ReviewsPut
from core.review.items import DisagreementItem, ReviewItem
from core.review.records import (
    Annotation,
    Cause,
    Judgement,
    Person,
    Project,
    ProjectSettings,
    Role,
)
from core.workflows.label_import import LabelPlan, import_labels, plan_labels, read_labels
from storage.label_intake import LabelIntake
from storage.reviews import ReviewSession
from storage.store import SqlStore
from storage.workspace import Workspace

CHART_TEXT = (
    "Weight 71.4 kg. Blood pressure 128/76 mmHg. Potassium 4.6 mmol/L. "
    "Metformin 1,000 mg twice daily. No known allergies."
)
LITERATURE_TEXT = "In 3,730 adults the invented drug lowered the combined outcome."
SENTENCES = (
    ("Her weight is 71.4 kg.", "Weight 71.4 kg.", 0.97),
    ("Her blood pressure is 128/76 mmHg.", "Blood pressure 128/76 mmHg.", 0.70),
    ("Her potassium is 5.6 mmol/L.", "Potassium 4.6 mmol/L.", 0.40),
    ("She takes metformin 1,000 mg twice daily.", "Metformin 1,000 mg twice daily.", 0.66),
)
SUPPORTED = Judgement(support=VerdictLabel.SUPPORTED, source_id="chart", conflation=False)
UNSUPPORTED = Judgement(support=VerdictLabel.UNSUPPORTED, source_id=None, conflation=False)


def a_reviewed_trace(
    number: int, sentences: Sequence[tuple[str, str, float]] = SENTENCES, **more: object
) -> Verification:
    """A verified trace with one claim a sentence: (what is said, its premise, its probability)."""
    trace = a_trace(
        " ".join(sentence for sentence, _, _ in sentences),
        a_source(CHART_TEXT),
        a_source(LITERATURE_TEXT, source_id="literature", tool_name="search_literature"),
        trace_id=f"review-{number:04d}",
        **more,
    )
    said = [
        Said(
            said=sentence,
            verdict=VerdictLabel.SUPPORTED if probability >= 0.65 else VerdictLabel.UNSUPPORTED,
            source="chart",
            premise=premise,
            probability=probability,
            reasons=("Supported by chart.",) if probability >= 0.65 else ("Support is too low.",),
        )
        for sentence, premise, probability in sentences
    ]
    return a_verification(trace, {"chart": "patient_record", "literature": "literature"}, said)


@dataclass(slots=True)
class Clock:
    """A time that moves when a test says so."""

    at: datetime = field(default_factory=lambda: datetime(2026, 3, 2, 9, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        """The time it shows."""
        return self.at

    def advance(self, **by: float) -> None:
        """Move on, by ``timedelta``'s arguments."""
        self.at += timedelta(**by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """A store with people who review in one project."""

    workspace: Workspace
    clock: Clock
    project: Project
    people: Mapping[str, Person]

    @property
    def store(self) -> SqlStore:
        """Its traces and verdicts."""
        return self.workspace.store

    def desk(self, name: str) -> ReviewSession:
        """That person's desk."""
        return self.workspace.reviews(self.people[name])

    def read(
        self, name: str, judgement: Judgement = SUPPORTED, **more: object
    ) -> Annotation | None:
        """Let that person read their next claim, without haste; None when none is left."""
        item = self.desk(name).next_item()
        return None if item is None else self.decide(name, item, judgement, **more)

    def decide(
        self, name: str, item: ReviewItem, judgement: Judgement = SUPPORTED, **more: object
    ) -> Annotation:
        """Let that person decide the claim in their hands."""
        desk = self.desk(name)
        nonce = desk.show(item.assignment_id)
        self.clock.advance(seconds=5)
        return desk.annotate(item.assignment_id, nonce, judgement, **more)  # type: ignore[arg-type]

    def adjudicate(
        self,
        name: str,
        judgement: Judgement,
        cause: Cause = Cause.REVIEWER_ERROR,
        **more: object,
    ) -> DisagreementItem:
        """Let that person decide their next disagreement, without haste."""
        desk = self.desk(name)
        tie = desk.next_disagreement()
        assert tie is not None
        nonce = desk.show(tie.assignment_id)
        self.clock.advance(seconds=5)
        desk.adjudicate(tie, nonce, judgement, cause, **more)  # type: ignore[arg-type]
        return tie


def an_office(
    store: SqlStore,
    *,
    traces: int = 2,
    reviewers: Sequence[str] = ("Ada", "Ben", "Cleo"),
    adjudicators: Sequence[str] = ("Dora",),
    leading: Collection[str] = (),
    verifications: Sequence[Verification] | None = None,
    shipped: Path | None = None,
    **settings: object,
) -> Office:
    """An office in an empty store: ``Lea`` leads, ``Otto`` audits; four claims a trace.

    Reviewers named in ``leading`` lead as well, and so may see verdicts before they read.
    """
    clock = Clock()
    store = dataclasses.replace(store, now=clock)
    verifications = verifications or [a_reviewed_trace(n) for n in range(1, traces + 1)]
    workspace = workspace_of(store, shipped=shipped)
    asked = repr((store.actor, verifications, reviewers, adjudicators, leading, settings))
    keys = os.environ["PROVENANCEGUARD_KEYS"]
    with copied(store, f"{keys} {asked}") as made:
        if not made:
            fill(store, *verifications)
            made += _people_and_project(workspace, reviewers, adjudicators, leading, settings)
    people, project = made
    return Office(workspace=workspace, clock=clock, project=project, people=people)


def _people_and_project(
    workspace: Workspace,
    reviewers: Sequence[str],
    adjudicators: Sequence[str],
    leading: Collection[str],
    settings: Mapping[str, object],
) -> tuple[Mapping[str, Person], Project]:
    people = workspace.people
    local = people.local()
    lead = people.add("Lea", {Role.LEAD}, by=local)
    everybody = {"Lea": lead, "Otto": people.add("Otto", {Role.AUDITOR}, by=lead)}
    for name in reviewers:
        roles = {Role.REVIEWER, *([Role.LEAD] if name in leading else [])}
        everybody[name] = people.add(name, roles, by=lead)
    for name in adjudicators:
        everybody[name] = people.add(name, {Role.ADJUDICATOR}, by=lead)
    projects = workspace.projects
    project = projects.default()
    if settings:
        project = projects.change(
            project,
            ProjectSettings(**settings),  # type: ignore[arg-type]
            by=lead,
            reason="set up for a test",
        )
    return everybody, project


def labels_in(
    intake: LabelIntake, user: Person, table: str, annotator: str = "", *, pre_labels: bool = False
) -> tuple[LabelPlan, ReviewsPut]:
    """What a table of labels was to bring, and what it brought."""
    read = read_labels("labels.csv", table.encode())
    plan = plan_labels(intake, read, annotator, pre_labels=pre_labels)
    return plan, import_labels(intake, plan, user, pre_labels=pre_labels)


def problems_beside_the_clock(store: SqlStore) -> list[str]:
    """What the trail's check finds, but for a clock that goes back: an office's own stands still."""
    return [one for one in store.verify_chain().problems if "the clock went back" not in one]
