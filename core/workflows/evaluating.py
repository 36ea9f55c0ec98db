"""Evaluating a packet in a process of its own, whoever begins it: a page or the first start."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import NotFound
from core.evaluation.kept import (
    JobState,
    JobStatus,
    KeptPacket,
    clear_stop,
    kept_packet,
    kept_runs,
    read_status,
    write_status,
)
from core.models.loading import BUNDLED
from core.models.weight_files import sha256
from core.review.calibrators import CurrentCalibrator
from core.review.judge_choice import CurrentJudge
from core.workflows.background import is_at_work, lock_for_work, start_work
from core.workflows.judged_packet import replies_file

JOB = "cli.evaluating"  # by name: what opens databases stands above core
ASK, REPLAY = "ask", "replay"  # the judge of the database, or what it replied before
# Pages and a person's own work go first; at 19 a machine that is busy with anything else gives none.
LESS_PRESSING = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedJudge:
    """The judge ``now`` of the database that ``database`` names to a process: asked in the name of ``by``.

    Where ``ask`` is false, what it replied to the packet before is read alone.
    """

    database: Mapping[str, str]
    by: str
    ask: bool
    now: CurrentJudge


def start_evaluating(
    packet: KeptPacket,
    *,
    centroid: bool,
    calibrator: CurrentCalibrator | None = None,
    nli: str = BUNDLED,
    niceness: int = 0,
    judge: AskedJudge | None = None,
) -> bool:
    """Begin a run over the packet with that calibrator (None: the shipped one) and NLI model.

    What a ``judge`` replied to this packet is read too. ``niceness`` lets other work go first, up to 19.
    False when a run is under way already; raises ComponentUnavailable.
    """
    with lock_for_work(_lock_file(packet)) as lock:
        if lock is None:
            return False
        clear_stop(packet)
        now = time.time()
        write_status(
            packet,
            JobStatus(state=JobState.RUNNING, what="Loading the models", started=now, at=now),
        )
        arguments = [str(packet.folder.parent), packet.sha256]
        arguments += ["--centroid"] if centroid else []
        arguments += ["--nli-model", nli] if nli != BUNDLED else []
        if calibrator is not None and calibrator.folder is not None:
            arguments += ["--calibrator", str(calibrator.folder), "--named", calibrator.label]
            arguments += ["--threshold", str(calibrator.threshold)]
        environment: Mapping[str, str] = {}
        if judge is not None and (judge.ask or replies_file(packet.folder, judge.now).is_file()):
            arguments += ["--judge", ASK if judge.ask else REPLAY, f"--by={judge.by}"]
            environment = judge.database
        start_work(
            JOB, arguments, lock, what="evaluation", niceness=niceness, environment=environment
        )
    return True


def is_evaluating(packet: KeptPacket) -> bool:
    """Whether a process is at work on the packet now, whoever started it."""
    return is_at_work(_lock_file(packet))


def evaluate_brought(
    folder: Path, file: Path, calibrator: CurrentCalibrator, *, nli: str = BUNDLED
) -> bool:
    """Begin to evaluate ``file`` behind what people do where it was brought into the folder of packets.

    A run that was killed goes on; one that ended, failed or was stopped by a person is not begun
    again. Whether one began; raises ComponentUnavailable.
    """
    try:
        packet = kept_packet(folder, sha256(file))
    except NotFound:
        return False
    status = read_status(packet)
    if kept_runs(packet) or (status is not None and status.state is not JobState.RUNNING):
        return False
    return start_evaluating(
        packet, centroid=False, calibrator=calibrator, nli=nli, niceness=LESS_PRESSING
    )


def _lock_file(packet: KeptPacket) -> Path:
    return packet.folder / "lock"
