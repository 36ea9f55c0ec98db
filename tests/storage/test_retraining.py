"""From annotations to a candidate, to what decides, to every stored answer, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from forests import a_calibrator
from labelled import a_labelled_office, a_measured_trace, models_of
from reviewing import Office, problems_beside_the_clock

from core.codec import verdict_document
from core.config import Config
from core.errors import ComponentUnavailable, InputError, NotAllowed
from core.pipeline import verify
from core.records import JsonObject
from core.review.calibrators import Standing
from core.review.records import Judgement, Split, Unfit
from core.workflows.retraining import NOT_A_CLAIM, Retraining, lineage_json
from core.workflows.verify import verify_pending
from storage.store import SqlStore
from storage.workspace import Workspace

TRACES = 20


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Office, Retraining]:
    """One reviewed store for the tests that only add to it."""
    folder = tmp_path_factory.mktemp("reviewed")
    store = a_store(folder / "workbench.db", actor="tester")
    office = a_labelled_office(_workspace(store, folder), traces=TRACES)
    retraining = Retraining(workspace=office.workspace, shipped_rows=folder / "no-rows.npz")
    return office, retraining


@pytest.fixture(scope="module")
def candidate(reviewed: tuple[Office, Retraining]) -> str:
    """What a lead had fitted from its labels, for the tests that look at it."""
    office, retraining = reviewed
    return retraining.fit(office.people["Lea"], with_shipped=False)


def _workspace(store: SqlStore, folder: Path) -> Workspace:
    # It looks at the wrong thing and blocks everything, so that there is something to learn.
    a_calibrator(folder / "shipped", feature="route_score", cut=0.05, below=0.4, above=0.5)
    return workspace_of(store, shipped=folder / "shipped")


def _documents(store: SqlStore) -> list[JsonObject]:
    return [
        verdict_document(store.get_verdict(f"visit-{number:03d}").verification)
        for number in range(TRACES)
    ]


def _plain(document: JsonObject) -> str:
    return json.dumps({k: v for k, v in document.items() if k != "latency_seconds"})


def test_the_whole_loop_and_back_again(reviewed: tuple[Office, Retraining], candidate: str) -> None:
    office, retraining = reviewed
    lead, calibrators = office.people["Lea"], office.workspace.calibrators
    first, name = [_plain(d) for d in _documents(office.store)], candidate

    assert calibrators.current().name != name  # nothing is promoted by accident
    [kept] = calibrators.candidates()
    assert kept.standing is Standing.WAITING
    assert retraining.waiting() == 0

    calibrators.promote(name, "it looks at the annotation", lead, over=calibrators.current().label)
    assert retraining.waiting() == TRACES
    report = retraining.rescore(Config())

    assert report.rescored == TRACES
    assert not report.left_out
    assert retraining.waiting() == 0
    models = models_of(calibrators)
    for number in (0, 1, 17):
        stored = _documents(office.store)[number]
        again = verdict_document(verify(a_measured_trace(number), models, Config()))
        kept_hash = {"content_hash": stored["content_hash"]}
        assert _plain({"trace_id": stored["trace_id"], **kept_hash, **again}) == _plain(stored)
    # The models have nothing to do: what was rescored has its verdict.
    assert verify_pending(office.store, models, Config()).verified == 0

    was = calibrators.before()
    assert was is not None
    calibrators.roll_back(was.calibrator, "only a rehearsal", lead)
    retraining.rescore(Config())

    label = calibrators.current().label
    back = [_plain(d).replace(label, was.calibrator) for d in _documents(office.store)]
    assert back == first
    assert problems_beside_the_clock(office.store) == []


def test_a_candidate_learns_what_the_reviewers_say(
    reviewed: tuple[Office, Retraining], candidate: str
) -> None:
    office, _ = reviewed

    comparison = office.workspace.calibrators.kept(candidate).comparison
    held_out = comparison["sides"]["held_out"]  # type: ignore[index]
    assert held_out["candidate"]["at"]["false_block_rate"] == 0.0
    assert held_out["current"]["at"]["false_block_rate"] == 1.0
    stored = comparison["stored"]
    assert stored["answers"] == sum(stored["before"].values()) == TRACES  # type: ignore[index, call-overload, union-attr]
    assert stored["claims_before"]["allow"] < stored["claims_after"]["allow"]  # type: ignore[index, call-overload]
    assert held_out["claims"] == held_out["to_block"] + held_out["to_pass"]
    assert all(flip["side"] != "train" for flip in comparison["flips"])  # type: ignore[attr-defined]


def test_the_lineage_names_guideline_votes_split_forest_and_threshold(
    reviewed: tuple[Office, Retraining], candidate: str
) -> None:
    _, retraining = reviewed

    lineage = json.loads(lineage_json(retraining.lineage(candidate)))

    assert lineage["guideline"][0]["version"] == 1
    assert lineage["votes"]["by_reviewer"] == {"Ada": lineage["votes"]["claims"]}
    assert lineage["votes"]["claims"] == len(lineage["votes"]["labels"])
    assert {label["split"] for label in lineage["votes"]["labels"]} == {"train", "validation"}
    assert lineage["forest"]["settings"]["trees"] == 400
    assert 0 < lineage["threshold"]["value"] < 1
    assert lineage["calibrator"]["name"] == candidate


def test_no_trace_stands_on_two_sides(reviewed: tuple[Office, Retraining]) -> None:
    _, retraining = reviewed
    material = retraining.material()

    sides = [
        {one.claim.trace_id for one in rows}
        for rows in (material.train, material.validation, material.held_out)
    ]

    assert all(sides)
    assert not (sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2])
    assert all(one.row.held_out for one in material.held_out)


def test_only_a_lead_fits(reviewed: tuple[Office, Retraining]) -> None:
    office, retraining = reviewed
    before = len(office.workspace.calibrators.candidates())

    with pytest.raises(NotAllowed, match="fit a calibrator"):
        retraining.fit(office.people["Ada"], with_shipped=False)

    assert len(office.workspace.calibrators.candidates()) == before


def test_without_the_shipped_rows_the_page_can_tell(reviewed: tuple[Office, Retraining]) -> None:
    office, retraining = reviewed

    assert retraining.shipped() is None
    with pytest.raises(ComponentUnavailable, match="no training rows"):
        retraining.fit(office.people["Lea"], with_shipped=True)


def test_too_few_labels_say_how_many_of_which_kind(store: SqlStore, tmp_path: Path) -> None:
    office = a_labelled_office(_workspace(store, tmp_path), traces=2)
    retraining = Retraining(workspace=office.workspace)

    with pytest.raises(InputError, match="too few labels: .* more supported claims on train"):
        retraining.fit(office.people["Lea"], with_shipped=False)

    assert office.workspace.calibrators.candidates() == ()


def test_labels_of_held_out_traces_are_never_fitted_to(store: SqlStore, tmp_path: Path) -> None:
    workspace = _workspace(store, tmp_path)
    for number in range(2):
        workspace.splits.say(f"visit-{number:03d}", Split.HELD_OUT, by="Lea")
    office = a_labelled_office(workspace, traces=2)
    retraining = Retraining(workspace=office.workspace)

    material = retraining.material()

    assert not material.train and not material.validation
    assert len(material.held_out) == 8


def test_what_is_no_claim_teaches_nothing(store: SqlStore, tmp_path: Path) -> None:
    office = a_labelled_office(_workspace(store, tmp_path), traces=4)
    retraining = Retraining(workspace=office.workspace, shipped_rows=tmp_path / "no-rows.npz")
    before = retraining.material()
    office.desk("Ada").undo()
    unfit = Judgement(support=Unfit.NOT_A_CLAIM, source_id=None, correction="The pulse was 64 bpm.")

    office.read("Ada", unfit)

    after = retraining.material()
    assert sum(after.left_out.values()) == sum(before.left_out.values()) + 1
    assert after.left_out[NOT_A_CLAIM] == 1
    rows = (*before.train, *before.validation, *before.held_out)
    assert len(after.train) + len(after.validation) + len(after.held_out) == len(rows) - 1
