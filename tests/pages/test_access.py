"""Page by page: without a role nothing is shown or written, and an auditor writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import a_store
from opening import opened, titles
from reviewing import UNSUPPORTED, Office, an_office

from core.review.records import Role
from pages.widgets.plain import inert
from storage.store import SqlStore

PAGES = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "pages").glob("*.py")
    if path.stem != "__init__"
)
PICTURE = "![x](http://tracker.invalid/a.png) www.tracker.invalid :material/bolt: <img src=x>"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file, actor="test")


@pytest.fixture
def made(store: SqlStore) -> Office:
    made = an_office(store, traces=2, reads_per_claim=2)
    made.read("Ada", UNSUPPORTED, rationale="RATIONALE-OF-ADA")
    return made


def _everything(made: Office) -> int:
    return made.workspace.trail.length()


@pytest.mark.parametrize("page", PAGES)
def test_somebody_without_a_role_sees_and_writes_nothing(made: Office, page: str) -> None:
    people, lead = made.workspace.people, made.people["Lea"]
    local = people.local()
    for role in sorted(local.roles):
        people.revoke(local, role, by=lead, reason="has left")
    before = _everything(made)

    test = opened(page, trace="review-0001")

    assert titles(test) == ["You have no role here"]
    assert not [*test.dataframe, *test.metric, *test.caption, *test.markdown, *test.download_button]
    assert [each.key for each in test.button] in ([], ["logout"])
    assert _everything(made) == before


@pytest.mark.stress
@pytest.mark.parametrize("page", PAGES)
def test_an_auditor_opens_every_page_and_none_of_its_buttons_writes(
    made: Office, page: str
) -> None:
    otto = made.people["Otto"].person_id
    test = opened(page, otto, trace="review-0001")
    looked = ("verdict.opened", "packet.exported")
    keys = [each.key for each in test.button if not each.disabled and each.key]

    for key in keys:
        again = opened(page, otto, trace="review-0001")
        found = [each for each in again.button if each.key == key]
        for button in found[:1]:
            button.click().run()

    events = made.workspace.store.audit_events()
    assert not [one for one in events if one.actor == "Otto" and one.action not in looked]


@pytest.mark.stress
def test_a_person_named_like_a_picture_is_text_on_every_page(made: Office) -> None:
    named = made.workspace.people.add(PICTURE, {Role.LEAD, Role.REVIEWER}, by=made.people["Lea"])

    for page in PAGES:
        test = opened(page, named.person_id, trace="review-0001")
        markup = [
            *test.markdown, *test.caption, *test.title, *test.header, *test.subheader,
            *test.error, *test.warning, *test.info, *test.success, *test.toast, *test.button,
            *test.checkbox, *test.expander,
        ]  # fmt: skip
        for element in markup:
            shown = str(getattr(element, "value", "")) + str(getattr(element, "label", ""))
            assert "tracker.invalid" not in shown, page
        assert not [each for each in test.get("html") if "tracker.invalid" in each.proto.body]


def test_a_toast_with_a_name_is_inert(made: Office) -> None:
    test = opened("people", made.people["Lea"].person_id)
    test.text_input(key="new-name").input(PICTURE)
    test.button(key="add-person-button").click().run()

    (toast,) = test.toast
    assert toast.value == inert(f"{PICTURE} was added.")
    for live in ("![", "](", "http://", "www.", ":material/", " <img"):
        assert live not in toast.value
