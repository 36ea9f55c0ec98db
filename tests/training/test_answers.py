"""The written answers read as a packet, and those of some authors can be taken alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.evaluation.packets import read_packet
from training.answers import main


@pytest.mark.stress
def test_every_answer_is_borne_out_and_reads_as_a_packet(tmp_path: Path) -> None:
    main(["--out", str(tmp_path / "all.jsonl")])
    main(["--only", "ca", "bu", "--out", str(tmp_path / "some.jsonl")])

    every, some = (read_packet(tmp_path / name).rows for name in ("all.jsonl", "some.jsonl"))
    assert {row.trace_id.split("-")[0] for row in some} == {"ca", "bu"}
    assert {row.claim_id for row in some} < {row.claim_id for row in every}
    assert len({row.claim_id for row in every}) == len(every)
