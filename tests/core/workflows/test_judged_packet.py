"""Kept replies of a large model on answers by strangers, proved anew: the same bytes, no lie passes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluations import predict

from core.config import Config
from core.evaluation.packets import read_packet, row_from_json
from core.evaluation.predictions import Cause, at_threshold
from core.evaluation.threshold_view import costs_at, view_predictions
from core.judge.replay import Replay
from core.records import Decision, State, VerdictLabel
from core.records.judge import JudgeRequest, JudgeText, JudgeVerdict
from core.workflows.judged_packet import JudgedPacket, judged_columns, judged_packet, traces_in

HERE = Path(__file__).resolve().parents[3]
SHARED = HERE.parents[1] / "shared" / "data"
REPLIES = HERE / "sample_data" / "judge" / "multirecord_dev.jsonl.gz"
TRACES = tuple(
    SHARED / "traces" / f"multirecord_dev_{kind}.jsonl.gz" for kind in ("native", "chat")
)
PACKET = SHARED / "packets" / "multirecord_dev.jsonl.gz"


@pytest.mark.stress
@pytest.mark.skipif(
    not PACKET.exists(), reason="the answers by strangers are not part of the repository"
)
def test_kept_replies_give_the_same_figures_again() -> None:
    rows = [
        row for row in read_packet(PACKET).rows if row.trace_id in ("s3c-14", "s3b-00", "s3b-10")
    ]

    traces = traces_in(TRACES, rows)
    by = JudgedPacket(judge=Replay(REPLIES), traces=traces, asked="all")

    first, again = (
        judged_packet(rows, predict(rows, threshold=0.79), by, Config()).report for _ in range(2)
    )

    assert json.dumps(first) == json.dumps(again)
    assert first["unread"] == 0 and first["claims_asked"] == len(rows)
    figures = first["systems"]["judge"]  # type: ignore[call-overload,index]
    assert (figures["bad_passed"], figures["good_blocked"]) == (0, 0)
    assert figures["good_passed"] >= 0.85 * figures["good"] and figures["bad_blocked"] >= 1


class Reader:
    """A judge of three kinds: what it says it quotes, what it doubts it shows, and the rest is open."""

    name = "m@here#1"

    def judge(self, request: JudgeRequest) -> JudgeText:
        claims = []
        for n, (text, _) in enumerate(request.asked, start=1):
            dose = text.split()[3]
            line = f"{text.split()[2]}: 10 mg"
            reading = {
                "n": n,
                "verdict": "supported",
                "evidence": [{"source_id": "S1", "quote": line}],
            }
            if dose == "40":
                conflict = {"claim_part": "40 mg", "source_part": "10 mg"}
                reading |= {"verdict": "contradicted", "conflict": conflict}
            claims.append({**reading, "why": "It is 10 mg."})
        return JudgeText(text=json.dumps({"claims": claims}), model="m")


def packet_row(drug: str, dose: str, label: str, trace_id: str) -> object:
    chart = "aspirin: 10 mg\nmetformin: 10 mg\nsertraline: 10 mg"
    return {
        "claim_id": f"{trace_id}-{drug}-{dose}",
        "trace_id": trace_id,
        "claim": f"She takes {drug} {dose} mg.",
        "sources": [{"source_id": "chart", "tool_name": "load_patient_history", "text": chart}],
        "label": label,
    }


ROWS = [
    row_from_json(packet_row(drug, dose, label, trace_id))
    for drug, dose, label, trace_id in (
        ("aspirin", "10", "supported", "faithful"),
        ("metformin", "10", "supported", "faithful"),
        ("sertraline", "10", "supported", "wrong"),
        ("sertraline", "40", "contradicted", "wrong"),
        (
            "metformin",
            "50",
            "contradicted",
            "wrong",
        ),  # the judge supports it, and its quote does not
    )
]


def test_offline_judge_and_both_are_counted_on_the_same_claims() -> None:
    offline = [
        replace(one, decision=Decision.BLOCK, probability=0.5, forced=False, cause=Cause.SUPPORT,
                verdict=VerdictLabel.NOT_ENOUGH_EVIDENCE, threshold=0.79)
        for one in predict(ROWS, threshold=0.79)
    ]  # fmt: skip

    found = judged_packet(ROWS, offline, JudgedPacket(judge=Reader(), asked="all"), Config())

    systems: Any = found.report["systems"]
    counts = ("bad_passed", "bad_blocked", "good_stopped", "faithful_allowed", "auroc")
    assert [systems["offline"][name] for name in counts] == [0, 0, 3, 0, 0.5]
    assert [systems["judge"][name] for name in counts] == [0, 1, 0, 1, 1.0]
    assert [systems["both"][name] for name in counts] == [0, 1, 0, 1, 1.0]
    assert systems["without_proof"]["bad_passed"] == 1
    states = [one.state for one in found.both]
    assert states == [State.ALLOW] * 3 + [State.BLOCK, State.NEEDS_REVIEW]
    head, *lines = judged_columns(found.report)
    assert head[1:4] == ("offline", "judge", "both")
    assert lines[0][1:4] == ("0 of 2 (0.0 %)",) * 3
    assert lines[1][:4] == (
        "good claims stopped",
        "3 of 3 (100.0 %)",
        "0 of 3 (0.0 %)",
        "0 of 3 (0.0 %)",
    )


def test_the_threshold_curve_with_a_judge_is_that_of_the_final_decision() -> None:
    offline = predict(ROWS, threshold=0.79)
    for worth in (None, {JudgeVerdict.SUPPORTED: 0.6, JudgeVerdict.CONTRADICTED: 0.3}):
        by = JudgedPacket(judge=Reader(), asked="all", worth=worth)
        both = judged_packet(ROWS, offline, by, Config()).both
        curve = costs_at(view_predictions(ROWS, both), [0.3, 0.6, 0.79, 0.95, 0.99])

        for cost in curve:
            again = judged_packet(
                ROWS,
                [at_threshold(one, one.probability, cost.threshold) for one in offline],
                by,
                Config(),
            ).both
            stopped = sum(
                one.blocked for row, one in zip(ROWS, again, strict=True) if not row.should_block
            )
            passed = sum(
                not one.blocked for row, one in zip(ROWS, again, strict=True) if row.should_block
            )
            assert (cost.good_blocked, cost.bad_passed) == (stopped, passed)
    # Whom people found wrong too often decides nothing by itself.
    assert State.BLOCK not in [one.state for one in both]
