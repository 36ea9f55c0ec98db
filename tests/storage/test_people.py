"""People, roles, settings and the guideline, on both engines: who may change what, and how it is told."""

from __future__ import annotations

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from databases import workspace_of
from reviewing import an_office

from core.errors import ConfigError, Conflict, InputError, NotAllowed, NotFound
from core.review.records import ProjectSettings, Role
from storage.checking import check_database
from storage.guidelines import SHIPPED
from storage.people import FIRST_LEAD
from storage.store import SqlStore


def test_a_machine_without_login_has_one_person_who_may_do_everything_but_audit(
    store: SqlStore,
) -> None:
    people = workspace_of(store).people

    local = people.local()

    assert local == people.local()
    assert people.everybody() == (local,)
    assert local.roles == frozenset(Role) - {Role.AUDITOR}
    assert local.active


def test_people_are_found_by_name_and_by_email_in_any_case(store: SqlStore) -> None:
    people = workspace_of(store).people
    ada = people.add("  Ada   Okafor ", {Role.REVIEWER}, by=people.local(), email="Ada@Example.org")

    assert ada.name == "Ada Okafor"
    assert people.by_name("Ada Okafor") == people.by_email("ADA@example.ORG ") == ada
    with pytest.raises(NotFound):
        people.by_name("Ada")
    with pytest.raises(NotFound):
        people.by_email("ben@example.org")


def test_a_name_and_an_email_belong_to_one_person(store: SqlStore) -> None:
    people = workspace_of(store).people
    lead = people.local()
    people.add("Ada", {Role.REVIEWER}, by=lead, email="ada@example.org")
    people.add("Cleo", {Role.REVIEWER}, by=lead)

    with pytest.raises(Conflict, match="Ada"):
        people.add("Ada", {Role.LEAD}, by=lead)
    with pytest.raises(Conflict, match="Ada"):
        people.add("Ben", {Role.LEAD}, by=lead, email="ADA@example.org")
    for name in ("", " \n", "x" * 201, "Ada\u200b", "\u202eadA", "Ada\x1b[2J"):
        with pytest.raises(InputError):
            people.add(name, set(), by=lead)
    with pytest.raises(InputError, match="email"):
        people.add("Ben", set(), by=lead, email="not an address")

    assert len(people.everybody()) == 3


def test_only_a_lead_changes_people_settings_and_the_guideline(store: SqlStore) -> None:
    office = an_office(store)
    people, projects = office.workspace.people, office.workspace.projects
    before = len(office.store.audit_events())

    for name in ("Ada", "Dora", "Otto"):
        who = office.people[name]
        for write in (
            lambda who=who: people.add("Eve", {Role.LEAD}, by=who),
            lambda who=who: people.grant(who, Role.LEAD, by=who),
            lambda who=who: people.revoke(office.people["Lea"], Role.LEAD, by=who, reason="no"),
            lambda who=who: projects.change(
                office.project, ProjectSettings(reads_per_claim=2), by=who, reason="no"
            ),
            lambda who=who: office.workspace.guidelines.publish(
                "x", "y", by=who, expected_version=1
            ),
        ):
            with pytest.raises(NotAllowed):
                write()

    assert len(office.store.audit_events()) == before


def test_roles_come_and_go_and_every_step_is_an_event_with_its_reason(store: SqlStore) -> None:
    people = workspace_of(store).people
    lead = people.local()
    ada = people.add("Ada", {Role.REVIEWER}, by=lead)

    both = people.grant(ada, Role.ADJUDICATOR, by=lead)
    again = people.grant(ada, Role.ADJUDICATOR, by=lead)
    neither = people.revoke(
        people.revoke(both, Role.REVIEWER, by=lead, reason="on leave"),
        Role.ADJUDICATOR,
        by=lead,
        reason="on leave",
    )

    assert both.roles == again.roles == {Role.REVIEWER, Role.ADJUDICATOR}
    assert neither.roles == frozenset()
    assert not neither.active
    assert people.by_name("Ada") == neither
    with pytest.raises(InputError, match="reason"):
        people.revoke(ada, Role.REVIEWER, by=lead, reason="")
    told = [event for event in store.audit_events() if event.action == "role.revoked"]
    assert [json.loads(event.detail)["reason"] for event in told] == ["on leave"] * 2
    assert json.loads(told[-1].detail)["from"] == ["adjudicator", "reviewer"]
    assert json.loads(told[-1].detail)["to"] == ["adjudicator"]
    assert store.verify_chain().problems == ()


def test_the_last_lead_stays_lead(store: SqlStore) -> None:
    people = workspace_of(store).people
    first = people.local()

    with pytest.raises(NotAllowed, match="only lead"):
        people.revoke(first, Role.LEAD, by=first, reason="tired")
    second = people.add("Lea", {Role.LEAD}, by=first)

    assert Role.LEAD not in people.revoke(first, Role.LEAD, by=second, reason="tired").roles


def test_settings_changed_by_two_leads_at_once_are_changed_once(store: SqlStore) -> None:
    office = an_office(store)
    projects, lead = office.workspace.projects, office.people["Lea"]
    wanted = dataclasses.replace(office.project.settings, dwell_milliseconds=900)

    changed = projects.change(office.project, wanted, by=lead, reason="too hasty")
    with pytest.raises(Conflict, match="somebody else"):
        projects.change(office.project, ProjectSettings(), by=lead, reason="too slow")
    same = projects.change(changed, wanted, by=lead, reason="again")

    assert changed.settings == wanted == projects.default().settings
    assert same.version == changed.version == office.project.version + 1
    event = office.store.audit_events(limit=1)[0]
    assert json.loads(event.detail) == {
        "from": {"dwell_milliseconds": 700},
        "to": {"dwell_milliseconds": 900},
        "reason": "too hasty",
    }
    with pytest.raises(InputError, match="reason"):
        projects.change(changed, ProjectSettings(), by=lead, reason="")


def test_the_guideline_is_never_changed_only_followed_by_another_version(store: SqlStore) -> None:
    office = an_office(store)
    guidelines, lead = office.workspace.guidelines, office.people["Lea"]
    assert guidelines.current() == SHIPPED
    first = office.read("Ada")

    new = guidelines.publish("1. Only this.", "Simpler.", by=lead, expected_version=1)
    with pytest.raises(Conflict, match="version 2"):
        guidelines.publish("1. Not this.", "Other.", by=lead, expected_version=1)
    for text, change in (("", "Why."), ("1. What.", " ")):
        with pytest.raises(InputError):
            guidelines.publish(text, change, by=lead, expected_version=2)
    second = office.read("Ada")

    assert first is not None
    assert second is not None
    assert (first.guideline_version, second.guideline_version) == (1, 2)
    assert guidelines.current() == new
    assert [version.text for version in guidelines.versions()] == [SHIPPED.text, "1. Only this."]
    assert office.store.verify_chain().problems == ()


def test_the_shipped_guideline_numbers_its_rules() -> None:
    lines = SHIPPED.text.strip().splitlines()

    assert [line.split(". ")[0] for line in lines] == [str(n) for n in range(1, len(lines) + 1)]


# ---------------------------------------------------------------- who leads first, where people log in


def test_nobody_becomes_lead_by_being_the_first_to_log_in(store: SqlStore) -> None:
    people = workspace_of(store).people

    with pytest.raises(NotFound):
        people.of_login("ada@example.org", "Ada")

    assert people.everybody() == ()
    assert not people.led_by_login()


def test_the_address_that_the_operator_named_becomes_lead_once_and_the_trail_says_why(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = workspace_of(store).people
    monkeypatch.setenv(FIRST_LEAD, " Ada@Example.org ")

    with pytest.raises(NotFound):
        people.of_login("eve@example.org", "Ada")
    ada = people.of_login("ADA@example.org", "Ada Okafor")

    assert (ada.name, ada.email, ada.roles) == ("Ada Okafor", "ada@example.org", {Role.LEAD})
    assert people.of_login("ada@example.org", "Another Name") == ada
    assert people.led_by_login()
    granted, added = store.audit_events(limit=2)
    assert (added.action, granted.action) == ("person.added", "role.granted")
    assert FIRST_LEAD in json.loads(granted.detail)["reason"]
    assert len(store.audit_events()) == 2
    assert store.verify_chain().problems == ()


def test_once_somebody_with_a_login_leads_the_variable_gives_nothing(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = workspace_of(store).people
    monkeypatch.setenv(FIRST_LEAD, "ada@example.org")
    ada = people.of_login("ada@example.org", "Ada")
    ben = people.add("Ben", {Role.REVIEWER}, by=ada, email="ben@example.org")
    lea = people.add("Lea", {Role.LEAD}, by=ada, email="lea@example.org")
    people.revoke(ada, Role.LEAD, by=lea, reason="moved on")

    monkeypatch.setenv(FIRST_LEAD, "ben@example.org")

    assert people.of_login("ben@example.org").roles == ben.roles
    assert people.of_login("ada@example.org").roles == frozenset()
    with pytest.raises(NotFound):
        people.of_login("eve@example.org")


def test_the_profile_of_a_machine_without_login_keeps_nobody_from_leading_after_it(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = workspace_of(store).people
    local = people.local()
    monkeypatch.setenv(FIRST_LEAD, "ada@example.org")

    ada = people.of_login("ada@example.org", local.name)

    assert ada.name == "ada@example.org"  # the name is the local profile's
    assert Role.LEAD in ada.roles
    assert people.by_name(local.name) == local


def test_somebody_who_is_here_already_is_made_lead_and_stays_who_they_are(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = workspace_of(store).people
    ben = people.add("Ben", {Role.REVIEWER}, by=people.local(), email="ben@example.org")
    monkeypatch.setenv(FIRST_LEAD, "ben@example.org")

    lead = people.of_login("ben@example.org", "Somebody Else")

    assert (lead.person_id, lead.name) == (ben.person_id, "Ben")
    assert lead.roles == {Role.REVIEWER, Role.LEAD}


def test_a_variable_that_holds_no_address_is_said_and_makes_nobody_lead(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIRST_LEAD, "ada")

    with pytest.raises(ConfigError, match=FIRST_LEAD):
        workspace_of(store).people.of_login("ada@example.org", "Ada")

    assert workspace_of(store).people.everybody() == ()


def test_two_tabs_of_the_first_lead_make_one_person(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FIRST_LEAD, "ada@example.org")
    people = workspace_of(store).people

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: people.of_login("ada@example.org", "Ada"), range(4)))

    assert set(found) == {people.by_name("Ada")}
    assert len(people.everybody()) == 1


def test_a_lead_names_anybody_on_the_pages_and_what_is_recorded_stays(store: SqlStore) -> None:
    office = an_office(store)
    people, lea, ada = office.workspace.people, office.people["Lea"], office.people["Ada"]

    named = people.show_as(lea, "  Dr Lea  Roth ", by=lea)

    assert (named.name, named.shown) == ("Lea", "Dr Lea Roth")
    assert people.by_name("Lea") == people.at(lea.person_id) == named
    event = office.store.audit_events()[0]
    assert (event.actor, event.action) == ("Lea", "person.shown_as")
    assert json.loads(event.detail) == {"from": "Lea", "to": "Dr Lea Roth"}
    assert check_database(store.database).problems == ()
    for taken in (
        lambda: people.show_as(ada, "Dr Lea Roth", by=named),
        lambda: people.show_as(ada, "Ben", by=named),
        lambda: people.add("Dr Lea Roth", (), by=named),
    ):
        with pytest.raises(Conflict, match="is here already"):
            taken()
    with pytest.raises(NotAllowed):
        people.show_as(ada, "Ada Okafor", by=ada)
    assert people.show_as(lea, "Lea", by=named).shown_as is None


def test_whoever_is_erased_leaves_no_name_that_pages_ever_called_them(store: SqlStore) -> None:
    people = workspace_of(store).people
    lead = people.local()
    ada, ben = people.add("Ada", (), by=lead), people.add("Ben", (), by=lead)
    for name in ("Mrs Okafor", "Dr Okafor"):
        people.show_as(ada, name, by=lead)
    people.show_as(ben, "Mrs Okafor", by=lead)

    people.erase(people.at(ada.person_id), "she asked for it", by=lead)

    assert people.at(ada.person_id).shown == f"person {ada.person_id} (erased)"
    assert people.at(ben.person_id).shown == "Mrs Okafor"
    details = " ".join(event.detail for event in store.audit_events())
    assert "Dr Okafor" not in details
    assert check_database(store.database).problems == ()


def test_a_name_that_somebody_brings_along_is_shown_as_nobody_elses(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = workspace_of(store).people
    lead = people.local()
    ada = people.show_as(people.add("Ada", (), by=lead), "Dr Okafor", by=lead)
    people.show_as(lead, "Head", by=lead)
    monkeypatch.setenv(FIRST_LEAD, "head@example.org")

    other = people.add_from_packet("Dr Okafor", None, by=lead)
    people.of_login("head@example.org", "Head")

    assert [each.shown for each in people.everybody()] == [lead.name, "Ada", "Dr Okafor", "Head"]
    assert check_database(store.database).problems == ()
    people.erase(other, "asked for", by=people.at(lead.person_id))
    people.erase(people.at(ada.person_id), "asked for", by=people.at(lead.person_id))
    assert "Okafor" not in " ".join(event.detail for event in store.audit_events())


def test_whoever_was_called_as_a_role_is_erased_and_roles_stay_told(store: SqlStore) -> None:
    people = workspace_of(store).people
    lead = people.local()
    ada = people.add("reviewer", (), by=lead)
    people.add("Ben", {Role.REVIEWER}, by=lead)

    people.erase(ada, "she asked for it", by=lead)

    told = [json.loads(each.detail) for each in store.audit_events()]
    assert {"name": "person 2 (erased)"} in told
    roles = [(each["role"], *each["to"]) for each in told if "role" in each]
    assert roles[0] == ("reviewer", "reviewer")
    assert check_database(store.database).problems == ()
