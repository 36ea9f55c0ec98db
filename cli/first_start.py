"""Before the workbench is served: the sample answers, verified. ``python -m cli.first_start``.

The labelled sample packet, which fills Thresholds and Evaluation, is evaluated in the background.
"""

from __future__ import annotations

import os
import sys

from core.errors import ProvenanceGuardError
from core.evaluation.kept import EVALUATIONS
from core.models.loading import BUNDLED
from core.places import SAMPLE, SAMPLE_PACKET
from core.workflows.evaluating import evaluate_brought
from core.workflows.first_start import bring_packet, prepare
from core.workflows.models import ForestFiles
from storage.workspace import open_workspace


def main() -> int:
    """Prepare the database that PROVENANCEGUARD_DB names; the exit code."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        workspace = open_workspace(actor="first start", files=ForestFiles())
        chosen = workspace.nli_models.current().nli
        packets = workspace.data_folder / EVALUATIONS
        # Brought before the answers are verified, so that a start that was interrupted goes on with it.
        bring_packet(workspace.store, packets, SAMPLE_PACKET, _say)
        prepare(
            workspace.store,
            workspace.calibrators,
            SAMPLE,
            _say,
            nli=None if chosen == BUNDLED else chosen,
            judges=workspace.judges,
        )
        ruling = workspace.calibrators.current()
        if evaluate_brought(packets, SAMPLE_PACKET, ruling, nli=chosen):
            _say(
                "The sample packet is evaluated in the background: Thresholds and Evaluation follow"
            )
        workspace.close()
    except ProvenanceGuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("Stopped. What was verified is kept; start again to go on.", file=sys.stderr)
        return 130
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
