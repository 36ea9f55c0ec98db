"""Kept replies of a large model on answers by strangers, proved anew: the same bytes, no lie passes."""

import json
from pathlib import Path

import pytest

from core.evaluation.packets import read_packet
from core.judge.replay import Replay
from core.workflows.judged_packet import JudgedPacket, judged_report

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

    first, again = (
        judged_report(rows, {}, JudgedPacket(judge=Replay(REPLIES), traces=TRACES, asked="all"))
        for _ in range(2)
    )

    assert json.dumps(first) == json.dumps(again)
    assert first["unread"] == 0 and first["claims_asked"] == len(rows)
    figures = first["systems"]["judge"]  # type: ignore[call-overload,index]
    assert (figures["bad_passed"], figures["good_blocked"]) == (0, 0)
    assert figures["good_passed"] >= 0.85 * figures["good"] and figures["bad_blocked"] >= 1
