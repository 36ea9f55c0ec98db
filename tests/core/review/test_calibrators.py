"""Which calibrator is active and what may follow, worked out from the steps alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConfigError, Conflict, NotFound
from core.review import calibrators
from core.review.calibrators import Action, CalibratorArtifact, Reign, Standing, Step

SHIPPED = CalibratorArtifact(folder=Path("shipped"), name="shipped", threshold=0.5)
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def steps(*taken: tuple[str, float, Action]) -> tuple[Step, ...]:
    """Decisions in that order, numbered from 1."""
    return tuple(
        Step(
            step=n,
            calibrator=name,
            threshold=threshold,
            action=action,
            reason="r",
            by="Lea",
            at=NOON,
        )
        for n, (name, threshold, action) in enumerate(taken, 1)
    )


TAKEN = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "shipped"]), st.sampled_from([0.5, 0.7]), st.sampled_from(Action)
    ),
    max_size=6,
)
A_THEN_B = steps(("a", 0.7, Action.PROMOTE), ("c", 0.6, Action.REJECT), ("b", 0.6, Action.PROMOTE))


@given(TAKEN)
def test_exactly_what_the_last_step_but_a_rejection_names_is_active(
    taken: list[tuple[str, float, Action]],
) -> None:
    decided = steps(*taken)
    active = calibrators.active_step(decided)

    standing = calibrators.standings(decided)

    in_force = [name for name, where in standing.items() if where is Standing.ACTIVE]
    assert in_force in ([], [active.calibrator] if active else [])
    assert all(step.action is Action.REJECT for step in decided[active.step if active else 0 :])


@given(TAKEN)
def test_what_decides_now_is_never_among_what_decided_before(
    taken: list[tuple[str, float, Action]],
) -> None:
    decided = steps(*taken)
    active = calibrators.active_step(decided)
    now = (
        Reign(calibrator=active.calibrator, threshold=active.threshold)
        if active
        else Reign(calibrator=SHIPPED.name, threshold=SHIPPED.threshold)
    )

    assert now not in calibrators.earlier_reigns(SHIPPED, decided)


def test_two_reigns_of_one_forest_have_two_labels() -> None:
    taken = steps(
        ("a", 0.7, Action.PROMOTE), ("b", 0.6, Action.PROMOTE), ("a", 0.7, Action.ROLL_BACK)
    )

    labels = [calibrators.label_of(step, SHIPPED.name) for step in (None, *taken)]

    assert labels == ["shipped", "a@0.7#1", "b@0.6#2", "a@0.7#3"]


def test_each_calibrator_stands_where_the_decisions_left_it() -> None:
    assert calibrators.standings(A_THEN_B) == {
        "a": Standing.EARLIER,
        "b": Standing.ACTIVE,
        "c": Standing.REJECTED,
    }


def test_the_way_back_leads_to_the_latest_threshold_that_the_calibrator_had() -> None:
    taken = steps(
        ("a", 0.7, Action.PROMOTE), ("a", 0.8, Action.THRESHOLD), ("b", 0.6, Action.PROMOTE)
    )

    assert calibrators.roll_back_to("a", SHIPPED, taken).threshold == 0.8
    assert calibrators.roll_back_to("shipped", SHIPPED, taken).threshold == 0.5
    with pytest.raises(NotFound, match="did not decide before"):
        calibrators.roll_back_to("b", SHIPPED, taken)


def test_a_lead_who_saw_another_calibrator_active_is_told_which_one_is() -> None:
    active = calibrators.active_step(A_THEN_B)

    calibrators.check_seen(None, active, SHIPPED.name)
    calibrators.check_seen("b@0.6#3", active, SHIPPED.name)
    calibrators.check_seen("shipped", None, SHIPPED.name)
    with pytest.raises(Conflict, match="b@0.6#3"):
        calibrators.check_seen("a@0.7#1", active, SHIPPED.name)


def test_what_decides_already_is_not_promoted_again_but_its_other_threshold_is() -> None:
    active = calibrators.active_step(A_THEN_B)

    calibrators.check_promotion("a", 0.7, active, SHIPPED.name)
    calibrators.check_promotion("b", 0.7, active, SHIPPED.name)
    for name, threshold, now in (("b", 0.6, active), ("shipped", 0.5, None)):
        with pytest.raises(Conflict, match="decides already"):
            calibrators.check_promotion(name, threshold, now, SHIPPED.name)


def test_only_a_waiting_calibrator_is_rejected() -> None:
    calibrators.check_rejection("new", A_THEN_B)

    for name in ("a", "b", "c"):
        with pytest.raises(Conflict, match="is not waiting"):
            calibrators.check_rejection(name, A_THEN_B)


def test_a_threshold_is_between_its_ends_and_another_than_now() -> None:
    active = calibrators.active_step(A_THEN_B)

    assert calibrators.at_threshold(0.9, active, SHIPPED) == Reign(calibrator="b", threshold=0.9)
    assert calibrators.at_threshold(0.9, None, SHIPPED).calibrator == "shipped"
    with pytest.raises(Conflict, match="already"):
        calibrators.at_threshold(0.6, active, SHIPPED)
    for outside in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ConfigError):
            calibrators.check_threshold(outside)
