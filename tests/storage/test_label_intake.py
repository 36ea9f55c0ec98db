"""Labels that exist already, from a table into a real database: matched, kept, told, and taken back."""

from __future__ import annotations

import csv
import dataclasses
import io
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from databases import a_store, workspace_of
from hypothesis import given
from hypothesis import strategies as st
from reviewing import (
    SUPPORTED,
    UNSUPPORTED,
    Office,
    an_office,
    labels_in,
    problems_beside_the_clock,
)
from sqlalchemy import event
from verdicts import fill, showcase

from core.errors import Conflict, InputError, NotFound
from core.records import VerdictLabel
from core.review.items import Draft
from core.review.records import ReviewedClaim, ReviewStatus, Role
from core.workflows import label_import
from core.workflows.label_import import import_labels, left_csv, plan_labels, read_labels
from core.workflows.packet_export import ExportFilters, export_packet
from core.workflows.packet_import import import_packet
from storage.checking import check_database
from storage.store import SqlStore, open_store, utc_now
from storage.workspace import Workspace

HEAD = "claim,label,source,trace_id\n"
WEIGHT, POTASSIUM = "Her weight is 71.4 kg.", "Her potassium is 5.6 mmol/L."
TABLE = (
    HEAD + f"{WEIGHT},Yes,load_chart,review-0001\n"
    f"  her  POTASSIUM is 5.6 mmol/L.,contradicted,chart,review-0001\n"
    "Her blood pressure is 128/76 mmHg.,not enough,,review-0001\n"
    f"{WEIGHT},no,,review-0002\n"
)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Two traces of the same four claims; each claim is to be read twice."""
    return an_office(a_store(tmp_path / "w.db", actor="test"), traces=2, reads_per_claim=2)


def reviewed(office: Office) -> tuple[ReviewedClaim, ...]:
    return office.workspace.labels.reviewed()


def test_labels_of_a_table_count_as_their_annotators_do(office: Office) -> None:
    table = TABLE.replace("load_chart", office_tool(office))
    plan, put = labels_in(office.workspace.label_intake(), office.people["Lea"], table, "Ada")

    while office.read("Ben", SUPPORTED):
        pass

    labels = {(one.trace_id, one.text): one for one in reviewed(office)}
    first = labels["review-0001", WEIGHT]
    assert (plan.matched, put.votes, plan.left, put.skipped) == (4, 4, (), [])
    assert (first.resolution.status, len(labels)) == (ReviewStatus.UNANIMOUS, 4)
    assert labels["review-0001", POTASSIUM].resolution.status is ReviewStatus.UNRESOLVED
    tie = office.desk("Dora").next_disagreement()
    assert tie is not None
    assert {one.reviewer for one in first.annotations} == {"Ada", "Ben"}
    assert problems_beside_the_clock(office.store) == []


def office_tool(office: Office) -> str:
    (chart, _) = office.store.get_verdict("review-0001").verification.trace.sources
    return chart.tool_name


def test_what_matches_nothing_or_several_is_told_with_its_line_and_lost_nowhere(
    office: Office,
) -> None:
    rows = {
        f"{WEIGHT},supported,chart,": "2 claims of traces review-0001, review-0002 have this text",
        '"She is well,\nshe says.",supported,chart,review-0001': "no claim of trace 'review-0001'",
        f"{WEIGHT},perhaps,chart,review-0001": "'perhaps' is no label: expected one of supported",
        f"{POTASSIUM},supported,,review-0001": "supported, by which of 2 sources?",
        f"{POTASSIUM},contradicted,the web,review-0001": "'the web'; there are load_patient_",
        f"{POTASSIUM},contradicted,chart,review-0001": "",
        f"{POTASSIUM},supported,chart,review-0001": "Ada says otherwise line 8: contradicted, chart",
    }
    intake = office.workspace.label_intake()
    table = read_labels("l.csv", (HEAD + "\n".join(rows) + "\n").encode())

    plan = plan_labels(intake, table, "Ada")

    told = [why for why in rows.values() if why]
    assert len(plan.left) == len(told) == 6
    assert all(found in why for found, (_, why) in zip(told, plan.left, strict=True))
    assert [row.line for row, _ in plan.left] == [2, 3, 5, 6, 7, 9]  # one of them holds two lines
    back = list(csv.reader(io.StringIO(left_csv(plan).lstrip("\ufeff"))))
    assert [tuple(cells[:4]) for cells in back[1:]] == [row.written for row, _ in plan.left]
    assert reviewed(office) == () and intake.imports() == ()  # a plan writes nothing


def test_of_two_calls_of_one_tool_a_row_names_one_as_pages_do(office: Office) -> None:
    fill(office.store, showcase())
    tool = "search_pubmed_key_words"
    rows = [
        f"Her last potassium was 4.6 mmol/L.,supported,{tool}{call},clin-0042"
        for call in ("", " #2")
    ]
    intake = office.workspace.label_intake()

    plan = plan_labels(intake, read_labels("l.csv", (HEAD + "\n".join(rows)).encode()), "Ada")

    (_, why), (label,) = plan.left[0], plan.labels
    assert f"2 sources are called '{tool}'; there are" in why and f"{tool} #1, {tool} #2" in why
    names = showcase().trace.names
    assert names[label.judgement.source_id or ""] == f"{tool} #2"


def test_a_plan_counts_the_places_as_they_are_and_names_nobody_who_waits_for_a_third_view(
    office: Office,
) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    tied, alike, drafted = (office.read("Ada").claim_key for _ in range(3))  # type: ignore[union-attr]
    assert office.read("Ben", UNSUPPORTED).claim_key == tied  # type: ignore[union-attr]
    assert office.read("Ben").claim_key == alike  # type: ignore[union-attr]
    for name, begun in {"Ben": True, "Ada": False, "Cleo": False}.items():
        item = office.desk(name).next_item()
        assert item is not None
        office.desk(name).show(item.assignment_id)
        if begun:
            office.desk(name).save_draft(item.assignment_id, Draft(rationale="RATIONALE-OF-BEN"))
    held = item.claim_key
    texts = {one.claim_key: f'"{one.text}",not enough,,{one.trace_id}' for one in intake.claims()}
    rows = [f"{row},Zoe" for row in texts.values()]
    rows += [f"{texts[key]},Ada" for key in (tied, drafted)] + [f"{texts[drafted]},Ben"]
    office.clock.advance(days=9)  # what is on hold stays so until somebody takes it from there

    plan, put = labels_in(
        intake, lea, HEAD.strip() + ",annotator\n" + "".join(f"{row}\n" for row in rows)
    )

    places = {key: list(texts).index(key) + 2 for key in texts}
    assert [(row.line, why) for row, why in plan.left] == sorted(
        {
            places[tied]: "both places taken: answered by two people",
            places[alike]: "both places taken: answered by Ada and Ben",
            places[drafted]: "on hold: answered by one person, in somebody's draft",
            places[held]: "on hold: assigned to somebody, assigned to somebody",
            len(texts) + 3: "Ada says otherwise here",
            len(texts) + 4: "on hold: Ben has begun a draft of it here",
        }.items()
    )
    assert (plan.taken, plan.on_hold, plan.known) == (2, 3, 1)  # of a tie nothing is compared
    assert (put.votes, put.skipped) == (len(plan.labels), []) == (len(texts) - 4, [])
    assert problems_beside_the_clock(office.store) == []


def test_one_person_is_one_annotator_in_whatever_case_the_table_names_them(office: Office) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    head, row = HEAD.strip() + ",annotator\n", f"{POTASSIUM},contradicted,chart,review-0001"
    table = head + "".join(f"{row},{name}\n" for name in ("ada", "ADA", "Émile", "ÉMILE"))

    plan, put = labels_in(intake, lea, table)
    again, _ = labels_in(intake, lea, head + f"{row},émile\n")

    ((ada, other),) = ([a.reviewer for a in one.annotations] for one in reviewed(office))
    assert (ada, other, plan.known, plan.left) == ("Ada", "Émile", 2, ())
    assert (put.votes, put.people, again.known) == (2, 1, 1)


def test_labels_of_a_name_that_pages_show_are_that_persons(office: Office) -> None:
    lea = office.people["Lea"]
    office.workspace.people.show_as(office.people["Ada"], "Dr Okafor", by=lea)
    row = f"{HEAD}{WEIGHT},yes,chart,review-0001\n"

    plan, put = labels_in(office.workspace.label_intake(), lea, row, annotator="dr okafor")
    again, _ = labels_in(office.workspace.label_intake(), lea, row, annotator="Ada")

    assert ([one.annotator for one in plan.labels], plan.left) == (["Ada"], ())
    assert (put.votes, put.people, again.known) == (1, 0, 1)


def test_importing_what_was_exported_changes_nothing(office: Office, tmp_path: Path) -> None:
    for number in range(6):
        office.read("Ada", SUPPORTED, rationale="=SUM(1), she said;\nand 'more'")
        office.read("Ben", UNSUPPORTED if number == 1 else SUPPORTED)
    lea = office.people["Lea"]
    export_packet(office.workspace.packets(), lea, tmp_path / "packet", at=office.clock())
    before, events = reviewed(office), office.store.audit_events()[0].sequence

    table = (tmp_path / "packet" / "votes.csv").read_text(encoding="utf-8-sig")
    plan, put = labels_in(office.workspace.label_intake(), lea, table)

    assert (plan.known, plan.left, put.votes) == (10, (), 0)  # a tie is not exported as decided
    assert reviewed(office) == before
    assert office.store.audit_events()[0].sequence == events


def test_an_import_is_taken_back_as_a_whole_and_may_come_again(office: Office) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    for _ in range(3):
        office.read("Ben", SUPPORTED)
    before, waiting = reviewed(office), office.desk("Ada").progress()
    table = TABLE.replace("load_chart", "chart")
    labels_in(intake, lea, table, "Ada")
    during = reviewed(office)
    again, _ = labels_in(intake, lea, table, "Ada")

    gone = intake.withdraw(intake.imports()[0].key, by=lea)

    assert (again.known, gone, intake.imports()) == (4, 4, ())
    assert during != before == reviewed(office)
    assert office.desk("Ada").progress() == waiting
    assert office.desk("Ada").mine() == ()
    assert problems_beside_the_clock(office.store) == []
    # What was taken back is nobody's decision: Ada is blind again, and others may have said it.
    found = office.store.get_verdict("review-0002")
    assert office.desk("Ada").open_verdict(found.content_hash, found.run_key) is not None
    plan, put = labels_in(intake, lea, table, "Cleo")
    assert (put.votes, plan.left) == (4, ())
    assert problems_beside_the_clock(office.store) == []


@pytest.mark.parametrize("pre_labels", [False, True])
def test_an_import_is_taken_back_as_a_whole(office: Office, pre_labels: bool) -> None:
    lea, workspace = office.people["Lea"], office.workspace
    here = workspace.label_intake()
    row = HEAD + f"{POTASSIUM},contradicted,chart,review-0001\n"
    labels_in(here, lea, row, "Ada", pre_labels=pre_labels)
    (imported,) = here.imports()

    assert here.withdraw(imported.key, by=lea) == 1
    assert (here.imports(), reviewed(office), workspace.pre_labels.all()) == ((), (), {})
    with pytest.raises(NotFound):
        here.withdraw(imported.key, by=lea)


def every_claim(workspace: Workspace) -> str:
    claims = workspace.label_intake().claims()
    return HEAD + "".join(f'"{one.text}",not enough,,{one.trace_id}\n' for one in claims)


@contextmanager
def beside(work: Callable[..., None], store: SqlStore, *told: object) -> Iterator[Connection]:
    """Another process with a store of its own on the same file; it is heard and told by the pipe."""
    here, there = multiprocessing.Pipe()
    store.close()  # a fork must find no open database
    arguments = (str(store.database.engine.url.database), there, *told)
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments, daemon=True)
    process.start()
    yield here
    process.kill()
    process.join()


def import_three(file: str, pipe: Connection, table: str, pre_labels: bool) -> None:
    """Begin to import a table, and wait after its first batch of three."""
    label_import.AT_ONCE = 3
    workspace = workspace_of(open_store(file))

    def wait(done: int, total: int | None, what: str) -> None:
        pipe.send((done, total, what))
        signal.pause()

    intake, lea = workspace.label_intake(), workspace.people.by_name("Lea")
    plan = plan_labels(
        intake, read_labels("labels.csv", table.encode()), "Ada", pre_labels=pre_labels
    )
    import_labels(intake, plan, lea, pre_labels=pre_labels, progress=wait)


def annotate_when_told(file: str, pipe: Connection) -> None:
    """Hold a claim, annotate it once told to, and say for how many seconds that waited."""
    workspace = workspace_of(open_store(file))
    desk = workspace.reviews(workspace.people.by_name("Ben"))
    item = desk.next_item()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    pipe.send(None)
    pipe.recv()
    begun = time.monotonic()
    desk.annotate(item.assignment_id, nonce, SUPPORTED)
    pipe.send(time.monotonic() - begun)


@pytest.mark.parametrize("pre_labels", [False, True])
def test_an_import_that_is_killed_is_told_completed_and_taken_back_as_one(
    office: Office, pre_labels: bool
) -> None:
    workspace = workspace_of(dataclasses.replace(office.store, now=utc_now))
    intake, lea, table = workspace.label_intake(), office.people["Lea"], every_claim(workspace)
    with beside(import_three, office.store, table, pre_labels) as importing:
        assert importing.recv() == (3, 8, "labels")  # and it is killed

    (stopped,) = intake.imports()
    assert (stopped.kept, stopped.planned, stopped.finished) == (3, 8, False)
    plan, put = labels_in(intake, lea, table, "Ada", pre_labels=pre_labels)

    assert (plan.known, put.votes, put.skipped) == (3, 5, [])
    assert intake.imports() == (dataclasses.replace(stopped, kept=8, finished=True),)
    assert office.store.verify_chain().problems == ()
    assert intake.withdraw(stopped.key, by=lea) == 8
    assert (intake.imports(), reviewed(office), workspace.pre_labels.all()) == ((), (), {})
    assert office.store.verify_chain().problems == ()


def test_a_reviewer_in_another_process_gets_through_while_an_import_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.workflows.label_import.AT_ONCE", 8)
    office = an_office(
        a_store(tmp_path / "w.db", actor="test"), traces=20, reads_per_claim=2, dwell_milliseconds=0
    )
    workspace = workspace_of(dataclasses.replace(office.store, now=utc_now))
    intake = workspace.label_intake()
    plan = plan_labels(intake, read_labels("l.csv", every_claim(workspace).encode()), "Ada")
    with beside(annotate_when_told, office.store) as ben:
        ben.recv()
        put = import_labels(
            intake, plan, office.people["Lea"],
            progress=lambda done, *_: ben.send(None) if done == 8 else None,
        )  # fmt: skip
        waited = ben.recv()

    acts = [event.action for event in office.store.audit_events()]
    assert waited < 1 and put.votes == 80
    assert "vote.imported" in acts[: acts.index("vote.cast")]  # the import went on after it
    assert office.store.verify_chain().problems == ()


def test_an_import_that_is_taken_back_while_it_runs_brings_nothing_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.workflows.label_import.AT_ONCE", 3)
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    table = read_labels("l.csv", every_claim(office.workspace).encode())
    plan = plan_labels(intake, table, "Ada")

    with pytest.raises(Conflict, match="taken back meanwhile"):
        import_labels(
            intake, plan, lea,
            progress=lambda *_: print(intake.withdraw(intake.imports()[0].key, by=lea)),
        )  # fmt: skip

    assert (intake.imports(), reviewed(office)) == ((), ())
    assert problems_beside_the_clock(office.store) == []


def test_a_longer_table_asks_the_database_no_more_often(tmp_path: Path) -> None:
    office = an_office(a_store(tmp_path / "w.db", actor="test"), traces=10, reads_per_claim=2)
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    head, *rows = every_claim(office.workspace).splitlines(keepends=True)
    asked: list[int] = []
    for few in (
        rows[:2],
        rows[2:4],
        rows[4:],
    ):  # the first also publishes the guideline and adds Zoe
        plan = plan_labels(intake, read_labels("l.csv", "".join((head, *few)).encode()), "Zoe")
        statements: list[str] = []

        def note(*execution: Any, kept: list[str] = statements) -> None:
            kept.append(execution[2])

        event.listen(office.store.database.engine, "before_cursor_execute", note)
        put = import_labels(intake, plan, lea)
        event.remove(office.store.database.engine, "before_cursor_execute", note)
        assert put.votes == len(few)
        asked.append(len(statements))
    assert asked[1] == asked[2]


def test_an_import_on_which_a_decision_rests_stays_until_that_is_reopened(office: Office) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    labels_in(intake, lea, HEAD + f"{POTASSIUM},contradicted,chart,review-0001\n", "Ada")
    while office.read("Ben", SUPPORTED):
        pass
    tie = office.adjudicate("Dora", UNSUPPORTED)
    (imported,) = intake.imports()

    with pytest.raises(Conflict, match="1 of its claims have been adjudicated"):
        intake.withdraw(imported.key, by=lea)
    office.workspace.triage.reopen(tie.claim_key, "misread", by=lea)

    assert intake.withdraw(imported.key, by=lea) == 1
    assert problems_beside_the_clock(office.store) == []


def test_a_packet_brings_back_nothing_that_was_taken_back_and_the_table_does(
    office: Office, tmp_path: Path
) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    row = HEAD + f"{POTASSIUM},contradicted,chart,review-0001\n"
    labels_in(intake, lea, row, "Ada")
    while office.read("Ben", SUPPORTED):
        pass
    tie = office.adjudicate("Dora", UNSUPPORTED)
    every = ExportFilters(statuses=frozenset(ReviewStatus))
    export_packet(office.workspace.packets(), lea, tmp_path / "p", at=office.clock(), filters=every)
    office.workspace.triage.reopen(tie.claim_key, "misread", by=lea)
    intake.withdraw(intake.imports()[0].key, by=lea)
    before = reviewed(office)
    packet = office.workspace.packet_intake()

    read = import_packet(packet, tmp_path / "p", lea, max_record_bytes=10**7, unsigned=True)

    put = read.reviews
    assert (put.votes, put.adjudications, reviewed(office)) == (0, 0, before)
    told = [f"{tie.claim_id}: what {name} said was taken back here" for name in ("Ada", "Dora")]
    assert put.skipped == told
    _, again = labels_in(intake, lea, row, "Ada")
    assert (again.votes, again.skipped, len(intake.imports())) == (1, [], 1)
    assert problems_beside_the_clock(office.store) == []


def test_pre_labels_of_a_table_stand_behind_what_people_say_and_go_again(office: Office) -> None:
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    table = "claim,label,source,trace_id,note\n" + f"{WEIGHT},no,,review-0001,off by one\n"
    two = table + f"{WEIGHT},contradicted,,review-0001,\n"
    ((_, why),) = plan_labels(intake, read_labels("t.csv", two.encode()), pre_labels=True).left
    assert why == "another row says otherwise line 2: unsupported, –"
    _, put = labels_in(intake, lea, table, pre_labels=True)
    again, _ = labels_in(intake, lea, table, pre_labels=True)
    other = labels_in(intake, lea, table.replace(",no,", ",contradicted,"), pre_labels=True)[1]

    (made,) = office.workspace.pre_labels.all().values()
    assert (put.votes, again.known, other.votes, reviewed(office)) == (1, 1, 1, ())
    assert (made.label, made.why) == (VerdictLabel.CONTRADICTED, "off by one")
    for left in (VerdictLabel.UNSUPPORTED, None):
        assert intake.withdraw(intake.imports()[0].key, by=lea) == 1
        assert [one.label for one in office.workspace.pre_labels.all().values()] == (
            [left] if left else []
        )
    assert problems_beside_the_clock(office.store) == []


def test_an_erased_person_is_named_by_no_pre_label_and_its_label_stays(office: Office) -> None:
    intake, lea, people = (
        office.workspace.label_intake(),
        office.people["Lea"],
        office.workspace.people,
    )
    ada = people.revoke(office.people["Ada"], Role.REVIEWER, by=lea, reason="has left")
    head, row = HEAD.strip() + ",annotator\n", f"{WEIGHT},supported,chart,review-0001"
    labels_in(intake, lea, head + f"{row},ada\n", pre_labels=True)
    labels_in(intake, lea, head + f"{row.replace('0001', '0002')},supported\n", pre_labels=True)

    for one in (ada, people.add("supported", (), by=lea)):
        people.erase(one, "asked for it", by=lea)
        stub = f"person {one.person_id} (erased)"
        made = office.workspace.pre_labels.all().values()
        assert [each.label for each in made] == [VerdictLabel.SUPPORTED] * 2
        assert (stub,) in [each.judges for each in made]
        assert (stub,) in [each.annotators for each in intake.imports()]
    assert problems_beside_the_clock(office.store) == []
    assert check_database(office.store.database).problems == ()


TEXTS = st.text(st.characters(codec="cp1252", exclude_characters="\x00"), min_size=1, max_size=12)


@given(
    cells=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4),
    parted=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(("utf-8", "utf-8-sig", "utf-16", "cp1252")),
)
def test_a_table_is_read_as_it_was_written_whatever_spreadsheet_wrote_it(
    cells: list[tuple[str, str]], parted: str, encoding: str
) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=parted)
    writer.writerows([("Claim", "Label"), *(("é" + one, "„" + other) for one, other in cells)])

    table = read_labels("t.csv", out.getvalue().encode(encoding))

    assert [row.written for row in table.rows] == [("é" + one, "„" + other) for one, other in cells]
    assert ("Windows-1252" in " ".join(table.notes)) == (encoding == "cp1252")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (
            b"claim;verdictt\na;b\n",
            "t.csv:1: expected a column label in the first line, found claim",
        ),
        (b"", "t.csv:1: expected a column claim and a column label"),
        (
            b'claim,label\na,yes\n"b,no\nc,no\n',
            "t.csv:3: cannot be read as a table: unexpected end",
        ),
        (b"claim,label\n\x81,yes\n", "t.csv: is text in neither UTF-8 nor Windows-1252"),
    ],
)
def test_what_is_no_table_of_labels_says_where_and_why(data: bytes, why: str) -> None:
    with pytest.raises(InputError) as refused:
        read_labels("t.csv", data)

    assert why in str(refused.value)
