"""Import records: which files were read, what was understood, and what was not."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.records import FileCount, IngestReport, ToolCount
from storage import records
from storage.audit import append_event
from storage.tables import ImportRecord


def put_import(connection: Connection, report: IngestReport, *, at: datetime, actor: str) -> None:
    """Keep the report of one import, and tell the trail."""
    number = connection.execute(
        insert(ImportRecord)
        .values(
            imported_at=at,
            actor=actor,
            files=json.dumps([asdict(file) for file in report.files]),
            new=report.new,
            changed=report.changed,
            unchanged=report.unchanged,
            tools=json.dumps([asdict(tool) for tool in report.tools]),
            skipped=json.dumps(report.skipped),
            skipped_count=report.skipped_count,
            without_answer=report.without_answer,
            without_evidence=report.without_evidence,
        )
        .returning(col(ImportRecord.import_id))
    ).scalar_one()
    append_event(
        connection,
        at=at,
        actor=actor,
        action="files.imported",
        entity=f"import {number}",
        detail={
            "files": [asdict(file) for file in report.files],
            "new": report.new,
            "changed": report.changed,
            "unchanged": report.unchanged,
            "skipped": report.skipped_count,
        },
    )


def imports(
    connection: Connection, *, limit: int | None = None
) -> tuple[records.StoredImport, ...]:
    """The imports, the latest first."""
    table = ImportRecord.__table__  # type: ignore[attr-defined]
    rows = connection.execute(select(table).order_by(table.c.import_id.desc()).limit(limit))
    return tuple(
        records.StoredImport(
            import_id=row.import_id,
            imported_at=row.imported_at,
            actor=row.actor,
            report=IngestReport(
                files=tuple(FileCount(**file) for file in json.loads(row.files)),
                new=row.new,
                changed=row.changed,
                unchanged=row.unchanged,
                tools=tuple(ToolCount(**tool) for tool in json.loads(row.tools)),
                skipped=tuple(json.loads(row.skipped)),
                skipped_count=row.skipped_count,
                without_answer=row.without_answer,
                without_evidence=row.without_evidence,
            ),
        )
        for row in rows
    )
