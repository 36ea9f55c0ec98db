"""Every verb by which somebody writes × everybody: refused where data is written, and nothing is kept."""

from __future__ import annotations

import dataclasses
import inspect
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from databases import a_store, in_one_file, workspace_of
from reviewing import SUPPORTED, UNSUPPORTED, Clock, Office, an_office, labels_in

from core.errors import ProvenanceGuardError
from core.review.items import Draft
from core.review.records import Cause, Person, Role, Split
from storage.reviews import ReviewSession
from storage.triage import MarkKind

REPOSITORIES = (
    "guidelines", "judges", "key_bindings", "label_intake", "nli_models", "packet_intake",
    "packet_signatures", "people", "pre_labels", "projects", "reviews", "rounds", "triage", "word_lists",
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An office in the middle of its work: a claim in Ada's hands, a disagreement in Dora's."""

    office: Office
    file: Path
    held: int
    nonce: str
    tie: Any
    tie_nonce: str


# What tells somebody what they may see, writes what only concerns their own view, or is tried with an
# endpoint, weights and rows of its own (test_judges, test_calibrators, test_pre_labels).
ELSEWHERE = {
    "judges.choose", "key_bindings.of", "label_intake.begun",
    "label_intake.put_pre_labels", "nli_models.choose", "pre_labels.put", "reviews.has_opened",
    "reviews.load_draft", "reviews.mine", "reviews.open_assignments", "reviews.open_verdict",
    "reviews.progress", "rounds.candidates", "rounds.labels", "rounds.next_item", "rounds.label",
    "triage.decided",
    "triage.reopen", "triage.turn_to", "word_lists.of", "packet_intake.allow_import",
    "packet_intake.put_reviews", "reviews.reveal", "reviews.revise",
}  # fmt: skip
TRACES = ["review-0002"]
A_LABEL = "trace_id,claim,label\nreview-0005,{},contradicted\n"
EVERY = [f"review-000{number}" for number in range(1, 6)]  # what nobody has judged goes
LEAD, TEAM = ("Lea",), ("Ada", "Dora", "Lea")
# Who may (the first of them does), and how: given the repository, the desk and the person.
VERBS: dict[str, tuple[tuple[str, ...], Callable[[Any, Desk, Person], object]]] = {
    "guidelines.publish": (LEAD, lambda r, d, u: r.publish(
        "Text", "Change", by=u, expected_version=r.current().version)),
    "key_bindings.bind": ((*TEAM, "Otto"), lambda r, d, u: r.bind({"keep": "M"}, by=u)),
    "label_intake.put_annotations": (LEAD, lambda r, d, u: labels_in(
        r, u, A_LABEL.format("Her potassium is 5.6 mmol/L."), "Visitor")),
    "label_intake.withdraw": (LEAD, lambda r, d, u: r.withdraw(r.imports()[0].key, by=u)),
    "packet_intake.put_splits": (LEAD, lambda r, d, u: r.put_splits(
        {"review-0001": Split.TRAIN}, by=u)),
    "packet_intake.take_unsigned": (LEAD, lambda r, d, u: r.take_unsigned(u, "sha256:1", "so")),
    "packet_signatures.lock": (LEAD, lambda r, d, u: r.lock("{}", "approval", by=u)),
    "packet_signatures.unlock": (LEAD, lambda r, d, u: r.unlock(
        r.signed()[0].manifest_sha256, "wrong", by=u)),
    "people.add": (LEAD, lambda r, d, u: r.add("Somebody", {Role.LEAD}, by=u)),
    "people.add_from_packet": (LEAD, lambda r, d, u: r.add_from_packet("Guest", None, by=u)),
    "people.erase": (LEAD, lambda r, d, u: r.erase(r.by_name("Gone"), "asked for it", by=u)),
    "people.grant": (LEAD, lambda r, d, u: r.grant(d.office.people["Ben"], Role.LEAD, by=u)),
    "people.revoke": (LEAD, lambda r, d, u: r.revoke(
        d.office.people["Ben"], Role.REVIEWER, by=u, reason="has left")),
    "people.show_as": (LEAD, lambda r, d, u: r.show_as(d.office.people["Ben"], "Dr Roth", by=u)),
    "projects.change": (LEAD, lambda r, d, u: r.change(
        d.office.project, dataclasses.replace(d.office.project.settings, lease_minutes=7), by=u,
        reason="so")),
    "reviews.adjudicate": (("Dora",), lambda r, d, u: r(u).adjudicate(
        d.tie, d.tie_nonce, UNSUPPORTED, Cause.GUIDELINE_GAP)),
    "reviews.annotate": (("Ada",), lambda r, d, u: r(u).annotate(
        d.held, d.nonce, SUPPORTED, rationale="so")),
    "reviews.decline": (("Ada",), lambda r, d, u: r(u).decline(d.held, "a friend", d.nonce)),
    "reviews.next_disagreement": (("Dora",), lambda r, d, u: r(u).next_disagreement()),
    "reviews.next_item": (("Cleo", "Ada"), lambda r, d, u: r(u).next_item()),
    "reviews.release": (LEAD, lambda r, d, u: r(u).release(d.held, "is away")),
    "reviews.save_draft": (("Ada",), lambda r, d, u: r(u).save_draft(
        d.held, Draft(rationale="half"), d.nonce)),
    "reviews.show": (("Ada",), lambda r, d, u: r(u).show(d.held)),
    "reviews.undo": (("Ada",), lambda r, d, u: r(u).undo()),
    "rounds.begin": (LEAD, lambda r, d, u: r.begin(
        [d.office.people["Ben"], d.office.people["Cleo"]], by=u, count=1)),
    "rounds.close": (LEAD, lambda r, d, u: r.close(by=u)),
    "triage.assign": (LEAD, lambda r, d, u: r.assign(
        TRACES, d.office.people["Ben"], by=u)),
    "triage.erase": (LEAD, lambda r, d, u: r.erase(EVERY, "asked for it", by=u)),
    "triage.erase_file": (LEAD, lambda r, d, u: r.erase_file("none", "asked for it", by=u)),
    "triage.mark": (TEAM, lambda r, d, u: r.mark(TRACES, MarkKind.TAG, "weights", by=u)),
    "triage.unassign": (LEAD, lambda r, d, u: r.unassign(TRACES, by=u)),
    "word_lists.keep_for_project": (LEAD, lambda r, d, u: r.keep_for_project(
        ["insulin"], by=u)),
    "word_lists.keep_own": (TEAM, lambda r, d, u: r.keep_own(["metformin"], by=u)),
}  # fmt: skip


def _repository(office: Office, name: str) -> Any:
    found = getattr(office.workspace, name)
    return found() if name in ("packet_intake", "label_intake") else found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    file = tmp_path_factory.mktemp("who") / "w.db"
    office = an_office(a_store(file, actor="test"), traces=5, reads_per_claim=2)
    for _ in range(2):  # of the first two traces at most: the third is nobody's
        office.read("Ada", SUPPORTED)
        office.read("Ben", UNSUPPORTED)
    work, lea = office.workspace, office.people["Lea"]
    tie, held = office.desk("Dora").next_disagreement(), office.desk("Ada").next_item()
    assert tie is not None and held is not None
    tie_nonce, nonce = office.desk("Dora").show(tie.assignment_id), office.desk("Ada").show(
        held.assignment_id
    )  # fmt: skip
    office.clock.advance(seconds=9)
    work.packet_signatures.lock("{}", "review", by=lea)
    labels_in(work.label_intake(), lea, A_LABEL.format("Her weight is 71.4 kg."), "Visitor")
    gone = work.people.add("Gone", {Role.LEAD}, by=lea)
    work.people.revoke(gone, Role.LEAD, by=lea, reason="has left")
    # Their records in hand say that they may do anything: what counts is what stands in the database.
    for name, person in (("Otto", office.people["Otto"]), ("Gone", gone)):
        office.people[name] = dataclasses.replace(person, roles=frozenset(Role))  # type: ignore[index]
    in_one_file(office.store)
    return Desk(office=office, file=file, held=held.assignment_id, nonce=nonce, tie=tie,
                tie_nonce=tie_nonce)  # fmt: skip


def test_every_verb_that_takes_a_person_is_tried_here_or_named(built: Desk) -> None:
    found = {
        f"{name}.{verb}"
        for name in REPOSITORIES
        for verb, call in inspect.getmembers(
            ReviewSession if name == "reviews" else type(_repository(built.office, name)),
            inspect.isfunction,
        )
        if not verb.startswith("_")
        and (name == "reviews" or "Person" in str(inspect.signature(call).parameters.values()))
    }

    assert found - ELSEWHERE == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_whoever_may_not_is_refused_and_nothing_is_kept(
    built: Desk, tmp_path: Path, verb: str
) -> None:
    copy = tmp_path / "w.db"
    shutil.copy(built.file, copy)
    store = dataclasses.replace(a_store(copy, actor="test"), now=Clock(at=built.office.clock()))
    office = dataclasses.replace(built.office, workspace=workspace_of(store))
    desk, (may, call) = dataclasses.replace(built, office=office), VERBS[verb]
    repository = _repository(office, verb.partition(".")[0])
    if verb == "rounds.close":
        office.workspace.rounds.begin([office.people["Ben"], office.people["Cleo"]],
                                      by=office.people["Lea"], count=1)  # fmt: skip
    before = _everything(copy)

    for name in ("Ada", "Dora", "Lea", "Otto", "Gone"):
        if name not in may:
            with pytest.raises(ProvenanceGuardError):
                call(repository, desk, office.people[name])
            assert _everything(copy) == before, name

    call(repository, desk, office.people[may[0]])
    assert verb == "triage.erase_file" or _everything(copy) != before


def _everything(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return list(database.iterdump())
