"""Each page against a real database, without a browser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from opening import cards, opened, views
from sqlmodel import select
from verdicts import HOSTILE, fill, hostile, showcase

from core.records import Decision
from core.review.records import Role
from pages.widgets.plain import inert
from storage.store import SqlStore
from storage.tables import ImportRecord

HOME, TRACES, VERDICT = "home", "traces", "verdict"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file)


def test_an_empty_database_says_what_to_do(store: SqlStore) -> None:
    test = opened(TRACES)

    assert [card["title"] for card in cards(test)] == ["No traces yet"]
    assert "Drop a file" in cards(test)[0]["text"]
    assert test.file_uploader[0].label.startswith("Add traces")


def test_the_list_shows_each_trace_with_its_decision(store: SqlStore) -> None:
    fill(
        store, showcase(), hostile(), unverified=[a_trace("Yes.", a_source("Yes."), trace_id="t9")]
    )

    (table,) = views(opened(TRACES), "provenanceguard_traces")

    assert [(row["id"], row["decision"]["kind"]) for row in table["rows"]] == [
        ("clin-0042", "block"),
        (HOSTILE, "block"),
        ("t9", "pending"),
    ]
    assert table["rows"][0]["counts"] == [1, 1, 3, 3]


def test_home_the_list_and_the_verdict_show_the_same_three_states(store: SqlStore) -> None:
    shown, unsure, fine = (showcase(name) for name in ("shown", "unsure", "fine"))
    unsure = replace(unsure, claims=unsure.claims[1:3])
    allowed = replace(fine.answer, decision=Decision.ALLOW)
    fill(store, shown, unsure, replace(fine, claims=fine.claims[2:3], answer=allowed))
    states = {"shown": "block", "unsure": "needs_review", "fine": "allow"}

    test = opened(TRACES)
    (table,) = views(test, "provenanceguard_traces")
    assert {row["id"]: row["decision"]["kind"] for row in table["rows"]} == states
    assert "1 blocked, 1 to review, 1 allowed" in test.caption[0].value
    for name, state in states.items():
        (listed,) = views(opened(TRACES, decision=state), "provenanceguard_traces")
        assert [row["id"] for row in listed["rows"]] == [name]
        (view,) = views(opened(VERDICT, trace=name), "provenanceguard_evidence")
        assert view["decision"]["kind"] == state
    found = next(card for card in cards(opened(HOME)) if card["title"].endswith("of 3 answers"))
    assert found["text"] == "Answers: 1 blocked, 1 to review, 1 allowed."
    by_word = {word: int(count) for word, count in found["facts"]}
    listed_claims = [
        sum(column) for column in zip(*(r["counts"] for r in table["rows"]), strict=True)
    ]
    assert list(by_word.values()) == [count for count in reversed(listed_claims) if count]
    assert found["title"].startswith(f"{sum(listed_claims)} claims")


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"search": "KETOACIDOSIS"}, ["clin-0042"]),
        ({"category": "chart_plus_literature"}, ["clin-0042"]),
        ({"category": "no such category"}, ["clin-0042", HOSTILE, "t9"]),
    ],
)
def test_an_address_restores_its_filters(
    store: SqlStore, query: dict[str, str], ids: list[str]
) -> None:
    fill(
        store, showcase(), hostile(), unverified=[a_trace("Yes.", a_source("Yes."), trace_id="t9")]
    )

    (table,) = views(opened(TRACES, **query), "provenanceguard_traces")

    assert [row["id"] for row in table["rows"]] == ids


def test_waiting_traces_can_be_listed_and_offer_their_verification(store: SqlStore) -> None:
    fill(store, showcase(), unverified=[a_trace("Yes.", a_source("Yes."), trace_id="t9")])
    test = opened(TRACES)
    assert test.button(key="verify").label == "Verify 1 trace"

    test.get_by_key("decision").set_value("pending").run()

    (table,) = views(test, "provenanceguard_traces")
    assert [row["id"] for row in table["rows"]] == ["t9"]


def test_a_verdict_without_a_trace_offers_the_answers_that_need_somebody_first(
    store: SqlStore,
) -> None:
    waiting = replace(a_trace("Yes.", a_source("Yes."), trace_id="t9"), question=HOSTILE)
    fill(store, showcase(), unverified=[waiting])

    links = [link.proto for link in opened(VERDICT).get("page_link")]

    assert [link.label.partition(" · ")[0] for link in links] == [
        "✕ Blocked", "… Not verified yet", "All 2 answers"
    ]  # fmt: skip
    assert inert(HOSTILE[:60]) in links[1].label
    assert (
        links[0].query_string == f"trace={showcase().trace.trace_id}&list=order%3Dmost_blocked&at=1"
    )


def test_a_verdict_page_without_any_answer_says_how_one_comes(store: SqlStore) -> None:
    test = opened(VERDICT)

    assert [card["title"] for card in cards(test)] == ["There is no answer here yet"]
    assert [link.proto.label for link in test.get("page_link")] == ["Add traces"]


def test_an_unknown_trace_is_named_and_nothing_else_happens(store: SqlStore) -> None:
    test = opened(VERDICT, trace=HOSTILE)

    (card,) = cards(test)
    assert card["title"] == "There is no such trace"
    assert HOSTILE in card["text"]
    assert views(test, "provenanceguard_evidence") == []


def test_a_link_opens_its_claim_and_source(store: SqlStore) -> None:
    fill(store, showcase())

    test = opened(VERDICT, trace="clin-0042", claim="clin-0042::c02", source="search#1")

    (view,) = views(test, "provenanceguard_evidence")
    assert view["view"] == {
        "claim": "clin-0042::c02", "source": "search#1", "beside": None, "panel": None,
    }  # fmt: skip
    assert view["trace"]["id"] == "clin-0042"


def test_a_trace_that_waits_is_shown_without_a_verdict(store: SqlStore) -> None:
    fill(store, unverified=[a_trace("Yes.", a_source("Yes."), trace_id="t9")])

    test = opened(VERDICT, trace="t9")

    (view,) = views(test, "provenanceguard_evidence")
    assert view["decision"]["kind"] == "pending"
    assert view["claims"] == []


def test_the_verdict_of_the_newest_version_is_shown(store: SqlStore) -> None:
    fill(store, showcase())
    store.put_traces([a_trace("A newer answer.", a_source("Yes."), trace_id="clin-0042")])

    (view,) = views(opened(VERDICT, trace="clin-0042"), "provenanceguard_evidence")

    assert view["trace"]["answer"] == "A newer answer."
    assert view["decision"]["kind"] == "pending"


def test_no_text_of_a_trace_reaches_an_element_that_reads_markup(store: SqlStore) -> None:
    fill(store, hostile())

    for test in (opened(HOME), opened(TRACES), opened(VERDICT, trace=HOSTILE)):
        reading_markup = [
            *test.markdown, *test.caption, *test.title, *test.header, *test.subheader,
            *test.error, *test.warning, *test.info, *test.success, *test.toast,
        ]  # fmt: skip
        assert not [
            element for element in reading_markup if "tracker.invalid" in str(element.value)
        ]
        assert not [each for each in test.get("html") if "tracker.invalid" in each.proto.body]


def test_a_database_that_cannot_be_opened_is_said_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path))

    for page in (HOME, TRACES, VERDICT):
        (card,) = cards(opened(page, trace="t1"))
        assert card["title"] == "The database could not be read"
        assert str(tmp_path) in card["text"]


def test_an_uploaded_file_is_described_and_kept_once(store: SqlStore) -> None:
    record = {
        "question_id": "up-1",
        "user_question": "Which dose?",
        "full_tool_outputs": [
            {"tool_name": "load_patient_history", "source_id": "a", "text": "10 mg."}
        ],
        "final_reply_to_user": "The dose is 10 mg.",
    }
    content = (json.dumps(record) + "\n{broken\n").encode()
    lead = workspace_of(store).people.add("Lea", {Role.LEAD}, by=workspace_of(store).people.local())
    test = opened(TRACES, lead.person_id)

    for expected in ("Added: 1 new.", "Nothing added: 1 already there."):
        test.file_uploader[0].upload("ward.jsonl", content)
        test.run()
        (card,) = [card for card in cards(test) if card["title"] == "ward.jsonl"]
        facts = dict(card["facts"])
        assert facts["Format"] == "native (recognised)"
        assert facts["Traces"] == "1"
        (skipped,) = [group for group in card["lists"] if group["title"] == "Not understood: 1"]
        assert skipped["items"][0].startswith("ward.jsonl:2:")
        test.button(key="add-only").click().run()
        assert not test.exception
        (kept,) = [card for card in cards(test) if card["title"] == "ward.jsonl"]
        assert expected in kept["text"]

    assert store.list_traces().total == 1
    with store.database.reading() as connection:
        recorded = [*connection.execute(select(ImportRecord.__table__))]  # type: ignore[attr-defined]
    told = [(each.new, each.unchanged, each.actor) for each in recorded]
    assert told == [(1, 0, "Lea"), (0, 1, "Lea")]
    kept = [each.actor for each in store.audit_events() if each.action == "traces.stored"]
    assert kept == ["Lea"]


def test_a_file_of_no_known_format_can_be_read_as_another(store: SqlStore) -> None:
    test = opened(TRACES)

    test.file_uploader[0].upload("odd.json", b'{"hello": "world"}')
    test.run()

    (card,) = [card for card in cards(test) if card["title"] == "odd.json"]
    assert dict(card["facts"])["Format"] == "not known"
    assert "no known trace format" in card["lists"][0]["items"][0]
    assert {"native", "chat", "mcp"} <= set(test.selectbox[0].options)
    assert not [button for button in test.button if button.key == "add"]


def test_an_id_that_another_file_has_used_is_asked_about(store: SqlStore) -> None:
    def content(answer: str) -> bytes:
        return json.dumps(
            {
                "task_id": "refund",
                "trial": 0,
                "user_question": "How much?",
                "full_tool_outputs": [{"tool_name": "orders", "source_id": "o", "text": "12."}],
                "final_reply_to_user": answer,
            }
        ).encode()

    test = opened(TRACES)
    for name, answer in (("a.jsonl", "It was 12."), ("b.jsonl", "It was 14.")):
        test.file_uploader[0].upload(name, content(answer))
        test.run()
        assert len(test.radio) == (name == "b.jsonl")
        test.button(key="add-only").click().run()
        assert not test.exception

    assert {row.trace_id for row in store.list_traces().rows} == {
        "refund::0",
        "refund::0 · b.jsonl",
    }


def test_an_earlier_version_of_a_trace_can_be_read(store: SqlStore) -> None:
    source = a_source("The dose is 10 mg.")
    for answer in ("The dose is 10 mg.", "The dose is 20 mg."):
        fill(store, unverified=[a_trace(answer, source, trace_id="twice")])

    newest, earlier = opened(VERDICT, trace="twice"), opened(VERDICT, trace="twice", version="1")

    for test, words in ((newest, "20 mg"), (earlier, "10 mg")):
        (view,) = views(test, "provenanceguard_evidence")
        assert f"The dose is {words}." in json.dumps(view["pieces"])
    assert list(newest.get("button_group"))
