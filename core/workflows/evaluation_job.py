"""run_job: evaluate a kept packet in a process of its own, telling a status file how far it is.

Run as ``python -m core.workflows.evaluation_job FOLDER SHA256``; what it gives is kept beside the
packet (core/evaluation/kept.py). A run that was stopped or killed goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

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
    kept_packet,
    run_name,
    stop_was_asked,
    write_status,
)
from core.models.forest import load_forest
from core.pipeline import Models, versions
from core.ports import Progress
from core.site_config import site_config
from core.workflows.compare import READ_ANEW, router_system
from core.workflows.evaluate import evaluate, score_packet

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
    also_centroid: bool = False,
    resamples: int = RESAMPLES,
    clock: Callable[[], float] = time.time,
) -> JobState:
    """Evaluate the packet and keep the run; errors of ours end in the status, not in a traceback."""
    clear_stop(packet)
    tell = ProgressReporter(packet=packet, clock=clock)
    try:
        _evaluate(packet, load(config), config, tell, also_centroid, resamples)
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
    also_centroid: bool,
    resamples: int,
) -> None:
    kept = packet.folder / SCORED_FILE
    evaluated = score_packet(packet.path, models, config, kept=kept, progress=tell)
    others = {BLOCK_ALL: apply_plain(BLOCK_ALL, evaluated.predictions)}
    if also_centroid and config.router == "evidence":
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
    if CENTROID in others:
        place = packet.folder / run_name(named)
        place.mkdir(exist_ok=True, mode=0o700)
        keep_predictions(place / CENTROID_FILE, others[CENTROID])
    keep_run(packet, named, report, evaluated.predictions)


def _named(tell: ProgressReporter) -> Progress:
    """The same teller for claims that are read a second time."""
    return lambda done, total, what: tell(done, total, f"{what} with the centroid router")


def main() -> int:
    """Evaluate the packet that the command line names; the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    parser = argparse.ArgumentParser(description="Evaluate a kept packet.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("sha256")
    parser.add_argument("--nli-model")
    parser.add_argument("--calibrator", type=Path)
    parser.add_argument("--threshold", type=float, help="with --calibrator: instead of its own")
    parser.add_argument("--named", help="with --threshold: what verdicts call the calibrator")
    parser.add_argument("--centroid", action="store_true")
    given = parser.parse_args()

    def load(config: Config) -> Models:
        from core.workflows.models import load_models

        forest = load_forest(given.calibrator) if given.calibrator else load_forest()
        if given.threshold is not None:
            forest = forest.at(given.threshold, name=given.named or forest.name)
        return load_models(config, nli_model=given.nli_model, calibrator=forest)

    packet = kept_packet(given.folder, given.sha256)
    state = run_job(packet, load, site_config(), also_centroid=given.centroid)
    return 0 if state in (JobState.DONE, JobState.STOPPED) else 3


if __name__ == "__main__":
    sys.exit(main())
