"""Evaluated packets kept in a folder: the packet, how far its run is, and what each run gave.

    <folder>/<sha256 of the packet>/packet.jsonl     the packet as it came (packet.jsonl.gz)
                                    packet.json      its name and how much of it could be read
                                    scored.jsonl     predictions as they come, so that a run resumes
                                    status.json      how far the run is
                                    <run>/           report.json, predictions.jsonl, one a calibrator

A run is named by the versions that made it, so that a second look costs nothing and another
calibrator stands beside the first. No name in here comes from a packet or from the person who
brought it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from core.codec import Fields, read_record, versions_from_document
from core.errors import BadRecord, DamagedArtifact, NotFound
from core.evaluation.packets import read_packet
from core.evaluation.predictions import Prediction, prediction_from_json, prediction_to_json
from core.records import JsonObject, Versions

EVALUATIONS, SAMPLE_NAME = "evaluations", "Sample packet (synthetic)"
SCORED_FILE, CENTROID_FILE = "scored.jsonl", "centroid-router.jsonl"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RUN = re.compile(r"[0-9a-f]{16}")


class JobState(StrEnum):
    """How a run of the evaluation stands."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """How far a run is; ``started`` and ``at`` are seconds since the epoch, ``total`` 0: unknown.

    ``before`` of the ``done`` units were there when the run began, so they say nothing of its rate.
    """

    state: JobState
    what: str
    done: int = 0
    total: int = 0
    before: int = 0
    started: float = 0.0
    at: float = 0.0
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPacket:
    """A packet in the folder; ``name`` is for people alone.

    ``reviewed`` marks labels that reviewers of this workbench gave: not everybody may see them.
    """

    sha256: str
    name: str
    folder: Path
    file: str
    rows: int
    labelled: int
    problems: tuple[str, ...]
    reviewed: bool = False

    @property
    def path(self) -> Path:
        """The packet itself."""
        return self.folder / self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """One run over a packet: what made it, its report, and where its predictions are."""

    run: str
    folder: Path
    versions: Versions
    report: JsonObject
    written: float


def keep_packet(
    folder: Path, name: str, source: Path, *, max_record_bytes: int, reviewed: bool = False
) -> KeptPacket:
    """Copy a packet file into the folder unless it is there, and count what can be read of it.

    Raises UnreadableFile when nothing can be read, BadRecord when no row is a claim.
    """
    packet = read_packet(source, max_record_bytes=max_record_bytes)
    if not packet.rows:
        first = packet.problems[0].located() if packet.problems else "the file is empty"
        raise BadRecord(f"no claim could be read; first problem: {first}", file=name)
    place = folder / packet.sha256
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = KeptPacket(
        sha256=packet.sha256,
        name=name,
        folder=place,
        file="packet.jsonl.gz" if source.name.endswith(".gz") else "packet.jsonl",
        rows=len(packet.rows),
        labelled=sum(row.scored for row in packet.rows),
        problems=tuple(problem.located() for problem in packet.problems),
        reviewed=reviewed,
    )
    if not kept.path.is_file():
        copied = kept.path.with_suffix(".part")
        shutil.copyfile(source, copied)
        copied.replace(kept.path)
    card = {name: value for name, value in asdict(kept).items() if name != "folder"}
    write_whole(place / "packet.json", json.dumps(card, ensure_ascii=False))
    return kept


def kept_packets(folder: Path) -> tuple[KeptPacket, ...]:
    """All packets in the folder, the last brought first; a damaged one is left out."""
    found = []
    for place in folder.glob("*/packet.json"):
        if _SHA256.fullmatch(place.parent.name):
            try:
                found.append((place.stat().st_mtime, kept_packet(folder, place.parent.name)))
            except (NotFound, DamagedArtifact):
                continue
    return tuple(packet for _, packet in sorted(found, key=lambda each: -each[0]))


def kept_packet(folder: Path, sha256: str) -> KeptPacket:
    """The packet of that digest; raises NotFound, DamagedArtifact."""
    if not _SHA256.fullmatch(sha256):  # it may come from an address that anybody typed
        raise NotFound("there is no evaluated packet of that name")
    place = folder / sha256
    card = Fields(_read_json(place / "packet.json"), "")
    try:
        if card.get("file") not in ("packet.jsonl", "packet.jsonl.gz"):
            raise card.wrong("file", "packet.jsonl or packet.jsonl.gz")
        return KeptPacket(
            sha256=sha256,
            name=card.string("name"),
            folder=place,
            file=card.string("file"),
            rows=card.read(int, "rows"),
            labelled=card.read(int, "labelled"),
            problems=card.tuple_of(str, "problems"),
            reviewed=card.read(bool, "reviewed"),
        )
    except BadRecord as error:
        raise DamagedArtifact(f"{place / 'packet.json'}: not a packet's card: {error}") from None


# ---------------------------------------------------------------- runs


def run_name(versions: Versions) -> str:
    """What a run is kept under: the same versions give the same name."""
    text = json.dumps(asdict(versions), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep_run(
    packet: KeptPacket, versions: Versions, report: JsonObject, predictions: Sequence[Prediction]
) -> None:
    """Keep what a run gave; the report is written last, so that a run with one is complete."""
    place = packet.folder / run_name(versions)
    place.mkdir(exist_ok=True, mode=0o700)
    keep_predictions(place / "predictions.jsonl", predictions)
    document = {"versions": asdict(versions), "report": report}
    write_whole(place / "report.json", json.dumps(document, ensure_ascii=False, allow_nan=False))


def keep_predictions(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write predictions, one a line."""
    lines = [json.dumps(prediction_to_json(found), ensure_ascii=False) for found in predictions]
    write_whole(path, "\n".join(lines) + "\n")


def kept_runs(packet: KeptPacket) -> tuple[KeptRun, ...]:
    """All complete runs over a packet, the last one first; a damaged one is left out."""
    found = []
    for file in packet.folder.glob("*/report.json"):
        if _RUN.fullmatch(file.parent.name):
            try:
                found.append(_run(file))
            except (NotFound, DamagedArtifact):
                continue
    return tuple(sorted(found, key=lambda run: -run.written))


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Kept predictions, in the packet's order; raises NotFound, DamagedArtifact."""
    try:
        with path.open(encoding="utf-8") as file:
            return tuple(prediction_from_json(json.loads(line)) for line in file)
    except FileNotFoundError:
        raise NotFound(f"{path.name} is not kept for this run") from None
    except (OSError, ValueError, BadRecord) as error:
        raise DamagedArtifact(f"{path}: not kept predictions: {error}") from None


def _run(file: Path) -> KeptRun:
    document = _read_json(file)
    try:
        report = document.get("report")
        if not isinstance(report, Mapping):
            raise BadRecord("expected an object", path="report")
        return KeptRun(
            run=file.parent.name,
            folder=file.parent,
            versions=versions_from_document(document.get("versions")),
            report=report,
            written=file.stat().st_mtime,
        )
    except BadRecord as error:
        raise DamagedArtifact(f"{file}: not a kept report: {error}") from None


# ---------------------------------------------------------------- how far a run is


def read_status(packet: KeptPacket) -> JobStatus | None:
    """How far the packet's last run came; None when there was none or its status is damaged."""
    try:
        return read_record(JobStatus, _read_json(packet.folder / "status.json"))
    except (NotFound, DamagedArtifact, BadRecord):
        return None


def write_status(packet: KeptPacket, status: JobStatus) -> None:
    """Say how far a run is."""
    write_whole(packet.folder / "status.json", json.dumps(asdict(status), ensure_ascii=False))


def ask_to_stop(packet: KeptPacket) -> None:
    """Ask the packet's run to end after the claims that it is reading; what it read is kept."""
    (packet.folder / "stop").touch()


def stop_was_asked(packet: KeptPacket) -> bool:
    """Whether someone asked the packet's run to end."""
    return (packet.folder / "stop").exists()


def clear_stop(packet: KeptPacket) -> None:
    """Forget an earlier wish to stop."""
    (packet.folder / "stop").unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never half."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _read_json(path: Path) -> Mapping[str, object]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound("there is no evaluated packet of that name") from None
    except (OSError, ValueError) as error:
        raise DamagedArtifact(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise DamagedArtifact(f"{path}: expected an object")
    return document
