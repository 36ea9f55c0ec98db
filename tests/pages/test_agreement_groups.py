"""Figures and points only of groups that are large enough to tell anything; sources by their names."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store
from reviewed import MONDAY, a_judgement, a_reviewed_claim, an_annotation
from streamlit.testing.v1 import AppTest

from core.codec import content_hash
from core.review.agreement import agreement_with_groups
from core.review.agreement_records import Grouping, Question
from core.review.agreement_resamples import FEWEST_TRACES
from pages.screens.agreement.claim_table import names_by_claim
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
    assert rows["enough"]["Raw, 95 %"] == "63.1 % to 100.0 %"


def test_a_share_in_a_table_has_the_form_that_it_has_in_words() -> None:
    def page() -> None:
        from pages.widgets.figures import show_numbers

        show_numbers(("Group", "Raw"), [("all", 0.8125), ("few", None)], name="n", alt="n")

    (table,) = AppTest.from_function(page).run().dataframe
    assert table.value["Raw"][0] == 81.25
    assert json.loads(table.proto.columns)["Raw"]["type_config"]["format"] == "%.1f %%"


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


def test_an_id_of_different_tools_has_the_names_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "a.db"))
    store = a_store(tmp_path / "a.db")
    tools = {"t1": "search_pubmed", "t2": "load_patient_history"}
    traces = [
        a_trace("It is.", a_source("It is.", source_id="call_7", tool_name=tool), trace_id=name)
        for name, tool in tools.items()
    ]
    store.put_traces(traces)
    claims = [
        a_reviewed_claim(
            n, an_annotation(), trace_id=each.trace_id, content_hash=content_hash(each)
        )
        for n, each in enumerate(traces)
    ]

    names, together = names_by_claim(claims, Question.SOURCE)

    assert names == {0: {"call_7": "search_pubmed"}, 1: {"call_7": "load_patient_history"}}
    assert together == {"call_7": "load_patient_history or search_pubmed"}


def course(traces_by_week: list[int]) -> AppTest:
    """The page's plot by week, of as many traces in each week."""

    def page(found: list[tuple]) -> None:
        from pages.screens.agreement.view import show_course

        show_course(found, what="week", title="Raw agreement")

    claims = [
        a_reviewed_claim(
            1000 * week + number,
            an_annotation("Ada", slot=1, at=MONDAY + timedelta(weeks=week)),
            an_annotation("Ben", slot=2, at=MONDAY + timedelta(weeks=week, days=2)),
        )
        for week, count in enumerate(traces_by_week)
        for number in range(count)
    ]
    _, groups = agreement_with_groups(claims, Question.SUPPORT, Grouping.WEEK, resamples=20)
    found = [(each.name, "", each.figures) for each in groups]
    return AppTest.from_function(page, args=(found,)).run()


def test_a_week_of_too_few_traces_has_its_place_and_no_point() -> None:
    test = course([FEWEST_TRACES, 1, FEWEST_TRACES + 1])

    (trace,) = json.loads(test.get("plotly_chart")[0].proto.spec)["data"]
    assert trace["x"] == ["2026-11-02", "2026-11-09", "2026-11-16"]
    assert trace["y"] == [100.0, None, 100.0]


@pytest.mark.parametrize(("traces", "enough"), [([1, 2], 0), ([FEWEST_TRACES, 2], 1)])
def test_where_one_week_or_none_has_enough_traces_the_page_says_what_is_missing(
    traces: list[int], enough: int
) -> None:
    test = course(traces)

    assert not test.get("plotly_chart")
    assert [each.value for each in test.text] == [
        f"The plot needs two weeks with 8 traces or more each: {enough} so far."
    ]
