"""What several commands judge with: the models, the database, files of traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.output import Progress, require, say
from core.errors import InputError

if TYPE_CHECKING:
    from core.config import Config
    from core.workflows.verify import VerifyReport


def verify_files(
    files: Sequence[Path],
    out: Path | None,
    format: str,
    judged_by: Any,
    config: Any = None,
    *,
    decides: str | None = None,
) -> VerifyReport:
    """Verify files of traces into a file of verdicts."""
    from core.capture.reading import read_traces
    from core.config import Config
    from core.workflows.verify import verify_file

    require(files)
    config = config or Config()
    total = None
    with Progress() as progress:
        if progress.shown:
            # Read once more, so that the time left can be told: reading is quick, judging is not.
            total = sum(
                not isinstance(item, InputError) for item in read_traces(files, format, config)
            )
        return verify_file(
            read_traces(files, format, config),
            out,
            models_for(config, decides),
            config,
            progress,
            total=total,
            skipped=lambda error: say(f"skipped: {error.located()}"),
            judged_by=judged_by,
        )


def models_for(config: Config, decides: str | None = None, store: Any = None) -> Any:
    """The models that judge, with the calibrator that was asked for."""
    from core.workflows.models import load_models

    return load_models(config, calibrator=_decider(decides, store))


def _decider(decides: str | None, store: Any) -> Any:
    """What ``--calibrator`` means: None is the shipped one, and what a database has in force goes first."""
    if decides == "shipped" or (decides is None and store is None):
        return None
    if decides not in (None, "promoted"):
        return Path(decides)
    from storage.calibrators import Calibrators
    from storage.store import open_store

    opened = store or open_store(actor="terminal")
    try:
        return Calibrators(store=opened).forest()
    finally:
        if store is None:
            opened.close()


def open_packets(db: str | None) -> Any:
    """The database's packets, of the default project."""
    from storage.packets import Packets
    from storage.projects import Projects
    from storage.store import open_store

    store = open_store(db, actor="terminal")
    return Packets(store=store, project=Projects(store=store).default())
