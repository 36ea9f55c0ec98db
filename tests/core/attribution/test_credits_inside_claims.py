"""A wrong credit is told wherever its words stand in the sentence; what only names a source is none."""

from __future__ import annotations

import pytest
from tables import cases

from core.attribution.attribute import attribute
from core.attribution.families import load_families
from core.config import Config
from core.decomposition.claims import decompose
from core.records import AttributionStatus, Claim, RankedSource, Route, Source, Trace

CHART = Source(
    source_id="call-1", tool_name="load_patient_history",
    text="Patient: Mary Lee. Medications: warfarin 5 mg daily. Allergies: penicillin.",
)  # fmt: skip
PAPER = Source(
    source_id="call-2", tool_name="search_pubmed",
    text="PMID 30112233. Nowak A et al. 2018. Apixaban reduced stroke by 21 %. Major bleeding 3.1 %.",
)  # fmt: skip
NOTE = Source(source_id="call-3", tool_name="get_note", text="Discharged on amlodipine 5 mg.")
LABS = Source(source_id="call-4", tool_name="get_labs", text="LDL 162 mg/dL, high.")
LOG = Source(source_id="call-5", tool_name="usage_log", text="Usage log: 12 GB in May.")
BILL = Source(source_id="call-6", tool_name="get_invoice", text="Invoice 7: 12 GB at 3 EUR.")

OF_A_PAPER = "apixaban reduced stroke by 21 %."
OF_A_CHART = "she takes warfarin 5 mg daily."
VERBS = ("says", "shows", "states", "reports", "notes", "indicates")


def the_claim(answer: str, *sources: Source) -> Claim:
    [claim] = decompose(Trace(trace_id="t", question="q", answer=answer, sources=sources), Config())
    return claim


def status(answer: str, credited: Source, supports: Source) -> AttributionStatus:
    """What the answer's one claim is told where only one source supports it."""
    families = load_families().families_of((credited, supports))
    route = Route(
        source_id=supports.source_id,
        tool_name=supports.tool_name,
        family=families[supports.source_id],
        score=0.9,
        margin=0.1,
        ranking=(RankedSource(source_id=supports.source_id, score=0.9, probabilities=None),),
    )
    claim = the_claim(answer, credited, supports)
    supporters = frozenset({supports.source_id})
    return attribute(claim, route, families=families, supporters=supporters, lead=2.0).status


WRONG = [
    *(
        pytest.param(f"The chart {verb} major bleeding occurred in 3.1 %.", CHART, PAPER, id=verb)
        for verb in VERBS
    ),
    *(
        pytest.param(f"{lead} {OF_A_PAPER}", CHART, PAPER, id=lead)
        for lead in (
            "According to the chart", "According to the chart,", "Per her chart", "In the chart,",
            "The chart says", "The chart says that", "Her record also states",
        )
    ),
    *(
        pytest.param(f"{lead} {OF_A_CHART}", PAPER, CHART, id=lead)
        for lead in ("The literature says", "PubMed reports", "According to PubMed")
    ),
    pytest.param("Mary Lee takes warfarin 5 mg daily (Nowak et al. 2018).", PAPER, CHART, id="(…)"),
    pytest.param("The labs say she was discharged on amlodipine 5 mg.", LABS, NOTE, id="labs"),
    pytest.param("The usage log says usage rose to 12 GB.", LOG, BILL, id="of no known kind"),
    *(
        pytest.param(answer, credited, supports, id=answer)
        for answer, credited, supports in (
            ("The invoice has it that usage rose to 12 GB in May.", BILL, LOG),
            ("Usage log: she was discharged on amlodipine.", LOG, NOTE),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "credited", "supports"), WRONG)
def test_a_wrong_credit_is_told_wherever_its_words_stand(
    answer: str, credited: Source, supports: Source
) -> None:
    assert status(answer, credited, supports) is AttributionStatus.CONFLATION


@pytest.mark.parametrize(("answer", "credited", "supports"), WRONG)
def test_the_same_credit_is_right_where_the_credited_source_says_it(
    answer: str, credited: Source, supports: Source
) -> None:
    assert status(answer, supports, credited) is AttributionStatus.MATCH


@pytest.mark.parametrize(
    ("answer", "named", "supports"),
    [
        ("The usage log has twelve lines.", LOG, BILL),
        ("The twelve lines of the usage log add up to 12 GB.", LOG, BILL),
        ("The day of her glucose test was Monday.", LABS, NOTE),
    ],
)
def test_what_only_names_a_source_accuses_nobody(
    answer: str, named: Source, supports: Source
) -> None:
    assert status(answer, named, supports) is not AttributionStatus.CONFLATION


def test_words_that_fit_two_charts_accuse_neither() -> None:
    other = Source(source_id="call-7", tool_name="get_chart", text="Chart. Allergies: penicillin.")

    assert status("The chart lists a penicillin allergy.", CHART, other) is not (
        AttributionStatus.CONFLATION
    )


@pytest.mark.parametrize("verb", VERBS)
def test_a_clause_is_checked_without_the_words_that_credit_it(verb: str) -> None:
    for said in ("She takes warfarin 5 mg daily.", "Major bleeding occurred in 3.1 % of patients."):
        clause = said[0].lower() + said[1:]
        for that in ("", " that"):
            claim = the_claim(f"The chart {verb}{that} {clause}", CHART, PAPER)
            assert (claim.text, claim.stated and claim.stated.source_id) == (said, CHART.source_id)


@cases
def test_what_is_no_clause_keeps_its_first_words(answer: str) -> None:
    assert the_claim(answer, CHART, PAPER).text == answer


@pytest.mark.parametrize("heading", ["**Chart**", "## From the chart"])
@pytest.mark.parametrize("behind", ["Major bleeding was 3.1 %.", "**Papers:** Bleeding was 3.1 %."])
def test_what_a_heading_credits_ends_with_the_list_under_it(heading: str, behind: str) -> None:
    answer = f"{heading}\n\n- She takes warfarin 5 mg daily.\n- She is allergic to penicillin.\n\n{behind}"

    trace = Trace(trace_id="t", question="q", answer=answer, sources=(CHART, PAPER))
    credited = [one.stated and one.stated.family for one in decompose(trace, Config())]

    assert credited == ["patient_record", "patient_record", None]


def test_two_months_and_a_year_are_no_authors_of_a_paper() -> None:
    mentions = [*load_families().mentions("PCV13 (July, September and December 2020)")]
    authors = [*load_families().mentions("PCV13 (Nowak and Lind 2020)")]

    assert authors and not mentions
