"""Figures only of groups that are large enough to tell anything; sources by their names."""

from __future__ import annotations

from reviewed import a_judgement, a_reviewed_claim, an_annotation

from core.review.agreement import agreement_with_groups
from core.review.agreement_records import Grouping, Question
from core.review.agreement_resamples import FEWEST_TRACES
from pages.screens.agreement.view import GROUP_HEADER, count_words, group_rows


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
        for row in group_rows(groups, Grouping.CATEGORY, {})
    }

    assert (rows["few"]["Traces"], rows["few"]["Raw"], rows["few"]["AC1"]) == (7, None, None)
    assert (rows["enough"]["Traces"], rows["enough"]["Raw"]) == (8, 1.0)


def test_sources_of_one_tool_count_as_one_and_have_its_name() -> None:
    said = ["call#7", "call#7", "call#9", None]
    claims = [
        a_reviewed_claim(
            number,
            an_annotation("Ada", a_judgement(source_id=source), slot=1),
            an_annotation("Ben", a_judgement(source_id=source), slot=2),
        )
        for number, source in enumerate(said)
    ]
    figures, groups = agreement_with_groups(claims, Question.SOURCE, Grouping.PAIR, resamples=20)
    tools = {"call#7": "search_pubmed", "call#9": "search_pubmed"}

    assert count_words(figures, tools).endswith("Said: search_pubmed 75.0 %, no source 25.0 %.")
    (row,) = group_rows(groups, Grouping.PAIR, tools)
    assert row[-1] == "search_pubmed 75.0 %"
