"""Before the workbench is served: the sample traces, loaded and verified. ``python -m cli.first_start``."""

from __future__ import annotations

import os
import sys

from core.errors import ProvenanceGuardError
from core.models.loading import BUNDLED
from core.workflows.first_start import prepare
from storage.calibrators import Calibrators
from storage.engine import SAMPLE
from storage.readers import Readers
from storage.store import open_store


def main() -> int:
    """Prepare the database that PROVENANCEGUARD_DB names; the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        store = open_store(actor="first start")
        calibrators = Calibrators(store=store)
        chosen = Readers(store=store).current().reader
        reader = None if chosen == BUNDLED else chosen
        prepare(store, calibrators, SAMPLE, lambda line: print(line, flush=True), reader=reader)
        store.close()
    except ProvenanceGuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("Stopped. What was verified is kept; start again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
