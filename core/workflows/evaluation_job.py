"""run_job: evaluate a kept packet in a process of its own, telling a status file how far it is.

What it gives is kept beside the packet (core/evaluation/kept.py). A run that was stopped or killed goes
on where it was; ``python -m cli.evaluating`` is the process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.bootstrap import RESAMPLES
from core.config import Config
from core.errors import ProvenanceGuardError, fault_words
from core.evaluation.ablations import apply_plain
from core.evaluation.comparison import BLOCK_ALL, CENTROID, compare_with
from core.evaluation.kept import (
    CENTROID_FILE,
    SCORED_FILE,
    JobState,
    JobStatus,
    KeptPacket,
    clear_stop,
    keep_predictions,
    keep_run,
    run_name,
    stop_was_asked,
    write_status,
)
from core.evaluation.packets import PacketRow
from core.pipeline import Models, versions
from core.ports import Progress
from core.workflows.compare import READ_ANEW, router_system
from core.workflows.evaluate import evaluate, score_packet
from core.workflows.judged_packet import JUDGED_FILE, JudgedPacket, judged_packet


@dataclass(frozen=True, slots=True, kw_only=True)
class Also:
    """What reads the packet beside the verifier: the paper's router, and who is asked about its rows."""

    centroid: bool = False
    judged: Callable[[Sequence[PacketRow]], JudgedPacket] | None = None


SECONDS_BETWEEN_WORDS = 0.5


class Stopped(Exception):
    """Someone asked the run to end; what was read stays kept."""


@dataclass(slots=True, kw_only=True)
class ProgressReporter:
    """Writes how far a run is, at most twice a second; raises Stopped when someone asked for it."""

    packet: KeptPacket
    clock: Callable[[], float]
    status: JobStatus = field(init=False)

    def __post_init__(self) -> None:
        now = self.clock()
        self.status = JobStatus(
            state=JobState.RUNNING, what="Loading the models", started=now, at=now
        )
        write_status(self.packet, self.status)

    def __call__(self, done: int, total: int | None, what: str) -> None:
        """Progress of the units named ``what``; the first word on them starts their clock."""
        now = self.clock()
        if what != self.status.what:
            self.status = replace(self.status, what=what, before=done, started=now, at=0.0)
        if now - self.status.at >= SECONDS_BETWEEN_WORDS or done == total:
            self.status = replace(self.status, done=done, total=total or 0, at=now)
            write_status(self.packet, self.status)
        if stop_was_asked(self.packet):
            raise Stopped

    def end(self, state: JobState, message: str = "") -> None:
        """The last word."""
        self.status = replace(self.status, state=state, at=self.clock(), message=message)
        write_status(self.packet, self.status)


def run_job(
    packet: KeptPacket,
    load: Callable[[Config], Models],
    config: Config,
    *,
    also: Also = Also(),  # noqa: B008 - frozen
    resamples: int = RESAMPLES,
    clock: Callable[[], float] = time.time,
) -> JobState:
    """Evaluate the packet and keep the run; errors of ours end in the status, not in a traceback."""
    clear_stop(packet)
    tell = ProgressReporter(packet=packet, clock=clock)
    try:
        _evaluate(packet, load(config), config, tell, also, resamples)
    except Stopped:
        tell.end(JobState.STOPPED)
    except ProvenanceGuardError as error:
        tell.end(JobState.FAILED, str(error))
    except Exception as error:
        tell.end(JobState.FAILED, fault_words(error))
        raise
    else:
        tell.end(JobState.DONE)
    return tell.status.state


def _evaluate(
    packet: KeptPacket,
    models: Models,
    config: Config,
    tell: ProgressReporter,
    also: Also,
    resamples: int,
) -> None:
    kept = packet.folder / SCORED_FILE
    evaluated = score_packet(packet.path, models, config, kept=kept, progress=tell)
    others = {BLOCK_ALL: apply_plain(BLOCK_ALL, evaluated.predictions)}
    if also.centroid and config.router == "evidence":
        system = router_system(
            CENTROID, evaluated, models, config, kept=kept, progress=_named(tell)
        )
        others[CENTROID] = list(system.predictions or ())
    tell(0, None, "intervals")
    report = evaluate(evaluated, resamples=resamples)
    report["compared"] = [
        compare_with(
            name,
            READ_ANEW[name][0] if name in READ_ANEW else "Blocks every claim.",
            evaluated.rows,
            evaluated.predictions,
            found,
            resamples=resamples,
        )
        for name, found in others.items()
    ]
    report["latency_seconds"] = {
        stage: list(seconds) for stage, seconds in evaluated.latency_seconds.items()
    }
    named = versions(models, config)
    place = packet.folder / run_name(named)
    place.mkdir(exist_ok=True, mode=0o700)
    if CENTROID in others:
        keep_predictions(place / CENTROID_FILE, others[CENTROID])
    (place / JUDGED_FILE).unlink(missing_ok=True)  # of the same run made earlier
    if also.judged is not None and packet.labelled:
        tell(0, None, "Asking the judge")
        with_judge = judged_packet(
            evaluated.rows, evaluated.predictions, also.judged(evaluated.rows), config
        )
        report["judge"] = with_judge.report
        keep_predictions(place / JUDGED_FILE, with_judge.both)
    keep_run(packet, named, report, evaluated.predictions)


def _named(tell: ProgressReporter) -> Progress:
    """The same teller for claims that are read a second time."""
    return lambda done, total, what: tell(done, total, f"{what} with the centroid router")
