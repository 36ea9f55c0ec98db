"""The agreement, export and audit pages on a real database, without a browser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from databases import a_store
from opening import cards, opened, row_chosen, titles
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office
from sqlalchemy import text
from streamlit.testing.v1 import AppTest
from tables import cases

from core.review.agreement_records import Question
from core.review.exchange import PacketSignature
from core.review.records import Role
from core.review.signing import new_seed, sign
from core.workflows.packet_export import export_packet
from core.workflows.packet_folder import TO_BE_SIGNED, pack, write_signatures
from pages.screens.agreement.view import QUESTIONS
from pages.screens.export.signatures import own_fingerprint

FORM = ("sign", "typed-name")


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """Four claims read twice, one of them not alike; one claim more that Cleo holds."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    office = an_office(a_store(file, actor="test"), traces=2, reads_per_claim=2)
    for number in range(4):
        office.read("Ada", SUPPORTED, rationale="RATIONALE-OF-ADA")
        office.read("Ben", UNSUPPORTED if number == 2 else SUPPORTED)
    return office


def everything(test: AppTest) -> str:
    """All that the page sends, as text."""
    return str(test) + json.dumps(cards(test))


@pytest.mark.parametrize("page", ["agreement", "export", "audit"])
def test_a_reviewer_sees_no_vote_and_no_name_of_another(office: Office, page: str) -> None:
    test = opened(page, office.people["Ben"].person_id)

    (title,) = [found for found in titles(test) if "leads and auditors" in found]
    assert title
    seen = everything(test)
    assert "Ada" not in seen
    assert "RATIONALE-OF-ADA" not in seen


def test_agreement_shows_each_figure_with_its_number_and_interval(office: Office) -> None:
    test = opened("agreement", office.people["Lea"].person_id)

    assert [metric.value for metric in test.metric][:3] == ["3 of 4", "Too few", "Too few"]
    texts = [each.value for each in test.text]
    assert any(
        found.startswith("n = 4 claims of") and "supported 87.5 %" in found for found in texts
    )
    assert not any("kappa is low" in found for found in texts)
    captions = " ".join(each.value for each in test.caption)
    assert "95 % interval" not in captions  # four claims
    assert "Too few to tell: 2 traces, 8 are needed." in captions


def test_the_claims_behind_a_number_are_those_on_which_readings_differ(office: Office) -> None:
    test = opened("agreement", office.people["Otto"].person_id)

    table = test.dataframe[0].value
    assert len(table) == 1
    assert sorted([table.iloc[0]["First reading"], table.iloc[0]["Second reading"]]) == [
        "Ada: supported",
        "Ben: unsupported",
    ]

    test.segmented_control(key="which").set_value("agree").run()
    assert len(test.dataframe[0].value) == 3


def test_sources_have_their_names_and_no_ids(office: Office) -> None:
    test = opened("agreement", office.people["Otto"].person_id)

    test.segmented_control(key="question").set_value(Question.SOURCE).run()
    table = test.dataframe[0].value

    answers = {table.iloc[0]["First reading"], table.iloc[0]["Second reading"]}
    assert answers == {"Ada: load_patient_history", "Ben: no source"}
    assert any("Said: load_patient_history" in each.value for each in test.text)


def test_agreement_names_a_question_as_review_asks_it(office: Office) -> None:
    asked = [each.value for each in opened("review", office.people["Cleo"].person_id).markdown]

    assert {QUESTIONS[Question.SUPPORT], QUESTIONS[Question.SOURCE]} <= set(asked)


def test_a_lead_names_an_account_and_what_is_recorded_keeps_its_name(office: Office) -> None:
    ada, lea = office.people["Ada"].person_id, office.people["Lea"].person_id
    test = opened("people", lea)
    test.selectbox(key="role-person").set_value(office.people["Ada"]).run()
    test.text_input(key=f"name-of-{ada}").set_value("Ada Okafor").run()
    test.button(key="change-name").click().run()

    facts = dict(next(card["facts"] for card in cards(test) if card["title"] == "Who works here"))
    assert facts["Ada Okafor"] == "reviewer · in the audit trail as Ada"

    test = opened("agreement", lea)
    table = test.dataframe[0].value
    assert "Ada Okafor: supported" in {
        table.iloc[0]["First reading"],
        table.iloc[0]["Second reading"],
    }
    assert "Ada Okafor and Ben" in test.selectbox(key="group-pair").options
    assert set(opened("audit", lea).dataframe[0].value["Who"]) >= {"Ada", "Lea"}
    assert "Ada Okafor" in [each.value for each in opened("settings", ada).text]


def test_a_lead_who_may_still_break_the_tie_does_not_see_its_votes(office: Office) -> None:
    lea = office.people["Lea"]
    office.workspace.people.grant(lea, Role.ADJUDICATOR, by=lea)

    test = opened("agreement", lea.person_id)

    assert any("1 claim kept back" in each.value for each in test.caption)
    assert [metric.value for metric in test.metric][0] == "3 of 3"


def test_agreement_before_any_reading_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    people = an_office(a_store(file, actor="test"), traces=1, leading=["Ada"]).people

    for page, title in (
        ("agreement", "No claim has all its annotations yet"),
        ("export", "No claim is ready to export"),
    ):
        for name, links in (("Ada", ["Review claims"]), ("Otto", [])):  # an auditor reads none
            test = opened(page, people[name].person_id)
            assert title in titles(test)
            assert [each.proto.label for each in test.get("page_link")] == links


def test_a_packet_is_prepared_signed_and_unlocked_on_the_page(office: Office) -> None:
    test = opened("export", office.people["Lea"].person_id)
    assert any(title.startswith("3 claims of ") for title in titles(test))

    test.button(key="prepare").click().run()
    assert "The packet is ready" in titles(test)
    test.text_input(key="typed-name").set_value("Lea").run()
    test.button(key="sign").click().run()
    assert not test.exception
    (signed,) = [card for card in cards(test) if card.get("aside") == "locked"]
    (said,) = [card for card in cards(test) if card["title"].startswith("Signed by Lea as “I have")]
    (ready,) = [card for card in cards(test) if card["title"] == "The packet is ready"]
    assert ready["facts"][-1] == ["digest, signed", signed["title"]]  # one digest throughout
    assert f"Digest {signed['title']}" in said["text"]
    assert not [each for each in (*test.button, *test.text_input) if each.key in FORM]
    assert signed["facts"][0][0] == "Lea, review"
    assert own_fingerprint("Lea") in signed["facts"][0][1]
    (kept,) = office.workspace.packet_signatures.signed()
    assert json.loads(kept.manifest)[TO_BE_SIGNED] == "review"  # taken out, it would be missed

    test.text_input(key="unlock-reason").set_value("an annotation was wrong").run()
    test.button(key="unlock").click().run()
    assert not test.exception
    assert any(card.get("aside", "").startswith("unlocked") for card in cards(test))
    assert [each.key for each in (*test.button, *test.text_input) if each.key in FORM]


@cases
def test_a_signature_that_proves_nothing_is_red_on_the_page(
    office: Office, tmp_path: Path, attack: str, told: str
) -> None:
    lea, packet = office.people["Lea"], tmp_path / "packet"
    report = export_packet(
        office.workspace.packets(), lea, packet, at=office.clock(),
        signed_as="approval",
    )  # fmt: skip
    stated = PacketSignature(
        manifest_sha256=report.manifest_sha256, signer="Lea", at=office.clock(), meaning="approval"
    )
    made = sign(stated, new_seed())
    if attack != "removed":
        write_signatures(
            packet, (made if attack == "foreign" else replace(made, meaning="review"),)
        )
    test = opened("export", lea.person_id)

    test.file_uploader(key="packet-file").set_value(("p.zip", pack(packet), "application/zip"))
    test.run()
    test.checkbox(key="packet-unsigned").check().run()
    test.button(key="read-packet").click().run()

    red = [card for card in cards(test) if card.get("tone") == "bad"]
    assert any(told in card["text"] for card in red)


def test_a_packet_is_read_back_on_the_page_and_changes_nothing(
    office: Office, tmp_path: Path
) -> None:
    lea = office.people["Lea"]
    packets = office.workspace.packets()
    export_packet(packets, lea, tmp_path / "packet", at=office.clock())
    test = opened("export", lea.person_id)

    archive = pack(tmp_path / "packet")
    test.file_uploader(key="packet-file").set_value(("packet.zip", archive, "application/zip"))
    test.run()
    test.checkbox(key="packet-unsigned").check().run()
    test.button(key="read-packet").click().run()

    assert not test.exception
    (card,) = [card for card in cards(test) if card["title"] == "Nothing changed"]
    assert "6 and 0 were here already" in card["text"]


def test_a_file_that_is_no_packet_is_refused_on_the_page(office: Office) -> None:
    test = opened("export", office.people["Lea"].person_id)

    test.file_uploader(key="packet-file").set_value(("x.zip", b"no zip", "application/zip")).run()
    test.checkbox(key="packet-unsigned").check().run()
    test.button(key="read-packet").click().run()

    assert not test.exception
    (card,) = [card for card in cards(test) if card["title"] == "The packet was not read"]
    assert card["text"].startswith("x.zip: cannot be unpacked")


def test_labels_of_a_table_are_looked_at_brought_in_and_taken_back(office: Office) -> None:
    lea, intake = office.people["Lea"], office.workspace.label_intake()
    office.workspace.people.show_as(lea, "Dr Roth", by=lea)
    test = opened("export", lea.person_id)
    rows = "Her weight is 71.4 kg.,supported,chart,review-0002\nShe is well.,yes,chart,\n"
    rows += "".join(f"She was seen {n} times.,no,,\n" for n in range(60))
    table = ("labels.csv", b"claim,label,source,trace_id\n" + rows.encode(), "text/csv")

    test.file_uploader(key="labels-file-0").set_value(table).run()
    assert test.button(key="labels-import").disabled
    assert "Whose labels are these? Their name is missing." in [each.value for each in test.text]
    test.text_input(key="labels-annotator").set_value("A colleague").run()

    assert "1 of 62 rows can come in, 61 cannot" in titles(test)
    accepted, refused = (each.value for each in test.dataframe[-2:])
    assert list(accepted["Claim"]) == ["Her weight is 71.4 kg."] and len(refused) == 50
    test.text_input(key="labels-left-find").set_value("seen 59").run()
    assert list(test.dataframe[-1].value["Line"]) == [63]
    assert intake.imports() == ()
    planned = test.session_state["of-user-labels-plan"]
    assert test.run().session_state["of-user-labels-plan"] is planned  # nothing matched anew
    assert office.read("Cleo") is not None  # and what others write meanwhile is counted
    assert test.run().session_state["of-user-labels-plan"] is not planned
    test.button(key="labels-import").click().run()
    assert [one.kept for one in intake.imports()] == [1] and "labels.csv" in titles(test)
    (card,) = [card for card in cards(test) if card["title"] == "labels.csv"]
    assert card["text"] == "1 annotation of A colleague, imported by Dr Roth."
    for _ in range(2):  # what did not come in stays until the next table
        assert "labels.csv: 1 annotation imported, 61 rows not" in titles(test)
        assert set(test.dataframe[-1].value["Why it does not come in"]) == {
            "no claim here has this text"
        }
        test.run()
    test.file_uploader(key="labels-file-1").set_value(table).run()
    assert "labels.csv: 1 annotation imported, 61 rows not" not in titles(test)
    test.button(key="labels-back-0").click().run()
    assert not test.exception and "labels.csv" not in titles(test) and intake.imports() == ()
    assert "labels.csv: 1 annotation of A colleague taken back" in titles(test)  # in its place
    assert not test.toast and "labels-back-0" not in [each.key for each in test.button]


def test_a_long_reason_why_a_label_does_not_come_in_has_the_lines_that_it_takes(
    office: Office,
) -> None:
    test = opened("export", office.people["Lea"].person_id)
    heights = []
    for label, trace in (("perhaps", "review-0002"), ("supported", "elsewhere")):
        table = f"claim,label,annotator,trace_id\nHer weight is 71.4 kg.,{label},Ann,{trace}\n"
        test.file_uploader[-1].set_value(("labels.csv", table.encode(), "text/csv")).run()
        left = test.dataframe[-1]
        (why,) = left.value["Why it does not come in"]
        heights.append((len(why), left.proto.row_height))

    ((long, high), (short, low)) = heights
    assert long > 120 and short < 50 and high >= low + 40


def test_another_choice_of_claims_needs_a_new_packet(office: Office) -> None:
    test = opened("export", office.people["Lea"].person_id)
    test.button(key="prepare").click().run()

    test.pills(key="statuses").set_value(["unresolved"]).run()

    assert not test.exception
    assert "The packet is ready" not in titles(test)
    assert "1 claim of 1 trace" in titles(test)


def test_an_auditor_exports_and_has_no_way_to_import_or_sign(office: Office) -> None:
    test = opened("export", office.people["Otto"].person_id)
    test.button(key="prepare").click().run()
    test.text_input(key="typed-name").set_value("Otto").run()
    test.button(key="sign").click().run()

    assert not test.exception
    assert "The packet was not signed" in titles(test)
    assert not [each for each in test.get("file_uploader") if "packet" in str(each.label)]


def test_the_trail_is_shown_filtered_and_its_chain_is_checked(office: Office) -> None:
    test = opened("audit", office.people["Otto"].person_id)

    assert "Chain intact" in titles(test)
    test.selectbox(key="actor").set_value("Ada").run()
    test.selectbox(key="action").set_value("vote.cast").run()
    table = test.dataframe[0].value
    assert set(table["Who"]) == {"Ada"}
    assert set(table["What"]) == {"judged a claim"}
    assert len(table) == 4

    test.selectbox(key="actor").set_value(None).run()
    test.text_input(key="about").set_value("Lea").run()
    test.selectbox(key="action").set_value("role.granted").run()
    table = test.dataframe[0].value
    assert list(table["To"]) == ["lead"]
    row_chosen(test, test.dataframe[0])
    (event,) = [card for card in cards(test) if card["title"].startswith("local ")]
    assert {"Hash", "Follows"} <= dict(event["facts"]).keys()


def test_a_changed_event_breaks_the_chain_on_the_page(office: Office) -> None:
    with office.store.database.writing() as connection:
        connection.execute(text("DROP TRIGGER audit_event_refuses_update"))
        connection.execute(text("UPDATE audit_event SET actor = 'Eve' WHERE sequence = 7"))

    test = opened("audit", office.people["Otto"].person_id)

    (card,) = [card for card in cards(test) if "chain is broken" in card["title"]]
    assert card["lists"][0]["items"] == ["event 7: was changed after it was written"]


def test_everything_is_checked_when_an_auditor_asks(office: Office) -> None:
    test = opened("audit", office.people["Otto"].person_id)

    test.button(key="check-all").click().run()

    assert not test.exception
    assert "Everything is as it was written" in titles(test)
