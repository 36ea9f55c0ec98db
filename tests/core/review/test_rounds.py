"""Agreement rounds: what is drawn, how far annotators agree, and where not."""

from __future__ import annotations

import pytest
from reviewed import MONDAY, a_judgement, a_person

from core.errors import InputError
from core.review.agreement_records import Question
from core.review.records import Judgement, Role
from core.review.rounds import (
    Candidate,
    RoundLabel,
    agreement_of_round,
    check_round,
    differing,
    draw,
)

SUPPORTED, UNSUPPORTED = a_judgement("supported"), a_judgement("unsupported", None)


def labels(*claims: tuple[Judgement, ...]) -> list[RoundLabel]:
    """One row a claim: what Ada, Ben and Cleo say of it; each claim in a trace of its own."""
    return [
        RoundLabel(
            claim_key=key,
            claim_id=f"c{key:02d}",
            text="It is so.",
            trace_id=f"t{key}",
            content_hash="sha256:" + "0" * 64,
            annotator=name,
            judgement=said,
            rationale="",
            at=MONDAY,
        )
        for key, row in enumerate(claims)
        for name, said in zip(("Ada", "Ben", "Cleo"), row, strict=False)
    ]


def test_every_two_readers_of_a_claim_are_one_pair() -> None:
    said = labels(
        (SUPPORTED, SUPPORTED, SUPPORTED), (SUPPORTED, UNSUPPORTED, SUPPORTED), (SUPPORTED,)
    )

    figures = agreement_of_round(said, Question.SUPPORT)

    assert figures.claims == 6
    assert figures.raw.value == pytest.approx(4 / 6)
    assert figures.left_out == {"one annotation only": 1}
    # Six pairs have twelve labels, two of them "unsupported".
    assert figures.fleiss.value == pytest.approx((4 / 6 - (100 + 4) / 144) / (1 - (100 + 4) / 144))


def test_the_most_divided_claim_comes_first_and_unanimous_ones_not_at_all() -> None:
    other = a_judgement("contradicted", None)
    said = labels(
        (SUPPORTED, SUPPORTED, UNSUPPORTED),
        (SUPPORTED, SUPPORTED, SUPPORTED),
        (SUPPORTED, UNSUPPORTED, other),
    )

    assert [each[0].claim_id for each in differing(said, Question.SUPPORT)] == ["c02", "c00"]


def test_a_draw_takes_one_claim_of_every_trace_before_a_second_and_repeats() -> None:
    free = [
        Candidate(claim_key=n, claim_id=f"c{n}", trace_id=f"t{n % 3}", text="It is so.")
        for n in range(12)
    ]

    drawn = draw(free, 1, 5)

    assert {each.trace_id for each in drawn[:3]} == {"t0", "t1", "t2"}
    assert draw(list(reversed(free)), 1, 5) == drawn
    assert draw(free, 2, 5) != drawn
    assert len(draw(free, 1, 50)) == 12


def test_a_round_has_two_readers_and_claims() -> None:
    ada = a_person("Ada", Role.REVIEWER)
    with pytest.raises(InputError):
        check_round([ada, ada], 20)
    with pytest.raises(InputError):
        check_round([ada], 0)
