"""Every page is drawn whole in every state: nothing ticked, one, many; for whoever works there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from databases import a_store, in_one_file, workspace_of
from evaluations import keep_evaluated
from opening import browser_sent, opened, row_chosen, ticked, views
from repaired import blocked, repaired
from reviewing import SUPPORTED, UNSUPPORTED, an_office
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from core.review.records import Cause
from storage.workspace import Workspace

PAGES = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "pages").glob("*.py")
    if path.stem != "__init__"
)
ONE = ButtonGroup.SINGLE_SELECT
LIST, REPAIRED = "provenanceguard_traces", "rep-1"
BY_ADDRESS = {"verdict", "repair"}  # these pages show one answer, if the address has one


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in the middle of the work: annotations, differences, a repair, an evaluation."""
    folder = tmp_path_factory.mktemp("seeded")
    store = a_store(folder / "workbench.db")
    made = an_office(store, traces=3, reads_per_claim=2)
    for name, judgement in (("Ada", SUPPORTED), ("Ben", UNSUPPORTED)):
        for _ in range(3):
            made.read(name, judgement)
    desk = made.desk("Dora")
    item = desk.next_disagreement()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    made.clock.advance(seconds=5)
    desk.adjudicate(item, nonce, SUPPORTED, Cause.REVIEWER_ERROR)
    repaired(store, blocked(REPAIRED))
    keep_evaluated(folder / "evaluations")
    in_one_file(store)
    store.close()
    return folder


@pytest.fixture
def workbench(seeded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of it, which the workbench under test opens."""
    shutil.copytree(seeded, tmp_path / "copy")
    file = tmp_path / "copy" / "workbench.db"
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(file))
    return workspace_of(a_store(file))


@pytest.mark.parametrize("name", ["Cleo", "Dora", "Lea"])
def test_every_page_is_drawn_whole_in_every_state(workbench: Workspace, name: str) -> None:
    people = workbench.people
    person = people.local() if name == "local" else people.by_name(name)
    test = opened("home", person.person_id)

    for page in PAGES:
        draw(test, page)
        for choice in test.get("button_group"):
            for option in choice.options if choice.proto.click_mode == ONE else ():
                state = WidgetState(id=choice.proto.id)
                state.string_array_value.data.append(option)
                browser_sent(test, state)
                is_whole(test, f"{page}, {choice.key} at {option}")
        draw(test, page)
        for at in range(len(selectable(test))):
            row_chosen(test, selectable(test)[at])
            is_whole(test, f"{page}, a row chosen")
        for block in test.get("popover"):
            if block.proto.popover.id:
                browser_sent(test, WidgetState(id=block.proto.popover.id, bool_value=True))
                is_whole(test, f"{page}, {block.proto.popover.label} opened")


@pytest.mark.parametrize("name", ["local", "Cleo", "Dora", "Lea"])
def test_the_list_is_drawn_whole_with_none_one_and_all_ticked(
    workbench: Workspace, name: str
) -> None:
    people = workbench.people
    person = people.local() if name == "local" else people.by_name(name)
    test = opened("traces", person.person_id)
    (table,) = views(test, LIST)
    ids = [row["id"] for row in table["rows"]]
    assert len(ids) == 4

    for chosen in ([], ids[:1], ids, []):
        ticked(test, LIST, chosen=chosen)
        is_whole(test, f"{len(chosen)} ticked")
        noun = f"{len(chosen)} trace{'s' if len(chosen) > 1 else ''} chosen"
        assert (noun in [each.value for each in test.text]) is bool(chosen)


def test_a_lead_erases_what_is_ticked(workbench: Workspace) -> None:
    test = opened("traces", workbench.people.by_name("Lea").person_id)
    ticked(test, LIST, chosen=[REPAIRED])

    test.text_input(key="erase-reason-chosen").input("captured twice").run()
    test.button(key="erase-for-good-chosen").click().run()

    is_whole(test, "erased")
    assert REPAIRED not in {row.trace_id for row in workbench.store.list_traces().rows}


def draw(test: AppTest, page: str) -> None:
    """Go to a page as it is without anything chosen."""
    for each in list(test.query_params):
        if each != "as":
            del test.query_params[each]
    if page in BY_ADDRESS:
        test.query_params["trace"] = REPAIRED
    test.switch_page(f"pages/{page}.py").run()
    is_whole(test, page)


def is_whole(test: AppTest, where: str) -> None:
    """No error ended the drawing; a widget key that stands twice is one."""
    assert not [f"{each.value}" for each in test.exception], where


def selectable(test: AppTest) -> list[Any]:
    """The tables of which a row can be chosen."""
    return [each for each in test.dataframe if each.proto.id]
