"""A threshold snapshot: one file with settings and figures that opens again and shows if it was changed.

It holds no claim and no name of a person: what was chosen, on which packet and run, and what that
costs. The digest tells damage and edits made without recomputing it; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import cast

from core.errors import BadRecord, UnreadableFile
from core.records import JsonObject

FORMAT, VERSION = "provenanceguard-thresholds", 1
MAX_BYTES = 1_000_000
_SETTINGS: Mapping[str, type | tuple[type, ...]] = {
    "packet_name": str,
    "packet_sha256": str,
    "run": str,
    "calibrator": str,
    "slice": str,
    "threshold": (int, float),
    "review_from": (int, float),
    "threshold_in_use": (int, float),
    "claims_a_day": int,
    "minutes_a_claim": (int, float),
    "weights": dict,
    "risk": (int, float),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was set, and the figures that it gave."""

    settings: JsonObject
    figures: JsonObject

    @property
    def digest(self) -> str:
        """SHA-256 over format, version, settings and figures as canonical JSON."""
        return hashlib.sha256(_canonical(self._content())).hexdigest()

    def _content(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "settings": dict(self.settings),
            "figures": dict(self.figures),
        }


def snapshot_text(snapshot: Snapshot) -> str:
    """The snapshot as a JSON file; the same settings and figures give the same bytes."""
    document = {**snapshot._content(), "sha256": snapshot.digest}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_snapshot(content: bytes, *, file: str | None = None) -> Snapshot:
    """A snapshot from a file's bytes.

    Raises UnreadableFile when it is no JSON, BadRecord naming the field that is missing or of
    another type, or saying that settings or figures are not those that were written.
    """
    if len(content) > MAX_BYTES:
        raise UnreadableFile(f"larger than {MAX_BYTES:,} bytes: not a snapshot", file=file)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"not a JSON file: {error}", file=file) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadRecord(f"expected {FORMAT!r}", file=file, path="format")
    if document.get("version") != VERSION:
        raise BadRecord(
            f"expected {VERSION}, found {document.get('version')!r}", file=file, path="version"
        )
    settings, figures = (_object(document, name, file) for name in ("settings", "figures"))
    for name, kind in _SETTINGS.items():
        value = settings.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise BadRecord(f"found {value!r}", file=file, path=f"settings.{name}")
    for name in ("threshold", "review_from", "threshold_in_use", "risk"):
        share = cast(float, settings[name])
        if not (isfinite(share) and 0.0 <= share <= 1.0):
            raise BadRecord(f"expected 0 to 1, found {share!r}", file=file, path=f"settings.{name}")
    found = Snapshot(settings=settings, figures=figures)
    if document.get("sha256") != found.digest:
        raise BadRecord(
            "settings or figures are not those that this snapshot was made with", file=file,
            path="sha256",
        )  # fmt: skip
    return found


def snapshot_lines(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Settings, then figures, a name and a value each, for people."""
    return [*_flat(snapshot.settings), *_flat(snapshot.figures), ("digest", snapshot.digest[:16])]


def changed_figures(one: Snapshot, other: Snapshot) -> list[str]:
    """The names of the figures that differ between two snapshots."""
    first, second = dict(_flat(one.figures)), dict(_flat(other.figures))
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def _flat(values: Mapping[str, object], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        words = f"{before}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            found += _flat(value, f"{words}: ")
        else:
            found.append((words, "–" if value is None else str(value)))
    return found


def _object(document: Mapping[str, object], name: str, file: str | None) -> JsonObject:
    value = document.get(name)
    if not isinstance(value, dict):
        raise BadRecord("expected an object", file=file, path=name)
    return cast(JsonObject, value)


def _canonical(document: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(
            document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        ).encode()
    except ValueError:
        raise BadRecord("a number is not finite") from None
