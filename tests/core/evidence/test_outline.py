"""What a document that the agent wrote includes, told from its headings and items."""

from __future__ import annotations

import json

from tables import cases

from core.evidence.written import OUTLINE, check_outline, read_outlines
from core.records import Source, SourceStatus
from tests.builders import a_claim, a_source

REPORT = """# Water in the Hollin valley

## Technical Architecture
### Hydraulic Security
- Sluice gates and spillways
- Telemetry of the gauges

## Economic Impact
### Use Cases and Applications
- Irrigation of the orchards, which the board expects to grow by a half until the end of the decade at least

## Conclusion
"""
PAGE = (
    "<html><body><h1>Harbour guide</h1><h2>Moorings</h2><ul><li>Visitor berths</li><li>Fuel dock</li></ul>"
    "<h2>Eating out</h2><p>Three kitchens by the quay</p></body></html>" + " " * 120
)


def wrote(text: str, status: SourceStatus = SourceStatus.OK) -> Source:
    """A call that wrote a file."""
    return a_source(
        "Wrote 1 file.", arguments=json.dumps({"path": "r.md", "content": text}), status=status
    )


def says(claim: str, *sources: Source) -> bool:
    """Whether what was written is found to include what the claim says."""
    found = check_outline(a_claim(claim), read_outlines(sources))
    return found is not None and found.check == OUTLINE


@cases
def test_what_stands_under_a_heading_is_included_there(claim: str) -> None:
    assert says(claim, wrote(REPORT))


def test_markup_is_an_outline_too() -> None:
    assert says("The Moorings section of the guide lists visitor berths.", wrote(PAGE))
    assert not says("The Moorings section of the guide lists three kitchens.", wrote(PAGE))


@cases
def test_what_stands_elsewhere_or_is_said_of_the_world_is_not(claim: str) -> None:
    assert not says(claim, wrote(REPORT))


def test_a_sentence_is_no_item_and_a_call_that_failed_wrote_nothing() -> None:
    claim = "The report includes the growth that the board expects of orchards in the decade."
    assert not says(claim, wrote(REPORT))
    included = "The Technical Architecture section of the report covers sluice gates."
    assert not says(included, wrote(REPORT, SourceStatus.ERROR))
    assert not says(included, a_source(REPORT))
