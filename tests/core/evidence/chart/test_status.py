"""Triggers and status codes: every lexicon entry holds for its example and leaves its counter alone."""

import tomllib
from importlib import resources

import pytest

from core.evidence.chart.records import Status, Subject
from core.evidence.chart.status import standing, status_of_code
from core.records import Span

SCOPES = tomllib.loads(
    resources.files("core.evidence.chart").joinpath("lexicons/scopes.toml").read_text("utf-8")
)["scope"]


def _standing(marked: str):
    start, end = marked.index("["), marked.index("]")
    return standing(marked.replace("[", "").replace("]", ""), Span(start=start, end=end - 1))


def _said(scope, key):
    found = _standing(scope[key])
    return found.subject.value if "subject" in scope else found.status.value


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope["example"])
def test_a_trigger_reaches_the_name_of_its_example(scope):
    assert _said(scope, "example") == scope.get("status", scope.get("subject"))


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope["counter"])
def test_a_trigger_leaves_the_name_of_its_counter_example_alone(scope):
    assert _said(scope, "counter") != scope.get("status", scope.get("subject"))


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("entered-in-error", Status.ERROR),
        ("on-hold", Status.ON_HOLD),
        ("not-taken", Status.CANCELLED),
        ("refuted", Status.ABSENT),
        ("Ruled out", Status.ABSENT),
        ("provisional", Status.UNCERTAIN),
        ("remission", Status.PAST),
        ("active", Status.ACTIVE),
        ("a colour", None),
    ],
)
def test_status_codes_of_records(code, status):
    assert status_of_code(code) is status


def test_a_later_restart_overrules_a_stop_and_a_confirmation_a_suspicion():
    restarted = _standing("[Metoprolol] was stopped in May and restarted in June.")
    confirmed = _standing("[Sarcoidosis] was suspected and later confirmed.")

    assert restarted.status is Status.ACTIVE
    assert confirmed.status is Status.ACTIVE


def test_somebody_who_reports_an_illness_does_not_have_it():
    reported = _standing("Her mother reports that she has [eczema].")

    assert reported.subject is Subject.PATIENT


def test_a_passive_is_not_said_of_the_name_behind_it():
    after = _standing("Potassium chloride was stopped when [spironolactone] was started.")
    before = _standing("[Potassium chloride] was stopped when spironolactone was started.")

    assert (after.status, before.status) == (Status.UNSTATED, Status.PAST)
