"""prepare: on the first start, load the sample traces and verify them with the real models.

Run as ``python -m storage.first_start`` before the workbench is served. When nothing waits for a
verdict, no model is loaded and it takes a moment.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from core.attribution.families import load_families
from core.config import PIPELINE_VERSION, Config
from core.errors import ProvenanceGuardError
from core.models.loading import BUNDLED_PAIR_READER, folder_digest, packaged_minilm
from core.records import Versions
from core.workflows.ingest import ingest
from core.workflows.verify import verify_pending
from storage.calibrators import Calibrators
from storage.engine import PROJECT
from storage.records import TraceFilters
from storage.store import SqlStore, open_store

SAMPLE = PROJECT / "sample_data" / "traces.jsonl"
SECONDS_BETWEEN_LINES = 5.0


def prepare(store: SqlStore, sample: Path, say: Callable[[str], None]) -> None:
    """Fill an empty store with the sample traces, and verify what has no current verdict."""
    config = Config()
    if store.overview().traces == 0 and sample.is_file():
        report = ingest([sample], store, config)
        store.put_import(report)
        say(f"Loaded {report.traces} sample traces into {store.name}")
    if up_to_date(store, config):
        say(f"{store.overview().traces} traces are verified")
        return
    say("Loading the models")
    from core.workflows.models import load_models

    models = load_models(config, calibrator=Calibrators(store=store).forest())
    progress = _Lines(say)
    done = verify_pending(store, models, config, progress)
    if done.traces:
        say(
            f"Verified {done.traces} traces in {time.monotonic() - progress.started:.0f} s: "
            + ", ".join(
                f"{count} {decision.value}" for decision, count in sorted(done.by_decision.items())
            )
        )


def up_to_date(store: SqlStore, config: Config) -> bool:
    """Whether every trace has a verdict of the newest run, and that run's models are the present ones.

    Asked before any model is loaded, so it compares digests of files; raises ComponentUnavailable.
    """
    if store.list_traces(TraceFilters(verified=False), limit=1).total:
        return False
    runs = store.runs()
    if not runs:
        return store.overview().traces == 0
    newest = runs[0]
    in_force = Calibrators(store=store).current().label
    return _still_made_of(newest.versions, config, in_force) and not store.count_without_run(
        newest.run_key
    )


def _still_made_of(versions: Versions, config: Config, calibrator: str) -> bool:
    return (
        versions.pipeline == PIPELINE_VERSION
        and versions.config_sha256 == config.sha256(load_families().digest)
        and versions.calibrator == calibrator
        and _names(versions.pair_reader, BUNDLED_PAIR_READER)
        and _names(versions.embedder, packaged_minilm())
    )


def _names(recorded: str, folder: Path) -> bool:
    """Whether a model's recorded name ends in the digest of what is in ``folder``."""
    _, marked, digest = recorded.rpartition("@sha256:")
    return bool(marked and digest) and folder_digest(folder).startswith(digest)


class _Lines:
    """Progress as lines, for a terminal and a log alike."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.started = self._told = time.monotonic()

    def __call__(self, done: int, total: int | None, what: str) -> None:
        now = time.monotonic()
        if done == 0 or (now - self._told < SECONDS_BETWEEN_LINES and done != total):
            return
        self._told = now
        left = (now - self.started) / done * ((total or done) - done)
        self.say(f"  verified {done} of {total} {what}, about {left:.0f} s left")


def main() -> int:
    """Prepare the database that PROVENANCEGUARD_DB names; the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        store = open_store(actor="first start")
        prepare(store, SAMPLE, lambda line: print(line, flush=True))
        store.close()
    except ProvenanceGuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("Stopped. What was verified is kept; start again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
