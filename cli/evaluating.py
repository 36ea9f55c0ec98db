"""The evaluation of a kept packet in a process of its own. ``python -m cli.evaluating FOLDER SHA256``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.config import Config
from core.errors import NotFound
from core.evaluation.kept import JobState, KeptPacket, kept_packet
from core.evaluation.packets import PacketRow
from core.models.forest import load_forest
from core.pipeline import Models
from core.records import Trace
from core.site_config import site_config
from core.workflows.evaluating import ASK, REPLAY
from core.workflows.evaluation_job import Also, run_job
from core.workflows.judged_packet import JudgedPacket, replies_file


def main() -> int:
    """Evaluate the packet that the command line names; the exit code.

    With ``--judge`` the database is the one that PROVENANCEGUARD_DB names.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    parser = argparse.ArgumentParser(description="Evaluate a kept packet.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("sha256")
    parser.add_argument("--nli-model")
    parser.add_argument("--calibrator", type=Path)
    parser.add_argument("--threshold", type=float, help="with --calibrator: instead of its own")
    parser.add_argument("--named", help="with --threshold: what verdicts call the calibrator")
    parser.add_argument("--centroid", action="store_true")
    parser.add_argument("--judge", choices=(ASK, REPLAY), help="the database's, or what is kept")
    parser.add_argument("--by", default="evaluation", help="with --judge: who asked, for the trail")
    given = parser.parse_args()

    def load(config: Config) -> Models:
        from core.workflows.models import load_models

        forest = load_forest(given.calibrator) if given.calibrator else load_forest()
        if given.threshold is not None:
            forest = forest.at(given.threshold, name=given.named or forest.name)
        return load_models(config, nli_model=given.nli_model, calibrator=forest)

    packet = kept_packet(given.folder, given.sha256)

    def judged(rows: Sequence[PacketRow]) -> JudgedPacket:
        return judge_of(packet, rows, given.by, ask=given.judge == ASK)

    state = run_job(
        packet,
        load,
        site_config(),
        also=Also(centroid=given.centroid, judged=judged if given.judge else None),
    )
    return 0 if state in (JobState.DONE, JobState.STOPPED) else 3


def judge_of(packet: KeptPacket, rows: Sequence[PacketRow], by: str, *, ask: bool) -> JudgedPacket:
    """The database's judge, which is asked for what the packet's folder does not hold, or that alone."""
    from core.judge.replay import Record, Replay
    from core.review.judge_trust import judge_trust
    from core.workflows.judges import chosen_judge
    from core.workflows.models import ForestFiles
    from storage.workspace import open_workspace

    workspace = open_workspace(actor=by, files=ForestFiles())
    replies = replies_file(packet.folder, workspace.judges.current())
    chosen = chosen_judge(workspace.judges)
    judge = Record(replies, chosen) if ask else Replay(replies, chosen.name)
    traces: dict[str, Trace] = {}
    for trace_id in {row.trace_id for row in rows}:
        try:
            traces[trace_id] = workspace.store.get_trace(trace_id).trace
        except NotFound:
            continue
    trust = judge_trust(judge.name, workspace.judges.readings(), site_config())
    return JudgedPacket(judge=judge, traces=traces, asked="all", worth=trust.worth)


if __name__ == "__main__":
    sys.exit(main())
