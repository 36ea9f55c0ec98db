"""import_pre_labels: a labelled packet's pre-labels into a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol

from core.capture.files import FileRecord, read_records
from core.errors import BadRecord, InputError
from core.records import JsonObject
from core.review.pre_labels import FIELD, LabelledClaim, labelled_claim
from core.review.records import Person


class PreLabelSink(Protocol):
    """What an import of pre-labels asks of a database."""

    def put(self, rows: Sequence[LabelledClaim], *, by: Person) -> tuple[int, list[str]]:
        """Keep those that are not here yet."""


@dataclass(slots=True, kw_only=True)
class PreLabelImport:
    """What an import did; ``skipped`` says of each row that was not kept why."""

    rows: int = 0
    new: int = 0
    skipped: list[str] = field(default_factory=list)


def is_labelled(file: Path, max_record_bytes: int) -> bool:
    """Whether a file is a packet with pre-labels: its first record has one."""
    if not file.is_file():
        return False
    try:
        first = list(islice(read_records(file, max_record_bytes), 1))
    except InputError:
        return False
    return any(not isinstance(item, InputError) and FIELD in _record(item) for item in first)


def import_pre_labels(
    sink: PreLabelSink, file: Path, user: Person, *, max_record_bytes: int
) -> PreLabelImport:
    """Keep a labelled packet's pre-labels on the claims that are here; again, nothing changes.

    Raises NotAllowed. A row that cannot be read, has no label, or is of no claim here is told.
    """
    done, rows = PreLabelImport(), list[LabelledClaim]()
    for item in read_records(file, max_record_bytes):
        if isinstance(item, InputError):
            done.skipped.append(item.located())
            continue
        done.rows += 1
        try:
            row = labelled_claim(_record(item))
        except BadRecord as error:
            where = BadRecord(error.message, file=file.name, line=item.line, path=error.path)
            done.skipped.append(where.located())
            continue
        if row is None:
            done.skipped.append(f"{file.name}, line {item.line}: the judges gave it no label")
        else:
            rows.append(row)
    done.new, unknown = sink.put(rows, by=user)
    done.skipped += [f"{claim_id}: no such claim is in this database" for claim_id in unknown]
    return done


def _record(item: FileRecord) -> JsonObject:
    value = item.value
    return value if isinstance(value, dict) else {}
