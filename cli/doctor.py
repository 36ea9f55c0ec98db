"""doctor: whether everything that a verification needs is here."""

from __future__ import annotations

from dataclasses import asdict

from cli.judging import database_reader
from cli.options import DatabaseUrl, JsonPath, Reader
from cli.output import UNAVAILABLE, print_lines, write_json

EXAMPLE = "Example: provenanceguard doctor"


def doctor(reader: Reader = None, db: DatabaseUrl = None, json_path: JsonPath = None) -> None:
    """Check that everything a verification needs is here, and say what to do where it is not."""
    from cli.database_health import check_database
    from core.workflows.doctor import check_installation

    checks = [*check_installation(database_reader(reader, db)), *check_database(db)]
    write_json(
        json_path,
        {"ok": all(check.passed for check in checks), "checks": [asdict(c) for c in checks]},
    )
    lines = []
    for check in checks:
        lines.append(f"{'ok    ' if check.passed else 'NOT OK'} {check.name:<12} {check.found}")
        if not check.passed:
            lines.append(f"{'':<19} → {check.remedy}")
    print_lines(lines, json_path)
    if not all(check.passed for check in checks):
        raise SystemExit(UNAVAILABLE)
