"""III.6: when crediting one source for another is a conflation, and when it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.attribution.attribute import attribute
from core.attribution.families import load_families
from core.records import (
    Attribution,
    AttributionStatus,
    Claim,
    RankedSource,
    Route,
    Span,
    StatedAttribution,
)

FAMILIES = {
    "chart-1": "patient_record",
    "chart-2": "patient_record",
    "labs": "lab",
    "papers": "literature",
    "guide": "guideline",
    "mystery": "other",
}
STATED = st.one_of(
    st.none(),
    st.builds(
        lambda family, source: stated(family, source),
        st.sampled_from([None, *sorted(set(FAMILIES.values())), "registry", "web"]),
        st.sampled_from([None, *sorted(FAMILIES)]),
    ),
)


def stated(family: str | None, source_id: str | None = None) -> StatedAttribution:
    return StatedAttribution(
        text="x", span=Span(start=0, end=1), family=family, source_id=source_id
    )


def judge(
    credit: StatedAttribution | None,
    routed: str,
    *,
    supported: bool = True,
    supporters: tuple[str, ...] = (),
    patient_specific: bool = False,
    families: dict[str, str] | None = None,
    text: str = "y",
) -> Attribution:
    families = FAMILIES if families is None else families
    claim = Claim(
        claim_id="t::c01",
        text=text,
        span=Span(start=0, end=1),
        said="x",
        stated=credit,
        patient_specific=patient_specific,
    )
    route = Route(
        source_id=routed,
        tool_name=f"tool_{routed}",
        family=families[routed],
        score=0.6,
        margin=0.2,
        ranking=(),
    )
    saying = frozenset((*supporters, routed)) if supported else frozenset(supporters)
    return attribute(claim, route, families=families, supporters=saying, lead=2.0)


@given(chart=st.floats(0.0, 1.0), papers=st.floats(0.0, 1.0), supported=st.booleans())
def test_a_credit_is_wrong_only_where_another_source_has_clearly_better_evidence(
    chart: float, papers: float, supported: bool
) -> None:
    def told(credited: float, routed: float) -> Attribution:
        """What is told where no source, or the routed one alone, supports the claim."""
        scores = {"chart-1": round(credited, 4), "papers": round(routed, 4)}
        route = Route(
            source_id="papers",
            tool_name="search",
            family="literature",
            score=scores["papers"],
            margin=0.0,
            ranking=tuple(
                RankedSource(source_id=name, score=score) for name, score in scores.items()
            ),
        )
        span = Span(start=0, end=1)
        claim = Claim(
            claim_id="t::c01", text="y", span=span, said="x", stated=stated(None, "chart-1")
        )
        saying = frozenset({"papers"} if supported else ())
        return attribute(claim, route, families=FAMILIES, supporters=saying, lead=2.0)

    found = told(chart, papers)
    wrong = found.status is AttributionStatus.CONFLATION
    if papers > 0.9 and chart < 0.5:
        assert wrong
    if wrong:
        assert papers > chart and (supported or found.probable)
        # What the credited source gains never makes an accusation, and what it loses takes none back.
        assert told(chart / 2, papers).status is AttributionStatus.CONFLATION
        assert told(papers, papers).status is AttributionStatus.UNAVAILABLE


def test_the_claim_of_appendix_c_is_a_conflation_and_its_chart_twin_is_not() -> None:
    wrong = judge(stated("literature"), "chart-1", patient_specific=True)
    right = judge(stated("patient_record"), "chart-1", patient_specific=True)

    assert wrong.status is AttributionStatus.CONFLATION
    assert wrong.reason == (
        "The answer credits published literature; the evidence for it is in tool_chart-1 "
        "(patient's chart)."
    )
    assert right.status is AttributionStatus.MATCH


def test_a_source_that_a_claim_is_about_is_named_and_not_credited() -> None:
    lines = StatedAttribution(
        text="The lines of the box", span=Span(start=0, end=20), family="other",
        source_id="mystery",
    )  # fmt: skip
    about = "The lines of the box add up to 12."
    by_its_name = StatedAttribution(
        text="chart-2 shows", span=Span(start=0, end=13), family="patient_record",
        source_id="chart-2",
    )  # fmt: skip

    assert judge(lines, "labs", text=about).status is AttributionStatus.UNAVAILABLE
    assert judge(lines, "labs", text="They add up to 12.").status is AttributionStatus.CONFLATION
    test = StatedAttribution(
        text="her glucose test", span=Span(start=12, end=28), family="lab", source_id=None
    )
    assert judge(test, "papers", text="The day of her glucose test was Monday.").status is (
        AttributionStatus.UNAVAILABLE
    )
    named = judge(by_its_name, "labs", text="chart-2 shows 12 rows.")
    assert named.status is AttributionStatus.CONFLATION


def test_no_conflation_when_a_source_of_the_stated_family_supports_the_claim_too() -> None:
    found = judge(stated("literature"), "chart-1", supporters=("papers",))

    assert found.status is AttributionStatus.MATCH


def test_an_unsupported_claim_is_no_shown_conflation_but_says_what_was_credited() -> None:
    found = judge(stated("literature"), "chart-1", supported=False)

    assert found.probable and found.stated_family == "literature"


def test_two_calls_of_one_tool_are_different_sources() -> None:
    wrong = judge(stated("patient_record", "chart-2"), "chart-1")
    both = judge(stated("patient_record", "chart-2"), "chart-1", supporters=("chart-2",))

    assert wrong.status is AttributionStatus.CONFLATION
    assert both.status is AttributionStatus.MATCH


def test_a_laboratory_result_may_be_credited_to_the_chart() -> None:
    assert judge(stated("patient_record"), "labs").status is AttributionStatus.MATCH


def test_a_guideline_is_not_the_literature() -> None:
    assert judge(stated("literature"), "guide").status is AttributionStatus.CONFLATION


def test_words_that_name_no_family_leave_the_attribution_open() -> None:
    assert judge(stated(None), "papers").status is AttributionStatus.UNAVAILABLE


def test_a_tool_of_unknown_kind_is_not_accused_of_being_the_wrong_one() -> None:
    families = {"mystery": "other"}

    found = judge(stated("patient_record"), "mystery", families=families)

    assert found.status is AttributionStatus.UNAVAILABLE


def test_a_statement_about_one_patient_that_only_papers_support_needs_a_person() -> None:
    alone = judge(None, "papers", patient_specific=True)
    charted = judge(None, "papers", patient_specific=True, supporters=("chart-1",))

    assert alone.status is AttributionStatus.CONFLATION and alone.probable
    assert charted.status is not AttributionStatus.CONFLATION


def test_defaults_apply_only_where_the_trace_has_such_a_source() -> None:
    families = {"papers": "literature"}

    specific = judge(None, "papers", patient_specific=True, families=families)

    assert specific.status is AttributionStatus.NONE


@given(
    routed=st.sampled_from(sorted(FAMILIES)), supporters=st.sets(st.sampled_from(sorted(FAMILIES)))
)
def test_a_general_statement_without_a_stated_source_never_raises_an_alarm(
    routed: str, supporters: set[str]
) -> None:
    found = judge(None, routed, supporters=tuple(supporters))

    assert found.status is not AttributionStatus.CONFLATION


@given(
    credit=STATED,
    routed=st.sampled_from(sorted(FAMILIES)),
    supported=st.booleans(),
    supporters=st.sets(st.sampled_from(sorted(FAMILIES))),
    specific=st.booleans(),
)
def test_a_conflation_always_rests_on_support_and_on_sources_that_do_not_go_together(
    credit: StatedAttribution | None,
    routed: str,
    supported: bool,
    supporters: set[str],
    specific: bool,
) -> None:
    found = judge(
        credit, routed, supported=supported, supporters=tuple(supporters), patient_specific=specific
    )

    assert found.reason.endswith(".") and found.routed_family == FAMILIES[routed]
    if found.status is AttributionStatus.CONFLATION:
        assert found.probable or routed in supporters or supported
        if credit is not None and credit.source_id is not None:
            assert credit.source_id != routed and credit.source_id not in supporters
        else:
            known = load_families()
            family = found.stated_family or ""
            assert not known.compatible(family, FAMILIES[routed])
            assert not any(known.compatible(family, FAMILIES[one]) for one in supporters)


@given(credit=STATED, routed=st.sampled_from(sorted(FAMILIES)), specific=st.booleans())
def test_more_supporters_never_make_a_conflation_of_what_was_none(
    credit: StatedAttribution | None, routed: str, specific: bool
) -> None:
    few = judge(credit, routed, patient_specific=specific)
    many = judge(credit, routed, patient_specific=specific, supporters=tuple(FAMILIES))

    if few.status is not AttributionStatus.CONFLATION:
        assert many.status is not AttributionStatus.CONFLATION


@pytest.mark.parametrize("routed", sorted(FAMILIES))
def test_reasons_name_tools_and_kinds_of_source_as_a_clinician_would(routed: str) -> None:
    found = judge(stated("registry"), routed)

    assert f"tool_{routed}" in found.reason
    assert "_record" not in found.reason.replace(f"tool_{routed}", "")


@pytest.mark.parametrize(
    ("routed", "supporters", "expected"),
    [
        ("papers", ("papers",), AttributionStatus.MATCH),
        ("guide", ("guide",), AttributionStatus.CONFLATION),
        ("guide", ("guide", "papers"), AttributionStatus.MATCH),
    ],
)
def test_any_record_of_the_credited_work_may_hold_the_statement(
    routed: str, supporters: tuple[str, ...], expected: AttributionStatus
) -> None:
    credit = StatedAttribution(
        text="x",
        span=Span(start=0, end=1),
        family="patient_record",
        source_id="chart-1",
        also=("papers",),
    )

    found = judge(credit, routed, supported=routed in supporters, supporters=supporters)

    assert found.status is expected


def test_a_tool_of_no_known_kind_may_be_what_is_called_the_chart_and_no_other_kind() -> None:
    """The kind that the answer names, where the trace has one, is none of the unknown tools'."""
    chart = StatedAttribution(
        text="her chart", span=Span(start=0, end=9), family="patient_record", source_id="chart-1"
    )
    unknown = {"list_results": "other", "list_orders": "other", "papers": "literature"}

    assert judge(chart, "mystery").status is AttributionStatus.UNAVAILABLE
    assert judge(chart, "papers").status is AttributionStatus.CONFLATION
    assert judge(stated("literature"), "mystery").status is AttributionStatus.CONFLATION
    # Where no chart is known every unknown tool may be it: none of them may hold the statement.
    assert judge(stated("patient_record"), "papers", families=unknown).status is C
    also = judge(stated("patient_record"), "papers", supporters=("list_orders",), families=unknown)
    assert also.status is AttributionStatus.MATCH


C, U = AttributionStatus.CONFLATION, AttributionStatus.UNAVAILABLE


@pytest.mark.parametrize(
    ("text", "credit", "expected"),
    [
        # Words that set a scene are no credit of one source; its own name and "per the" are.
        ("In the rows half of it is advised.", "In the rows", U),
        ("Half of it is advised on the page.", "on the page", U),
        ("It needs 23 ms per clip.", "per clip", U),
        ("It needs 23 ms per the plan.", "per the plan", C),
        ("In b half of it is advised.", "In b", C),
    ],
)
def test_what_sets_a_scene_accuses_nobody(
    text: str, credit: str, expected: AttributionStatus
) -> None:
    span = Span(start=0, end=len(text))
    words = StatedAttribution(text=credit, span=span, family=None, source_id="b")

    found = judge(words, "a", text=text, families={"a": "other", "b": "other"})

    assert found.status is expected
