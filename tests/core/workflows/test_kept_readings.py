"""What was read is kept in one file, whoever opens it first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.workflows.kept_readings import FileShelf

WORKERS, ROUNDS = 8, 4


def test_workers_that_open_a_new_file_at_once_all_have_it(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        together = threading.Barrier(WORKERS)

        def opened(
            worker: int, file: Path = tmp_path / f"{number}.db", start: threading.Barrier = together
        ) -> None:
            start.wait()
            shelf = FileShelf(file, identity="models", most_bytes=1 << 20)
            shelf.put([(f"key {worker}", b"value")])
            shelf.close()

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(opened, range(WORKERS)))

        shelf = FileShelf(tmp_path / f"{number}.db", identity="models", most_bytes=1 << 20)
        assert len(shelf.get([f"key {worker}" for worker in range(WORKERS)])) == WORKERS
        shelf.close()
