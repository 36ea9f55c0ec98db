"""Answers rebuilt from a packet, and the figures of repairing them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from evaluations import packet_records
from lexical import lexical_models

from core.config import Config
from core.errors import BadRecord, InputError
from core.evaluation.packets import PacketRow, row_from_json
from core.pipeline import verify
from core.records import Decision
from core.workflows.compare import (
    Options,
    evaluate_with,
    rebuilt_answers,
    repair_rebuilt_answers,
    repair_run,
)

FIGURES = {
    "rows": 9,
    "pre_allow": 2,
    "pre_block": 6,
    "repair_resolved": 5,
    "terminal_fallback": 1,
}


@pytest.fixture(scope="module")
def rows() -> list[PacketRow]:
    found = [row_from_json(record) for record in packet_records(24)]
    return [
        replace(row, claim=f"The ferry to Uist {at} is cancelled.") if at % 3 == 2 else row
        for at, row in enumerate(found)
    ]


def test_every_claim_and_every_source_text_of_the_packet_is_in_its_answer(
    rows: list[PacketRow],
) -> None:
    traces = {trace.trace_id: trace for trace in rebuilt_answers(rows)}

    assert list(traces) == list(dict.fromkeys(row.trace_id for row in rows))
    for row in rows:
        trace = traces[row.trace_id]
        assert row.claim.rstrip(".") in (trace.answer or "")
        held = {source.raw or source.text for source in trace.sources}
        assert {source.text for source in row.sources} <= held
    for trace in traces.values():
        ids = [source.source_id for source in trace.sources]
        assert len(ids) == len(set(ids))


def test_the_figures_are_those_of_verifying_and_repairing_each_answer(
    rows: list[PacketRow],
) -> None:
    models, config = lexical_models(), Config()
    told: list[tuple[int, int | None]] = []

    run = repair_rebuilt_answers(
        rows,
        models,
        config,
        packet="packet",
        progress=lambda done, total, what: told.append((done, total)),
    )

    decisions = Counter(
        verify(trace, models, config).answer.decision for trace in rebuilt_answers(rows)
    )
    assert run.answers == len({row.trace_id for row in rows})
    assert (run.allowed_before, run.blocked_before) == (
        decisions[Decision.ALLOW],
        decisions[Decision.BLOCK],
    )
    assert run.blocked_before > 0
    assert run.terminal_fallbacks <= run.resolved == run.allowed_after <= run.blocked_before
    assert told[-1] == (run.answers, run.answers)
    # Each answer is verified once, and each repaired one again.
    assert len(run.latency_seconds["total"]) == run.answers + run.resolved


def test_tables_9_10_and_19_are_filled_by_one_call(tmp_path: Path) -> None:
    packet, figures = tmp_path / "packet.jsonl", tmp_path / "figures.json"
    packet.write_text("".join(json.dumps(record) + "\n" for record in packet_records(12)))
    figures.write_text(json.dumps(FIGURES))
    options = Options(tables=(9, 10, 19), repairs=figures, resamples=20)

    _, tables = evaluate_with(packet, lexical_models(), Config(), options)

    rebuilt, latency, captured = (table.rows[0] for table in tables)
    assert rebuilt[0] == "packet.jsonl" and rebuilt[2] == 3
    assert latency[1] == "here" and latency[2] > 0
    assert captured[1:] == (9, 2, 6, 5, 1, 5)


@pytest.mark.parametrize("wrong", [{"rows": "9"}, {"rows": -1}, {"rows": True}, {}])
def test_figures_that_are_none_are_refused_by_name(wrong: dict[str, object]) -> None:
    given = {**FIGURES, **wrong} if wrong else {}

    with pytest.raises(BadRecord, match="expected a count") as refused:
        repair_run(given, "file")

    assert refused.value.path in FIGURES


def test_a_file_without_figures_is_refused_by_its_name(tmp_path: Path) -> None:
    packet, figures = tmp_path / "packet.jsonl", tmp_path / "figures.json"
    packet.write_text(json.dumps(packet_records(1)[0]) + "\n")
    for text in ("[1]", "{", '{"rows": 1}'):
        figures.write_text(text)

        with pytest.raises(InputError, match=r"figures\.json"):
            evaluate_with(
                packet, lexical_models(), Config(), Options(tables=(19,), repairs=figures)
            )
