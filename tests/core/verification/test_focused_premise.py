"""The least of a source that could show a claim: of one record, told with its fields' names, and short."""

from __future__ import annotations

import json

from builders import a_claim, a_source, a_trace
from hypothesis import given
from hypothesis import strategies as st

from core.config import Config
from core.evidence.checks import check_claim, read_trace_facts
from core.records import Source
from core.verification.premise import (
    MOST_BESIDE,
    MOST_FIELDS,
    MOST_SENTENCES,
    FocusedPremise,
    focused_premise_of,
)
from core.verification.prepare import index_evidence

NAMES = ("Alder", "Bramble", "Cypress", "Dogwood", "Elder", "Foxglove", "Gorse", "Hazel")


def focused(text: str, source: Source) -> FocusedPremise:
    trace, claim = a_trace(text, source), a_claim(text)
    facts = read_trace_facts(trace)
    evidence = index_evidence(trace, (claim,), Config())
    return focused_premise_of(claim, check_claim(claim, facts), evidence.sources[0], facts.values)


def test_a_table_tells_its_columns_and_a_rows_other_cells_are_left_out() -> None:
    sheet = a_source(
        "champion_id,plays,wins,win_rate,tier\n"
        "222,90155,46012,0.5104,1\n517,81846,40814,0.498668,2\n950,20944,10011,0.478,3"
    )

    assert focused("Champion 517 is in tier 2.", sheet).output == "champion id: 517\ntier: 2"
    rate = focused("Champion 517 wins 49.9% of its games.", sheet).output
    assert set(rate.splitlines()) >= {"champion id: 517", "win rate: 0.498668"}
    assert "tier" not in rate


def test_the_name_of_a_field_is_read_in_words() -> None:
    quote = a_source("result.symbol: QRX\nresult.regularMarketPrice: 41.7\nresult.city: Oslo")

    assert (
        focused("QRX trades at a market price of $41.70.", quote).output
        == "symbol: QRX\nregular market price: 41.7"
    )


def test_what_stands_once_in_a_source_goes_with_a_records_field() -> None:
    trial = a_source(
        "Nct Id: NCT04000017\nStatus: COMPLETED\n\nEnrollment Info\nCount: 1062\n\n"
        "Masking: DOUBLE\nWho: PARTICIPANT"
    )

    least = focused("NCT04000017 has an enrollment count of 1,062.", trial).output

    assert "Nct Id: NCT04000017" in least and "Count: 1062" in least
    assert "Masking" not in least


def test_prose_gives_the_sentences_that_say_most_of_the_claim() -> None:
    paper = a_source(
        "Ferries were studied on nine routes. Fuel use fell by 12% after hulls were cleaned. Crews "
        "answered a survey. Cleaning took two days and cost little. Winters were mild."
    )

    least = focused("Cleaning the hulls made fuel use fall by 12%.", paper).output

    assert least.splitlines()[0] == "Fuel use fell by 12% after hulls were cleaned."
    assert len(least.splitlines()) <= MOST_SENTENCES
    assert "Winters" not in least


def test_a_list_of_tools_and_a_source_that_shares_no_word_give_nothing() -> None:
    tools = json.dumps(
        [
            {"name": name, "description": f"{name}: a tool.", "inputSchema": {"type": "object"}}
            for name in ("read_sheet", "get_tide", "list_sheets")
        ]
    )

    assert focused("The tide tool reads a sheet.", a_source(tools)).output == ""
    assert focused("The tide is high.", a_source("Alder: 3\nHazel: 4")) == FocusedPremise()


def test_what_was_asked_is_told_apart_from_what_came_back() -> None:
    call = a_source(
        "Saved.", arguments=json.dumps({"title": "Tides", "text": "High water at 14:20."})
    )

    found = focused("High water is at 14:20.", call)

    assert "14:20" in found.call and found.output == ""
    assert found.texts == (found.call,)


@given(
    heights=st.lists(st.integers(1, 9_999), min_size=8, max_size=8, unique=True),
    place=st.integers(0, 7),
)
def test_no_field_of_another_record_is_taken_and_few_of_its_own(
    heights: list[int], place: int
) -> None:
    text = "\n\n".join(
        f"trees.name: {name}\ntrees.height_cm: {height}\ntrees.owner: Ward {at}\ntrees.kind: shrub"
        for at, (name, height) in enumerate(zip(NAMES, heights, strict=True))
    )

    least = focused(f"{NAMES[place]} is {heights[place]} cm high.", a_source(text)).output

    lines = least.splitlines()
    assert {f"trees name: {NAMES[place]}", f"trees height cm: {heights[place]}"} <= {*lines}
    assert len(lines) <= MOST_FIELDS + MOST_BESIDE
    assert not any(name in least for name in NAMES if name != NAMES[place])
