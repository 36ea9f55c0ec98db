"""Claim packets: frozen claims with their candidate sources and gold labels, read from files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from core.capture.files import read_records
from core.codec import Fields, json_kind
from core.errors import BadRecord, InputError, UnreadableFile
from core.records import (
    AttributionStatus,
    JsonObject,
    Relation,
    Source,
    SourceStatus,
    VerdictLabel,
)

Choice = TypeVar("Choice", VerdictLabel, Relation, AttributionStatus)

HELD_OUT_NAMES = frozenset({"held_out", "held-out", "heldout", "test", "locked_test"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRow:
    """One frozen claim: ``label`` is None where reviewers left it unresolved (it is not scored)."""

    claim_id: str
    trace_id: str
    claim: str
    sources: tuple[Source, ...]
    label: VerdictLabel | None
    relation: Relation | None
    gold_source_ids: tuple[str, ...]
    gold_attribution: AttributionStatus | None = None
    stated_attribution: str | None = None
    category: str | None = None
    slices: tuple[str, ...] = ()
    held_out: bool = False
    extra: JsonObject = field(default_factory=dict)

    @property
    def scored(self) -> bool:
        """Whether the row has a label to be compared with."""
        return self.label is not None

    @property
    def should_block(self) -> bool:
        """Whether blocking is right: not supported, or credited to the wrong source."""
        return (
            self.label is not VerdictLabel.SUPPORTED
            or self.gold_attribution is AttributionStatus.CONFLATION
        )

    @property
    def source_eligible(self) -> bool:
        """Whether some source is known to be the right one."""
        return bool(self.gold_source_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """The good rows of a file, what was wrong with the others, and the file's SHA-256."""

    rows: tuple[PacketRow, ...]
    problems: tuple[InputError, ...]
    sha256: str


def read_packet(path: Path, *, max_record_bytes: int = 64 * 1024 * 1024) -> Packet:
    """The claim packet in a file: JSON Lines or a list, plain or gzip (formats.md, section 2).

    A bad record is a problem with file, line and JSON path; the good ones still load. Raises
    UnreadableFile when nothing at all can be read.
    """
    rows: list[PacketRow] = []
    problems: list[InputError] = []
    seen: dict[str, int] = {}
    for found in read_records(path, max_record_bytes):
        if isinstance(found, InputError):
            problems.append(found)
            continue
        try:
            row = row_from_json(found.value)
            if row.claim_id in seen:
                raise BadRecord(
                    f"the claim id {row.claim_id!r} was already used on line {seen[row.claim_id]}",
                    path="claim_id",
                )
        except BadRecord as error:
            problems.append(
                BadRecord(error.message, file=path.name, line=found.line, path=error.path)
            )
            continue
        seen[row.claim_id] = found.line
        rows.append(row)
    if not rows and len(problems) == 1 and isinstance(problems[0], UnreadableFile):
        raise problems[0]
    return Packet(rows=tuple(rows), problems=tuple(problems), sha256=_file_sha256(path))


def row_from_json(record: object) -> PacketRow:
    """One packet row from a parsed JSON object; raises BadRecord naming the JSON path."""
    if not isinstance(record, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(record)}")
    known = {
        "claim_id", "trace_id", "claim", "stated_attribution", "category", "sources", "label",
        "relation", "gold_source_ids", "gold_attribution", "slices",
    }  # fmt: skip
    label = _choice(record, "label", VerdictLabel)
    if label is VerdictLabel.UNJUDGED:
        raise BadRecord("unjudged is no gold label; use null", path="label")
    relation = _choice(record, "relation", Relation)
    extra = {str(key): value for key, value in record.items() if key not in known}
    slices = _texts(record, "slices")
    return PacketRow(
        claim_id=_text(record, "claim_id"),
        trace_id=_text(record, "trace_id"),
        claim=_text(record, "claim"),
        sources=_sources(record.get("sources")),
        label=label,
        relation=relation,
        gold_source_ids=_texts(record, "gold_source_ids"),
        gold_attribution=_choice(record, "gold_attribution", AttributionStatus),
        stated_attribution=_optional_text(record, "stated_attribution"),
        category=_optional_text(record, "category"),
        slices=slices,
        held_out=_held_out(extra, slices),
        extra=extra,
    )


def row_to_json(row: PacketRow) -> dict[str, object]:
    """The row as it is written to a file: known fields first, unknown ones as they came."""
    return {
        "claim_id": row.claim_id,
        "trace_id": row.trace_id,
        "claim": row.claim,
        "stated_attribution": row.stated_attribution,
        "category": row.category,
        "sources": [
            {
                "source_id": s.source_id,
                "tool_name": s.tool_name,
                **({} if s.arguments is None else {"arguments": s.arguments}),
                "text": s.text,
                **s.extra,
            }
            for s in row.sources
        ],
        "label": row.label.value if row.label else None,
        "relation": row.relation.value if row.relation else None,
        "gold_source_ids": list(row.gold_source_ids),
        "gold_attribution": row.gold_attribution.value if row.gold_attribution else None,
        "slices": list(row.slices),
        **row.extra,
    }


def row_sha256(row: PacketRow) -> str:
    """A digest of everything that a verifier sees of the row, and nothing that it does not."""
    seen = [
        row.claim,
        row.stated_attribution,
        row.category,
        [
            [s.source_id, s.tool_name, s.text, s.status.value]
            + ([] if s.arguments is None else [s.arguments])
            for s in row.sources
        ],
    ]
    return hashlib.sha256(json.dumps(seen, ensure_ascii=True).encode()).hexdigest()


# ---------------------------------------------------------------- fields of a record


def _sources(value: object) -> tuple[Source, ...]:
    if not isinstance(value, list):
        raise BadRecord(f"expected a list, found {json_kind(value)}", path="sources")
    order: list[str] = []
    merged: dict[str, Source] = {}
    for index, item in enumerate(value):
        at = f"sources[{index}]"
        if not isinstance(item, Mapping):
            raise BadRecord(f"expected an object, found {json_kind(item)}", path=at)
        source = _source(item, at)
        if source.source_id in merged:  # two outputs with one id are two chunks of one source
            first = merged[source.source_id]
            source = Source(
                source_id=first.source_id,
                tool_name=first.tool_name,
                text=f"{first.text}\n\n{source.text}",
                status=first.status,
                arguments="\n".join(a for a in (first.arguments, source.arguments) if a) or None,
                extra=first.extra,
            )
        else:
            order.append(source.source_id)
        merged[source.source_id] = source
    return tuple(merged[source_id] for source_id in order)


def _source(item: Mapping[str, object], at: str) -> Source:
    tool_name = _text(item, "tool_name", at)
    source_id = item.get("source_id")
    text = item.get("text")
    if not isinstance(text, str):
        raise BadRecord(f"expected text, found {json_kind(text)}", path=f"{at}.text")
    extra = {
        str(key): value
        for key, value in item.items()
        if key not in ("source_id", "tool_name", "text", "arguments")
    }
    return Source(
        # A source without an id falls back to its tool's name (III.1).
        source_id=tool_name if source_id is None else _text(item, "source_id", at),
        tool_name=tool_name,
        text=text,
        status=_status(item, text, at),
        arguments=_arguments(item, at),
        extra=extra,
    )


def _arguments(item: Mapping[str, object], at: str) -> str | None:
    """The call's arguments as text; an object is kept as the JSON that it is."""
    given = item.get("arguments")
    if given is None or isinstance(given, str):
        return given or None
    if isinstance(given, Mapping | list):
        return json.dumps(given, ensure_ascii=False)
    raise BadRecord(f"expected text or an object, found {json_kind(given)}", path=f"{at}.arguments")


def _status(item: Mapping[str, object], text: str, at: str) -> SourceStatus:
    stated = item.get("status")
    if stated is None:
        return SourceStatus.OK if text.strip() else SourceStatus.EMPTY
    try:
        return SourceStatus(str(stated))
    except ValueError:
        expected = ", ".join(status.value for status in SourceStatus)
        raise BadRecord(
            f"expected one of {expected}, found {stated!r}", path=f"{at}.status"
        ) from None


def _text(record: Mapping[str, object], name: str, at: str = "") -> str:
    path = f"{at}.{name}" if at else name
    value = record.get(name)
    if not isinstance(value, str):
        raise BadRecord(f"expected text, found {json_kind(value)}", path=path)
    if not value.strip():
        raise BadRecord("expected text, found only blanks", path=path)
    return value


def _optional_text(record: Mapping[str, object], name: str) -> str | None:
    return None if record.get(name) is None else _text(record, name)


def _texts(record: Mapping[str, object], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(Fields(record, "").tuple_of(str, name)))


def _choice(record: Mapping[str, object], name: str, kind: type[Choice]) -> Choice | None:
    value = record.get(name)
    if value is None:
        return None
    for choice in kind:
        if choice.value == value:
            return choice
    expected = ", ".join(choice.value for choice in kind)
    raise BadRecord(f"expected one of {expected} or null, found {value!r}", path=name)


def _held_out(extra: Mapping[str, object], slices: tuple[str, ...]) -> bool:
    split = extra.get("split")
    return (
        extra.get("held_out") is True
        or (isinstance(split, str) and split.lower() in HELD_OUT_NAMES)
        or any(name.lower() in HELD_OUT_NAMES for name in slices)
    )


def _file_sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
