"""doctor: whether everything that a verification needs is here."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cli.judging import database_nli_model, open_database
from cli.options import DatabaseUrl, JsonPath, NliModel
from cli.output import UNAVAILABLE, tell
from core.errors import ProvenanceGuardError

if TYPE_CHECKING:
    from core.workflows.doctor import Check

ROOM_BYTES = 1_000_000_000


def doctor(nli: NliModel = None, db: DatabaseUrl = None, json_path: JsonPath = None) -> None:
    """Check that everything a verification needs is here, and say what to do where it is not."""
    from core.workflows.doctor import check_installation

    checks = [*check_installation(database_nli_model(nli, db)), *check_database(db)]
    passed = all(check.passed for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{'ok    ' if check.passed else 'NOT OK'} {check.name:<12} {check.found}")
        if not check.passed:
            lines.append(f"{'':<19} → {check.remedy}")
    tell({"ok": passed, "checks": [asdict(check) for check in checks]}, lines, json_path)
    if not passed:
        raise SystemExit(UNAVAILABLE)


def check_database(given: str | None = None) -> list[Check]:
    """The database and the disk under it; a SQLite file that is not there yet is not made."""
    from core.workflows.doctor import Check
    from storage.engine import database_url

    try:
        url = database_url(given)
        if url.get_backend_name() != "sqlite":
            return _database(given)
        file = Path(url.database or "")
        if not file.exists():
            waiting = Check(name="database", passed=True, found=f"{file}: made when first used")
            return [waiting, _disk(file)]
        return [*_database(given), _disk(file)]
    except ProvenanceGuardError as error:
        remedy = "give another with --db or PROVENANCEGUARD_DB, or start its server"
        return [Check(name="database", passed=False, found=str(error), remedy=remedy)]


def _database(given: str | None) -> list[Check]:
    from core.review.yields import audited_prior
    from core.site_config import site_config
    from core.workflows.doctor import Check

    workspace = open_database(given)
    overview = workspace.store.overview()
    found = f"{workspace.name}: {overview.traces} traces, {overview.waiting} waiting for a verdict"
    checks = [Check(name="database", passed=True, found=found)]
    project = workspace.projects.existing()  # none is made for a look
    if project is not None:
        prior = project.settings.supported_prior or site_config().supported_prior
        audited = audited_prior(workspace.labels.reviewed(features=False))
        said = f"{prior:.2f} is set; {audited.words}"
        checks.append(Check(name="prior", passed=True, found=said))
    workspace.close()
    return checks


def _disk(file: Path) -> Check:
    from core.workflows.doctor import Check

    folder = next(parent for parent in file.parents if parent.exists())
    free = shutil.disk_usage(folder).free
    return Check(
        name="disk",
        passed=free >= ROOM_BYTES,
        found=f"{free / 1e9:.1f} GB free under {folder}",
        remedy="make room: each stored trace takes about its own size twice",
    )
