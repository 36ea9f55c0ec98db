"""Every table of section V on a synthetic packet: printed, honest about what is missing, and right."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from core.config import Config
from core.errors import ConfigError
from core.evaluation.ablations import PLAIN, apply_plain, block_all, no_source_top_k, route_cutoff
from core.evaluation.decomposition import DecompositionAgreement
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction, at_threshold
from core.evaluation.report import evaluation_report
from core.evaluation.tables import (
    TABLES,
    Material,
    RepairRun,
    System,
    make_table,
    table_to_json,
    table_to_markdown,
)
from core.models.forest import load_forest
from core.records import (
    Decision,
    Probabilities,
    RankedSource,
    Relation,
    Source,
    VerdictLabel,
)
from core.workflows.compare import Options, packet_decomposition

SOURCES = ("chart", "labs", "search", "trial")
TOOLS = {"chart": "load_chart", "labs": "load_labs", "search": "search", "trial": "search"}


def probabilities(rng: np.random.Generator) -> Probabilities:
    a, b, c = (round(float(x), 4) for x in rng.dirichlet([1, 1, 1]))
    return Probabilities(entailment=a, neutral=b, contradiction=c)


def material(count: int = 120, seed: int = 1, **more: object) -> Material:
    rng = np.random.default_rng(seed)
    labels = [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED, VerdictLabel.NOT_ENOUGH_EVIDENCE]
    relations = [Relation.ENTAILMENT, Relation.CONTRADICTION, Relation.NEUTRAL]
    rows, predictions = [], []
    for index in range(count):
        kind = int(rng.integers(3))
        order = [str(s) for s in rng.permutation(SOURCES)]
        gold = (str(rng.choice(SOURCES)),) if kind != 2 else ()
        nli_scores = [probabilities(rng) for _ in order]
        forced = bool(rng.uniform() < 0.15)
        probability = round(float(np.clip(rng.normal(0.8 if kind == 0 else 0.3, 0.2), 0, 1)), 4)
        rows.append(
            PacketRow(
                claim_id=f"c{index}",
                trace_id=f"t{index // 2}",
                claim="The patient takes metformin.",
                sources=tuple(
                    Source(source_id=s, tool_name=TOOLS[s], text="Text.")
                    for s in (SOURCES if index % 5 else SOURCES[:1])
                ),
                label=labels[kind] if index % 40 else None,
                relation=relations[kind],
                gold_source_ids=gold,
                slices=("chart",) if index % 3 else ("two_patients", "chart"),
                extra={"adjudication": {"status": "single"}} if index % 2 else {},
            )
        )
        raw = Prediction(
            claim_id=f"c{index}",
            decision=Decision.BLOCK,
            verdict=VerdictLabel.NOT_ENOUGH_EVIDENCE,
            cause=Cause.VALUE if forced else Cause.SUPPORT,
            forced=forced,
            if_supported=VerdictLabel.UNSUPPORTED if forced else VerdictLabel.SUPPORTED,
            if_unsupported=labels[relations.index(nli_scores[0].relation)]
            if nli_scores[0].relation is not Relation.ENTAILMENT
            else VerdictLabel.NOT_ENOUGH_EVIDENCE,
            reason="",
            threshold=0.5,
            routed_source_id=order[0],
            routed_tool=TOOLS[order[0]],
            ranking=tuple(
                RankedSource(source_id=s, score=round(0.9 - 0.2 * i, 4), probabilities=p)
                for i, (s, p) in enumerate(zip(order, nli_scores, strict=True))
            ),
            relation=nli_scores[0].relation,
            probabilities=nli_scores[0],
        )
        predictions.append(at_threshold(raw, probability, 0.5))
    return Material(rows=rows, predictions=predictions, resamples=50, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", sorted(TABLES))
def test_every_table_prints_and_says_what_is_the_papers(number: int) -> None:
    table = make_table(number, material())

    document = table_to_json(table)
    lines = table_to_markdown(table).splitlines()

    assert json.loads(json.dumps(document))["table"] == number
    assert all(len(row) == len(table.header) for row in table.rows)
    measured = {row[table.header.index("Measured")] for row in table.rows}
    assert measured <= {"here", "paper"} and "paper" in measured | {"paper" if number == 5 else ""}
    assert lines[2].count("|") == lines[3].count("|") == len(table.header) + 1
    assert not any("nan" in line.lower().split() for line in lines)


def test_a_table_that_the_paper_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected one of 1, 3"):
        make_table(99, material())


def test_what_was_not_run_is_not_filled_in() -> None:
    for number in (8, 9, 14, 19):
        rows = [row for row in make_table(number, material()).rows if "here" in row]
        numbers = [cell for row in rows for cell in row if isinstance(cell, int | float)]
        assert not numbers, number


def test_table_1_tells_what_the_card_of_the_calibrator_says() -> None:
    forest = load_forest()

    table = make_table(1, material(card=forest.card))

    rows = {(row[0], row[1]): str(row[2]) for row in table.rows}
    assert {name for name, by in rows if by == "paper"} >= {"Random forest", "Threshold selection"}
    assert "trees 400, max_depth 5" in rows["Random forest", "here"]
    assert rows["Threshold selection", "here"].startswith(f"{forest.card['threshold']}: ")
    assert "117 packet" in rows["Rows", "here"]
    assert len(rows) == len(table.rows) == 16
    (unknown,) = [row for row in make_table(1, material()).rows if row[1] == "here"]
    assert unknown[2] is None


def test_table_12_blocks_as_its_variants_say() -> None:
    given = material()
    table = make_table(12, given)
    rows = {(row[0], row[1]): row for row in table.rows}
    scored = [row for row in given.rows if row.scored]
    bad = [row.should_block for row in scored]

    f1 = table.header.index("Block F1")
    assert rows["block-all", "here"][f1] == pytest.approx(
        f1_score(bad, [True] * len(bad)), abs=1e-6
    )
    nli = {
        p.claim_id: p.probabilities.relation is not Relation.ENTAILMENT for p in given.predictions
    }
    expected = f1_score(bad, [nli[row.claim_id] for row in scored])
    assert rows["nli-only", "here"][f1] == pytest.approx(expected, abs=1e-6)
    assert rows["this verifier", "here"][table.header.index("McNemar p")] is None


def test_an_unavailable_system_is_named_with_its_reason_and_without_numbers() -> None:
    absent = System(name="MiniCheck", note="checkpoint", predictions=None, reason="no weights here")
    table = make_table(17, material(baselines=(absent,)))

    (row,) = [row for row in table.rows if str(row[0]).startswith("MiniCheck (unavailable")]
    assert set(row[2:]) == {None}
    assert any("no weights here" in note for note in table.notes)


def test_table_15_keeps_fewer_claims_at_every_higher_cutoff() -> None:
    rows = [row for row in make_table(15, material()).rows if row[1] == "here"]

    kept = [row[2] for row in rows]
    assert kept == sorted(kept, reverse=True)
    assert {row[2] + row[3] for row in rows} == {117}  # every labelled claim, once


def test_table_16_gives_every_blocked_claim_one_cause() -> None:
    given = material()
    (ours,) = [row for row in make_table(16, given).rows if row[1] == "here"]

    assert sum(ours[3:]) == ours[2]
    scored = {row.claim_id for row in given.rows if row.scored}
    assert ours[2] == sum(p.blocked for p in given.predictions if p.claim_id in scored)


def test_tables_of_repair_and_decomposition_show_what_was_run() -> None:
    run = RepairRun(
        packet="rebuilt", answers=10, allowed_before=3, blocked_before=7, resolved=7,
        terminal_fallbacks=1, allowed_after=7, latency_seconds={"nli": (0.1, 0.3)},
    )  # fmt: skip
    agreement = DecompositionAgreement(
        answers=60, predicted=300, reference=280, matched=270, value_bearing=0, precision=0.9,
        recall=0.95, f1=0.924, value_exact=None,
    )  # fmt: skip
    given = material(repair=run, captured=run, decomposition=agreement)

    assert make_table(9, given).rows[0][2:] == (10, 7, 7, 7, 1)
    assert make_table(19, given).rows[0][1:] == (10, 3, 7, 7, 1, 7)
    assert make_table(10, given).rows[0] == ("nli", "here", 2, 0.2, 0.2, 0.29, 0.3)
    assert make_table(8, given).rows[0][2:] == (60, 300, 280, 0.9, 0.95, 0.924, None)


def test_table_8_compares_the_claims_of_captured_answers_with_the_packets(tmp_path: Path) -> None:
    said = ("The patient takes metformin.", "Her eGFR is 58.")
    outputs = [{"tool_name": "load_chart", "text": " ".join(said)}]
    record = {"question_id": "t0", "user_question": "?", "full_tool_outputs": outputs,
              "final_reply_to_user": " ".join(said)}  # fmt: skip
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps({**record, "question_id": n}) + "\n" for n in ("t0", "x")))
    row = material().rows[0]
    rows = [dataclasses.replace(row, trace_id="t0", claim=text) for text in said[:1]]

    found = packet_decomposition(Options(answers=file), rows, Config())

    assert found is not None
    assert (found.answers, found.predicted, found.reference, found.matched) == (1, 2, 1, 1)
    assert packet_decomposition(Options(), rows, Config()) is None


def test_text_from_a_packet_cannot_break_a_markdown_table() -> None:
    given = material()
    rows = [dataclasses.replace(row, slices=("a|b\n| injected |",)) for row in given.rows]

    text = table_to_markdown(make_table(6, dataclasses.replace(given, rows=rows)))

    assert "a\\|b \\| injected \\|" in text


def test_top_k_takes_the_first_source_that_entails_and_none_is_no_source() -> None:
    for found in material().predictions:
        taken = no_source_top_k(found, 3)
        entailing = [
            r.source_id
            for r in found.ranking[:3]
            if r.probabilities is not None and r.probabilities.relation is Relation.ENTAILMENT
        ]
        assert taken.blocked == (not entailing)
        if entailing:
            assert taken.routed_source_id == entailing[0]


def test_variants_decide_every_claim_and_never_touch_the_original() -> None:
    given = material()
    before = list(given.predictions)

    for name in PLAIN:
        assert len(apply_plain(name, given.predictions)) == len(before)

    assert list(given.predictions) == before
    assert all(block_all(p).blocked for p in before)
    assert all(route_cutoff(p, 1.1).blocked for p in before)


def test_another_threshold_is_what_deciding_anew_gives() -> None:
    for found in material().predictions:
        for threshold in (0.0, 0.3, 0.9, 1.0):
            moved = at_threshold(found, found.probability, threshold)
            passes = found.probability >= threshold and not found.forced
            assert moved.blocked == (not passes)
            assert (moved.cause is Cause.NONE) == passes
            assert (moved.verdict is VerdictLabel.SUPPORTED) <= (found.probability >= threshold)


def test_the_report_has_every_published_key_and_reasons_for_what_it_lacks() -> None:
    given = material()
    report = evaluation_report(
        given.rows, given.predictions, threshold=0.5, resamples=50, seconds=2.0
    )

    for key in (
        "claims", "source_eligible_claims", "block", "false_block_rate", "false_pass_rate",
        "answer_false_block_rate", "verdict_accuracy", "verdict_macro_f1", "relation_accuracy",
        "source_accuracy", "recall_at_3", "mean_reciprocal_rank", "source_relation_accuracy",
        "attribution", "by_slice", "threshold", "seconds", "claims_per_second", "versions",
    ):  # fmt: skip
        assert key in report, key
    block, source, attribution = report["block"], report["source_accuracy"], report["attribution"]
    assert set(block) >= {"precision", "recall", "f1", "ci95"}
    assert block["ci95"][0] <= block["f1"] <= block["ci95"][1]
    assert source["ci95"][0] <= source["value"] <= source["ci95"][1]
    assert attribution["recall"] is None and attribution["recall_reason"]
    assert report["claims"] == 117 and report["unresolved_claims"] == 3
    assert report["claims_per_second"] == 60.0
    assert set(report["by_slice"]) == {"chart", "two_patients"}
    assert report["by_slice"]["chart"]["claims"] == 117
    crossed = report["confusion"]["verdict"]
    assert sum(n for row in crossed.values() for n in row.values()) == 117
    assert json.loads(json.dumps(report, allow_nan=False)) == json.loads(json.dumps(report))
