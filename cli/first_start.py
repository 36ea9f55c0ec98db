"""Before the workbench is served: the sample traces, loaded and verified. ``python -m cli.first_start``."""

from __future__ import annotations

import os
import sys

from core.errors import ProvenanceGuardError
from core.models.loading import BUNDLED
from core.workflows.first_start import prepare
from core.workflows.models import ForestFiles
from storage.engine import SAMPLE
from storage.workspace import open_workspace


def main() -> int:
    """Prepare the database that PROVENANCEGUARD_DB names; the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        workspace = open_workspace(actor="first start", files=ForestFiles())
        chosen = workspace.readers.current().reader
        prepare(
            workspace.store,
            workspace.calibrators,
            SAMPLE,
            lambda line: print(line, flush=True),
            reader=None if chosen == BUNDLED else chosen,
        )
        workspace.close()
    except ProvenanceGuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("Stopped. What was verified is kept; start again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
