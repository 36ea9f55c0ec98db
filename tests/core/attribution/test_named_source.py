"""One of several sources of a family is meant where the answer names it."""

from __future__ import annotations

import pytest

from core.attribution.named_source import NamedSources
from core.records import Source

WALKING = "PMID: 30415637\nTitle: Walking and gout in adults"
CHERRIES = "PMID: 28114022\nTitle: Cherry juice for gout flares"
SALES = '{"path": "/data/sales_2023.csv"}'
SOURCES = (
    Source(source_id="p1", tool_name="search_pubmed", text=WALKING),
    Source(source_id="p2", tool_name="search_pubmed", text=CHERRIES),
    Source(source_id="c1", tool_name="get_ehr", text="name: Adaeze Okoro\ncondition: gout"),
    Source(source_id="c2", tool_name="get_ehr", text="name: Bram Visser\ncondition: asthma"),
    Source(source_id="f1", tool_name="read_file", text="region,total", arguments=SALES),
)


@pytest.mark.parametrize(
    ("cue", "meant"),
    [
        ("According to PMID 30415637", ("p1",)),
        ("(PMID: 28114022)", ("p2",)),
        ("as “Cherry juice for gout flares” reports", ("p2",)),
        ("Adaeze Okoro's chart", ("p1", "p2", "c1", "f1")),  # only the other's chart is not meant
        ("Mr. Visser's chart", ("p1", "p2", "c2", "f1")),
        ("In sales_2023.csv", ("f1",)),
        ("According to the chart", ()),
        ("According to PubMed", ()),
        ("PMID 99999999", ()),
        ("Ms. Lind's chart", ()),
        ("version 30415637 of the tool", ()),
    ],
)
def test_an_id_a_title_a_file_or_a_person_means_one_source(
    cue: str, meant: tuple[str, ...]
) -> None:
    assert NamedSources(SOURCES).meant(cue) == meant


def test_a_name_that_every_source_holds_means_none_of_them() -> None:
    same = [
        Source(source_id=i, tool_name="get_ehr", text="name: Adaeze Okoro\ncondition: gout")
        for i in ("a", "b")
    ]

    assert NamedSources(same).meant("Adaeze Okoro's chart") == ()


def test_an_output_that_is_no_evidence_is_not_meant() -> None:
    empty = Source(source_id="x", tool_name="search", text="", arguments='{"path": "a.csv"}')

    assert NamedSources([*SOURCES[:1], empty]).meant("In a.csv") == ()
