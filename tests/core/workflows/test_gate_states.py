"""What a gate lets pass by the three states, and at which level it tells the rest."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from verdicts import showcase

from core.records import VerdictLabel
from core.workflows.gate import GateReport, Policy, findings_of, junit, sarif

SHOWN, UNSURE = slice(None), slice(1, 3)  # with and without a claim that is shown to be wrong


@pytest.mark.parametrize(
    ("kept", "review_passes", "broken", "told", "levels"),
    [
        (SHOWN, False, True, "failure", {"error", "warning"}),
        (SHOWN, True, True, "failure", {"error", "warning"}),
        (UNSURE, False, True, "failure", {"warning"}),
        (UNSURE, True, False, "skipped", {"warning"}),
    ],
)
def test_only_what_is_shown_is_an_error_and_review_passes_where_the_policy_says(
    kept: slice, review_passes: bool, broken: bool, told: str, levels: set[str]
) -> None:
    found = showcase()
    report = GateReport(policy=Policy(review_passes=review_passes))

    report.add(replace(found, claims=found.claims[kept]))

    assert bool(report.broken) is broken
    assert report.counts.get("blocked", 0) == broken
    case, policy = ElementTree.fromstring(junit(report))[0]
    assert [child.tag for child in case] == [told]
    assert (policy.find("failure") is not None) is broken
    (run,) = sarif(report)["runs"]  # type: ignore[misc]
    assert {each["level"] for each in run["results"]} == levels


@pytest.mark.parametrize(
    ("verdict", "rule"),
    [
        (VerdictLabel.SUPPORTED, "credited_wrongly"),
        (VerdictLabel.NOT_ENOUGH_EVIDENCE, "credited_wrongly"),
        (VerdictLabel.CONTRADICTED, "contradicted"),
    ],
)
def test_a_wrong_credit_has_one_name_whether_it_is_shown_or_probable(
    verdict: VerdictLabel, rule: str
) -> None:
    found = showcase()
    claim = replace(found.claims[0], verdict=verdict)

    (finding,) = findings_of(replace(found, claims=(claim,)))

    assert finding.rule == rule
