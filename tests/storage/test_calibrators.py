"""Calibrators: kept with their artifact, promoted with a reason, rolled back, never lost."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from databases import workspace_of
from forests import a_calibrator
from sqlalchemy import text

from core.errors import (
    ConfigError,
    Conflict,
    DamagedArtifact,
    InputError,
    NotAllowed,
    NotFound,
    StoreError,
)
from core.models.forest import load_forest
from core.records import Features
from core.review.calibrators import Action, Reign, Standing
from core.review.records import Person, Role
from core.workflows.models import active_forest
from storage import calibrators
from storage.calibrators import Calibrators
from storage.store import SqlStore

ENTAILED = [Features(categorical={}, numeric={"entailment": 1.0})]


@pytest.fixture
def desk(store: SqlStore, tmp_path: Path) -> Calibrators:
    a_calibrator(tmp_path / "shipped", threshold=0.5)
    return workspace_of(store, shipped=tmp_path / "shipped").calibrators


def lea(desk: Calibrators) -> Person:
    """The lead of a store; made at first use."""
    return _person(desk, "Lea", Role.LEAD)


def _person(desk: Calibrators, name: str, role: Role) -> Person:
    people = workspace_of(desk.store).people
    try:
        return people.by_name(name)
    except NotFound:
        return people.add(name, {role}, by=people.local())


def _kept(desk: Calibrators, tmp_path: Path, *, above: float = 0.8, threshold: float = 0.7) -> str:
    folder = tmp_path / f"fitted-{above}-{threshold}"
    a_calibrator(folder, above=above, threshold=threshold)
    return desk.keep(folder, {"claims": 12}, {"votes": [1, 2]}, by=lea(desk))


def test_until_something_is_promoted_the_shipped_calibrator_decides(
    desk: Calibrators, tmp_path: Path
) -> None:
    _kept(desk, tmp_path)

    found = desk.current()

    assert (found.name, found.threshold) == (load_forest(desk.files.shipped).name, 0.5)
    assert found.folder is None and found.since is None
    assert active_forest(desk).name == found.label == found.name
    assert [one.standing for one in desk.candidates()] == [Standing.WAITING]


def test_a_promoted_calibrator_decides_and_says_since_when_and_why(
    desk: Calibrators, tmp_path: Path
) -> None:
    name = _kept(desk, tmp_path)

    desk.promote(name, "fewer good claims blocked", lea(desk))

    found = desk.current()
    assert (found.name, found.threshold, found.by) == (name, 0.7, "Lea")
    assert found.reason == "fewer good claims blocked"
    assert found.folder is not None and load_forest(found.folder).name == name
    assert active_forest(desk).threshold == 0.7
    assert active_forest(desk).probabilities(ENTAILED).tolist() == [0.8]


def test_the_same_forest_is_kept_once(desk: Calibrators, tmp_path: Path) -> None:
    assert _kept(desk, tmp_path) == _kept(desk, tmp_path)

    assert len(desk.candidates()) == 1
    assert desk.candidates()[0].comparison == {"claims": 12}


def test_a_step_needs_a_reason(desk: Calibrators, tmp_path: Path) -> None:
    name = _kept(desk, tmp_path)

    for step in (desk.promote, desk.reject):
        with pytest.raises(InputError, match="reason"):
            step(name, "  ", lea(desk))
    with pytest.raises(InputError, match="reason"):
        desk.use_threshold(0.6, "", lea(desk))

    assert desk.steps() == ()


def test_rolling_back_undoes_each_step_and_every_reign_has_its_own_label(
    desk: Calibrators, tmp_path: Path
) -> None:
    shipped, name = load_forest(desk.files.shipped).name, _kept(desk, tmp_path)
    labels = [desk.current().label]
    desk.promote(name, "better", lea(desk))
    labels.append(desk.current().label)
    desk.use_threshold(0.75, "too many bad claims pass", lea(desk))
    labels.append(desk.current().label)

    assert desk.before() == Reign(calibrator=name, threshold=0.7)
    desk.roll_back(name, "too strict", lea(desk))
    labels.append(desk.current().label)
    assert desk.current().threshold == 0.7
    desk.roll_back(shipped, "back to the start", lea(desk))
    labels.append(desk.current().label)

    assert (desk.current().name, desk.current().threshold) == (shipped, 0.5)
    assert desk.current().folder is not None  # kept, whatever a later program ships
    assert len(set(labels)) == 5
    assert [step.action for step in desk.steps()] == [
        Action.PROMOTE,
        Action.THRESHOLD,
        Action.ROLL_BACK,
        Action.ROLL_BACK,
    ]


def test_nothing_rolls_back_to_what_never_decided(desk: Calibrators, tmp_path: Path) -> None:
    name = _kept(desk, tmp_path)

    assert desk.before() is None
    with pytest.raises(NotFound, match="did not decide"):
        desk.roll_back(name, "why not", lea(desk))
    with pytest.raises(NotFound, match="did not decide"):
        desk.roll_back(load_forest(desk.files.shipped).name, "why not", lea(desk))


def test_a_threshold_of_the_shipped_calibrator_outlives_the_next_release(
    desk: Calibrators, tmp_path: Path
) -> None:
    shipped = load_forest(desk.files.shipped).name
    desk.use_threshold(0.55, "a little more", lea(desk))
    a_calibrator(tmp_path / "released", above=0.95, threshold=0.4)

    later = workspace_of(desk.store, shipped=tmp_path / "released").calibrators

    assert (later.current().name, later.current().threshold) == (shipped, 0.55)
    assert active_forest(later).probabilities(ENTAILED).tolist() == [0.9]


def test_a_lead_who_saw_something_else_in_force_is_told(desk: Calibrators, tmp_path: Path) -> None:
    first, second = _kept(desk, tmp_path), _kept(desk, tmp_path, above=0.85)
    seen = desk.current().label
    desk.promote(first, "better", lea(desk))

    with pytest.raises(Conflict, match="meanwhile"):
        desk.promote(second, "better still", lea(desk), over=seen)

    assert desk.current().name == first


def test_what_decides_already_is_not_promoted_again(desk: Calibrators, tmp_path: Path) -> None:
    name = _kept(desk, tmp_path)
    desk.promote(name, "better", lea(desk))

    with pytest.raises(Conflict, match="already"):
        desk.promote(name, "again", lea(desk))
    with pytest.raises(Conflict, match="already"):
        desk.use_threshold(0.7, "again", lea(desk))
    with pytest.raises(Conflict, match="not waiting"):
        desk.reject(name, "no", lea(desk))


def test_only_a_lead_changes_what_decides(desk: Calibrators, tmp_path: Path) -> None:
    name, before = _kept(desk, tmp_path), desk.current()
    reviewer = _person(desk, "Rae", Role.REVIEWER)

    for doing in (
        lambda: desk.promote(name, "better", reviewer),
        lambda: desk.reject(name, "worse", reviewer),
        lambda: desk.use_threshold(0.3, "lower", reviewer),
        lambda: desk.keep(desk.files.shipped, {}, {}, by=reviewer),
    ):
        with pytest.raises(NotAllowed, match="needs the role lead"):
            doing()
    desk.promote(name, "better", lea(desk))
    with pytest.raises(NotAllowed, match="needs the role lead"):
        desk.roll_back(before.name, "no", reviewer)

    assert desk.current().name == name


def test_a_threshold_is_between_0_and_1(desk: Calibrators) -> None:
    for wrong in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ConfigError, match="threshold"):
            desk.use_threshold(wrong, "why", lea(desk))


def test_the_calibrator_of_a_later_release_is_promoted_by_name(
    desk: Calibrators, tmp_path: Path
) -> None:
    name = _kept(desk, tmp_path)
    desk.promote(name, "ours", lea(desk))
    released = a_calibrator(tmp_path / "released", above=0.95, threshold=0.4)
    later = workspace_of(desk.store, shipped=tmp_path / "released").calibrators

    with pytest.raises(NotFound):
        desk.promote(released, "theirs is better", lea(desk))
    later.promote(released, "theirs is better", lea(desk))

    assert (later.current().name, later.current().threshold) == (released, 0.4)
    assert later.before() == Reign(calibrator=name, threshold=0.7)


def test_a_rejected_calibrator_decides_nothing(desk: Calibrators, tmp_path: Path) -> None:
    name, before = _kept(desk, tmp_path), desk.current()

    desk.reject(name, "blocks too much", lea(desk))

    assert desk.current() == before
    assert desk.candidates()[0].standing is Standing.REJECTED


def test_a_changed_artifact_is_refused(desk: Calibrators, tmp_path: Path) -> None:
    name = _kept(desk, tmp_path)
    with desk.store.database.writing() as connection:
        row = connection.execute(text("SELECT artifact FROM calibrator")).one()
        drop = "DROP TRIGGER calibrator_refuses_update"
        if desk.store.database.engine.dialect.name == "postgresql":
            drop += " ON calibrator"
        connection.execute(text(drop))
        connection.execute(
            text("UPDATE calibrator SET artifact = :changed"), {"changed": b"X" + row[0][1:]}
        )

    with pytest.raises(DamagedArtifact, match="was recorded"):
        desk.folder(name)


def test_an_archive_writes_its_three_files_and_nothing_else(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "fitted")
    stream = io.BytesIO(calibrators._packed(tmp_path / "fitted"))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("../outside.txt", "no")
    data = stream.getvalue()

    folder = calibrators._unpacked(calibrators._digest(data), data)

    assert sorted(path.name for path in folder.iterdir()) == sorted(calibrators.FILES)
    assert not (folder.parent / "outside.txt").exists()
    assert load_forest(folder).name == load_forest(tmp_path / "fitted").name


def test_the_database_refuses_to_change_a_promotion(desk: Calibrators, tmp_path: Path) -> None:
    desk.promote(_kept(desk, tmp_path), "better", lea(desk))

    with (
        pytest.raises(StoreError, match="append-only"),
        desk.store.database.writing() as connection,
    ):
        connection.execute(text("UPDATE promotion SET threshold = 0.01"))

    assert desk.store.verify_chain().intact
