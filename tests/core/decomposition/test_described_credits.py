"""An answer credits the sources of any trade by what they are called, and nothing else is a credit."""

from __future__ import annotations

import pytest
from tables import cases

from core.config import Config
from core.decomposition.claims import decompose
from core.records import Source, Trace
from core.text.citation_marks import citations_in

SOURCES = (
    Source(
        source_id="bills",
        tool_name="billing_list_invoices",
        arguments='{"account": "ACC-7"}',
        text="INV-1 due 2025-03-01 120.00\nINV-2 due 2025-04-01 80.00",
    ),
    Source(
        source_id="tickets",
        tool_name="tickets_search",
        arguments='{"account": "ACC-7"}',
        text="#811 open: printer on floor two does not wake",
    ),
    Source(
        source_id="config",
        tool_name="read_file",
        arguments='{"path": "services/auth/config.toml"}',
        text="idle_timeout_s = 15",
    ),
    Source(
        source_id="mail",
        tool_name="mail_search",
        arguments='{"label": "quotes"}',
        text="From: sales@harbour.example\nSubject: Quote 5512\nTen printers, 4,300.00",
    ),
)


def credits(answer: str) -> list[tuple[str, str | None]]:
    trace = Trace(
        trace_id="t",
        question="",
        answer=answer,
        sources=SOURCES,
        citations=citations_in(answer, SOURCES),
    )
    return [
        (claim.text, claim.stated.source_id if claim.stated else None)
        for claim in decompose(trace, Config())
    ]


@cases
def test_a_sentence_credits_the_source_that_its_words_describe(
    answer: str, source_id: str | None
) -> None:
    assert [meant for _, meant in credits(answer)] == [source_id]


def test_the_cell_of_a_column_of_sources_credits_its_row() -> None:
    answer = (
        "| Question | Answer | From |\n|---|---|---|\n"
        "| What do ten printers cost? | 4,300.00 | quote |\n"
        "| How long may a client idle? | 15 s | auth config |\n"
    )

    found = dict(credits(answer))

    assert {meant for text, meant in found.items() if "4,300" in text} == {"mail"}
    assert {meant for text, meant in found.items() if "15 s" in text} == {"config"}


@pytest.mark.parametrize(
    "listed",
    ["[1] billing [2] services/auth/config.toml", "[1] billing\n[2] services/auth/config.toml"],
)
def test_a_number_means_what_its_entry_in_the_list_of_references_describes(listed: str) -> None:
    answer = f"Two invoices are past due [1]. A client may idle for 15 s [2].\n\n{listed}"

    found = dict(credits(answer))

    assert found["Two invoices are past due."] == "bills"
    assert found["A client may idle for 15 s."] == "config"
