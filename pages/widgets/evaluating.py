"""How far the evaluation of a packet is, which any session and any restart sees."""

from __future__ import annotations

import time
from dataclasses import dataclass

from core.evaluation.kept import JobState, JobStatus, KeptPacket, ask_to_stop, read_status
from core.review.records import Person
from core.review.roles import require_writer
from core.workflows.evaluating import AskedJudge, is_evaluating, start_evaluating
from pages.widgets.jobs import Progress, pace_words, show_work
from pages.widgets.plain import show_notice
from storage.workspace import Workspace


def begin_evaluating(
    workspace: Workspace,
    packet: KeptPacket,
    who: Person,
    *,
    centroid: bool = False,
    ask_judge: bool = False,
) -> None:
    """Begin a run over the packet with what decides now; raises NotAllowed, ComponentUnavailable."""
    require_writer(who.name, who.roles, "evaluate a packet")
    start_evaluating(
        packet,
        centroid=centroid,
        calibrator=workspace.calibrators.current(),
        nli=workspace.nli_models.current().nli,
        judge=AskedJudge(
            database=workspace.environment,
            by=who.name,
            ask=ask_judge,
            now=workspace.judges.current(),
        ),
    )


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
            tone="bad",
        )
    else:
        was = "was stopped" if status.state is JobState.STOPPED else "was interrupted"
        show_notice(
            f"The last evaluation {was}",
            f"{far} Evaluate goes on from there.".strip(),
            tone="careful",
        )
    return False


def progress_words(status: JobStatus, now: float) -> str:
    """How far a run is, how fast, and how long it may still take; ``now`` as time.time()."""
    if not status.total:
        known = {"intervals": "all are read, computing the intervals …"}
        return known.get(status.what, f"{status.what[:1].lower()}{status.what[1:]} …")
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
        doing = "Evaluating" if status.total else f"Evaluating {self.packet.rows:,} claims"
        return Progress(share=share, words=f"{doing}: {progress_words(status, time.time())}")
