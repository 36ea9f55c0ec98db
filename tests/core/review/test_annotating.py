"""What may be said about a claim and what is written down then, worked out without a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewed import (
    MONDAY,
    UNSUPPORTED,
    a_judgement,
    a_signal,
    an_adjudication,
    an_annotation,
    an_assignment,
)

from core.errors import Conflict, NotAllowed
from core.review import annotating
from core.review.annotating import Answer, Standing, standing_of
from core.review.items import Assignment, QueueState
from core.review.records import Exposure, Passage, ProjectSettings

YES, NO = a_judgement(), a_judgement(UNSUPPORTED, None)
REVEALED = MONDAY + timedelta(minutes=10)
ONE, TWO = ProjectSettings(), ProjectSettings(reads_per_claim=2)
ELSEWHERE = (Exposure(what="verdict page", at=MONDAY),)


def an_answer(**more: object) -> Answer:
    """Supported by the chart, with nothing of the machine on screen."""
    return Answer(
        **{
            "judgement": YES,
            "confidence": 5,
            "rationale": "It says so.",
            "exposures": (),
            "nonce": "n1",
            "guideline_version": 2,
            **more,
        }  # type: ignore[arg-type]
    )


# ---------------------------------------------------------------- how far a claim is


def test_the_last_word_of_each_reviewer_counts_in_whatever_order_slots_were_taken() -> None:
    first, changed = (
        an_annotation("Ada", YES, slot=2, vote_id=1),
        an_annotation("Ada", NO, slot=2, vote_id=3),
    )
    other = an_annotation("Ben", YES, slot=1, vote_id=2)

    assert annotating.current([first, other, changed]) == (other, changed)


@pytest.mark.parametrize(
    ("settings", "annotations", "open_ones", "expected"),
    [
        (ONE, [], [], Standing(missing=1, state=QueueState.WAITING)),
        (ONE, [], [True], Standing(missing=0, state=QueueState.READING)),
        (ONE, [an_annotation()], [False], Standing(missing=0, state=QueueState.SETTLED, passes=True)),
        (ONE, [an_annotation()], [True], Standing(missing=0, state=QueueState.READING)),
        (TWO, [an_annotation()], [False], Standing(missing=1, state=QueueState.READING)),
        (TWO, [an_annotation(), an_annotation("Ben", YES, 2)], [False] * 2,
         Standing(missing=0, state=QueueState.SETTLED, passes=True)),
        (TWO, [an_annotation(), an_annotation("Ben", NO, 2)], [False] * 2,
         Standing(missing=0, state=QueueState.DISAGREEMENT)),
        (TWO, [an_annotation(), an_annotation("Ben", NO, 2)], [False, True],
         Standing(missing=0, state=QueueState.READING)),
        # Two said the same before the lead asked for one annotation only: nothing is asked again.
        (ONE, [an_annotation(), an_annotation("Ben", YES, 2)], [False] * 2,
         Standing(missing=0, state=QueueState.SETTLED, passes=True)),
    ],
)  # fmt: skip
def test_how_far_a_claim_is_follows_from_who_holds_it_and_what_was_said(
    settings: ProjectSettings, annotations: list[object], open_ones: list[bool], expected: Standing
) -> None:
    assert standing_of(settings, annotations, None, open_ones) == expected  # type: ignore[arg-type]


@given(st.lists(st.booleans(), max_size=2), st.sampled_from([ONE, TWO]))
def test_an_adjudicated_claim_asks_nobody_for_anything(
    open_ones: list[bool], settings: ProjectSettings
) -> None:
    annotations = [an_annotation("Ada", YES), an_annotation("Ben", NO, 2)][: len(open_ones)]

    standing = standing_of(settings, annotations, an_adjudication(YES), open_ones)

    assert standing == Standing(missing=0, state=QueueState.SETTLED, passes=True)


def test_who_voted_first_makes_no_difference_to_how_far_a_claim_is() -> None:
    annotations = [an_annotation("Ada", YES), an_annotation("Ben", NO, 2)]

    states = {standing_of(TWO, order, None, [False, False]) for order in permutations(annotations)}

    assert states == {Standing(missing=0, state=QueueState.DISAGREEMENT)}


# ---------------------------------------------------------------- what may be done now


@pytest.mark.parametrize(
    ("check", "passes"),
    [
        (annotating.check_first, {"open"}),
        (annotating.check_second, {"decided after"}),
        (annotating.check_adjudicable, {"open tie"}),
        (annotating.check_draft, {"open", "open tie"}),
        (annotating.check_release, {"open", "open tie"}),
    ],
)
def test_each_step_is_taken_from_its_own_state_of_an_assignment_only(
    check: Callable[[Assignment], None], passes: set[str]
) -> None:
    states = {
        "open": an_assignment(),
        "open tie": an_assignment(slot=3),
        "decided": an_assignment(open=False),
        "decided after": an_assignment(open=False, revealed_at=REVEALED),
        "decided tie": an_assignment(open=False, slot=3, revealed_at=REVEALED),
    }

    passed = set()
    for name, held in states.items():
        try:
            check(held)
        except Conflict:
            continue
        passed.add(name)

    assert passed == passes


@pytest.mark.parametrize("decide_first", [True, False])
@pytest.mark.parametrize("decided", [True, False])
def test_the_machine_is_hidden_only_from_the_undecided_and_where_the_project_asks_for_it(
    decide_first: bool, decided: bool
) -> None:
    settings = ProjectSettings(decide_first=decide_first)

    if decide_first and not decided:
        with pytest.raises(NotAllowed, match="decide first"):
            annotating.check_reveal(settings, decided=decided)
    else:
        annotating.check_reveal(settings, decided=decided)


def test_what_was_decided_once_is_not_given_back_even_while_it_is_reconsidered() -> None:
    annotating.check_decline(an_assignment(), decided=False)

    for held, decided in ((an_assignment(), True), (an_assignment(open=False), False)):
        with pytest.raises(Conflict, match="cannot be given back"):
            annotating.check_decline(held, decided=decided)


def test_an_adjudicated_claim_keeps_its_votes() -> None:
    annotating.check_not_adjudicated(None)

    with pytest.raises(Conflict, match="adjudicated"):
        annotating.check_not_adjudicated(an_adjudication(YES))


def test_a_disagreement_is_decided_on_the_votes_that_stand_and_no_others() -> None:
    annotations = (an_annotation("Ada", YES, vote_id=1), an_annotation("Ben", NO, 2, vote_id=2))
    revised = (annotations[0], an_annotation("Ben", NO, 2, vote_id=3))

    annotating.check_shown((2, 1), annotations, QueueState.DISAGREEMENT)

    for standing, state in ((revised, QueueState.DISAGREEMENT), (annotations, QueueState.READING)):
        with pytest.raises(Conflict, match="changed since"):
            annotating.check_shown((2, 1), standing, state)


# ---------------------------------------------------------------- what is written down


def test_a_first_vote_that_never_saw_the_machine_says_so() -> None:
    new = annotating.first_annotation(
        an_assignment(), an_answer(), None, a_signal(), seen_elsewhere=(), seconds=7.5
    )

    assert (new.judgement, new.confidence, new.rationale, new.seconds) == (
        YES,
        5,
        "It says so.",
        7.5,
    )
    assert not new.saw_model_output and new.exposures == ()
    assert (new.first, new.supersedes, new.reason) == (None, None, None)
    assert new.run_key == a_signal().run_key


@pytest.mark.parametrize(
    ("revealed_at", "exposures", "elsewhere"),
    [
        (REVEALED, (), ()),
        (None, (Exposure(what="alignment", at=REVEALED),), ()),
        (None, (), ELSEWHERE),
        (REVEALED, (), ELSEWHERE),
    ],
)
def test_whatever_was_seen_of_the_machine_is_written_down_with_the_vote(
    revealed_at: object, exposures: tuple[Exposure, ...], elsewhere: tuple[Exposure, ...]
) -> None:
    held = an_assignment(revealed_at=revealed_at)

    new = annotating.first_annotation(
        held, an_answer(exposures=exposures), None, None, seen_elsewhere=elsewhere, seconds=1.0
    )

    assert new.saw_model_output
    assert new.exposures[: len(elsewhere)] == elsewhere
    assert len(new.exposures) == len(elsewhere) + bool(revealed_at or exposures)
    assert not new.changed_after_reveal  # nothing was said before


def test_a_vote_taken_back_keeps_its_seconds_and_names_what_it_supersedes() -> None:
    before = an_annotation("Ada", YES, vote_id=8, seconds=31.0)

    new = annotating.first_annotation(
        an_assignment(), an_answer(judgement=NO), before, None, seen_elsewhere=(), seconds=2.0
    )

    assert (new.supersedes, new.seconds, new.reason) == (8, 31.0, annotating.RECONSIDERED)
    assert new.first is None and not new.changed_after_reveal  # the machine had no part in it


MARKED = replace(YES, passages=(Passage(source_id="s", start=0, end=1, sha256="sha256:0"),))


@pytest.mark.parametrize(("later", "changed"), [(YES, False), (NO, True), (MARKED, False)])
def test_after_the_reveal_the_unaided_judgement_stays_beside_the_later_one(
    later: object, changed: bool
) -> None:
    before = an_annotation("Ada", YES, rationale="First.", confidence=2)
    held = an_assignment(open=False, revealed_at=REVEALED)

    new = annotating.annotation_after_reveal(
        held, an_answer(judgement=later, confidence=None, rationale=None), before
    )

    assert (new.first, new.judgement, new.changed_after_reveal) == (YES, later, changed)
    assert (new.confidence, new.rationale) == (2, "First.")
    assert new.exposures == (Exposure(what="verdict", at=REVEALED),)
    assert (new.run_key, new.threshold) == (before.run_key, before.threshold)


def test_what_was_first_said_unaided_stays_through_every_later_change() -> None:
    held = an_assignment(open=False, revealed_at=REVEALED)
    before = an_annotation("Ada", NO, first=YES, saw_model_output=True, exposures=ELSEWHERE)

    new = annotating.annotation_after_reveal(held, an_answer(judgement=YES), before)

    assert new.first == YES and not new.changed_after_reveal
    assert new.exposures == (*ELSEWHERE, Exposure(what="verdict", at=REVEALED))
