"""The evaluation and threshold pages against kept packets, without a browser."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import a_store, workspace_of
from evaluations import HOSTILE, keep_evaluated, keep_predicted, packet_records
from lexical import lexical_models
from opening import cards, opened, titles, views
from reviewing import SUPPORTED, UNSUPPORTED, an_office
from streamlit.testing.v1 import AppTest

from core.calibration.threshold import by_false_pass, sweep
from core.config import Config
from core.evaluation.findings import list_errors
from core.evaluation.kept import (
    CENTROID_FILE,
    JobState,
    JobStatus,
    KeptPacket,
    keep_packet,
    keep_predictions,
    kept_runs,
    read_predictions,
    write_status,
)
from core.evaluation.packets import read_packet
from core.evaluation.threshold_view import costs_at, view_predictions
from core.models.forest import load_forest
from core.places import SAMPLE
from core.records import VerdictLabel
from core.records.judge import JudgeRequest, JudgeText
from core.review.judge_choice import CurrentJudge
from core.review.records import Role
from core.workflows.background import lock_for_work
from core.workflows.evaluating import is_evaluating, start_evaluating
from core.workflows.evaluation_job import Also, run_job
from core.workflows.judged_packet import JudgedPacket, replies_file
from pages.screens.thresholds.promoting import why_not
from pages.widgets.adjudicated import settled_claims, write_settled
from pages.widgets.evaluated import bring_choice, packet_choices
from pages.widgets.evaluating import progress_words
from pages.widgets.figures import csv_text, rate_interval
from pages.widgets.plain import inert
from storage.store import open_store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the workbench under test keeps evaluated packets."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    a_store(file).close()
    return tmp_path / "evaluations"


def evaluation(**query: str) -> AppTest:
    return opened("evaluation", **query)


def thresholds(**query: str) -> AppTest:
    return opened("thresholds", **query)


def view(test: AppTest, name: str) -> Any:
    """What the one view of that name was given."""
    (found,) = views(test, name)
    return found


# ---------------------------------------------------------------- evaluation


def test_the_sample_packet_is_on_offer_before_anything_was_evaluated(folder: Path) -> None:
    test = evaluation()

    assert test.selectbox[0].options == ["Sample packet (synthetic)"]
    assert titles(test) == ["Not evaluated yet"]
    assert [button.label for button in test.button] == ["Evaluate"]


def test_the_figures_are_those_of_the_kept_report(folder: Path) -> None:
    packet = keep_evaluated(folder, claims=240)
    report = kept_runs(packet)[0].report

    test = evaluation(packet=packet.sha256)

    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Bad claims passed"] == f"{100 * report['false_pass_rate']:.1f} %"
    assert shown["Good claims stopped"] == f"{100 * report['false_block_rate']:.1f} %"
    assert shown["Block F1"] == f"{report['block']['f1']:.3f}"
    low, high = report["false_pass_rate_ci95"]
    words = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %; n = 80 bad claims"
    assert words in [caption.value for caption in test.caption]


def test_seven_labels_tell_how_many_would_do_and_keep_their_figure_behind_the_fold(
    folder: Path,
) -> None:
    packet = keep_evaluated(folder, claims=7, skill=5.0)  # good and bad far apart: resamples agree
    report = kept_runs(packet)[0].report

    test = evaluation(packet=packet.sha256)

    assert (report["auroc"], report["auroc_ci95"]) == (1.0, [1.0, 1.0])
    assert {metric.value for metric in test.metric} == {"Too few"}
    captions = [caption.value for caption in test.caption]
    assert "Too few labels to tell (7 labelled claims; about 60 are needed)" in captions
    assert "7 labelled claims are too few to say how good it is." in [t.value for t in test.text]
    assert test.dataframe[0].value.set_index("Metric").loc["AUROC", "Value"] == 1.0


@pytest.mark.parametrize(
    "name",
    [
        "Figures",
        "Slices",
        "Confusion",
        "Reliability",
        "Sources",
        "Errors",
        "Errors found",
        "Paper's tables",
    ],
)
def test_every_view_opens_by_its_address_and_offers_its_numbers(folder: Path, name: str) -> None:
    packet = keep_evaluated(folder)

    test = evaluation(packet=packet.sha256, view=name)

    assert test.dataframe and test.get("download_button")


def test_a_metric_with_nothing_to_count_gives_its_reason_and_no_zero(folder: Path) -> None:
    folder.mkdir()
    good = [one for one in packet_records(9) if one["label"] == "supported"]  # type: ignore[index]
    packet = kept_records(folder, good)

    test = evaluation(packet=packet.sha256)

    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Bad claims passed"] == "–"
    assert "Not measured: no claim should be blocked." in [c.value for c in test.caption]
    rows = test.dataframe[0].value.set_index("Metric")
    assert np.isnan(rows.loc["Bad claims passed", "Value"])
    assert rows.loc["Bad claims passed"].iloc[-1] == "not measured: no claim should be blocked"


def test_a_claim_opens_by_its_address_with_its_sources_as_plain_text(folder: Path) -> None:
    packet = keep_evaluated(folder)

    test = evaluation(packet=packet.sha256, view="Errors", claim="c0005")

    assert f"{HOSTILE} cured patient 5." in titles(test)
    assert any(HOSTILE in block.value for block in test.code)
    assert not any(HOSTILE in text.value for text in test.markdown)
    named = next(box for box in test.selectbox if box.label == "Source")
    facts = dict(next(card["facts"] for card in cards(test) if card.get("facts")))
    assert named.options == ["load_patient_history · checked against", "search_pubmed_key_words"]
    assert facts["Checked against"] == "load_patient_history"  # as it is called, without its id


def test_the_error_table_lists_every_error_and_narrows_to_one_kind(folder: Path) -> None:
    packet = keep_evaluated(folder)
    rows = read_packet(packet.path).rows
    found = read_predictions(kept_runs(packet)[0].folder / "predictions.jsonl")
    errors = list_errors(rows, found)
    test = evaluation(packet=packet.sha256, view="Errors")
    assert list(test.dataframe[0].value["Claim id"]) == [rows[e.place].claim_id for e in errors]

    test.selectbox(key="mistake").set_value("passed, but should be stopped").run()

    passed = [
        r.claim_id for r, f in zip(rows, found, strict=True) if r.should_block and not f.blocked
    ]
    assert list(test.dataframe[0].value["Claim id"]) == passed


def test_results_of_another_calibrator_say_so(folder: Path) -> None:
    packet = keep_evaluated(folder, calibrator="forest-of-before")

    assert "Made by another version" in titles(evaluation(packet=packet.sha256))


def test_after_a_roll_back_to_the_same_forest_its_results_are_of_now_again(folder: Path) -> None:
    shipped = load_forest()
    packet = keep_evaluated(folder, threshold=shipped.threshold)
    workspace = workspace_of(open_store(os.environ["PROVENANCEGUARD_DB"]))
    calibrators, local = workspace.calibrators, workspace.people.local()

    def is_old() -> bool:
        return "Made by another version" in titles(evaluation(packet=packet.sha256))

    assert not is_old()
    calibrators.use_threshold(0.93, "to try", local)
    assert is_old()
    calibrators.roll_back(shipped.name, "back", local)
    assert not is_old()


def test_a_file_that_is_no_packet_is_sent_to_the_page_that_takes_it(folder: Path) -> None:
    test = evaluation()
    uploader = test.file_uploader[0]

    uploader.upload("traces.jsonl", SAMPLE.read_bytes(), "application/json").run()

    (problem,) = [card for card in cards(test) if card["title"] == "The packet could not be used"]
    assert (
        problem["text"] == "traces.jsonl holds 24 traces and no labelled claims: add it on Traces."
    )


def test_an_address_of_a_packet_that_is_not_here_says_so(folder: Path) -> None:
    keep_evaluated(folder)

    assert "That packet is not here" in titles(evaluation(packet="../../etc/passwd"))


def test_damaged_results_are_said_and_not_shown(folder: Path) -> None:
    packet = keep_evaluated(folder)
    (kept_runs(packet)[0].folder / "predictions.jsonl").write_text("{}\n")

    test = evaluation(packet=packet.sha256)

    assert "The results could not be read" in titles(test)
    assert not test.metric


class Quoting:
    """A judge that supports every claim and quotes its chart; only some of that is proved."""

    name = "m@here#1"

    def judge(self, request: JudgeRequest) -> JudgeText:
        claims = []
        for n, (text, _) in enumerate(request.asked, start=1):
            drug = text.split()[3]
            found = re.search(rf"[^\n]*{drug} \d+ mg once daily", request.head)
            quote = {"source_id": "S1", "quote": found.group() if found else "nothing"}
            claims.append({"n": n, "verdict": "supported", "evidence": [quote]})
        return JudgeText(text=json.dumps({"claims": claims}), model="m")


def test_offline_judge_and_both_stand_side_by_side_and_without_one_it_says_what_to_do(
    folder: Path,
) -> None:
    packet = keep_evaluated(folder, claims=5)
    without = evaluation(packet=packet.sha256)

    judged = Also(judged=lambda rows: JudgedPacket(judge=Quoting(), asked="all"))
    state = run_job(packet, lambda config: lexical_models(), Config(), also=judged, resamples=20)
    made = {"packet": packet.sha256, "run": kept_runs(packet)[0].run}
    test, weighed = evaluation(**made), thresholds(**made)

    assert state is JobState.DONE
    assert any("No judge has read these claims" in each.value for each in without.caption)
    table = next(each.value for each in test.dataframe if "both" in each.value.columns)
    assert list(table.columns[:4]) == ["On the same claims", "offline", "judge", "both"]
    assert list(table["On the same claims"])[:3] == [
        "bad claims passed", "good claims stopped", "of these blocked",
    ]  # fmt: skip
    assert any(f"Read by {inert('m@here')}: 5 of 5 claims" in each.value for each in test.caption)
    overlay = next(box for box in weighed.selectbox if box.label == "Compare with")
    assert "the judge beside it" in overlay.options
    overlay.set_value("the judge beside it").run()
    names = [each["name"] for each in view(weighed, "provenanceguard_thresholds")["series"]]
    assert "good claims stopped, the judge beside it" in names

    replies_file(packet.folder, CurrentJudge(address="http://here/v1", model="m")).touch()
    run_job(packet, lambda config: lexical_models(), Config(), resamples=20)  # it is switched off
    test, weighed = evaluation(packet=packet.sha256), thresholds(packet=packet.sha256)
    assert any("is kept and left out here" in each.value for each in test.caption)
    assert all("the judge beside it" not in box.options for box in weighed.selectbox)


# ---------------------------------------------------------------- running


def test_a_run_under_way_is_seen_by_every_session_and_cannot_be_started_twice(
    folder: Path,
) -> None:
    packet = keep_evaluated(folder)
    lock = os.open(packet.folder / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    status = JobStatus(state=JobState.RUNNING, what="claims", done=5, total=60, started=1.0)
    write_status(packet, status)

    assert is_evaluating(packet)
    assert not start_evaluating(packet, centroid=False)
    test = evaluation(packet=packet.sha256)

    assert "stop-evaluating" in [button.key for button in test.button]
    os.close(lock)
    assert not is_evaluating(packet)


def test_a_run_that_was_killed_says_how_far_it_came_and_that_it_goes_on(folder: Path) -> None:
    packet = keep_evaluated(folder, threshold=load_forest().threshold)
    write_status(
        packet, JobStatus(state=JobState.RUNNING, what="claims", done=5, total=60, started=1.0)
    )

    (card,) = cards(evaluation(packet=packet.sha256))

    assert card["title"] == "The last evaluation was interrupted"
    assert card["text"] == "5 of 60 were read and are kept. Evaluate goes on from there."


def test_a_failed_run_gives_its_reason(folder: Path) -> None:
    packet = keep_evaluated(folder)
    write_status(packet, JobStatus(state=JobState.FAILED, what="claims", message="no NLI model"))

    assert "no NLI model." in cards(evaluation(packet=packet.sha256))[0]["text"]


def test_progress_counts_only_what_this_run_read() -> None:
    status = JobStatus(
        state=JobState.RUNNING, what="claims", done=150, total=250, before=50, started=100.0
    )

    assert progress_words(status, 150.0) == "150 of 250 claims · 2.0 a second · about 50 s left"
    assert progress_words(replace(status, done=50), 150.0).endswith("reading the first ones")
    assert progress_words(replace(status, total=0, what="intervals"), 1.0).startswith(
        "all are read"
    )


# ---------------------------------------------------------------- thresholds


def test_thresholds_ask_for_an_evaluated_packet_first(folder: Path) -> None:
    assert titles(thresholds()) == ["No packet has been evaluated yet"]


def test_thresholds_say_that_the_first_packet_is_still_being_evaluated(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "packet.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(4)))
    packet = keep_packet(folder, "first", file, max_record_bytes=1 << 20)
    with lock_for_work(packet.folder / "lock"):
        write_status(packet, JobStatus(state=JobState.RUNNING, what="Loading the models"))
        test = thresholds()

    assert titles(test) == ["The figures follow when the labelled claims are read"]
    (bar,) = test.get("progress")
    assert bar.proto.text == "Evaluating 4 claims: loading the models …"


def test_the_view_holds_the_cost_of_every_threshold(folder: Path) -> None:
    packet = keep_evaluated(folder, threshold=0.5, calibrator="forest-of-before")
    rows = read_packet(packet.path).rows
    found = read_predictions(kept_runs(packet)[0].folder / "predictions.jsonl")

    data = view(thresholds(packet=packet.sha256), "provenanceguard_thresholds")

    costs = costs_at(view_predictions(rows, found), data["thresholds"])
    passed, blocked = data["series"]
    assert passed["values"] == [round(100 * cost.false_pass_rate, 3) for cost in costs]
    assert blocked["values"] == [round(100 * cost.false_block_rate, 3) for cost in costs]
    assert data["words"][data["current"]] == data["words"][data["chosen"]] == "0.5"
    figures = {figure["id"]: figure["values"] for figure in data["figures"]}
    at = data["words"].index("0.7")
    reviews = costs[at].blocked / 60 * 1_000
    assert figures["reviews"][at] == f"{reviews:,.0f}"
    assert figures["hours"][at] == f"{reviews * 2 / 60:,.1f} h"


def test_the_work_load_follows_what_comes_in_and_how_long_a_claim_takes(folder: Path) -> None:
    packet = keep_evaluated(folder)
    test = thresholds(packet=packet.sha256)

    test.number_input(key="claims-a-day").set_value(500)
    test.number_input(key="minutes-a-claim").set_value(6.0).run()

    figures = {f["id"]: f for f in view(test, "provenanceguard_thresholds")["figures"]}
    assert figures["reviews"]["more"][0].endswith("of 500 claims")
    assert float(figures["hours"]["values"][-1][:-2]) == pytest.approx(
        float(figures["reviews"]["values"][-1]) * 6 / 60, abs=0.06
    )


def test_an_address_restores_the_threshold_and_the_claims_that_flip(folder: Path) -> None:
    packet = keep_evaluated(folder, threshold=0.5, calibrator="forest-of-before")
    rows = {row.claim_id: row for row in read_packet(packet.path).rows}
    found = read_predictions(kept_runs(packet)[0].folder / "predictions.jsonl")

    test = thresholds(packet=packet.sha256, threshold="0.62")

    assert test.query_params["threshold"] == "0.62"
    flips = view(test, "provenanceguard_flips")["rows"]
    crossed = {f.claim_id for f in found if not f.forced and 0.5 <= f.probability < 0.62}
    assert {row["id"] for row in flips} == crossed
    assert [row["support"] for row in flips] == sorted((r["support"] for r in flips), reverse=True)
    for row in flips:
        better = rows[row["id"]].should_block
        assert row["effect"] == f"{'bad' if better else 'good'} claim, now stopped"
        assert row["tone"] == ("good" if better else "bad")


def test_a_rule_moves_the_slider_to_what_the_calibrator_would_choose(folder: Path) -> None:
    packet = keep_evaluated(folder, threshold=0.5)
    rows = read_packet(packet.path).rows
    found = read_predictions(kept_runs(packet)[0].folder / "predictions.jsonl")
    test = thresholds(packet=packet.sha256)

    test.number_input(key="max-false-pass").set_value(5.0).run()
    test.button(key="by-false-pass").click().run()

    assert not test.exception
    data = view(test, "provenanceguard_thresholds")
    points = sweep(
        np.array([one.probability for one in found]),
        np.array([row.should_block for row in rows]),
        np.array([one.forced for one in found]),
    )
    expected = by_false_pass(points, 0.05)
    assert data["thresholds"][data["chosen"]] == expected.point.threshold
    assert data["generation"] == 1
    assert any(text.value.startswith("Threshold 0.") for text in test.text) is expected.met


def test_a_slice_has_its_own_costs(folder: Path) -> None:
    packet = keep_evaluated(folder)

    data = view(thresholds(packet=packet.sha256, slice="values"), "provenanceguard_thresholds")

    assert data["title"].endswith("n = 30 labelled claims")


def test_a_second_calibrator_and_the_centroid_router_can_be_laid_over(folder: Path) -> None:
    packet = keep_evaluated(folder, calibrator="forest-a", threshold=0.4)
    keep_evaluated(folder, calibrator="forest-b", threshold=0.6)
    newest = kept_runs(packet)[0]
    keep_predictions(
        newest.folder / CENTROID_FILE, read_predictions(newest.folder / "predictions.jsonl")
    )
    test = thresholds(packet=packet.sha256)
    overlay = next(box for box in test.selectbox if box.label == "Compare with")
    assert overlay.options == ["Nothing", "forest-a at 0.4", "the centroid router"]

    overlay.set_value("forest-a at 0.4").run()

    data = view(test, "provenanceguard_thresholds")
    assert [series["other"] for series in data["series"]] == [False, False, True, True]
    assert data["figures"][0]["other"].endswith("with forest-a at 0.4")


def test_after_a_promotion_thresholds_say_whose_run_is_drawn_until_the_new_ones_is_there(
    folder: Path,
) -> None:
    shipped = load_forest()
    packet = keep_evaluated(folder, threshold=0.4, calibrator="forest-before")
    drawn = thresholds(packet=packet.sha256)
    assert titles(drawn) == [
        f"Drawn here is the forest-before at 0.4; in use is the shipped calibrator at {shipped.threshold:g}"
    ]
    assert drawn.button(key="evaluate").label == "Evaluate with what is in use"

    keep_evaluated(folder, threshold=shipped.threshold)
    keep_evaluated(folder, threshold=0.45, calibrator="forest-later")
    drawn.run()

    assert titles(drawn) == [
        "Drawn here is the forest-before at 0.4; in use is the shipped calibrator"
        f" at {shipped.threshold:g}"
    ]
    assert "evaluate" not in [button.key for button in drawn.button]
    assert (
        titles(thresholds(packet=packet.sha256)) == []
    )  # the last of what is in use, not the last


def test_a_lead_puts_a_threshold_to_use_with_a_reason(folder: Path) -> None:
    packet = keep_evaluated(folder, threshold=0.5)
    store = open_store(str(folder.parent / "workbench.db"))
    in_force = workspace_of(store).calibrators.current().threshold
    test = thresholds(packet=packet.sha256, threshold="0.66")
    assert view(test, "provenanceguard_thresholds")["words"][0] == "0.01"
    assert in_force != 0.66

    test.button(key="use-threshold").click().run()
    assert workspace_of(store).calibrators.current().threshold == in_force
    assert "The threshold was not changed" in titles(test)

    test.text_area(key="use-reason").set_value("Fewer good claims may be lost on charts.")
    test.button(key="use-threshold").click().run()

    assert not test.exception
    assert "Threshold 0.66 is in use" in titles(test)
    now = workspace_of(store).calibrators.current()
    assert (now.threshold, now.reason) == (0.66, "Fewer good claims may be lost on charts.")
    assert (
        view(test, "provenanceguard_thresholds")["words"][
            view(test, "provenanceguard_thresholds")["current"]
        ]
        == "0.66"
    )


def test_only_a_lead_and_only_the_calibrator_in_force_get_another_threshold(folder: Path) -> None:
    packet = keep_evaluated(folder)
    other = keep_evaluated(folder, calibrator="forest-of-before", seed=5)
    store = open_store(str(folder.parent / "workbench.db"))
    lead = workspace_of(store).people.local()
    reviewer = workspace_of(store).people.add("Ines Prado", {Role.REVIEWER}, by=lead)
    ruling = workspace_of(store).calibrators.current()
    (run,), (old,) = kept_runs(packet), kept_runs(other)

    assert why_not(run, 0.99, ruling, lead) is None
    assert "Only a lead" in str(why_not(run, 0.99, ruling, reviewer))
    assert "another calibrator" in str(why_not(old, 0.99, ruling, lead))
    assert "already" in str(why_not(run, ruling.threshold, ruling, lead))
    test = thresholds(packet=other.sha256, threshold="0.7")
    assert test.button(key="use-threshold").disabled


# ---------------------------------------------------------------- who may see which labels


def test_labels_that_reviewers_gave_are_not_on_offer_to_reviewers(folder: Path) -> None:
    packet = keep_evaluated(folder)
    card = json.loads((packet.folder / "packet.json").read_text())
    (packet.folder / "packet.json").write_text(json.dumps({**card, "reviewed": True}))
    store = open_store(str(folder.parent / "workbench.db"))
    lead = workspace_of(store).people.local()
    reviewer = workspace_of(store).people.add("Ines Prado", {Role.REVIEWER}, by=lead)

    offered = {
        person.name: [choice.key for choice in packet_choices(store, person)]
        for person in (lead, reviewer)
    }

    assert offered == {lead.name: [packet.sha256, "sample"], reviewer.name: ["sample"]}


def test_what_reviewers_settled_is_a_packet_without_their_names_and_words(
    folder: Path, tmp_path: Path
) -> None:
    store = open_store(str(tmp_path / "workbench.db"), actor="test")
    office = an_office(store, traces=2, reads_per_claim=2)
    for number in range(4):
        office.read("Ada", SUPPORTED, rationale="RATIONALE-OF-ADA")
        office.read("Ben", UNSUPPORTED if number == 1 else SUPPORTED)
    lead, ada = workspace_of(store).people.local(), workspace_of(store).people.by_name("Ada")

    write_settled(lead, tmp_path / "settled.jsonl")

    rows = read_packet(tmp_path / "settled.jsonl").rows
    assert (settled_claims(lead), settled_claims(ada)) == (3, 0)
    assert [row.label for row in rows] == [VerdictLabel.SUPPORTED] * 3
    written = (tmp_path / "settled.jsonl").read_text()
    assert not {"Ada", "Ben", "RATIONALE-OF-ADA"} & set(re.findall(r"[\w-]+", written))
    (offered,) = [c for c in packet_choices(store, lead) if c.key == "settled"]
    kept = bring_choice(store, offered, lead)
    assert kept.reviewed and kept.rows == 3
    assert {c.key for c in packet_choices(store, ada)} == {"sample"}


def test_where_one_reading_settles_a_claim_it_is_on_offer(folder: Path, tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "workbench.db"), actor="test")
    office = an_office(store, traces=1, reads_per_claim=1)
    office.read("Ada", SUPPORTED)
    lead = workspace_of(store).people.local()

    assert settled_claims(lead) == 1
    assert "settled" in {choice.key for choice in packet_choices(store, lead)}


# ---------------------------------------------------------------- numbers


def test_what_never_happened_is_not_promised_never_to_happen() -> None:
    assert rate_interval(0, 140, [0.0, 0.0]) == "exact 95 % interval 0.0 to 2.6 %"
    assert rate_interval(140, 140, [1.0, 1.0]) == "exact 95 % interval 97.4 to 100.0 %"
    assert rate_interval(7, 140, [0.02, 0.09]) == "95 % interval 2.0 to 9.0 %"
    assert rate_interval(7, 140, None) == "no interval"


def test_a_spreadsheet_runs_nothing_that_a_packet_says() -> None:
    text = csv_text(("Slice", "Value"), [('=HYPERLINK("http://192.0.2.1")', -0.5), ("plain", None)])

    rows = list(csv.reader(io.StringIO(text)))

    assert rows[1] == ['\'=HYPERLINK("http://192.0.2.1")', "-0.5"]
    assert rows[2] == ["plain", ""]


def kept_records(folder: Path, records: list[Any]) -> KeptPacket:
    """A packet of these rows, evaluated as ``keep_evaluated`` does."""
    file = folder.parent / "some.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    packet = keep_packet(folder, "some.jsonl", file, max_record_bytes=1 << 20)
    keep_predicted(packet, records)
    return packet
