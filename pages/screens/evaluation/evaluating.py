"""Evaluating a packet in a process of its own, with progress that any session and any restart sees."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from core.evaluation.kept import (
    JobState,
    JobStatus,
    KeptPacket,
    ask_to_stop,
    clear_stop,
    read_status,
    write_status,
)
from core.models.loading import BUNDLED
from core.review.calibrators import CurrentCalibrator
from core.workflows.background import is_at_work, lock_for_work, start_work
from pages.widgets.jobs import Progress, pace_words, show_work
from pages.widgets.plain import show_notice

JOB = "core.workflows.evaluation_job"


def start_evaluating(
    packet: KeptPacket,
    *,
    centroid: bool,
    calibrator: CurrentCalibrator | None = None,
    reader: str = BUNDLED,
) -> bool:
    """Begin a run over the packet with that calibrator (None: the shipped one) and reader.

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
        arguments += ["--reader", reader] if reader != BUNDLED else []
        if calibrator is not None and calibrator.folder is not None:
            arguments += ["--calibrator", str(calibrator.folder), "--named", calibrator.label]
            arguments += ["--threshold", str(calibrator.threshold)]
        start_work(JOB, arguments, lock, what="evaluation")
    return True


def is_evaluating(packet: KeptPacket) -> bool:
    """Whether a process is at work on the packet now, whoever started it."""
    return is_at_work(_lock_file(packet))


def show_evaluating(packet: KeptPacket) -> bool:
    """How far a run over the packet is, or how the last one ended badly; True while one is under way."""
    if is_evaluating(packet):
        show_work(Evaluation(packet=packet), key="stop-evaluating")
        return True
    status = read_status(packet)
    if status is None or status.state is JobState.DONE:
        return False
    far = f"{status.done:,} of {status.total:,} were read and are kept." if status.total else ""
    if status.state is JobState.FAILED:
        show_notice(
            "The evaluation ended early",
            f"{status.message}. {far}".replace(".. ", ". ").strip(),
            key="job-failed",
            tone="bad",
        )
    else:
        was = "was stopped" if status.state is JobState.STOPPED else "was interrupted"
        show_notice(
            f"The last evaluation {was}",
            f"{far} Evaluate goes on from there.".strip(),
            key="job-stopped",
            tone="careful",
        )
    return False


def progress_words(status: JobStatus, now: float) -> str:
    """How far a run is, how fast, and how long it may still take; ``now`` as time.time()."""
    if not status.total:
        return {"intervals": "Computing the intervals …"}.get(status.what, f"{status.what} …")
    seconds = now - status.started
    return pace_words(status.done, status.total, status.what, seconds, before=status.before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The run over a packet that is under way."""

    packet: KeptPacket
    stopping: bool = False

    @property
    def running(self) -> bool:
        """Whether a process is at work on the packet now."""
        return is_evaluating(self.packet)

    def stop(self) -> None:
        """Ask it to end after the claims in hand."""
        ask_to_stop(self.packet)

    def progress(self) -> Progress | None:
        """How far it is; None before it has said so."""
        status = read_status(self.packet)
        if status is None:
            return None
        share = min(1.0, status.done / status.total) if status.total else 0.0
        return Progress(share=share, words=f"Evaluating: {progress_words(status, time.time())}")


def _lock_file(packet: KeptPacket) -> Path:
    return packet.folder / "lock"
