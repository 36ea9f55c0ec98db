"""Verb by verb: an auditor and somebody without a role write nothing, whatever record is in hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store
from reviewing import SUPPORTED, Office, an_office

from core.errors import InputError, NotAllowed
from core.records import IngestReport
from core.review.records import Person, Role
from core.workflows.verify import run_key
from storage.audit import PROGRAM_NAMES
from storage.people import local_name


@pytest.fixture
def made(tmp_path: Path) -> Office:
    return an_office(a_store(tmp_path / "w.db", actor="test"), traces=1, reads_per_claim=2)


def _gone(made: Office) -> Person:
    """Somebody who had every role, holds a record that says so, and has none now."""
    people, lead = made.workspace.people, made.people["Lea"]
    roles = {Role.REVIEWER, Role.ADJUDICATOR, Role.LEAD}
    gone = people.add("Gone", roles, by=lead)
    for role in roles:
        people.revoke(gone, role, by=lead, reason="has left")
    return gone


def _auditor(made: Office) -> Person:
    return dataclasses.replace(made.people["Otto"], roles=frozenset(Role))


def _import(made: Office, user: Person) -> None:
    store = made.workspace.written_by(user.name).store
    store.put_traces([a_trace("New.", a_source("New."), trace_id="new")])


def _report(made: Office, user: Person) -> None:
    empty = IngestReport(
        files=(), new=0, changed=0, unchanged=0, tools=(), skipped=(), skipped_count=0,
        without_answer=0, without_evidence=0,
    )  # fmt: skip
    made.workspace.written_by(user.name).store.put_import(empty)


def _verdicts(made: Office, user: Person) -> None:
    store = made.workspace.written_by(user.name).store
    stored = store.get_verdict("review-0001")
    versions = dataclasses.replace(stored.verification.versions, pipeline="another")
    told = dataclasses.replace(
        stored.verification, versions=versions, content_hash=stored.content_hash
    )
    store.put_verdicts(run_key(versions), [told])


def _read(made: Office, user: Person) -> None:
    made.workspace.people  # noqa: B018
    desk = made.people | {"desk": user}
    dataclasses.replace(made, people=desk).read("desk", SUPPORTED)


def _person(made: Office, user: Person) -> None:
    made.workspace.people.add("Somebody", {Role.LEAD}, by=user)


def _role(made: Office, user: Person) -> None:
    made.workspace.people.grant(user, Role.LEAD, by=user)


def _project(made: Office, user: Person) -> None:
    made.workspace.projects.change(
        made.project, dataclasses.replace(made.project.settings, reads_per_claim=1), by=user,
        reason="fewer",
    )  # fmt: skip


def _guideline(made: Office, user: Person) -> None:
    guidelines = made.workspace.guidelines
    guidelines.publish("Text", "Change", by=user, expected_version=guidelines.current().version)


def _sign(made: Office, user: Person) -> None:
    made.workspace.packet_signatures.lock("{}", "approval", by=user)


def _bring_reviews(made: Office, user: Person) -> None:
    made.workspace.packet_intake().allow_import(user)


VERBS = (_import, _report, _verdicts, _read, _person, _role, _project, _guideline, _sign,
         _bring_reviews)  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__.strip("_"))
@pytest.mark.parametrize("who", [_gone, _auditor], ids=["no role", "auditor"])
def test_it_is_refused_and_nothing_is_kept(
    made: Office, verb: Callable[[Office, Person], None], who: Callable[[Office], Person]
) -> None:
    user = who(made)
    before = made.workspace.trail.length(), made.workspace.store.count_traces()

    with pytest.raises(NotAllowed):
        verb(made, user)

    assert (made.workspace.trail.length(), made.workspace.store.count_traces()) == before


@pytest.mark.parametrize("name", sorted(PROGRAM_NAMES))
def test_nobody_is_called_what_the_program_writes_under(
    made: Office, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError):
        made.workspace.people.add(name, {Role.LEAD}, by=made.people["Lea"])
    monkeypatch.setenv("PROVENANCEGUARD_KEYS", str(tmp_path))
    (tmp_path / "user").write_text(name)
    (tmp_path / "user").chmod(0o600)
    assert local_name() not in PROGRAM_NAMES
