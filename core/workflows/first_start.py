"""prepare: on the first start, load the sample answers and verify them with the real models.

When nothing waits for a verdict, no model is loaded and it takes a moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.kept import SAMPLE_NAME, keep_packet
from core.identity import rules_digest
from core.models.loading import BUNDLED_NLI_MODEL, packaged_minilm
from core.models.weight_files import folder_digest
from core.records import IngestReport, Versions
from core.site_config import site_config
from core.workflows.ingest import ingest
from core.workflows.models import ActiveCalibrator, JudgeChoice, active_forest
from core.workflows.verify import VerificationStore, run_key, states_in_words, verify_pending

SECONDS_BETWEEN_LINES = 5.0


class FirstStore(VerificationStore, Protocol):
    """A store that may be empty, and can say how much of it is verified."""

    @property
    def name(self) -> str:
        """Where the data is."""

    def put_import(self, report: IngestReport) -> None:
        """Keep the report of an import."""

    def count_unverified(self) -> int:
        """How many of them have no verdict at all."""

    def newest_versions(self) -> Versions | None:
        """What produced the newest run; None before there is one."""


def bring_packet(store: FirstStore, folder: Path, packet: Path, say: Callable[[str], None]) -> None:
    """Keep the labelled sample packet among the evaluated ones, beside a store that is empty."""
    if store.count_traces() or not packet.is_file():
        return
    try:
        keep_packet(folder, SAMPLE_NAME, packet, max_record_bytes=site_config().max_record_bytes)
    except OSError as error:  # a container may have a database elsewhere and no disk of its own
        say(f"The sample packet is not evaluated: {folder}: {error.strerror}")


def prepare(
    store: FirstStore,
    calibrators: ActiveCalibrator,
    sample: Path,
    say: Callable[[str], None],
    *,
    nli: str | None = None,
    judges: JudgeChoice | None = None,
) -> None:
    """Fill an empty store with the sample answers, and verify what has no current verdict.

    Whether another ``nli`` than the bundled one, or a judge, is still the same is known when it is
    loaded.
    """
    config = site_config()
    if store.count_traces() == 0 and sample.is_file():
        report = ingest([sample], store, config)
        store.put_import(report)
        say(f"Loaded {report.traces} sample answers into {store.name}")
    asked = judges is not None and judges.current().address is not None
    if nli is None and not asked and up_to_date(store, calibrators, config):
        say(f"{store.count_traces()} answers are verified")
        return
    say("Loading the models")
    from core.workflows.models import load_models, with_chosen_judge

    models = load_models(config, nli_model=nli, calibrator=active_forest(calibrators))
    if judges is not None:
        models = with_chosen_judge(models, judges)
    progress = _Lines(say)
    done = verify_pending(store, models, config, progress)
    if done.traces:
        say(
            f"Verified {done.traces} answers in {time.monotonic() - progress.started:.0f} s: "
            + states_in_words(done.by_state)
        )


def up_to_date(store: FirstStore, calibrators: ActiveCalibrator, config: Config) -> bool:
    """Whether every trace has a verdict of the newest run, and that run's models are the present ones.

    Asked before any model is loaded, so it compares digests of files; raises ComponentUnavailable.
    """
    if store.count_unverified():
        return False
    newest = store.newest_versions()
    if newest is None:
        return store.count_traces() == 0
    return _still_made_of(
        newest, config, calibrators.current().label
    ) and not store.count_without_run(run_key(newest))


def _still_made_of(versions: Versions, config: Config, calibrator: str) -> bool:
    return (
        versions.pipeline == rules_digest()
        and versions.config_sha256 == config.sha256(load_families().digest)
        and versions.calibrator == calibrator
        and _names(versions.pair_reader, BUNDLED_NLI_MODEL)
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
