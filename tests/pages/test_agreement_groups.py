"""The table of groups shows figures only of groups that are large enough to tell anything."""

from __future__ import annotations

from reviewed import a_judgement, a_reviewed_claim, an_annotation

from core.review.agreement import agreement_with_groups
from core.review.agreement_records import Grouping, Question
from core.review.agreement_resamples import FEWEST_TRACES
from pages.screens.agreement.view import GROUP_HEADER, group_rows


def test_a_group_of_too_few_traces_has_its_counts_and_no_figure() -> None:
    claims = [
        a_reviewed_claim(
            number,
            an_annotation("Ada", a_judgement(), slot=1),
            an_annotation("Ben", a_judgement(), slot=2),
            category="few" if number < FEWEST_TRACES - 1 else "enough",
        )
        for number in range(2 * FEWEST_TRACES - 1)
    ]
    _, groups = agreement_with_groups(claims, Question.SUPPORT, Grouping.CATEGORY, resamples=20)

    rows = {
        row[0]: dict(zip(GROUP_HEADER, row, strict=True))
        for row in group_rows(groups, Grouping.CATEGORY)
    }

    assert (rows["few"]["Traces"], rows["few"]["Raw"], rows["few"]["AC1"]) == (7, None, None)
    assert (rows["enough"]["Traces"], rows["enough"]["Raw"]) == (8, 1.0)
