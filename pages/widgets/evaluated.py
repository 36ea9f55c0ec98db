"""Evaluated packets as the screens need them: which there are, and one run with its claims at hand."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import streamlit as st

from core.attribution.families import load_families
from core.errors import DamagedArtifact, NotFound
from core.evaluation.columns import Columns, pair_columns
from core.evaluation.kept import (
    CENTROID_FILE,
    EVALUATIONS,
    SAMPLE_NAME,
    KeptPacket,
    KeptRun,
    keep_packet,
    kept_packets,
    kept_runs,
    read_predictions,
)
from core.evaluation.packets import PacketRow, read_packet
from core.evaluation.predictions import Prediction
from core.evaluation.sweep import Band
from core.evaluation.threshold_view import ThresholdView, bands_of, only, view_predictions
from core.identity import rules_digest
from core.places import SAMPLE_PACKET
from core.review.calibrators import CurrentCalibrator
from core.review.records import Person
from core.workflows.evaluating import is_evaluating
from core.workflows.judged_packet import JUDGED_FILE
from core.workflows.models import ForestFiles
from pages.widgets.adjudicated import may_see_labels, settled_claims, write_settled
from pages.widgets.plain import show_notice
from pages.widgets.session import settings
from storage.store import SqlStore

ADJUDICATED = "settled"
EVERY_CLAIM = "All claims"
# A forest is told from others by the first digits of its digest, as packets of one name are.
_FOREST = re.compile(r"^forest-([0-9a-f]{6})[0-9a-f]+")

Key = tuple[str, str, str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketChoice:
    """A packet that can be chosen: one in the folder, or one that is kept once it is evaluated."""

    key: str
    label: str
    kept: KeptPacket | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A set of predictions with its claims: ``predictions`` are those of ``rows``, in order."""

    rows: tuple[PacketRow, ...]
    predictions: tuple[Prediction, ...]
    columns: Columns
    view: ThresholdView


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionSet:
    """Predictions of one run over a packet: its own, or another router's beside them."""

    packet: KeptPacket
    run: KeptRun
    name: str
    file: str = "predictions.jsonl"

    @property
    def key(self) -> Key:
        """What tells it from every other set, also from the same run made again."""
        return (self.packet.sha256, self.run.run, self.file, self.run.written)

    @property
    def threshold(self) -> float:
        """The threshold that it was decided with; raises DamagedArtifact."""
        found = self.run.report.get("threshold")
        if not isinstance(found, int | float):
            raise DamagedArtifact(f"run {self.run.run}: its report names no threshold")
        return float(found)


def evaluation_folder(store: SqlStore) -> Path:
    """Where evaluated packets are kept, among the files about this database."""
    return store.database.folder / EVALUATIONS


def packet_choices(store: SqlStore, who: Person) -> list[PacketChoice]:
    """Every packet on offer: those evaluated before, what reviewers settled, the shipped sample.

    Labels that reviewers gave are on offer only to who may see what everybody said.
    """
    kept = [
        packet
        for packet in kept_packets(evaluation_folder(store))
        if not packet.reviewed or may_see_labels(who)
    ]
    known = {packet.sha256 for packet in kept}
    names = [packet.name for packet in kept]
    choices = [_choice(packet, alone=names.count(packet.name) == 1) for packet in kept]
    if settled := settled_claims(who):
        label = f"Reviewers' settled claims, as of now ({settled:,})"
        choices.append(PacketChoice(key=ADJUDICATED, label=label, kept=None))
    if (
        SAMPLE_PACKET.is_file()
        and _digest(SAMPLE_PACKET, SAMPLE_PACKET.stat().st_mtime_ns) not in known
    ):
        choices.append(PacketChoice(key="sample", label=SAMPLE_NAME, kept=None))
    return choices


def bring_packet(store: SqlStore, name: str, file: Path, *, reviewed: bool = False) -> KeptPacket:
    """Keep a packet file in the folder; raises UnreadableFile, BadRecord."""
    return keep_packet(
        evaluation_folder(store),
        name,
        file,
        max_record_bytes=settings().max_record_bytes,
        reviewed=reviewed,
    )


def bring_choice(store: SqlStore, choice: PacketChoice, who: Person) -> KeptPacket:
    """The choice's packet, kept now if it was only on offer; raises NotAllowed, StoreError too."""
    if choice.kept is not None:
        return choice.kept
    if choice.key != ADJUDICATED:
        return bring_packet(store, SAMPLE_NAME, SAMPLE_PACKET)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "packet.jsonl"
        write_settled(who, file)
        name = f"Reviewers' settled claims of {store.now():%d %b %Y}"
        return bring_packet(store, name, file, reviewed=True)


def choose_packet(store: SqlStore, who: Person, *, evaluated: bool) -> PacketChoice | None:
    """The packet select box, restored from and kept in the address; None when there is none.

    With ``evaluated``, only packets that a run has finished are on offer.
    """
    choices = packet_choices(store, who)
    if evaluated:
        choices = [each for each in choices if each.kept is not None and kept_runs(each.kept)]
    if not choices:
        return None
    keys = [each.key for each in choices]
    wanted = st.query_params.get("packet")
    if wanted is not None and wanted not in keys:
        show_notice(
            "That packet is not here",
            "The address names a packet that was not evaluated on this machine. Choose another.",
            tone="careful",
        )
    labels = {each.key: each.label for each in choices}
    # A new list is a new widget: its choice is then taken from the address again.
    chosen = st.selectbox(
        "Packet",
        keys,
        index=keys.index(wanted) if wanted in keys else 0,
        format_func=labels.__getitem__,
        key=f"packet-{hash(tuple(keys))}",
    )
    if chosen != wanted:
        st.query_params["packet"] = chosen
    return next(each for each in choices if each.key == chosen)


def choose_run(
    packet: KeptPacket,
    runs: tuple[KeptRun, ...],
    ruling: CurrentCalibrator,
    *,
    label: str,
    key: str,
) -> KeptRun:
    """The run to show: the address's, else the last of the calibrator in use, else the last.

    A select box, even of one, says which it is.
    """
    names = [run.run for run in runs]
    wanted = st.query_params.get("run")
    usual = next((run.run for run in runs if forest_of(run) == ruling.name), names[0])
    # A new list is a new widget: once a run ends, what is chosen is taken from the address again.
    chosen = st.selectbox(
        label,
        names,
        index=names.index(wanted if wanted in names else usual),
        format_func={run.run: run_words(run) for run in runs}.__getitem__,
        key=f"{key}-{packet.sha256}-{hash(tuple(names))}",
    )
    if chosen != wanted and not is_evaluating(packet):
        st.query_params["run"] = chosen
    return next(run for run in runs if run.run == chosen)


def run_words(run: KeptRun) -> str:
    """What made a run, in few words: its calibrator and threshold."""
    threshold = run.report.get("threshold")
    shown = f"{threshold:g}" if isinstance(threshold, int | float) else "?"
    return f"{calibrator_words(forest_of(run))} at {shown}"


def calibrator_words(forest: str) -> str:
    """A calibrator as people call it: the shipped one, or one of their own by a few digits."""
    return "shipped calibrator" if forest == _shipped() else _FOREST.sub(r"calibrator \1", forest)


@lru_cache(maxsize=1)
def _shipped() -> str:
    files = ForestFiles()
    return files.read(files.shipped).name


def forest_of(run: KeptRun) -> str:
    """The forest behind a run; what verdicts name may add a threshold and a promotion to it."""
    return run.versions.calibrator.partition("@")[0]


def made_as_now(run: KeptRun, ruling: CurrentCalibrator) -> bool:
    """Whether the pipeline, its settings and the active calibrator are those that made the run.

    A forest at a threshold decides alike in each of its reigns, which verdicts tell apart.
    """
    return scored_as_now(run, ruling) and run.report.get("threshold") == ruling.threshold


def scored_as_now(run: KeptRun, ruling: CurrentCalibrator) -> bool:
    """Whether its claims would be given the same support now, whatever threshold decides."""
    made = run.versions
    return (
        made.pipeline == rules_digest()
        and made.config_sha256 == settings().sha256(load_families().digest)
        and forest_of(run) == ruling.name
    )


def own_predictions(packet: KeptPacket, run: KeptRun) -> PredictionSet:
    """What the run itself predicted."""
    return PredictionSet(packet=packet, run=run, name=run_words(run))


def opened(chosen: PredictionSet) -> Opened:
    """The claims of a set of predictions; raises NotFound, DamagedArtifact, InputError."""
    return _opened(chosen, chosen.key)


def sliced(
    chosen: PredictionSet, slice_name: str, thresholds: tuple[float, ...]
) -> tuple[ThresholdView, tuple[Band, ...]]:
    """The view of one slice with its bands at each threshold; computed once for all sessions."""
    return _sliced(chosen, chosen.key, slice_name, thresholds)


def overlays(
    packet: KeptPacket, run: KeptRun, runs: tuple[KeptRun, ...]
) -> dict[str, PredictionSet]:
    """What can be laid over a run, by name: other runs, and the centroid router's predictions."""
    found = {
        run_words(other): own_predictions(packet, other) for other in runs if other.run != run.run
    }
    if (run.folder / CENTROID_FILE).is_file():
        name = "the centroid router"
        found[name] = PredictionSet(packet=packet, run=run, name=name, file=CENTROID_FILE)
    if "judge" in run.report and (run.folder / JUDGED_FILE).is_file():
        name = "the judge beside it"
        found[name] = PredictionSet(packet=packet, run=run, name=name, file=JUDGED_FILE)
    return found


@st.cache_resource(show_spinner="Reading the packet …", max_entries=3)
def _rows(_packet: KeptPacket, sha256: str) -> tuple[PacketRow, ...]:
    return read_packet(_packet.path, max_record_bytes=settings().max_record_bytes).rows


@st.cache_resource(show_spinner="Opening the evaluated claims …", max_entries=6)
def _opened(_chosen: PredictionSet, key: Key) -> Opened:
    rows = _rows(_chosen.packet, _chosen.packet.sha256)
    predictions = read_predictions(_chosen.run.folder / _chosen.file)
    if [row.claim_id for row in rows] != [found.claim_id for found in predictions]:
        raise DamagedArtifact(f"run {_chosen.run.run}: its predictions are not those of the packet")
    return Opened(
        rows=rows,
        predictions=predictions,
        columns=pair_columns(rows, predictions),
        view=view_predictions(rows, predictions),
    )


@st.cache_resource(show_spinner="Working out how sure these curves are, once …", max_entries=100)
def _sliced(
    _chosen: PredictionSet, key: Key, slice_name: str, thresholds: tuple[float, ...]
) -> tuple[ThresholdView, tuple[Band, ...]]:
    found = opened(_chosen)
    view = found.view
    if slice_name != EVERY_CLAIM:
        inside = np.array([slice_name in row.slices for row in found.rows], dtype=np.bool_)
        view = only(view, inside)
    return view, bands_of(view, thresholds)


def in_slice(found: Opened, slice_name: str) -> list[tuple[PacketRow, Prediction]]:
    """The labelled claims of a slice with what was predicted of them."""
    return [
        (row, one)
        for row, one in zip(found.rows, found.predictions, strict=True)
        if row.scored and slice_name in (EVERY_CLAIM, *row.slices)
    ]


def slice_names(rows: tuple[PacketRow, ...]) -> list[str]:
    """Every slice that a labelled row names, in order, after all claims."""
    named = {name for row in rows if row.scored for name in row.slices}
    return [EVERY_CLAIM, *sorted(named - {EVERY_CLAIM})]


def has_verdict(store: SqlStore, trace_id: str) -> bool:
    """Whether the trace's verdict can be opened in this database."""
    try:
        store.get_verdict(trace_id)
    except NotFound:
        return False
    return True


def _choice(packet: KeptPacket, *, alone: bool) -> PacketChoice:
    claims = f"{packet.rows:,} claim" + ("" if packet.rows == 1 else "s")
    which = "" if alone else f" · {packet.sha256[:8]}"
    return PacketChoice(key=packet.sha256, label=f"{packet.name} · {claims}{which}", kept=packet)


@st.cache_data(show_spinner=False)
def _digest(file: Path, changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
