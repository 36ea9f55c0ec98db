"""Models whose answers are kept by content: what is read again is not computed again.

A kept vector or NLI score is the one that the model gave, bit for bit, so that no verdict hangs on
whether it was kept. On disk it stands under everything that could change it. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from core.errors import ComponentUnavailable
from core.identity import rules_digest
from core.ports import Embedder, NliModel, taught_close
from core.records import NliScore

BATCH = 128  # so that little is lost when a long reading is stopped
MOST_BYTES = 1 << 30
FILE = "readings.db"
IN_MEMORY_BYTES = 64 << 20
_ASKED = 500  # keys in one statement
_PATIENCE_SECONDS = 60.0  # for another process that holds the file


class Shelf:
    """Bytes by the digest of what they were computed from: in a SQLite file that several processes may
    share, or in memory without a ``path``.

    ``identity`` names what the values were computed by: a file of another identity is emptied.
    ``most_bytes`` of values are kept; those that were asked for longest ago make room.
    """

    def __init__(
        self, path: Path | None = None, *, identity: str = "", most_bytes: int | None = None
    ) -> None:
        self._most, self._using = most_bytes, threading.Lock()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)  # a digest tells nothing, but a vector may tell of a patient
        self._rows = sqlite3.connect(
            path or ":memory:", timeout=_PATIENCE_SECONDS, check_same_thread=False
        )
        patient_until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._set_up(identity)
            except sqlite3.DatabaseError as error:
                # SQLite waits for no change of the journal's mode, which another worker may make now.
                if "locked" not in str(error) or time.monotonic() > patient_until:
                    raise ComponentUnavailable(
                        f"{path}: not a file of kept readings: {error}"
                    ) from None
                time.sleep(0.01)

    def _set_up(self, identity: str) -> None:
        self._rows.execute("PRAGMA journal_mode=WAL")
        with self._rows:
            # Several workers open a new file at once: the second waits, and finds the tables there.
            self._rows.execute("BEGIN IMMEDIATE")
            self._rows.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB)")
            self._rows.execute("CREATE TABLE IF NOT EXISTS made_by (identity TEXT)")
            columns = [row[1] for row in self._rows.execute("PRAGMA table_info(kept)")]
            if "used" not in columns:
                self._rows.execute("ALTER TABLE kept ADD COLUMN used INTEGER DEFAULT 0")
            self._rows.execute("CREATE INDEX IF NOT EXISTS by_use ON kept (used)")
            found = self._rows.execute("SELECT identity FROM made_by").fetchone() or ("",)
            if found != (identity,):
                self._rows.execute("DELETE FROM kept")
                self._rows.execute("DELETE FROM made_by")
                self._rows.execute("INSERT INTO made_by VALUES (?)", (identity,))

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the keys that are kept."""
        found: dict[str, bytes] = {}
        with self._using, self._rows:
            for start in range(0, len(keys), _ASKED):
                part = list(keys[start : start + _ASKED])
                marks = ",".join("?" * len(part))
                asked = f"SELECT key, value FROM kept WHERE key IN ({marks})"
                found.update((key, bytes(value)) for key, value in self._rows.execute(asked, part))
            if self._most is not None:
                used = "UPDATE kept SET used = (SELECT max(used) + 1 FROM kept) WHERE key = ?"
                self._rows.executemany(used, [(key,) for key in found])
        return found

    def put(self, pairs: Iterable[tuple[str, bytes]]) -> None:
        """Keep all pairs in one transaction."""
        with self._using, self._rows:
            self._rows.executemany(
                "INSERT OR REPLACE INTO kept (key, value, used) "
                "VALUES (?, ?, (SELECT coalesce(max(used), 0) + 1 FROM kept))",
                pairs,
            )
            while self._most is not None and self._bytes() > self._most:
                oldest = "SELECT key FROM kept ORDER BY used LIMIT 256"
                if not self._rows.execute(f"DELETE FROM kept WHERE key IN ({oldest})").rowcount:
                    return

    def _bytes(self) -> int:
        """The bytes of all pages in use."""
        names = ("page_size", "page_count", "freelist_count")
        size, pages, free = (self._rows.execute(f"PRAGMA {n}").fetchone()[0] for n in names)
        return int(size * (pages - free))

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()


def keeping(models: Any, shelf: Shelf) -> Any:
    """The same models (``core.pipeline.Models``), which take from the shelf what was read before."""
    return replace(
        models,
        embedder=KeptEmbedder(models.embedder, shelf),
        nli=KeptNliModel(models.nli, shelf),
    )


def remembering(models: Any) -> Any:
    """The same models, which read no text and no pair twice: a revised answer shares its sources and
    most sentences with the first."""
    return models if isinstance(models.nli, KeptNliModel) else keeping(models, Shelf())


def kept_in(folder: Path, models: Any) -> Any:
    """The same models with a bounded file of what they read in ``folder``, for any number of runs.

    The file is emptied when rules, weights or precision are others than those it was made by.
    """
    identity = run_identity(models)
    return keeping(models, Shelf(folder / FILE, identity=identity, most_bytes=MOST_BYTES))


def run_identity(models: Any) -> str:
    """What vectors and NLI scores of these models hang on: rules, weights, precision, processor.

    Another set of instructions sums in another order; the number of threads does not count, since no
    sum is shared among threads (core/models/lanes.py).
    """
    import torch

    nli, embedder = models.nli, models.embedder
    precision = getattr(embedder, "precision", "")
    named = (embedder.name, precision, nli.name, nli.precision, str(nli.max_tokens))
    return " ".join((rules_digest(), *named, torch.backends.cpu.get_cpu_capability()))


def _key(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _values(
    shelf: Shelf,
    keys: Mapping[Any, str],
    size: Callable[[Any], int],
    compute: Callable[[list[Any]], list[bytes]],
) -> dict[str, bytes]:
    """The value of every key; those that are not kept are computed, the smallest first, and kept."""
    known = dict(shelf.get(list(keys.values())))
    missing = sorted((item for item, key in keys.items() if key not in known), key=size)
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        new = [(keys[item], value) for item, value in zip(part, compute(part), strict=True)]
        shelf.put(new)
        known.update(new)
    return known


# Says what a kept reading holds: a file of an earlier shape is read anew, not misread.
_READING = "reading 3"
_AS_JSON: TypeAdapter[NliScore | None] = TypeAdapter(NliScore | None)


class KeptEmbedder:
    """An embedder that computes each text once; fills ``core.ports.Embedder``."""

    def __init__(self, inner: Embedder, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.max_tokens = inner.name, inner.max_tokens

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors as the embedder gave them."""
        if not texts:
            return self._inner.embed([])
        keys = {text: _key("vector", self.name, text) for text in texts}

        def vectors(new: list[str]) -> list[bytes]:
            return [row.tobytes() for row in self._inner.embed(new)]

        known = _values(self._shelf, keys, len, vectors)
        return np.stack([np.frombuffer(known[keys[text]], dtype=np.float64) for text in texts])


class KeptNliModel:
    """An NLI model that reads each pair once; fills ``core.ports.NliModel``."""

    def __init__(self, inner: NliModel, shelf: Shelf) -> None:
        self._inner, self._shelf = inner, shelf
        self.name, self.precision, self.max_tokens = inner.name, inner.precision, inner.max_tokens
        self.taught_close = taught_close(inner)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """NLI scores as the NLI model gave them."""
        names = (_READING, self.name, self.precision, str(self.max_tokens))
        keys = {pair: _key(*names, *pair) for pair in pairs}

        def nli_scores(new: list[tuple[str, str]]) -> list[bytes]:
            return [_AS_JSON.dump_json(nli_score) for nli_score in self._inner.read(new)]

        known = _values(self._shelf, keys, lambda pair: len(pair[0]) + len(pair[1]), nli_scores)
        return [_AS_JSON.validate_json(known[keys[pair]]) for pair in pairs]
