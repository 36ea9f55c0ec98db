"""A worker of the queue as a process of its own, with the lexical models: ``queue_process.py DATABASE``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from databases import workspace_of  # noqa: E402
from lexical import lexical_models  # noqa: E402

from core.config import Config  # noqa: E402
from core.workflows.queue_worker import work_off  # noqa: E402
from core.workflows.verify import pipeline_judge  # noqa: E402
from storage.store import open_store  # noqa: E402

LEASE_SECONDS = 1.5


def main() -> None:
    """Work until it is killed, or nothing has been open for a while."""
    store = open_store(sys.argv[1], actor="worker")
    jobs = workspace_of(store).jobs
    print("ready", flush=True)
    while jobs.counts().open:
        work_off(
            jobs,
            pipeline_judge(lexical_models(), Config()),
            f"worker:{os.getpid()}",
            lease_seconds=LEASE_SECONDS,
            until_empty=True,
        )
        time.sleep(0.2)


if __name__ == "__main__":
    main()
